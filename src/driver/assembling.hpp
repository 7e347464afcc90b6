// From a module's analysis to its planning problem, pins included. Shared by the commands.
#pragma once

#include <string>
#include <vector>

#include "model.hpp"
#include "settings.hpp"
#include "usmp/assemble/assemble.hpp"

namespace usmp::driver {

struct AssembledModule {
  AnalysedModule analysed;
  assemble::Assembly assembly;
  std::vector<std::string> warnings;  // of buffers that an earlier plan knows and that are not pinned
  std::vector<bool> pinned;           // [i]: whether it has the buffer of the pools file's pin i
};

// Reads a module, transforms it as far as that makes its plan smaller (step_selection.hpp), and brings it to its
// problem. `release_tir`: see read_module. Throws Error with the file set.
AssembledModule assemble_module(Model& model, const mlf::ModuleInfo& info, const Settings& settings, bool release_tir);

// Every pin of the pools file has to be of a buffer of some module, every earlier plan of one of the modules. Throws
// Error of kind usage.
void check_pins(const std::vector<const AssembledModule*>& modules, const Settings& settings);

}  // namespace usmp::driver

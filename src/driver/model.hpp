// Opening a model: archive, metadata, TIR and live ranges. Shared by the commands.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "usmp/codegen/codegen.hpp"
#include "usmp/driver/driver.hpp"
#include "usmp/liveness/liveness.hpp"
#include "usmp/mlf/archive.hpp"
#include "usmp/mlf/metadata.hpp"
#include "usmp/tir/ir.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::driver {

// What is done to a program before it is planned.
struct Transformations {
  std::vector<transform::Step> steps;  // in the order of application
  std::int64_t recompute_percent = 0;
};

struct Model {
  std::string file_name;     // of the path, for reports
  bool bare_module = false;  // a TIR module without archive: plannable, but there is no interface to emit
  mlf::Archive archive;
  mlf::Metadata metadata;           // only the chosen modules
  Transformations transformations;  // those asked for
};

// Reads the archive (or bare module) and picks the modules. Throws Error with the file set.
Model open_model(const ModelOptions& options);

struct AnalysedModule {
  const mlf::ModuleInfo* info = nullptr;           // into Model::metadata
  tir::Module original;                            // as the archive has it
  tir::Module module;                              // transformed: this is what is planned
  std::vector<transform::StepResult> transformed;  // how
  codegen::Interface interface;
  liveness::Analysis analysis;
};

// One module as the archive has it: what follows from transformations is still missing. Throws Error with file and
// member set. With `release_tir` the member's bytes are freed as soon as they are read.
AnalysedModule read_module(Model& model, const mlf::ModuleInfo& info, bool release_tir);

// Fills what follows from transformations: the module that is planned, and its live ranges. Throws Error with file and
// member set.
void analyse_module(AnalysedModule& analysed, const Model& model, const Transformations& transformations,
                    bool workspace_io);

// Live ranges of the module, or of its original, as if `workspace_io` had been asked for.
liveness::Analysis live_ranges(const AnalysedModule& analysed, const tir::Module& module, bool workspace_io);

// The last part of a path: what reports call a file.
std::string file_name_of(const std::string& path);

// "default, second".
std::string module_list(const mlf::Metadata& metadata);

// The whole file. Throws Error of the given kind, also if it is larger than `most` bytes.
std::string read_text_file(const std::string& path, ErrorKind kind, std::size_t most);

}  // namespace usmp::driver

// SPDX-License-Identifier: Apache-2.0
// The files of a module as TVM wrote them, for those that are to take their places.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/mlf/archive.hpp"
#include "usmp/mlf/metadata.hpp"

namespace usmp::mlf {

// Names of members. Files with the packed interface's metadata alone are in none of them: they hold nothing that a plan
// changes.
struct ModuleFiles {
  std::string entry;                 // defines tvmgen_M_run
  std::string operators;             // defines tvmgen_M___tvm_main__; may be the same
  std::string header;                // declares the interface; empty if there is none
  std::vector<std::string> include;  // {"<tvmgen_M.h>"}: how `entry` includes the header; empty if it does not
  std::vector<std::string> others;   // of TVM's operators
};

// Throws Error of kind archive: no file defines tvmgen_M_run; a file defines another module's entry as well; TVM's
// function registry, which planned C does not have.
[[nodiscard]] ModuleFiles files_of_module(const Archive& archive, const ModuleInfo& module);

// Throws Error of kind archive: one of module.c_members defines a function that is neither the module's nor one of
// `kept`, which planned C has.
void require_functions(const Archive& archive, const ModuleInfo& module, const std::set<std::string>& kept);

// What `before` gives a program that includes it and `after` does not, a line for each: macros with a value, members of
// structs, functions. Layout and names of parameters' structs aside, spelling counts.
[[nodiscard]] std::vector<std::string> missing_declarations(std::string_view before, std::string_view after);

// Whether both texts define the function with the same result and parameters, layout aside.
[[nodiscard]] bool define_alike(std::string_view before, std::string_view after, std::string_view function);

}  // namespace usmp::mlf

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The files of a module as TVM wrote them, for those that are to take their places.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/mlf/archive.hpp"
#include "usmp/mlf/metadata.hpp"

namespace usmp::mlf {

// Names of members.
struct ModuleFiles {
  std::string entry;                  // defines tvmgen_M_run
  std::string operators;              // defines tvmgen_M___tvm_main__; may be the same
  std::string header;                 // declares the interface; empty if there is none
  std::vector<std::string> include;   // {"<tvmgen_M.h>"}: how `entry` includes the header; empty if it does not
  std::vector<std::string> others;    // of TVM's operators, or with TVM's registry of functions alone
  std::vector<std::string> metadata;  // of the packed interface: hold nothing that a plan changes
  std::string registry;               // holds TVM's registry of functions: one of the above but `metadata`, or empty
  // If no file defines tvmgen_M_run and none calls the entry, the firmware does, and `entry` is `operators`: how the
  // header declares it, else how the C defines it, "int32_t tvmgen_M_run_model(void* x, void* y)". Else empty.
  std::string called;
  std::vector<std::string> called_params;  // "x", "y"
  std::string entry_prototype;             // as `operators` defines it; empty if it does not
};

// The names in "f(void* x, float y)"; nothing if one has none.
[[nodiscard]] std::optional<std::vector<std::string>> param_names(const std::string& prototype);

// Throws Error of kind archive: no file defines tvmgen_M_run, nor does one have what `called` says; a file defines
// another module's entry as well; several registries.
[[nodiscard]] ModuleFiles files_of_module(const Archive& archive, const model::Description& module);

// Whether a C file holds TVM's registry of functions (`TVMSystemLibEntryPoint`), by which TVM's C runtime finds them.
[[nodiscard]] bool holds_registry(std::string_view text);

// The functions in the registry, in order, from O(size) text.
[[nodiscard]] std::vector<std::string> registered_functions(std::string_view text);

// C text that takes the place of the registry in files.registry, which is not empty. It finds the functions in
// files.metadata as before, as those for metadata in other files, which stay, and, with the packed interface,
// tvmgen_M_run under the name of the entry: both take the same arguments. Operators are not in it: only the model calls
// them. `planned_entry` is the text that defines tvmgen_M_run.
[[nodiscard]] std::string planned_registry(const Archive& archive, const model::Description& module,
                                           const ModuleFiles& files, std::string_view planned_entry);

// Throws Error of kind archive: one of module.c_members defines a function that is neither called tvmgen_M_… nor
// one of `known`: those of the model.
void require_functions(const Archive& archive, const model::Description& module, const std::set<std::string>& known);

// What `before` gives a program that includes it and `after` does not, a line for each: macros but for guards, members
// of structs, functions, variables, types. Layout and names of parameters' structs aside, spelling counts.
[[nodiscard]] std::vector<std::string> missing_declarations(std::string_view before, std::string_view after);

// The headers of TVM's source tree (tvm/…, dlpack/…) that a C text includes. O(size).
[[nodiscard]] std::set<std::string> tvm_headers(std::string_view text);

// Whether both texts define the function with the same result and parameters, layout aside.
[[nodiscard]] bool define_alike(std::string_view before, std::string_view after, std::string_view function);

}  // namespace usmp::mlf

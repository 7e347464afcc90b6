// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The entry of the model, tvmgen_M___tvm_main__, for firmware that calls it with the parameters that TVM gave it.
#pragma once

#include <string>

#include "model.hpp"
#include "usmp/codegen/codegen.hpp"
#include "usmp/mlf/interface.hpp"
#include "usmp/pipeline/planned.hpp"

namespace usmp::driver {

// The old name of the entry has a function around tvmgen_M_run.
struct CalledEntry {
  std::string function;     // behind everything
  std::string declaration;  // for the header
};

// EmissionInput::renames_entry: the planned entry has other parameters, with which C links a call.
[[nodiscard]] bool changes_entry(const codegen::EmissionInput& input, const mlf::ModuleFiles& found);

// Whether the C owns all pools, and inputs and outputs are not in them: tvmgen_M_run gets neither.
[[nodiscard]] bool owns_memory(const pipeline::PlannedProgram& module);

// For firmware that calls the entry itself, as there is no tvmgen_M_run. Throws Error of kind usage: planned C cannot
// have such a function.
[[nodiscard]] CalledEntry called_entry(const pipeline::PlannedProgram& module, const Model& model,
                                       const mlf::ModuleFiles& found, const std::string& header);

// The function for firmware that may call it beside tvmgen_M_run, if the planned entry has other parameters. Nothing if
// planned C cannot have it: then such firmware does not link.
[[nodiscard]] std::string entry_beside_run(const pipeline::PlannedProgram& module, const mlf::ModuleFiles& found,
                                           const std::string& header);

// A function of the packed interface that passes its arguments on to tvmgen_M_run: as TVM's, it does not ask how many
// there are.
[[nodiscard]] std::string packed_call(const pipeline::PlannedProgram& module, const Model& model,
                                      const std::string& prototype);

}  // namespace usmp::driver

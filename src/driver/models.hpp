// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Opening several models that are linked together.
#pragma once

#include <string>
#include <vector>

#include "model.hpp"
#include "usmp/driver/driver.hpp"

namespace usmp::driver {

// The paths of all models of the command line, then `others`.
[[nodiscard]] std::vector<std::string> models_and(const PlanningOptions& options, std::vector<std::string> others);

// All files that a run reads: these, its pools, a linker script, and `others`.
[[nodiscard]] std::vector<std::string> inputs_of(const PlanningOptions& options, std::vector<std::string> others = {});

// The models of the command line. Modules have the names of --name; those of several models that would have the same
// name in C have that of their file. Throws Error.
[[nodiscard]] std::vector<Model> open_models(const PlanningOptions& options);

}  // namespace usmp::driver

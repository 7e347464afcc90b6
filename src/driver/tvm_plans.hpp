// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Plans that TVM made, of the commands that take --tvm-plan.
#pragma once

#include <string>
#include <vector>

#include "usmp/driver/driver.hpp"
#include "usmp/pipeline/tvm_plan.hpp"

namespace usmp::driver {

// One for each module of the model at `path`, read from its C. Throws Error with the file set: of kind usage if the
// options choose TIR, of kind archive if TVM has planned none of this.
[[nodiscard]] std::vector<pipeline::TvmPlan> read_tvm_plans(const std::string& path, const ModelOptions& options);

// Their documents, what is wrong being warnings.
[[nodiscard]] std::vector<plan_file::PlanDocument> tvm_documents(const std::string& path, const ModelOptions& options);

}  // namespace usmp::driver

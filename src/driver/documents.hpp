// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Plans as values, for the commands that look at plans: of a plan file, or of a model that is planned for it.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "usmp/driver/driver.hpp"
#include "usmp/plan_file/plan_document.hpp"
#include "usmp/support/error.hpp"

namespace usmp::driver {

// Whether the path ends in .plan.json, or names JSON that says it is a plan (problems and bare TIR modules are JSON
// too), a pipe with any JSON, or a directory of output: no archive, but C and plans of finished runs.
[[nodiscard]] bool is_plan_file(const std::string& path);

// The plan, or the plans of several modules as `--json` prints them or a directory holds them. They are verified
// (check_document), unless who asks does so with the archive. Throws Error of kind usage.
enum class Check : bool { left_out, done };
[[nodiscard]] std::vector<plan_file::PlanDocument> read_plan_file(const std::string& path, Check check = Check::done);

// Where there is nothing to plan, options that shape a plan are mistakes: throws Error of kind usage that names those
// given. "`subject`: --pools, --seed apply to models only".
void require_no_planning_options(const PlanningOptions& options, const Location& where, const std::string& subject);

// Plans the model: a document a module. Nothing if there is no plan: then `err` has been told why, and the exit code is
// exit_infeasible. Throws Error.
[[nodiscard]] std::optional<std::vector<plan_file::PlanDocument>> plan_model(const PlanningOptions& options,
                                                                             std::ostream& err);

}  // namespace usmp::driver

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// `usmp-plan check`: plans checked against the budgets of a pools file, for people and CI services.
#pragma once

#include <string>

#include "usmp/compare/budget_check.hpp"

namespace usmp::report {

inline constexpr int check_schema_version = 1;

// A table of the checks of each module, then each exceeded limit in the form of compiler messages: "FILE:LINE:COLUMN:
// error: …".
struct CheckTextOptions {
  bool color = false;
  bool quiet = false;  // no tables: nothing if all is within budget
};
[[nodiscard]] std::string check_text(const compare::BudgetReport& report, const CheckTextOptions& options);
[[nodiscard]] std::string check_markdown(const compare::BudgetReport& report);
[[nodiscard]] std::string check_json(const compare::BudgetReport& report);  // docs/schema/check.schema.json

// GitHub's workflow commands, one line per finding: "::error file=…,line=…,col=…,title=…::message".
[[nodiscard]] std::string check_github(const compare::BudgetReport& report);

// JUnit's XML: one suite per module, one case per limit and one for the plan; warnings are text of cases that pass.
[[nodiscard]] std::string check_junit(const compare::BudgetReport& report);

// The same reports of a check that did not come to a result: an archive or a pools file that cannot be read, say.
struct CheckFailure {
  std::string message;        // with its place
  std::string file;           // that is wrong; empty: not known
  config::Position position;  // in the file; line 0: not known
  int exit_code = 0;
};
[[nodiscard]] std::string check_json(const CheckFailure& failure);
[[nodiscard]] std::string check_github(const CheckFailure& failure);
[[nodiscard]] std::string check_junit(const CheckFailure& failure);
[[nodiscard]] std::string check_markdown(const CheckFailure& failure);

}  // namespace usmp::report

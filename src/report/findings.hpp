// What of a check somebody has to see, for every format.
#pragma once

#include <string>
#include <vector>

#include "usmp/report/budget_check.hpp"

namespace usmp::report {

struct Finding {
  Verdict verdict = Verdict::breach;  // or a warning
  config::Position position;
  std::string title;    // "sram: max", "no plan"
  std::string message;  // "module default: …", one line, printable
};

// In the order of modules, pools and limits. Of a module without a plan the pools that are too small; if nobody says
// which, one finding.
[[nodiscard]] std::vector<Finding> findings_of(const BudgetReport& report);

[[nodiscard]] std::size_t count_of(const std::vector<Finding>& findings, Verdict verdict);

// "1 breach, 2 warnings", "within budget".
[[nodiscard]] std::string tally_text(const BudgetReport& report);

}  // namespace usmp::report

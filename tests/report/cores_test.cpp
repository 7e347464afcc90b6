// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Several cores in every format. test_schema.py holds cores.json against docs/schema/cores.schema.json.
#include "usmp/report/cores.hpp"

#include <doctest/doctest.h>

#include "plan_support/golden.hpp"

namespace usmp::report::cores_test {

TEST_CASE("cores in every format") {
  compare::Cores cores;
  cores.archive = "net|1.tar";
  cores.modules.push_back({"default",
                           {{"cortex-m4", PlanStatus::optimal, 20558123, {"dot4", "dot_run"}, 9488, 79732},
                            {"rv32imc", PlanStatus::feasible, std::nullopt, {}, 9600, std::nullopt},
                            {"generic", std::nullopt, std::nullopt, {}, 0, std::nullopt}}});
  cores.modules.push_back({"<other>",
                           {{"cortex-m4", std::nullopt, std::nullopt, {}, 0, std::nullopt},
                            {"cortex-m7", PlanStatus::optimal, 0, {"lane_run"}, 0, 0},
                            {"cortex-m33", PlanStatus::optimal, 1, {}, 4, 1},
                            {"cortex-m0plus", PlanStatus::feasible, 12, {"dot_run", "lane_run"}, 16, 2000}}});
  check_golden("cores.txt", cores_text(cores, false));
  check_golden("cores.md", cores_markdown(cores));
  check_golden("cores.json", cores_json(cores));
  check_golden("cores.csv", cores_csv(cores));
}

}  // namespace usmp::report::cores_test

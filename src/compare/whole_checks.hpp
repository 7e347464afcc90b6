// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The budgets of the whole program, and the regions of the linker script.
#pragma once

#include <vector>

#include "usmp/compare/budget_check.hpp"
#include "usmp/config/pools.hpp"
#include "usmp/plan_file/plan_document.hpp"

namespace usmp::compare {

// BudgetReport::whole. `plans`: of the modules that have one; `all_planned`: all have. O(as region_uses).
[[nodiscard]] std::vector<PoolCheck> whole_checks(const config::PoolsConfig& config,
                                                  const std::vector<const plan_file::PlanDocument*>& plans,
                                                  bool all_planned);

}  // namespace usmp::compare

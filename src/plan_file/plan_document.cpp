// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Looks pools up by name, and tells steps that did something from those that did nothing.
#include "usmp/plan_file/plan_document.hpp"

#include <algorithm>

namespace usmp::plan_file {

bool PlanDocument::StepOutcome::did_something() const {
  return !changes.empty() || (constants && constants->before != constants->after);
}

const PlanDocument::Pool* PlanDocument::find_pool(std::string_view name) const {
  const auto found = std::find_if(pools.begin(), pools.end(), [&](const Pool& pool) { return pool.name == name; });
  return found == pools.end() ? nullptr : &*found;
}

}  // namespace usmp::plan_file

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which transformations only one of two plans has (usmp/compare/diff.hpp says what is the same).
#pragma once

#include <vector>

#include "usmp/compare/diff.hpp"

namespace usmp::compare {

// O(n log n) for n bytes of changes.
[[nodiscard]] std::vector<StepDiff> diff_steps(const plan_file::PlanDocument& before,
                                               const plan_file::PlanDocument& after);

}  // namespace usmp::compare

// Which transformations only one of two plans has (usmp/report/diff.hpp says what is the same).
#pragma once

#include <vector>

#include "usmp/report/diff.hpp"

namespace usmp::report {

// O(n log n) for n bytes of changes.
[[nodiscard]] std::vector<StepDiff> diff_steps(const PlanDocument& before, const PlanDocument& after);

}  // namespace usmp::report

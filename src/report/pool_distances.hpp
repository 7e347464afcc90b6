// The distances of a plan document, for a problem of some of its buffers.
#pragma once

#include <cstddef>
#include <vector>

#include "usmp/report/plan_document.hpp"

namespace usmp::report {

// Those between the chosen buffers, which are in ascending order and the problem's own.
void add_distances(Problem& problem, const PlanDocument& document, const std::vector<std::size_t>& buffers);

}  // namespace usmp::report

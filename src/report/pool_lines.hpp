// What there is to say of a pool in a few words, for pictures.
#pragma once

#include <string>
#include <vector>

#include "usmp/report/figures.hpp"

namespace usmp::report {

// "16256 bytes used of 16384, the least possible (load)"; then, if the pool holds buffers that share it, what is asked
// and what is lost. Names as they are in the plan.
[[nodiscard]] std::vector<std::string> pool_lines(const PlanDocument::Pool& pool, const PoolFigures& figures);

}  // namespace usmp::report

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What there is to say of a pool in a few words, for pictures.
#pragma once

#include <string>
#include <vector>

#include "usmp/compare/figures.hpp"

namespace usmp::report {

// "256 reserved"; of the reserved bytes, which are those of modules that run side by side.
[[nodiscard]] std::string reserved_text(const plan_file::PlanDocument::Pool& pool);

// "16256 bytes used of 16384, proved minimal (aligned load)"; then, if the pool holds buffers that share it, what the
// used bytes are and what is asked. Names as they are in the plan.
[[nodiscard]] std::vector<std::string> pool_lines(const plan_file::PlanDocument::Pool& pool,
                                                  const compare::PoolFigures& figures);

}  // namespace usmp::report

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What several modules that are linked together need of each pool, in words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "usmp/compare/shared_pools.hpp"

namespace usmp::report {

// A title, and a line for each pool: which modules set its size, and what the others need.
[[nodiscard]] std::string shared_pools_text(const std::vector<compare::SharedPool>& pools, std::size_t modules);

// "26072 kws + 15744 vww + 8 padding": what the constants of all modules are the sum of.
[[nodiscard]] std::string summands_text(const compare::SharedPool& pool);

// That a pool is too small for what all modules have in it together; null: it is large enough.
[[nodiscard]] std::optional<std::string> without_room(const compare::SharedPool& pool);

}  // namespace usmp::report

// SPDX-License-Identifier: Apache-2.0
// What several modules that are linked together need of each pool, and which of them sets its size.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "usmp/plan_file/plan_document.hpp"

namespace usmp::report {

// A line for each pool. Of a workspace pool the maximum, since one module runs at a time; of a parameter pool the sum.
[[nodiscard]] std::string shared_pools_text(const std::vector<const plan_file::PlanDocument*>& plans);

// Which parameter pool is too small for the constants of all modules together; nothing if each is large enough.
[[nodiscard]] std::optional<std::string> constants_without_room(
    const std::vector<const plan_file::PlanDocument*>& plans);

}  // namespace usmp::report

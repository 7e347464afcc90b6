// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The key `budget` of a pool, and `budgets` of the file.
#pragma once

#include <optional>

#include "config/yaml_tree.hpp"
#include "usmp/config/budget.hpp"

namespace usmp::config {

// Throws Error of kind usage: no map, an empty one, unknown keys, values of another kind.
[[nodiscard]] Budget read_budget(const YamlEntry& entry);

// The key `budgets` of the file, likewise.
[[nodiscard]] WholeBudget read_whole_budget(const YamlEntry& entry);

// What needs the pool's size: throws Error of kind usage where the pool has none, or one that the budget contradicts.
void check_budget(const Budget& budget, std::optional<Bytes> pool_size);

}  // namespace usmp::config

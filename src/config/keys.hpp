// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The keys of a pools file, in the order of the documentation. docs/schema/pools.schema.json is held against them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace usmp::config {

[[nodiscard]] const std::vector<std::string>& file_keys();    // of the file itself
[[nodiscard]] const std::vector<std::string>& pool_keys();    // of a pool, TVM's properties included
[[nodiscard]] const std::vector<std::string>& budget_keys();  // of a pool's `budget`
[[nodiscard]] const std::vector<std::string>& whole_keys();   // of the file's `budgets`
[[nodiscard]] const std::vector<std::string>& pin_keys();     // of an entry of `pinned`

inline constexpr std::size_t max_pools = 64;  // of one kind. Each buffer may have all of them as candidates

// What the name of a pool must be, if this text is none: "a C identifier (…)". Empty if it is one.
[[nodiscard]] std::string expected_name(const std::string& text);

// A name of a target that stands in YAML as it is, and means no number: letters, digits, '_', '-', '.', a letter or '_'
// in front. TVM's are of this form.
[[nodiscard]] bool is_target_name(std::string_view text);

}  // namespace usmp::config

// SPDX-License-Identifier: Apache-2.0
// The keys of a pools file, in the order of the documentation. docs/schema/pools.schema.json is held against them.
#pragma once

#include <string>
#include <vector>

namespace usmp::config {

[[nodiscard]] const std::vector<std::string>& file_keys();    // of the file itself
[[nodiscard]] const std::vector<std::string>& pool_keys();    // of a pool, TVM's properties included
[[nodiscard]] const std::vector<std::string>& budget_keys();  // of a pool's `budget`
[[nodiscard]] const std::vector<std::string>& pin_keys();     // of an entry of `pinned`

// A word that C99 or C++20 keeps for itself, so that no member or parameter can be named so.
[[nodiscard]] bool is_keyword(const std::string& word);

}  // namespace usmp::config

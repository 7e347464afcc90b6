// SPDX-License-Identifier: Apache-2.0
// Line and column in a text, for messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace usmp {

// "line L, column C", both from 1, columns in bytes. `byte` also counts from 1, as in nlohmann's parse errors; 0 means
// the first byte, and a byte beyond the text the place after its last. O(byte).
[[nodiscard]] std::string line_and_column(std::string_view text, std::size_t byte);

// The same of a place that is known already.
[[nodiscard]] std::string line_and_column(std::size_t line, std::size_t column);

}  // namespace usmp

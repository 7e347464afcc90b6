// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Line and column in a text, for messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace usmp {

// "line L, column C", both from 1, columns in bytes. `byte` also counts from 1, as in nlohmann's parse errors; 0 means
// the first byte, and a byte beyond the text the place after its last. O(byte).
[[nodiscard]] std::string line_and_column(std::string_view text, std::size_t byte);

// The same of many places in one text. O(log lines) each.
class Lines {
 public:
  explicit Lines(std::string_view text);  // O(text)
  [[nodiscard]] std::string place(std::size_t byte) const;

 private:
  std::size_t size_;
  std::vector<std::size_t> begins_;
};

// The same of a place that is known already.
[[nodiscard]] std::string line_and_column(std::size_t line, std::size_t column);

}  // namespace usmp

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds the line among the places where lines begin.
#include "usmp/support/line_and_column.hpp"

#include <algorithm>
#include <iterator>

namespace usmp {

std::string line_and_column(std::string_view text, std::size_t byte) { return Lines(text.substr(0, byte)).place(byte); }

Lines::Lines(std::string_view text) : size_(text.size()), begins_{0} {
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    begins_.push_back(at + 1);
  }
}

std::string Lines::place(std::size_t byte) const {
  const std::size_t at = std::min(byte == 0 ? 0 : byte - 1, size_);
  const auto line = std::upper_bound(begins_.begin(), begins_.end(), at);
  return line_and_column(static_cast<std::size_t>(line - begins_.begin()), at - *std::prev(line) + 1);
}

std::string line_and_column(std::size_t line, std::size_t column) {
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

}  // namespace usmp

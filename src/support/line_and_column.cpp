// SPDX-License-Identifier: Apache-2.0
#include "usmp/support/line_and_column.hpp"

#include <algorithm>

namespace usmp {

std::string line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
  const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return line_and_column(line, before.size() - line_start + 1);
}

std::string line_and_column(std::size_t line, std::size_t column) {
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

}  // namespace usmp

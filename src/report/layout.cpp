// SPDX-License-Identifier: Apache-2.0
#include "report/layout.hpp"

#include <algorithm>
#include <cassert>

namespace usmp::report {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

std::size_t width_of(std::string_view text) {
  const auto continuations = std::count_if(text.begin(), text.end(), is_continuation);
  return text.size() - static_cast<std::size_t>(continuations);
}

}  // namespace

std::string pad_left(std::string_view text, std::size_t width) {
  const std::size_t own = width_of(text);
  return std::string(own < width ? width - own : 0, ' ') + std::string(text);
}

std::string pad_right(std::string_view text, std::size_t width) {
  const std::size_t own = width_of(text);
  return std::string(text) + std::string(own < width ? width - own : 0, ' ');
}

std::string live_text(const std::vector<LiveRange>& live) {
  if (live.empty()) return "never";
  std::string result;
  for (const LiveRange& range : live) {
    if (!result.empty()) result += ' ';
    result += '[';
    result += std::to_string(range.begin) + "," + std::to_string(range.end) + ")";
  }
  return result;
}

void Table::add(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::text(std::string_view indent) const {
  std::vector<std::vector<std::string>> lines(1);
  for (const Column& column : columns_) lines[0].push_back(column.heading);
  lines.insert(lines.end(), rows_.begin(), rows_.end());
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto& cells : lines) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], width_of(cells[i]));
  }
  std::string result;
  for (const auto& cells : lines) {
    std::string line(indent);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line += "  ";
      line += columns_[i].align == Align::right ? pad_left(cells[i], widths[i]) : pad_right(cells[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + "\n";
  }
  return result;
}

}  // namespace usmp::report

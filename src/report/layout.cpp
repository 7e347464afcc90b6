// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Pads and folds lines, and narrows the widest columns of a table until it fits.
#include "report/layout.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <optional>

#include "usmp/support/characters.hpp"
#include "usmp/support/printable.hpp"

namespace usmp::report {
namespace {

std::size_t width_of(std::string_view text) {
  const auto continuations = std::count_if(text.begin(), text.end(), is_utf8_continuation);
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

std::string shortened(const std::string& text, std::size_t most) {
  std::vector<std::size_t> starts;  // of the code points
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_utf8_continuation(text[i])) starts.push_back(i);
  }
  if (starts.size() <= most) return text;
  const std::size_t tail = most / 2;
  const std::size_t head = most - tail - 1;
  return text.substr(0, starts[head]) + "\xE2\x80\xA6" + text.substr(starts[starts.size() - tail]);
}

namespace {

// Where a line is broken.
struct Break {
  std::size_t end = 0;    // of the part that stays
  std::size_t begin = 0;  // of what is continued
};

// The last place to break the line within the width: between columns if they fill half of it, else between words, or
// behind the first word, if that is too wide. Nothing: it fits, or is one word.
std::optional<Break> break_of(std::string_view line, std::size_t width) {
  std::optional<Break> words;
  std::optional<Break> columns;
  std::size_t used = 0;
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  for (std::size_t i = 0; i < line.size();) {
    if (line[i] == '\x1b') {
      i = std::min(line.find('m', i), line.size() - 1) + 1;
      continue;
    }
    if (line[i] == ' ' && i >= indent) {
      const std::size_t next = std::min(line.find_first_not_of(' ', i), line.size());
      if (next == line.size() || (used > width && words)) break;
      words = Break{i, next};
      if (used > width) break;
      if (next - i > 1 && used >= width / 2) columns = words;
      used += next - i;
      i = next;
      continue;
    }
    if (!is_utf8_continuation(line[i])) ++used;
    ++i;
  }
  if (used <= width) return std::nullopt;
  return columns ? columns : words;
}

}  // namespace

std::string folded(std::string_view text, std::size_t width) {
  constexpr std::size_t further = 4;
  std::string result;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string line(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t in = std::min(indent, further) + further;
    for (std::optional<Break> at = break_of(line, width); at; at = break_of(line, width)) {
      result += line.substr(0, at->end) + "\n";
      line = std::string(in, ' ') + line.substr(at->begin);
    }
    result += line + (end == std::string_view::npos ? "" : "\n");
  }
  return result;
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
  for (std::string& cell : cells) cell = printable(cell);  // once more does no harm
  rows_.push_back(std::move(cells));
}

// Takes letters from the widest column that may give some, until all columns fit into the room or none has any left.
void Table::narrow(std::vector<std::size_t>& widths, std::size_t room) const {
  std::vector<std::size_t> least;
  for (const Column& column : columns_) least.push_back(std::max(narrowest, width_of(column.heading)));
  std::size_t total = std::accumulate(widths.begin(), widths.end(), std::size_t{0});
  while (total > room) {
    std::size_t widest = widths.size();
    std::size_t next = 0;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (columns_[i].align == Align::right || widths[i] <= least[i]) continue;
      if (widest == widths.size() || widths[i] > widths[widest]) {
        if (widest != widths.size()) next = std::max(next, widths[widest]);
        widest = i;
      } else {
        next = std::max(next, widths[i]);
      }
    }
    if (widest == widths.size()) return;
    const std::size_t less = std::clamp<std::size_t>(widths[widest] - std::max(next, least[widest]), 1, total - room);
    widths[widest] -= less;
    total -= less;
  }
}

std::string Table::text(std::string_view indent, std::size_t width) const {
  std::vector<std::vector<std::string>> lines(1);
  for (const Column& column : columns_) lines[0].push_back(column.heading);
  lines.insert(lines.end(), rows_.begin(), rows_.end());
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto& cells : lines) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], width_of(cells[i]));
  }
  const std::size_t blanks = indent.size() + (widths.empty() ? 0 : 2 * (widths.size() - 1));
  if (width != unlimited) narrow(widths, width > blanks ? width - blanks : 0);
  std::string result;
  for (auto& cells : lines) {
    std::string line(indent);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line += "  ";
      if (width_of(cells[i]) > widths[i]) cells[i] = shortened(cells[i], widths[i]);
      line += columns_[i].align == Align::right ? pad_left(cells[i], widths[i]) : pad_right(cells[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + "\n";
  }
  return result;
}

}  // namespace usmp::report

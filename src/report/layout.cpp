#include "report/layout.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cstdint>

namespace usmp::report {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

std::size_t width_of(std::string_view text) {
  const auto continuations = std::count_if(text.begin(), text.end(), is_continuation);
  return text.size() - static_cast<std::size_t>(continuations);
}

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t length = 0;  // 0: not UTF-8
};

CodePoint first_code_point(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80U) return {lead, 1};
  const std::size_t length = lead >= 0xF0U ? 4 : lead >= 0xE0U ? 3 : 2;
  if (lead < 0xC2U || lead > 0xF4U || text.size() < length) return {};
  std::uint32_t value = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) return {};
    value = value << 6U | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  const std::uint32_t smallest = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < smallest || value > 0x10FFFF || surrogate) return {};
  return {value, length};
}

// C0, DEL and C1: a terminal may take them for commands.
bool is_control(std::uint32_t code_point) { return code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0); }

}  // namespace

std::string pad_left(std::string_view text, std::size_t width) {
  const std::size_t own = width_of(text);
  return std::string(own < width ? width - own : 0, ' ') + std::string(text);
}

std::string pad_right(std::string_view text, std::size_t width) {
  const std::size_t own = width_of(text);
  return std::string(text) + std::string(own < width ? width - own : 0, ' ');
}

std::string printable(std::string_view name) {
  std::string result;
  while (!name.empty()) {
    const CodePoint first = first_code_point(name);
    const std::size_t length = std::max<std::size_t>(first.length, 1);
    if (first.length == 0 || is_control(first.value)) {
      result += '?';
    } else {
      result += name.substr(0, length);
    }
    name.remove_prefix(length);
  }
  return result;
}

std::string two_decimals(double value) {
  std::array<char, 400> buffer{};  // the longest double in fixed notation has 309 digits in front of the point
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, 2);
  assert(result.ec == std::errc{});
  return {buffer.data(), result.ptr};
}

std::string percent(Bytes part, Bytes whole) {
  return two_decimals(static_cast<double>(part) * 100.0 / static_cast<double>(whole)) + "%";
}

std::string bytes_text(Bytes size) { return std::to_string(size) + (size == 1 ? " byte" : " bytes"); }

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

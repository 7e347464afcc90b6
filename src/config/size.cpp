// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Takes the unit off the end, and multiplies the digits before it unless that overflows.
#include "config/size.hpp"

#include <array>
#include <charconv>
#include <string>

#include "usmp/config/pools.hpp"

namespace usmp::config {
namespace {

struct Unit {
  std::string_view name;
  Bytes bytes;
};

constexpr std::array<Unit, 3> units = {{{"GiB", Bytes{1} << 30}, {"MiB", Bytes{1} << 20}, {"KiB", Bytes{1} << 10}}};

// Takes the unit off the end; 1 if there is none.
Bytes take_unit(std::string_view& text) {
  for (const Unit& unit : units) {
    if (!text.ends_with(unit.name)) continue;
    text.remove_suffix(unit.name.size());
    return unit.bytes;
  }
  return 1;
}

// Digits without leading zeros.
bool is_count(std::string_view text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  return digits && (text == "0" || text[0] != '0');
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) {
  if (!is_count(text.starts_with('-') ? text.substr(1) : text)) return std::nullopt;
  std::int64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc{}) return std::nullopt;
  return value;
}

std::optional<Bytes> parse_size(std::string_view text) {
  const Bytes factor = take_unit(text);
  const auto count = is_count(text) ? parse_integer(text) : std::nullopt;
  if (!count) return std::nullopt;
  return checked_mul(*count, factor);
}

bool is_size(std::string_view text) {
  take_unit(text);
  return is_count(text);
}

std::string format_size(Bytes size) {
  for (const Unit& unit : units) {
    if (size != 0 && size % unit.bytes == 0) return std::to_string(size / unit.bytes) + std::string(unit.name);
  }
  return std::to_string(size);
}

}  // namespace usmp::config

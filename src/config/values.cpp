// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads scalars as numbers, sizes and booleans, and words messages with near spellings.
#include "config/values.hpp"

#include <algorithm>
#include <string_view>

#include "config/size.hpp"
#include "usmp/config/pools.hpp"
#include "usmp/support/text.hpp"

namespace usmp::config {
namespace {

// For TVM's word, a misspelling or the beginning of a key; empty if there is none.
std::string suggestion(const std::string& word, const std::vector<std::string>& known) {
  constexpr std::size_t shortest_beginning = 4;
  constexpr std::string_view parameter_pools = "parameter_pools";
  if (word == "constant_pools" && std::ranges::find(known, parameter_pools) != known.end()) {
    return " (did you mean '" + std::string(parameter_pools) + "'?)";
  }
  for (const std::string& key : known) {
    if (word.size() >= shortest_beginning && key.starts_with(word)) return " (did you mean '" + key + "'?)";
  }
  return did_you_mean(word, known);
}

}  // namespace

std::string found(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::null:
      return "empty";
    case YamlNode::Kind::scalar:
      return (node.quoted ? "the text " : "") + shown(node.text);
    case YamlNode::Kind::list:
      return "a list";
    case YamlNode::Kind::map:
      return "a map";
  }
  return {};
}

void fail_value(const YamlEntry& entry, const std::string& expected) {
  fail(entry.value.mark, entry.key + " is " + found(entry.value) + ": expected " + expected);
}

void fail_unknown_key(const YamlEntry& entry, const std::string& owner, const std::vector<std::string>& known) {
  const std::string near = suggestion(entry.key, known);
  fail(entry.mark, "unknown key " + shown(entry.key) + " in " + owner +
                       (near.empty() ? ": expected one of " + joined(known) : near));
}

bool bool_of(const YamlEntry& entry) {
  const YamlNode& value = entry.value;
  if (value.kind == YamlNode::Kind::scalar && !value.quoted) {
    if (value.text == "true") return true;
    if (value.text == "false") return false;
  }
  fail_value(entry, "true or false");
}

std::optional<std::int64_t> integer_at_least(const YamlNode& value, std::int64_t low) {
  if (value.kind != YamlNode::Kind::scalar || value.quoted) return std::nullopt;
  const auto integer = parse_integer(value.text);
  return integer && *integer >= low ? integer : std::nullopt;
}

std::optional<Bytes> size_hint_of(const YamlEntry& entry) {
  static const std::string expected =
      "bytes such as 65536, 64KiB, 2MiB or 1GiB, ld:REGION, or -1 for an unbounded pool (no other units, no space)";
  const YamlNode& value = entry.value;
  if (value.kind != YamlNode::Kind::scalar) fail_value(entry, expected);
  if (value.text == "-1") return std::nullopt;
  const auto size = parse_size(value.text);
  if (!size) fail_value(entry, is_size(value.text) ? "at most 8589934591GiB" : expected);
  if (*size == 0) fail_value(entry, "at least one byte; without the key the pool is unbounded");
  return size;
}

Bytes offset_of(const YamlEntry& entry) {
  static const std::string expected = "bytes such as 0, 65536, 64KiB, 2MiB or 1GiB (no other units, no space)";
  constexpr Bytes most = Problem::max_total_bytes / 8;
  const YamlNode& value = entry.value;
  if (value.kind != YamlNode::Kind::scalar || !is_size(value.text)) fail_value(entry, expected);
  const auto offset = parse_size(value.text);
  if (!offset || *offset > most) fail_value(entry, "at most " + format_size(most));
  return *offset;
}

}  // namespace usmp::config

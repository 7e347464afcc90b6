// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// YAML text as a plain tree with positions: the part of YAML that a pools file needs, everything else refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace usmp::config {

// From 1; the column counts bytes.
struct Mark {
  std::size_t line = 1;
  std::size_t column = 1;
};

struct YamlEntry;

struct YamlNode {
  enum class Kind : std::uint8_t { null, scalar, list, map };

  Kind kind = Kind::null;
  Mark mark;                       // of an absent value: where its key stands
  std::string text;                // of a scalar
  bool quoted = false;             // of a scalar: "…", '…' or a block, so never a number or a boolean
  std::vector<YamlNode> items;     // of a list
  std::vector<YamlEntry> entries;  // of a map, in the text's order, keys unique
};

struct YamlEntry {
  Mark mark;
  std::string key;
  YamlNode value;
};

inline constexpr std::size_t max_text_bytes = std::size_t{1} << 20;
inline constexpr std::size_t max_depth = 50;

// Reads one document. An empty one gives a null node. Throws Error of kind usage with "line L, column C": text that is
// too long, not UTF-8 or not YAML; anchors, aliases, tags and merge keys; a key that appears twice or is no scalar; a
// second document; nesting beyond max_depth. O(text · log of the keys of a map).
[[nodiscard]] YamlNode read_yaml(std::string_view text);

// Throws Error of kind usage at the mark.
[[noreturn]] void fail(Mark mark, std::string message);

// `text` in quotes for a message: cut when long, control characters replaced.
[[nodiscard]] std::string shown(std::string_view text);

}  // namespace usmp::config

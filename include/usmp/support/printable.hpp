// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Makes names and texts of input files safe to show on a terminal and in a log.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace usmp {

// Escapes everything except plain UTF-8 characters: control characters as in C ("\n", "\x1b"), characters that reorder,
// hide or break a line as "\u202e", invalid UTF-8 bytes as "\xff". The result is one line without terminal control
// sequences. O(bytes).
[[nodiscard]] std::string printable(std::string_view text);

inline constexpr std::size_t most_quoted = 200;

// Input for messages: of more than `most_quoted` bytes, the beginning and how many there are: "aaaa… (1000000 bytes)".
[[nodiscard]] std::string cut_input(std::string_view text);

// A message in which what stands in quotes is cut likewise. Of one that is still of many thousand bytes, the middle is
// left out. O(bytes).
[[nodiscard]] std::string with_cut_quotes(std::string_view message);

}  // namespace usmp

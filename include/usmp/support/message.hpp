// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What is said on standard error. Names and texts of input files may stand in it: they are shown safely, and a message
// has a bounded length whatever they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

namespace usmp {

inline constexpr std::size_t most_quoted = 200;         // bytes of a quoted name
inline constexpr std::size_t most_in_line = 1500;       // bytes of a line of a message
inline constexpr std::size_t most_in_more_lines = 500;  // bytes of a line behind the first

// Input for messages: of more than `most_quoted` bytes, the beginning and how many there are: "aaaa… (1000000 bytes)".
[[nodiscard]] std::string cut_input(std::string_view text);

// One line for a terminal or a log: printable(), of at most `most` bytes. If the text is longer than usual, what stands
// in quotes is cut as by cut_input; if that does not do, the middle is left out, with its length. `in_front` is only
// cut with the rest. Once more changes nothing, unless quoted text has many bytes that printable() writes out.
// O(bytes).
[[nodiscard]] std::string message_line(std::string_view text, std::string_view in_front = {},
                                       std::size_t most = most_in_line);

class Error;
enum class Severity : std::uint8_t { error, warning, internal };

// "usmp-plan: error: text" and a line break. The text may have several lines. O(bytes).
void tell(std::ostream& err, Severity severity, std::string_view text);
void tell(std::ostream& err, const Error& error);

}  // namespace usmp

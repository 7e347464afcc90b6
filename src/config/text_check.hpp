// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What the bytes of a pools file must be before a YAML parser sees them.
#pragma once

#include <string_view>

namespace usmp::config {

[[nodiscard]] constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20U || c == '\x7f'; }

// May stand at the start of the text; no column counts it.
inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

// Throws Error of kind usage, with line and column unless the text is too long: text over max_text_bytes, not UTF-8,
// control characters, tabs in an indentation, a carriage return that ends no line. yaml-cpp takes some of these in
// silence (it drops single carriage returns and guesses UTF-16) and explains others badly.
void check_text(std::string_view text);

}  // namespace usmp::config

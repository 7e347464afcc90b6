// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Makes names and texts of input files safe to show on a terminal and in a log.
#pragma once

#include <string>
#include <string_view>

namespace usmp {

// Escapes everything except plain UTF-8 characters: control characters as in C ("\n", "\x1b"), characters that reorder,
// hide or break a line as "\u202e", invalid UTF-8 bytes as "\xff". The result is one line without terminal control
// sequences. O(bytes).
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace usmp

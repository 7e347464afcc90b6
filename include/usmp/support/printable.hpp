// Names and texts of input files as they may be shown on a terminal and in a log.
#pragma once

#include <string>
#include <string_view>

namespace usmp {

// The text with all that is no plain character of UTF-8 written out: control characters as in C ("\n", "\x1b"),
// characters that reorder, hide or break a line as "\u202e", bytes that are no UTF-8 as "\xff". So it stays one line,
// says nothing to the terminal, and a log reads as it was written. O(bytes).
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace usmp

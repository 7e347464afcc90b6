// Where a byte of a text stands, for messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace usmp {

// "line L, column C", both from 1, columns in bytes. `byte` counts from 1 too, as nlohmann's parse errors do; 0 is the
// first byte, and beyond the text is behind its last one. O(byte).
[[nodiscard]] std::string line_and_column(std::string_view text, std::size_t byte);

}  // namespace usmp

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Lists of numbers in texts of C. Tables of constants are most of the megabytes that are read, and nothing but their
// values is of interest: passes over a text jump over them.
#pragma once

#include <cstddef>
#include <string_view>

#include "usmp/support/function_ref.hpp"

namespace usmp {

// The end of the last comma or blank in the stretch that begins at `from`, behind a brace, and in which nothing but
// numbers, signs, commas and blanks stand (no name, bracket, comment, literal or directive); `from` if it has none.
// `from` is not 0. O(the stretch), many bytes at once.
[[nodiscard]] std::size_t behind_numbers(std::string_view text, std::size_t from);

// The same stretch in pieces of at most a megabyte, in order.
void for_numbers_behind(std::string_view text, std::size_t from, FunctionRef<void(std::string_view)> piece);

// Behind the number that begins at `at` as C's preprocessor takes it: "0x1.8p-3f". `at` itself if none does.
[[nodiscard]] std::size_t behind_number(std::string_view text, std::size_t at);

}  // namespace usmp

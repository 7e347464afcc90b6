// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The values of tables of constants in the spellings that TVM and this program use, in bulk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {

struct Listed {
  std::size_t end = 0;  // behind the comma of the last one
  std::int64_t count = 0;
};

// Appends to the bytes of `data` the numbers that stand from `at` on, `most` at the most: decimal or hexadecimal
// without suffix but 'f', perhaps with one sign, a comma behind each and nothing but blanks between. Ends in front of
// what is spelled otherwise or what the type does not hold, which the lexer then reads, or refuses.
[[nodiscard]] Listed append_listed(std::string_view text, std::size_t at, std::int64_t most, tir::Constant& data);

}  // namespace usmp::tvm_c

// SPDX-License-Identifier: Apache-2.0
// The size of an array, as people write it.
#pragma once

#include <cstdint>
#include <optional>

#include "tvm_c/file_scope.hpp"
#include "tvm_c/lexer.hpp"

namespace usmp::tvm_c {

inline constexpr std::int64_t max_pool = std::int64_t{1} << 31;

// What stands in a bracket, if it is a number below max_pool: 768, 0x300, 20 * 1024, (WIDTH + 2) * 8. Brackets in it
// are at most 16 deep.
[[nodiscard]] std::optional<std::int64_t> array_extent(const Lexer& tokens, const NumberOf& number_of);

}  // namespace usmp::tvm_c

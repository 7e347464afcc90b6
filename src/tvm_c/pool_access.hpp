// SPDX-License-Identifier: Apache-2.0
// What somebody added to C that TVM planned so that firmware knows where a pool is: for its memory protection unit,
// say.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tvm_c/file_scope.hpp"
#include "tvm_c/macros.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {

// `item` of a file with `text`, if it is a function without parameters that returns the address of one of `pools` or
// its size, `uint8_t* f(void) { return &sram[0]; }`, or a variable that holds such an address. It has no other names
// but of C's types and uses no other pool. O(item's text).
[[nodiscard]] std::optional<PoolAccess> pool_access_of(const Item& item, std::string_view text, const Names& pools);

}  // namespace usmp::tvm_c

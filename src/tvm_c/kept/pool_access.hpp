// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What somebody added to C that TVM planned so that firmware knows where a pool is: for its memory protection unit,
// say.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/macros.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {

// The pool that functions of the file tell of, by their names.
using PoolAccessors = std::map<std::string, std::string, std::less<>>;

struct FoundPoolAccess {
  PoolAccess access;
  Names calls;  // of the accessors
};

// `item` of a file with `text`, if it is a function that returns the address or the size of one of `pools` or writes
// them where its parameters point, `uint8_t* f(void) { return &sram[0]; }`, or a variable that holds one; it may call
// `accessors`. It has no other names but of C's types and uses no other pool. O(item's text).
[[nodiscard]] std::optional<FoundPoolAccess> pool_access_of(const Item& item, const Code& file, const Names& pools,
                                                            const PoolAccessors& accessors);

}  // namespace usmp::tvm_c

// SPDX-License-Identifier: Apache-2.0
// What somebody added to C that TVM planned, to pass a pool on: to a function that cleans its cache, or that clears it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/stays/pool_params.hpp"
#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/macros.hpp"

namespace usmp::tvm_c {

struct PassedPools {
  Names pools;
  Names callees;                // that get them
  std::vector<PoolEdit> edits;  // in the order of the text: calls in the place of addresses and sizes
};

// Of a pool of the module with this symbol, "tvmgen_m": the function that returns its address. With "_size" behind it,
// that for its size.
[[nodiscard]] std::string pool_function(const std::string& symbol, std::string_view pool);

// A function of a file with `text` that passes some of `pools` on, clean((uint32_t*)sram, sizeof(sram)), and does
// nothing else with them: all arguments of such a call are addresses and sizes of pools, zeros, strings, and of memset
// the second is any number; what a call returns is not used as an address. So nothing says how large the pool is but
// its size. Nothing: it mentions none, uses one otherwise, or has more than 64 such arguments. `macros`: of the file.
// O(item's text · log).
[[nodiscard]] std::optional<PassedPools> passed_pools(const Item& item, std::string_view text, const Names& pools,
                                                      const Macros& macros, const std::string& symbol);

}  // namespace usmp::tvm_c

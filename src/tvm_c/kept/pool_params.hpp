// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Functions whose C stays as it is, although TVM has planned memory for them: they get TVM's pools and take buffers at
// offsets of these.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/text/file_scope.hpp"
#include "usmp/support/checked.hpp"

namespace usmp::tvm_c {

// A piece of a file that is replaced: a number, as offsets count from the lowest one of the pool in that function, or
// an address that nothing reads.
struct PoolEdit {
  std::size_t at = 0;
  std::size_t size = 0;
  std::string text;
};

// A parameter that is a pool.
struct PoolParam {
  std::string pool;  // "sram" of sram_3_var
  bool is_used = false;
  bool is_whole = false;  // its address is taken as a number, by what may use all of it
  // It is a struct of constants, which the function's text names instead of the parameter (kept_constants.hpp).
  bool is_named = false;
  Bytes begin = 0;           // the lowest offset that is taken
  Bytes last = 0;            // the highest one
  std::optional<Bytes> end;  // behind the last byte used; nothing: not known
  struct Offset {
    std::size_t at = 0;  // of the number's token in the file
    std::size_t size = 0;
    Bytes value = 0;
  };
  std::vector<Offset> offsets;  // in the order of the text
  std::vector<PoolEdit> cuts;   // of offsets that nothing reads, in the same order
  std::vector<PoolEdit> names;  // of the parameter, that are not cut, with the pool's instead; likewise
};

// Functions whose C stays, by name.
using KeptPools = std::map<std::string, std::vector<std::optional<PoolParam>>, std::less<>>;

struct PoolMacros {
  Names pools;    // names like those of parameters that are pools, in macros and other directives
  Names pasting;  // macros that make names, a##b, by themselves or through others
};

// By position in the parameter list; nothing: no pool. A buffer's size is known where C says it, {buffer, size}, which
// is how CMSIS-NN gets its context, and does nothing else with it. Throws SyntaxError: a pool is used otherwise than by
// (&(pool[N])), or macros may name it.
[[nodiscard]] std::vector<std::optional<PoolParam>> pool_params(const FunctionText& function, const PoolMacros& macros);

// From all macros of these files and headers. O(bytes · log names).
[[nodiscard]] PoolMacros pool_macros(std::span<const Code> files);

[[nodiscard]] std::vector<PoolEdit> edits_of(const std::vector<std::optional<PoolParam>>& params);
// The text of [begin, end) with those of `edits`, which are in the order of the text, that are in it.
[[nodiscard]] std::string edited(std::string_view text, std::size_t begin, std::size_t end,
                                 const std::vector<PoolEdit>& edits);

}  // namespace usmp::tvm_c

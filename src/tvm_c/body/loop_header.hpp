// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What stands between the brackets of a loop: for (int32_t i = a; i < b; ++i), as TVM writes it and as people do.
#pragma once

#include <cstdint>
#include <optional>

#include "tvm_c/body/expressions.hpp"
#include "tvm_c/body/values.hpp"
#include "tvm_c/text/lexer.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {

struct LoopHeader {
  std::optional<tir::DataType> type;  // of the counter; nothing: it is declared in front of the loop
  bool is_open = false;               // a type of other sizes on other machines
  Token name;                         // of the counter
  Value first;
  Token compare;  // the counter with the end: < <= > >= !=
  Value end;
  std::int64_t step = 1;  // not 0, at most INT32_MAX either way
};

// The loop's header. Throws SyntaxError.
[[nodiscard]] LoopHeader read_loop_header(const c::Stmt& stmt, Expressions& code);

// How often the loop between these numbers runs. It ends, and no value leaves the counter's type or [INT32_MIN,
// INT32_MAX], or SyntaxError.
[[nodiscard]] std::int64_t iterations_of(const LoopHeader& header, tir::DataType counter, std::int64_t first,
                                         std::int64_t end);

// Throws SyntaxError at the offset: C computes the end of a loop in front of each iteration, TIR once, and a loop
// changes its own.
void check_loops(const tir::Function& function, std::size_t offset);

}  // namespace usmp::tvm_c

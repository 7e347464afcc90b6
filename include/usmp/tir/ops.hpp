// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// TIR's operators, as tir.Call names them: one table, one row each.
//
// All properties of an operator are in its row; a new operator is a new row. Expressions hold the id, so no other code
// compares names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace usmp::tir {

enum class Op : std::uint8_t {
  none,   // no call
  other,  // a name that is not in the table; Expr::text holds it
  acos,
  acosh,
  address_of,
  asin,
  asinh,
  assume,
  atan,
  atan2,
  atanh,
  bitwise_and,
  bitwise_not,
  bitwise_or,
  bitwise_xor,
  call_extern,
  call_pure_extern,
  ceil,
  clz,
  copysign,
  cos,
  cosh,
  erf,
  exp,
  exp10,
  exp2,
  fabs,
  floor,
  fma,
  fmod,
  handle_add_byte_offset,
  hypot,
  if_then_else,
  isfinite,
  isinf,
  isnan,
  isnullptr,
  large_uint_imm,
  likely,
  log,
  log10,
  log1p,
  log2,
  lookup_param,
  nearbyint,
  nextafter,
  popcount,
  pow,
  prefetch,
  q_multiply_shift,
  q_multiply_shift_per_axis,
  reinterpret,
  ret,
  round,
  rsqrt,
  shift_left,
  shift_right,
  sigmoid,
  sin,
  sinh,
  sqrt,
  tan,
  tanh,
  trunc,
  tvm_access_ptr,
  tvm_call_cpacked,
  tvm_call_packed,
  tvm_check_return,
  tvm_stack_make_array,
  tvm_struct_set,
  tvm_throw_last_error,
  type_annotation,
  undef,
  // Operators of this program, made by builders and lowering. Readers reject their names.
  dot4,  // sum + (x[0] + n) * w[0] + … + (x[3] + n) * w[3], wrapping: an int32 sum, loads of x[0] and w[0], which
         // are int8, uint8 or int16, and the literal n; x[i] + n fits 16 bits
  // A statement that adds blocks of sums of products. Operands: an int32 load of sum[0], loads of x[0] and w[0], which
  // are int8, uint8 or int16; int32 values: whether sums are added to (else they begin at 0), blocks, the distance of
  // the weights of two blocks, fours; literals n and t, which is 4 or 8. For b in [0, blocks), i in [0, t):
  //   sum[t·b + i] += (x[k] + n) · w[distance·b + 4·t·(k / 4) + 4·i + k % 4] over k in [0, 4·fours),
  // wrapping. x[k] + n fits 16 bits. fours <= 0: nothing happens.
  dot_run,
  lane_product,  // sum + (x[i] + n) * w[i], wrapping: operands as those of dot4, then the literal i in [0, 4). Those of
                 // all i use the same x and w
  // A statement that adds sums of products side by side. Operands: the first four of dot_run; int32 values: blocks,
  // taps, the distances of x and of w from tap to tap; literal n. For i in [0, 4·blocks):
  //   sum[i] += (x[t·distance of x + i] + n) · w[t·distance of w + i] over t in [0, taps),
  // wrapping. taps <= 0: nothing happens.
  lane_run,
  // A statement that adds up windows of sums of products of bytes side by side, whose weights lie in blocks of four
  // sums. Operands: the first three of dot_run, of a block's first weight; int32 values: blocks, the distance of their
  // weights; of the window's first weight in a block; rows, the distances of x and of w from row to row, taps of a row,
  // the distance of x from tap to tap; literal n; the place of the first tap; literals m, s. i in [0, 4·blocks), j < s:
  //   sum[s·i + j] = Σ (x[place(r, t) + i] + n) · w[distance·(i / 4 + j·blocks) + first + r·distance of w + 4·t +
  //   i % 4] over rows r, taps t, with place(r, t) = the first + r·distance of x by row + t·that of x by tap,
  // wrapping; of a ring, m > 0, place(r, t) mod m: the first place is less than m and no distance of x is more. x[k] +
  // n fits 16 bits. Weights of two blocks do not overlap. rows <= 0 or taps <= 0: sums are 0.
  lane_window,
  memory_fence,   // where memory may change hands between buffers of different types: no access may move across it: no
                  // operands, void
  multiply_high,  // x · y · 2^−(32 + n), rounded to nearest, halves up: int32 operands x, y and n in [1, 31], or a
                  // literal 0
  // A statement that adds up blocks of four sums of products of bytes, whose weights are pairs 256·a + b
  // (paired_weight). Operands: an int32 load of sum[0], a load of x[0], which is int8 or uint8, an int16 load of w[0];
  // int32 values: blocks, fours >= 1; literal n. For b in [0, blocks), i in [0, 4), and v = w + (8 + 8·fours)·b:
  //   sum[4·b + i] = Σ (x[k] + n) · paired_weight(v[8 + 8·(k / 4) + 2·i + k % 4 / 2], k) over k in [0, 4·fours).
  // It fits 24 bits. The four numbers of 32 bits in v[0] to v[7] are what sums of products of x and pairs lack of 256
  // times these (kernels/pairs.hpp).
  pair_run,
  paired_weight,          // of 256·a + b, an int16, where a and b fit 8 bits: a if the int32 k is even, else b
  q_multiply_shift_half,  // q_multiply_shift where TVM's factor is a literal 1 << 30, one half, and its shift one, too:
                          // x · 2^(shift − 1), rounded once, in 32 bits. The operands stay as they are (builder.hpp)
  // A statement that adds rows of sums of products. Operands: the first four of dot_run; int32 values: sums, the
  // distance of the weights of two sums, terms; literals n and m. For i in [0, sums):
  //   sum[i] += (x[k] + n) · (w[distance·i + k] + m) over k in [0, terms),
  // wrapping. x[k] + n and w[k] + m fit 16 bits. terms <= 0: nothing happens.
  row_run,
  // A statement that adds windows of sums of products of bytes. Operands: the first four of dot_run; int32 values:
  // blocks of four sums; the distance of the weights of two sums, rows, the distances of x and of w from row to row,
  // terms of a row; literal n. For i in [0, 4·blocks):
  //   sum[i] += (x[r·distance of x + k] + n) · w[distance·i + r·distance of w + k] over r in [0, rows), k in [0,
  //   terms),
  // wrapping. x[k] + n fits 16 bits. rows <= 0 or terms <= 0: sums are kept, or 0.
  window_run,
};

// The arity of operators with any number of operands.
inline constexpr std::size_t any_arity = SIZE_MAX;

struct OpInfo {
  Op op = Op::other;
  std::string_view name;         // TVM's: "tir.exp"
  bool is_pure = false;          // has no side effects: may be dropped if its value is unused
  bool is_elementwise = false;   // pure, and depends only on its operands: may be moved and repeated
  bool is_folded = false;        // `constant_value` computes it
  bool derives_pointer = false;  // a pointer result is one of its operands, possibly with an offset
  std::uint8_t cost = 0;         // scalar operations, roughly (loops/cost.hpp)
  std::size_t arity = any_arity;
  std::string_view c_name = {};  // function of math.h for double, with the suffix 'f' for float; empty: none
};

// All rows, in the order of the ids.
[[nodiscard]] std::span<const OpInfo> all_ops();

// The row; an empty one for `none` and `other`. O(1).
[[nodiscard]] const OpInfo& info(Op op);

// By TVM's name; `other`: not in the table. O(log operators).
[[nodiscard]] Op op_of(std::string_view name);

// Whether the name is reserved for operators of this program.
[[nodiscard]] bool is_reserved_op_name(std::string_view name);

// Those that store what they compute: statements.
[[nodiscard]] constexpr bool is_run(Op op) {
  return op == Op::dot_run || op == Op::lane_run || op == Op::row_run || op == Op::window_run || op == Op::pair_run ||
         op == Op::lane_window;
}
[[nodiscard]] constexpr bool is_bitwise(Op op) { return op >= Op::bitwise_and && op <= Op::bitwise_xor; }
[[nodiscard]] constexpr bool is_shift(Op op) { return op == Op::shift_left || op == Op::shift_right; }

}  // namespace usmp::tir

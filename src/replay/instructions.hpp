// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What a program comes to for the replay: integers in registers, and accesses to the sites that share bytes.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "usmp/problem/storage.hpp"
#include "usmp/replay/replay.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::replay {

// Holds one integer. Each is written by one instruction, or by none if it is a constant.
using Register = std::uint32_t;

// The value of a register of which nothing is known.
inline constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::min();

enum class Code : std::uint8_t {
  // From registers `a`, `b` and `c` to `result`; those of one operand have it as `b`, too. A value outside of [low,
  // high] is unknown, and so is one of an unknown operand.
  add,
  sub,
  mul,
  div,
  mod,
  floor_div,
  floor_mod,
  min,
  max,
  less,           // 1 or 0
  less_or_equal,  // 1 or 0
  equal,          // 1 or 0
  not_,
  and_,
  or_,
  shift_left,
  shift_right,
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  choose,  // `b` or `c` as `a` says
  copy,
  // On site `b`.
  load,   // `c` bytes from the offset in register `a` on, `times` times
  store,  // the same, once
  allocate,
  touch,  // it may be accessed in ways that are not followed: `reason`
  // To the instruction that is `jump` further.
  loop,  // `a` from `b` on, as often as `c` says; `jump` is behind the loop_end. `low`: estimated steps of the whole
         // loop if no other is around it, else 0
  even_loop,  // the same, of a loop that has values and loads only, whose offsets are linear in `a`
  loop_end,   // `a` counts up to `result` of the loop; `jump` is to the first instruction of the body. `low`: steps of
              // an iteration without inner loops
  branch,     // goes on if `a` holds, else jumps; `end` is behind both branches
  jump,
  skip,  // what is between may be executed or not: `reason`
};

struct Instruction {
  Code code = Code::copy;
  Reason reason = Reason::none;
  std::uint32_t function = 0;  // index into Module::functions, of accesses
  Register result = 0;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
  std::int32_t jump = 0;
  std::int32_t end = 0;
  std::uint32_t times = 1;
  tir::VarId var = {};  // of a loop
  std::int64_t low = std::numeric_limits<std::int64_t>::min();
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
};

[[nodiscard]] constexpr bool is_access(Code code) { return code == Code::load || code == Code::store; }
[[nodiscard]] constexpr bool is_effect(Code code) {
  return is_access(code) || code == Code::allocate || code == Code::touch;
}

[[nodiscard]] constexpr bool is_value(Code code) { return code <= Code::copy; }

// Divides and shifts, which is rare. Nothing is known of what C leaves open, and of negative operands of shifts.
[[nodiscard]] std::int64_t compute_rare(Code code, std::int64_t a, std::int64_t b);

[[nodiscard]] inline std::int64_t compute_unbounded(Code code, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (code) {
    case Code::add:
      return __builtin_add_overflow(a, b, &result) ? unknown : result;
    case Code::sub:
      return __builtin_sub_overflow(a, b, &result) ? unknown : result;
    case Code::mul:
      return __builtin_mul_overflow(a, b, &result) ? unknown : result;
    case Code::min:
      return a < b ? a : b;
    case Code::max:
      return a < b ? b : a;
    case Code::less:
      return a < b ? 1 : 0;
    case Code::less_or_equal:
      return a <= b ? 1 : 0;
    case Code::equal:
      return a == b ? 1 : 0;
    case Code::and_:
      return a != 0 && b != 0 ? 1 : 0;
    case Code::or_:
      return a != 0 || b != 0 ? 1 : 0;
    case Code::not_:
      return a == 0 ? 1 : 0;
    case Code::copy:
      return a;
    case Code::bitwise_and:
      return a & b;
    case Code::bitwise_or:
      return a | b;
    case Code::bitwise_xor:
      return a ^ b;
    default:
      return compute_rare(code, a, b);
  }
}

// Computes an instruction that gives a value. This is what a replay mostly does, so it stands here.
[[nodiscard]] inline std::int64_t compute(const Instruction& instruction, const std::int64_t* registers) {
  const std::int64_t a = registers[instruction.a];
  const std::int64_t b = registers[instruction.b];
  if (a == unknown) return unknown;
  std::int64_t value = a != 0 ? b : registers[instruction.c];
  if (instruction.code != Code::choose) {
    if (b == unknown) return unknown;
    value = compute_unbounded(instruction.code, a, b);
  }
  return value < instruction.low || value > instruction.high ? unknown : value;
}

// The program from the entry on, calls unfolded.
struct Program {
  std::vector<Instruction> instructions;
  std::vector<std::int64_t> registers;  // constants have their values
  std::vector<bool> escaped;            // by site
  bool is_complete = true;              // else it was too long, and is not to be run
};

}  // namespace usmp::replay

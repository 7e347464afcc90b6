// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The table of operators, sorted by name for look-ups.
#include "usmp/tir/ops.hpp"

#include <algorithm>
#include <array>

namespace usmp::tir {
namespace {

enum Traits : unsigned {  // of a row
  nothing = 0,
  pure = 1,
  elementwise = 2 | pure,
  folded = 4,
  pointer = 8,
};

constexpr OpInfo row(Op op, std::string_view name, unsigned traits, std::uint8_t cost, std::size_t arity,
                     std::string_view c_name = {}) {
  return {.op = op,
          .name = name,
          .is_pure = (traits & pure) != 0,
          .is_elementwise = (traits & elementwise) == elementwise,
          .is_folded = (traits & folded) != 0,
          .derives_pointer = (traits & pointer) != 0,
          .cost = cost,
          .arity = arity,
          .c_name = c_name};
}

constexpr std::uint8_t unknown_cost = 20;
constexpr std::string_view reserved = "usmp.";

// In the order of the ids, which is that of the names.
constexpr std::array table = {
    row(Op::none, "", nothing, unknown_cost, any_arity),
    row(Op::other, "", nothing, unknown_cost, any_arity),
    row(Op::acos, "tir.acos", elementwise, 20, 1, "acos"),
    row(Op::acosh, "tir.acosh", elementwise, 20, 1, "acosh"),
    row(Op::address_of, "tir.address_of", pure, 20, 1),
    row(Op::asin, "tir.asin", elementwise, 20, 1, "asin"),
    row(Op::asinh, "tir.asinh", elementwise, 20, 1, "asinh"),
    row(Op::assume, "tir.assume", pure, 20, 1),
    row(Op::atan, "tir.atan", elementwise, 20, 1, "atan"),
    row(Op::atan2, "tir.atan2", elementwise, 20, 2, "atan2"),
    row(Op::atanh, "tir.atanh", elementwise, 20, 1, "atanh"),
    row(Op::bitwise_and, "tir.bitwise_and", elementwise | folded, 1, 2),
    row(Op::bitwise_not, "tir.bitwise_not", elementwise | folded, 1, 1),
    row(Op::bitwise_or, "tir.bitwise_or", elementwise | folded, 1, 2),
    row(Op::bitwise_xor, "tir.bitwise_xor", elementwise | folded, 1, 2),
    row(Op::call_extern, "tir.call_extern", nothing, 20, any_arity),
    row(Op::call_pure_extern, "tir.call_pure_extern", pure, 20, any_arity),
    row(Op::ceil, "tir.ceil", elementwise, 20, 1, "ceil"),
    row(Op::clz, "tir.clz", elementwise, 20, 1),
    row(Op::copysign, "tir.copysign", elementwise, 20, 2, "copysign"),
    row(Op::cos, "tir.cos", elementwise, 20, 1, "cos"),
    row(Op::cosh, "tir.cosh", elementwise, 20, 1, "cosh"),
    row(Op::erf, "tir.erf", elementwise, 20, 1, "erf"),
    row(Op::exp, "tir.exp", elementwise, 20, 1, "exp"),
    row(Op::exp10, "tir.exp10", elementwise, 20, 1),
    row(Op::exp2, "tir.exp2", elementwise, 20, 1, "exp2"),
    row(Op::fabs, "tir.fabs", elementwise, 20, 1, "fabs"),
    row(Op::floor, "tir.floor", elementwise, 20, 1, "floor"),
    row(Op::fma, "tir.fma", elementwise, 20, 3, "fma"),
    row(Op::fmod, "tir.fmod", elementwise, 20, 2, "fmod"),
    row(Op::handle_add_byte_offset, "tir.handle_add_byte_offset", pointer, 20, 2),
    row(Op::hypot, "tir.hypot", elementwise, 20, 2, "hypot"),
    row(Op::if_then_else, "tir.if_then_else", elementwise | folded | pointer, 0, 3),
    row(Op::isfinite, "tir.isfinite", elementwise, 20, 1),
    row(Op::isinf, "tir.isinf", elementwise, 20, 1),
    row(Op::isnan, "tir.isnan", elementwise, 20, 1),
    row(Op::isnullptr, "tir.isnullptr", pure | pointer, 20, 1),
    row(Op::large_uint_imm, "tir.large_uint_imm", elementwise, 20, 2),
    row(Op::likely, "tir.likely", elementwise | folded, 0, 1),
    row(Op::log, "tir.log", elementwise, 20, 1, "log"),
    row(Op::log10, "tir.log10", elementwise, 20, 1, "log10"),
    row(Op::log1p, "tir.log1p", elementwise, 20, 1, "log1p"),
    row(Op::log2, "tir.log2", elementwise, 20, 1, "log2"),
    row(Op::lookup_param, "tir.lookup_param", nothing, 20, any_arity),
    row(Op::nearbyint, "tir.nearbyint", elementwise, 20, 1, "nearbyint"),
    row(Op::nextafter, "tir.nextafter", elementwise, 20, 2, "nextafter"),
    row(Op::popcount, "tir.popcount", elementwise, 20, 1),
    row(Op::pow, "tir.pow", elementwise, 20, 2, "pow"),
    row(Op::prefetch, "tir.prefetch", pure, 20, any_arity),
    row(Op::q_multiply_shift, "tir.q_multiply_shift", elementwise, 4, 4),
    row(Op::q_multiply_shift_per_axis, "tir.q_multiply_shift_per_axis", elementwise, 4, 7),
    row(Op::reinterpret, "tir.reinterpret", pure | folded | pointer, 20, 1),
    row(Op::ret, "tir.ret", nothing, 20, 1),
    row(Op::round, "tir.round", elementwise, 20, 1, "round"),
    row(Op::rsqrt, "tir.rsqrt", elementwise, 20, 1),
    row(Op::shift_left, "tir.shift_left", elementwise | folded, 1, 2),
    row(Op::shift_right, "tir.shift_right", elementwise | folded, 1, 2),
    row(Op::sigmoid, "tir.sigmoid", elementwise, 20, 1),
    row(Op::sin, "tir.sin", elementwise, 20, 1, "sin"),
    row(Op::sinh, "tir.sinh", elementwise, 20, 1, "sinh"),
    row(Op::sqrt, "tir.sqrt", elementwise, 20, 1, "sqrt"),
    row(Op::tan, "tir.tan", elementwise, 20, 1, "tan"),
    row(Op::tanh, "tir.tanh", elementwise, 20, 1, "tanh"),
    row(Op::trunc, "tir.trunc", elementwise, 20, 1, "trunc"),
    row(Op::tvm_access_ptr, "tir.tvm_access_ptr", pure | pointer, 20, 5),
    row(Op::tvm_call_cpacked, "tir.tvm_call_cpacked", nothing, 20, any_arity),
    row(Op::tvm_call_packed, "tir.tvm_call_packed", nothing, 20, any_arity),
    row(Op::tvm_check_return, "tir.tvm_check_return", nothing, 20, 3),
    row(Op::tvm_stack_make_array, "tir.tvm_stack_make_array", pointer, 20, any_arity),
    row(Op::tvm_struct_set, "tir.tvm_struct_set", nothing, 20, any_arity),
    row(Op::tvm_throw_last_error, "tir.tvm_throw_last_error", nothing, 20, 0),
    row(Op::type_annotation, "tir.type_annotation", pure, 20, 0),
    row(Op::undef, "tir.undef", pure, 20, 0),
    row(Op::dot4, "usmp.dot4", pure, 8, 4),
    row(Op::dot_run, "usmp.dot_run", nothing, 20, 9),
    row(Op::lane_product, "usmp.lane_product", pure, 2, 5),
    row(Op::lane_run, "usmp.lane_run", nothing, 20, 9),
    row(Op::lane_window, "usmp.lane_window", nothing, 20, 15),
    row(Op::memory_fence, "usmp.memory_fence", nothing, 20, 0),
    row(Op::multiply_high, "usmp.multiply_high", elementwise, 4, 3),
    row(Op::pair_run, "usmp.pair_run", nothing, 20, 6),
    row(Op::paired_weight, "usmp.paired_weight", elementwise, 4, 2),
    row(Op::q_multiply_shift_half, "usmp.q_multiply_shift_half", elementwise, 4, 4),
    row(Op::row_run, "usmp.row_run", nothing, 20, 9),
    row(Op::window_run, "usmp.window_run", nothing, 20, 11),
};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (static_cast<std::size_t>(table[i].op) != i) return false;
    if (i > 2 && table[i].name <= table[i - 1].name) return false;
  }
  return table.size() == static_cast<std::size_t>(Op::window_run) + 1;
}
static_assert(is_in_order());

}  // namespace

std::span<const OpInfo> all_ops() { return table; }

const OpInfo& info(Op op) { return table[static_cast<std::size_t>(op)]; }

Op op_of(std::string_view name) {
  const auto* const first = table.begin() + 2;
  const auto* const found = std::ranges::lower_bound(first, table.end(), name, {}, &OpInfo::name);
  return found != table.end() && found->name == name ? found->op : Op::other;
}

bool is_reserved_op_name(std::string_view name) { return name.starts_with(reserved); }

}  // namespace usmp::tir

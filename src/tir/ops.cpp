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

constexpr OpInfo row(Op op, std::string_view name, unsigned traits, std::uint8_t cost, std::string_view c_name = {},
                     std::size_t arity = 1) {
  return {.op = op,
          .name = name,
          .is_pure = (traits & pure) != 0,
          .is_elementwise = (traits & elementwise) == elementwise,
          .is_folded = (traits & folded) != 0,
          .derives_pointer = (traits & pointer) != 0,
          .cost = cost,
          .c_name = c_name,
          .arity = arity};
}

constexpr std::uint8_t unknown_cost = 20;
constexpr std::string_view reserved = "usmp.";

// In the order of the ids, which is that of the names.
constexpr std::array table = {
    row(Op::none, "", nothing, unknown_cost),
    row(Op::other, "", nothing, unknown_cost),
    row(Op::acos, "tir.acos", elementwise, 20, "acos", 1),
    row(Op::acosh, "tir.acosh", elementwise, 20, "acosh", 1),
    row(Op::address_of, "tir.address_of", pure, 20),
    row(Op::asin, "tir.asin", elementwise, 20, "asin", 1),
    row(Op::asinh, "tir.asinh", elementwise, 20, "asinh", 1),
    row(Op::assume, "tir.assume", pure, 20),
    row(Op::atan, "tir.atan", elementwise, 20, "atan", 1),
    row(Op::atan2, "tir.atan2", elementwise, 20, "atan2", 2),
    row(Op::atanh, "tir.atanh", elementwise, 20, "atanh", 1),
    row(Op::bitwise_and, "tir.bitwise_and", elementwise | folded, 1),
    row(Op::bitwise_not, "tir.bitwise_not", elementwise | folded, 1),
    row(Op::bitwise_or, "tir.bitwise_or", elementwise | folded, 1),
    row(Op::bitwise_xor, "tir.bitwise_xor", elementwise | folded, 1),
    row(Op::call_extern, "tir.call_extern", nothing, 20),
    row(Op::call_pure_extern, "tir.call_pure_extern", pure, 20),
    row(Op::ceil, "tir.ceil", elementwise, 20, "ceil", 1),
    row(Op::clz, "tir.clz", elementwise, 20),
    row(Op::copysign, "tir.copysign", elementwise, 20, "copysign", 2),
    row(Op::cos, "tir.cos", elementwise, 20, "cos", 1),
    row(Op::cosh, "tir.cosh", elementwise, 20, "cosh", 1),
    row(Op::erf, "tir.erf", elementwise, 20, "erf", 1),
    row(Op::exp, "tir.exp", elementwise, 20, "exp", 1),
    row(Op::exp10, "tir.exp10", elementwise, 20),
    row(Op::exp2, "tir.exp2", elementwise, 20, "exp2", 1),
    row(Op::fabs, "tir.fabs", elementwise, 20, "fabs", 1),
    row(Op::floor, "tir.floor", elementwise, 20, "floor", 1),
    row(Op::fma, "tir.fma", elementwise, 20, "fma", 3),
    row(Op::fmod, "tir.fmod", elementwise, 20, "fmod", 2),
    row(Op::handle_add_byte_offset, "tir.handle_add_byte_offset", pointer, 20),
    row(Op::hypot, "tir.hypot", elementwise, 20, "hypot", 2),
    row(Op::if_then_else, "tir.if_then_else", elementwise | folded | pointer, 0),
    row(Op::isfinite, "tir.isfinite", elementwise, 20),
    row(Op::isinf, "tir.isinf", elementwise, 20),
    row(Op::isnan, "tir.isnan", elementwise, 20),
    row(Op::isnullptr, "tir.isnullptr", pure | pointer, 20),
    row(Op::large_uint_imm, "tir.large_uint_imm", elementwise, 20),
    row(Op::likely, "tir.likely", elementwise | folded, 0),
    row(Op::log, "tir.log", elementwise, 20, "log", 1),
    row(Op::log10, "tir.log10", elementwise, 20, "log10", 1),
    row(Op::log1p, "tir.log1p", elementwise, 20, "log1p", 1),
    row(Op::log2, "tir.log2", elementwise, 20, "log2", 1),
    row(Op::lookup_param, "tir.lookup_param", nothing, 20),
    row(Op::nearbyint, "tir.nearbyint", elementwise, 20, "nearbyint", 1),
    row(Op::nextafter, "tir.nextafter", elementwise, 20, "nextafter", 2),
    row(Op::popcount, "tir.popcount", elementwise, 20),
    row(Op::pow, "tir.pow", elementwise, 20, "pow", 2),
    row(Op::prefetch, "tir.prefetch", pure, 20),
    row(Op::q_multiply_shift, "tir.q_multiply_shift", elementwise, 4),
    row(Op::q_multiply_shift_per_axis, "tir.q_multiply_shift_per_axis", elementwise, 4),
    row(Op::reinterpret, "tir.reinterpret", pure | folded | pointer, 20),
    row(Op::ret, "tir.ret", nothing, 20),
    row(Op::round, "tir.round", elementwise, 20, "round", 1),
    row(Op::rsqrt, "tir.rsqrt", elementwise, 20),
    row(Op::shift_left, "tir.shift_left", elementwise | folded, 1),
    row(Op::shift_right, "tir.shift_right", elementwise | folded, 1),
    row(Op::sigmoid, "tir.sigmoid", elementwise, 20),
    row(Op::sin, "tir.sin", elementwise, 20, "sin", 1),
    row(Op::sinh, "tir.sinh", elementwise, 20, "sinh", 1),
    row(Op::sqrt, "tir.sqrt", elementwise, 20, "sqrt", 1),
    row(Op::tan, "tir.tan", elementwise, 20, "tan", 1),
    row(Op::tanh, "tir.tanh", elementwise, 20, "tanh", 1),
    row(Op::trunc, "tir.trunc", elementwise, 20, "trunc", 1),
    row(Op::tvm_access_ptr, "tir.tvm_access_ptr", pure | pointer, 20),
    row(Op::tvm_call_cpacked, "tir.tvm_call_cpacked", nothing, 20),
    row(Op::tvm_call_packed, "tir.tvm_call_packed", nothing, 20),
    row(Op::tvm_check_return, "tir.tvm_check_return", nothing, 20),
    row(Op::tvm_stack_make_array, "tir.tvm_stack_make_array", pointer, 20),
    row(Op::tvm_struct_set, "tir.tvm_struct_set", nothing, 20),
    row(Op::tvm_throw_last_error, "tir.tvm_throw_last_error", nothing, 20),
    row(Op::type_annotation, "tir.type_annotation", pure, 20),
    row(Op::undef, "tir.undef", pure, 20),
    row(Op::hidden_zero, "usmp.hidden_zero", pure, 20),
    row(Op::memory_fence, "usmp.memory_fence", nothing, 20),
    row(Op::widened, "usmp.widened", pure, 20),
};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (static_cast<std::size_t>(table[i].op) != i) return false;
    if (i > 2 && table[i].name <= table[i - 1].name) return false;
  }
  return table.size() == static_cast<std::size_t>(Op::widened) + 1;
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

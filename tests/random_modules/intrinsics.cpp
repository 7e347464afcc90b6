// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// TIR's operators (tir.Call) in the reference interpreter.
#include <bit>
#include <cmath>

#include "random_modules/interpreter.hpp"

namespace usmp::random_modules {
namespace {

using tir::DataType;
using tir::Expr;

// f(x) in the precision that C computes in.
template <class Function>
Scalar in_precision(DataType type, double x, const Function& function) {
  if (type.bits == 64) return real(function(x));
  return real(rounded(static_cast<double>(function(static_cast<float>(x))), type));
}
template <class Function>
Scalar in_precision(DataType type, double x, double y, const Function& function) {
  if (type.bits == 64) return real(function(x, y));
  return real(rounded(static_cast<double>(function(static_cast<float>(x), static_cast<float>(y))), type));
}

std::int64_t paired_weight(std::int64_t pair, std::int64_t k) {
  const auto low = static_cast<std::int8_t>(pair);
  return k % 2 == 0 ? (pair - low) / 256 : low;
}

}  // namespace

Scalar Interpreter::intrinsic(const Expr& expr, std::size_t lane) {
  const std::string_view op = tir::operator_name(expr);
  if (op == "tir.tvm_check_return") throw Undefined("tvm_check_return inside an expression");
  if (const auto named = tir::named_call(expr)) {
    if (lane != 0) throw Undefined("a call gives a vector");
    return call(*named, expr.type);
  }
  if (expr.type.is_handle()) return pointer(expr);
  if (op == "tir.if_then_else") {
    return number(*expr.operands.at(0), lane) != 0 ? value(*expr.operands.at(1), lane)
                                                   : value(*expr.operands.at(2), lane);
  }
  if (op == "tir.likely") return value(*expr.operands.at(0), lane);
  if (op == "tir.isnullptr") return integer(pointer(*expr.operands.at(0)).instance == no_instance ? 1 : 0);
  if (op == "tir.isnan") return integer(std::isnan(value(*expr.operands.at(0), lane).real) ? 1 : 0);
  if (op == "tir.isinf") return integer(std::isinf(value(*expr.operands.at(0), lane).real) ? 1 : 0);
  if (op == "tir.isfinite") return integer(std::isfinite(value(*expr.operands.at(0), lane).real) ? 1 : 0);
  if (op == "tir.reinterpret") return reinterpreted(expr, lane);
  if (op.starts_with("tir.q_multiply_shift") || expr.op == tir::Op::q_multiply_shift_half ||
      expr.op == tir::Op::multiply_high) {
    return fixed_point(expr, lane);
  }
  if (expr.op == tir::Op::dot4 || expr.op == tir::Op::lane_product) return products(expr);
  if (expr.op == tir::Op::paired_weight) {
    return integer(paired_weight(number(*expr.operands[0]), number(*expr.operands[1])));
  }
  if (const auto result = bit_operation(expr, lane)) return *result;
  if (const auto result = math(expr, lane)) return *result;
  throw Undefined("unknown operator " + std::string(op));
}

Scalar Interpreter::products(const Expr& expr) {
  const auto element = [&](const Expr& load, std::int64_t i) {
    return memory_.load(storage_of(load), number(*load.operands[0]) + i, load.type).integer;
  };
  std::int64_t sum = number(*expr.operands[0]);
  const std::int64_t offset = number(*expr.operands[3]);
  const bool is_lane = expr.op == tir::Op::lane_product;
  const std::int64_t first = is_lane ? number(*expr.operands[4]) : 0;
  for (std::int64_t i = 0; i < 4; ++i) {  // all are read, of lanes as well
    const std::int64_t x = element(*expr.operands[1], i) + offset;
    const std::int64_t weight = element(*expr.operands[2], i);
    if (is_lane && i != first) continue;
    if (x != static_cast<std::int16_t>(x)) throw Undefined("a factor beyond 16 bits");
    sum += x * weight;
  }
  return integer(static_cast<std::int32_t>(sum));
}

Scalar Interpreter::storage_of(const Expr& load) const {
  const Variable& storage = vars_[load.var.index()];
  if (!storage.is_bound) throw Undefined("a pointer is used before it is bound");
  return storage.lanes[0];
}

void Interpreter::run_of_products(const Expr& expr) {
  const auto operand = [&](std::size_t i) { return number(*expr.operands[i]); };
  const bool is_dot = expr.op == tir::Op::dot_run;
  const bool is_row = expr.op == tir::Op::row_run;
  if (expr.op == tir::Op::window_run) return window_of_products(expr);
  if (expr.op == tir::Op::lane_window) return window_of_lanes(expr);
  if (expr.op == tir::Op::pair_run) return products_of_pairs(expr);
  const std::int64_t sums = is_row ? 1 : is_dot ? operand(8) : 4;
  const std::int64_t offset = operand(is_dot || is_row ? 7 : 8);
  const std::int64_t terms = is_row ? operand(6) : is_dot ? 4 * operand(6) : operand(5);
  const auto factor = [&](std::size_t i, std::int64_t place) {
    const Expr& load = *expr.operands[i];
    return memory_.load(storage_of(load), number(*load.operands[0]) + place, load.type).integer;
  };
  if (terms <= 0) return;
  for (std::int64_t s = 0; s < sums * operand(4); ++s) {
    const Expr& first = *expr.operands[0];
    const std::int64_t place = number(*first.operands[0]) + s;
    std::int64_t sum = operand(3) == 0 ? 0 : memory_.load(storage_of(first), place, first.type).integer;
    for (std::int64_t k = 0; k < terms; ++k) {
      step();
      const std::int64_t x = factor(1, is_dot || is_row ? k : k * operand(6) + s) + offset;
      if (x != static_cast<std::int16_t>(x)) throw Undefined("a factor beyond 16 bits");
      if (is_row) {
        const std::int64_t weight = factor(2, operand(5) * s + k) + operand(8);
        if (weight != static_cast<std::int16_t>(weight)) throw Undefined("a weight beyond 16 bits");
        sum += x * weight;
        continue;
      }
      const std::int64_t dot_weight = operand(5) * (s / sums) + k / 4 * 4 * sums + s % sums * 4 + k % 4;
      sum += x * factor(2, is_dot ? dot_weight : k * operand(7) + s);
    }
    memory_.store(storage_of(first), place, first.type, integer(static_cast<std::int32_t>(sum)));
  }
}

// Not what is in front of the pairs: C that is compiled shows whether that is right.
void Interpreter::products_of_pairs(const Expr& expr) {
  const auto operand = [&](std::size_t i) { return number(*expr.operands[i]); };
  const auto factor = [&](std::size_t i, std::int64_t place) {
    const Expr& load = *expr.operands[i];
    return memory_.load(storage_of(load), number(*load.operands[0]) + place, load.type).integer;
  };
  const std::int64_t terms = 4 * operand(4);
  const Expr& first = *expr.operands[0];
  for (std::int64_t s = 0; s < 4 * operand(3); ++s) {
    const std::int64_t block = s / 4 * (8 + 2 * terms);
    std::int64_t sum = 0;
    for (std::int64_t k = 0; k < terms; ++k) {
      step();
      const std::int64_t x = factor(1, k) + operand(5);
      if (x != static_cast<std::int16_t>(x)) throw Undefined("a factor beyond 16 bits");
      sum += x * paired_weight(factor(2, block + 8 + k / 4 * 8 + s % 4 * 2 + k % 4 / 2), k);
    }
    if (sum < -(1 << 23) || sum >= 1 << 23) throw Undefined("a sum of pairs beyond 24 bits");
    const std::int64_t place = number(*first.operands[0]) + s;
    memory_.store(storage_of(first), place, first.type, integer(sum));
  }
}

void Interpreter::window_of_lanes(const Expr& expr) {
  const auto operand = [&](std::size_t i) { return number(*expr.operands[i]); };
  const auto factor = [&](std::size_t i, std::int64_t place) {
    const Expr& load = *expr.operands[i];
    return memory_.load(storage_of(load), number(*load.operands[0]) + place, load.type).integer;
  };
  const Expr& first = *expr.operands[0];
  const std::int64_t size = operand(13);
  const std::int64_t passes = operand(14);
  for (std::int64_t n = 0; n < 4 * operand(3) * passes; ++n) {
    const std::int64_t s = n / passes;
    const std::int64_t block = s / 4 + n % passes * operand(3);
    std::int64_t sum = 0;
    for (std::int64_t r = 0; r < operand(6); ++r) {
      for (std::int64_t t = 0; t < operand(9); ++t) {
        step();
        const std::int64_t at = operand(12) + r * operand(7) + t * operand(10);
        const std::int64_t x = factor(1, (size == 0 ? at : at % size) + s) + operand(11);
        if (x != static_cast<std::int16_t>(x)) throw Undefined("a factor beyond 16 bits");
        sum += x * factor(2, operand(4) * block + operand(5) + r * operand(8) + 4 * t + s % 4);
      }
    }
    const std::int64_t place = number(*first.operands[0]) + n;
    memory_.store(storage_of(first), place, first.type, integer(static_cast<std::int32_t>(sum)));
  }
}

void Interpreter::window_of_products(const Expr& expr) {
  const auto operand = [&](std::size_t i) { return number(*expr.operands[i]); };
  const auto factor = [&](std::size_t i, std::int64_t place) {
    const Expr& load = *expr.operands[i];
    return memory_.load(storage_of(load), number(*load.operands[0]) + place, load.type).integer;
  };
  const Expr& first = *expr.operands[0];
  for (std::int64_t s = 0; s < 4 * operand(4); ++s) {
    const std::int64_t place = number(*first.operands[0]) + s;
    std::int64_t sum = operand(3) == 0 ? 0 : memory_.load(storage_of(first), place, first.type).integer;
    for (std::int64_t r = 0; r < operand(6); ++r) {
      for (std::int64_t k = 0; k < operand(9); ++k) {
        step();
        const std::int64_t x = factor(1, r * operand(7) + k) + operand(10);
        if (x != static_cast<std::int16_t>(x)) throw Undefined("a factor beyond 16 bits");
        sum += x * factor(2, operand(5) * s + r * operand(8) + k);
      }
    }
    memory_.store(storage_of(first), place, first.type, integer(static_cast<std::int32_t>(sum)));
  }
}

// --- Floats ----------------------------------------------------------------------------------------------------------

std::optional<Scalar> Interpreter::math(const Expr& expr, std::size_t lane) {
  const DataType type = expr.type;
  if (!type.is_float() || expr.operands.empty()) return std::nullopt;
  const std::string_view op = tir::operator_name(expr).substr(4);
  const double x = value(*expr.operands[0], lane).real;
#define USMP_UNARY(name) \
  if (op == #name) return in_precision(type, x, [](auto v) { return std::name(v); });
  USMP_UNARY(acos)
  USMP_UNARY(acosh)
  USMP_UNARY(asin)
  USMP_UNARY(asinh)
  USMP_UNARY(atan)
  USMP_UNARY(atanh)
  USMP_UNARY(ceil)
  USMP_UNARY(cos)
  USMP_UNARY(cosh)
  USMP_UNARY(erf)
  USMP_UNARY(exp)
  USMP_UNARY(exp2)
  USMP_UNARY(fabs)
  USMP_UNARY(floor)
  USMP_UNARY(log)
  USMP_UNARY(log10)
  USMP_UNARY(log1p)
  USMP_UNARY(log2)
  USMP_UNARY(nearbyint)
  USMP_UNARY(round)
  USMP_UNARY(sin)
  USMP_UNARY(sinh)
  USMP_UNARY(sqrt)
  USMP_UNARY(tan)
  USMP_UNARY(tanh)
  USMP_UNARY(trunc)
#undef USMP_UNARY
  if (op == "rsqrt") return in_precision(type, x, [](auto v) { return decltype(v){1} / std::sqrt(v); });
  if (op == "sigmoid") {
    return in_precision(type, x, [](auto v) { return decltype(v){1} / (decltype(v){1} + std::exp(-v)); });
  }
  if (op == "exp10") return in_precision(type, x, [](auto v) { return std::pow(decltype(v){10}, v); });
  if (expr.operands.size() < 2) return std::nullopt;
  const double y = value(*expr.operands[1], lane).real;
  if (op == "copysign" && std::isnan(y)) throw Undefined("the sign of a NaN is looked at");
#define USMP_BINARY(name) \
  if (op == #name) return in_precision(type, x, y, [](auto v, auto w) { return std::name(v, w); });
  USMP_BINARY(atan2)
  USMP_BINARY(copysign)
  USMP_BINARY(fmod)
  USMP_BINARY(hypot)
  USMP_BINARY(nextafter)
  USMP_BINARY(pow)
#undef USMP_BINARY
  if (op != "fma") return std::nullopt;
  const double z = value(*expr.operands.at(2), lane).real;
  if (type.bits == 64) return real(std::fma(x, y, z));
  return real(rounded(
      static_cast<double>(std::fma(static_cast<float>(x), static_cast<float>(y), static_cast<float>(z))), type));
}

Scalar Interpreter::reinterpreted(const Expr& expr, std::size_t lane) {
  const Expr& operand = *expr.operands.at(0);
  const DataType from = operand.type;
  if (from.bits != expr.type.bits || from.is_handle()) throw Undefined("reinterpretation of another size");
  const Scalar source = assigned(operand, lane);
  if (from.is_float() && std::isnan(source.real) && expr.type.element() != from.element()) {
    throw Undefined("bits of a NaN are looked at");
  }
  return scalar_of(bits_of(source, from.element()), expr.type.element());
}

// --- Integers --------------------------------------------------------------------------------------------------------

std::optional<Scalar> Interpreter::bit_operation(const Expr& expr, std::size_t lane) {
  const std::string_view op = tir::operator_name(expr);
  const DataType type = expr.type;
  if (op == "tir.large_uint_imm") {
    const auto low = static_cast<std::uint64_t>(number(*expr.operands.at(0)));
    const auto high = static_cast<std::uint64_t>(number(*expr.operands.at(1)));
    return integer(wrapped(static_cast<Wide>(high << 32 | (low & UINT32_MAX)), type));
  }
  if (op == "tir.popcount" || op == "tir.clz") {
    const Expr& operand = *expr.operands.at(0);
    const auto bits = static_cast<std::uint64_t>(assigned(operand, lane).integer) &
                      static_cast<std::uint64_t>(~std::uint64_t{0} >> (64 - operand.type.bits));
    if (op == "tir.popcount") return integer(std::popcount(bits));
    if (bits == 0) throw Undefined("clz of 0");
    return integer(std::countl_zero(bits) - (64 - operand.type.bits));
  }
  const bool is_shift = op == "tir.shift_left" || op == "tir.shift_right";
  const bool is_bitwise = op.starts_with("tir.bitwise_");
  if (!is_shift && !is_bitwise) return std::nullopt;
  const std::int64_t a = number(*expr.operands.at(0), lane);
  if (op == "tir.bitwise_not") return integer(tir::testing::c_bitwise_not(a, type));
  const auto result = tir::testing::c_bits(op, a, number(*expr.operands.at(1), lane), type);
  if (!result) throw Undefined("a shift by more than the bits there are");
  return integer(*result);
}

// x · y · 2^-q · 2^s in 64 bits, halves rounded up; for one half exactly, a shift of 32 bits.
Scalar Interpreter::fixed_point(const Expr& expr, std::size_t lane) {
  const auto operand = [&](std::size_t i) { return number(*expr.operands.at(i), lane); };
  // All operands are evaluated, needed or not.
  for (std::size_t i = 0; i < expr.operands.size(); ++i) (void)operand(i);
  const std::int64_t x = operand(0);
  const std::int64_t y = operand(1);
  const bool per_axis = expr.op == tir::Op::q_multiply_shift_per_axis;
  const bool is_high = expr.op == tir::Op::multiply_high;
  const std::int64_t q = is_high ? 32 : operand(per_axis ? 4 : 2);
  const std::int64_t s = is_high ? -operand(2) : per_axis ? 0 : operand(3);
  if (is_high && (s > 0 || s < -31)) throw Undefined("fixed point shift");
  const auto in_32 = [](Wide value) {
    if (value < INT32_MIN || value > INT32_MAX) throw Undefined("fixed point overflow");
    return integer(static_cast<std::int64_t>(value));
  };
  if (expr.op == tir::Op::q_multiply_shift_half) {
    const std::int64_t shift = s - 1;
    if (shift >= 0) return in_32(Wide{x} * (Wide{1} << shift));
    return integer(in_32(Wide{x} + (Wide{1} << (-shift - 1))).integer >> -shift);
  }
  const std::int64_t left = per_axis ? (operand(5) != 0 ? operand(2) : 0) : std::max<std::int64_t>(s, 0);
  const std::int64_t right = q + (per_axis ? operand(3) : std::max<std::int64_t>(-s, 0));
  if (per_axis && right > 63 && right < 256) return integer(0);
  if (left < 0 || left > 31 || right < 1 || right > 63) throw Undefined("fixed point shift");
  const Wide product = (Wide{x} << left) * y + (Wide{1} << (right - 1));
  if (product < INT64_MIN || product > INT64_MAX) throw Undefined("fixed point overflow");
  return in_32(product >> right);
}

}  // namespace usmp::random_modules

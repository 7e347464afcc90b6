// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Loops, numbers and storage of an operator's function, on the builders of TIR.
#include "tflite/nest.hpp"

#include <cassert>
#include <utility>

namespace usmp::tflite {
namespace {

using tir::ExprKind;

constexpr std::size_t max_height = 250;
constexpr std::size_t max_block_depth = 100;

const tir::ExprBuilder& builder() {
  static const tir::ExprBuilder one(max_height);
  return one;
}

Num node(ExprKind kind, tir::DataType type, std::initializer_list<Num> operands) {
  tir::Expr expr;
  expr.kind = kind;
  expr.type = type;
  std::vector<tir::Tree> trees;
  for (const Num& one : operands) trees.push_back(one.tree());
  return Num(builder().make(std::move(expr), trees));
}

// Both in one type: that of the side that is no literal, else the wider one.
std::pair<Num, Num> alike(const Num& a, const Num& b) {
  if (a.type() == b.type()) return {a, b};
  if (b.literal() && a.type().is_integer()) return {a, cast(a.type(), b)};
  if (a.literal() && b.type().is_integer()) return {cast(b.type(), a), b};
  assert(a.type().is_integer() && b.type().is_integer());
  return a.type().bits > b.type().bits ? std::pair{a, cast(a.type(), b)} : std::pair{cast(b.type(), a), b};
}

Num binary(ExprKind kind, const Num& a, const Num& b) {
  const auto [x, y] = alike(a, b);
  return node(kind, x.type(), {x, y});
}

Num comparison(ExprKind kind, const Num& a, const Num& b) {
  const auto [x, y] = alike(a, b);
  return node(kind, tir::bool_type, {x, y});
}

}  // namespace

tir::DataType data_type_of(Type type) {
  switch (type) {
    case Type::float32:
      return float32_type;
    case Type::int32:
    case Type::resource:
      return tir::int32_type;
    case Type::uint8:
      return tir::uint8_type;
    case Type::int64:
      return tir::int64_type;
    case Type::boolean:
      return tir::bool_type;
    case Type::int16:
      return int16_type;
    case Type::float16:
      return {tir::TypeCode::float_, 16, 1};
    case Type::float64:
      return {tir::TypeCode::float_, 64, 1};
    default:
      return int8_type;
  }
}

Num literal(std::int64_t value, tir::DataType type) { return Num(tir::Tree{tir::make_int(value, type)}); }
Num float_literal(float value) { return Num(tir::Tree{tir::make_float(static_cast<double>(value), float32_type)}); }

Num operator+(const Num& a, const Num& b) {
  if (!a.type().is_integer()) return binary(ExprKind::add, a, b);
  return Num(builder().sum(a.tree(), b.tree()));
}

Num operator-(const Num& a, const Num& b) {
  if (const auto value = b.literal()) return a + literal(-*value, b.type());
  return binary(ExprKind::sub, a, b);
}

Num operator*(const Num& a, const Num& b) {
  if (!a.type().is_integer()) return binary(ExprKind::mul, a, b);
  if (a.literal() == 0) return cast(b.type(), a);
  if (b.literal() == 0) return cast(a.type(), b);
  return Num(builder().product(a.tree(), b.tree()));
}

Num operator/(const Num& a, const Num& b) { return b.literal() == 1 ? a : binary(ExprKind::div, a, b); }

Num operator<<(const Num& a, int bits) { return bits == 0 ? a : a * literal(std::int64_t{1} << bits, a.type()); }

Num operator>>(const Num& a, const Num& bits) {
  if (bits.literal() == 0) return a;
  return call(a.type(), tir::Op::shift_right, {a, cast(a.type(), bits)});
}

Num floor_div(const Num& a, std::int64_t divisor) {
  if (divisor == 1) return a;
  if (const auto value = a.literal()) return literal(*value / divisor, a.type());
  return binary(ExprKind::floor_div, a, divisor);
}

Num floor_mod(const Num& a, std::int64_t divisor) {
  if (divisor == 1) return literal(0, a.type());
  if (const auto value = a.literal()) return literal(*value % divisor, a.type());
  return binary(ExprKind::floor_mod, a, divisor);
}

Num min(const Num& a, const Num& b) { return binary(ExprKind::min, a, b); }
Num max(const Num& a, const Num& b) { return binary(ExprKind::max, a, b); }

Num clip(const Num& value, std::int64_t low, std::int64_t high) { return max(min(value, high), low); }

Num less(const Num& a, const Num& b) { return comparison(ExprKind::lt, a, b); }
Num less_equal(const Num& a, const Num& b) { return comparison(ExprKind::le, a, b); }
Num equal(const Num& a, const Num& b) { return comparison(ExprKind::eq, a, b); }
Num not_equal(const Num& a, const Num& b) { return comparison(ExprKind::ne, a, b); }
Num both(const Num& a, const Num& b) { return node(ExprKind::and_, tir::bool_type, {a, b}); }

Num select(const Num& condition, const Num& yes, const Num& no) {
  const auto [x, y] = alike(yes, no);
  return node(ExprKind::select, x.type(), {condition, x, y});
}

Num if_then_else(const Num& condition, const Num& yes, const Num& no) {
  const auto [x, y] = alike(yes, no);
  return call(x.type(), tir::Op::if_then_else, {condition, x, y});
}

Num cast(tir::DataType type, const Num& value) { return Num(builder().converted(value.tree(), type)); }
Num wide(const Num& value) { return cast(tir::int64_type, value); }

Num call(tir::DataType type, tir::Op op, std::initializer_list<Num> operands) {
  tir::Expr expr;
  expr.kind = ExprKind::call;
  expr.type = type;
  expr.op = op;
  std::vector<tir::Tree> trees;
  for (const Num& one : operands) trees.push_back(one.tree());
  return Num(builder().make(std::move(expr), trees));
}

Nest::Nest(tir::Module& module, tir::Function& function) : module_(module), body_(module, function, max_block_depth) {}

tir::VarId Nest::add_var(std::string name, tir::DataType type, tir::DataType element) {
  module_.vars.push_back({std::move(name), type, element, type.is_handle() ? "global" : ""});
  return tir::VarId(module_.vars.size() - 1);
}

void Nest::loop(const std::string& name, std::int64_t extent, const Body& body) {
  if (extent == 1) body(Num(0));
  if (extent <= 1) return;
  loop(name, Num(extent), body);
}

void Nest::loop(const std::string& name, const Num& extent, const Body& body) {
  const tir::VarId var = add_var(name, tir::int32_type);
  body_.open_loop(var, tir::make_int(0), extent.tree().expr);
  ++open_;
  body(Num(tir::Tree{tir::make_var(module_, var)}));
  --open_;
  body_.close();
}

void Nest::loops(const Shape& shape, const std::function<void(const std::vector<Num>&)>& body) {
  if (count_of(shape) == 0) return;
  std::vector<Num> indices;
  std::vector<std::size_t> opened;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) {
      indices.emplace_back(0);
      continue;
    }
    const tir::VarId var = add_var("i" + std::to_string(i), tir::int32_type);
    body_.open_loop(var, tir::make_int(0), tir::make_int(shape[i]));
    ++open_;
    opened.push_back(i);
    indices.emplace_back(tir::Tree{tir::make_var(module_, var)});
  }
  body(indices);
  for (std::size_t i = 0; i < opened.size(); ++i) {
    --open_;
    body_.close();
  }
}

void Nest::branch(const Num& condition, const std::function<void()>& body) {
  body_.open_branch(condition.tree().expr);
  ++open_;
  body();
  --open_;
  body_.close();
}

void Nest::scope(const std::function<void()>& body) {
  body_.open_scope();
  ++open_;
  body();
  --open_;
  body_.close();
}

Array Nest::allocate(const std::string& name, tir::DataType type, std::int64_t count) {
  const tir::VarId var = add_var(name, tir::handle_type, type);
  body_.allocate(var, type, {tir::make_int(count)}, nullptr, {});
  return {var, type};
}

Array Nest::variables(const std::string& name, tir::DataType type, std::int64_t count) {
  const tir::VarId var = add_var(name, tir::handle_type, type);
  body_.allocate(var, type, {tir::make_int(count)}, nullptr, {}, true);
  return {var, type};
}

Array Nest::constant(const std::string& name, tir::DataType type, Shape shape, std::string bytes) {
  assert(open_ == 0);
  const tir::VarId var = add_var(name, tir::handle_type, type);
  auto data = std::make_shared<const tir::Constant>(tir::Constant{type, shape, std::move(bytes)});
  body_.allocate_const(var, type, shape, std::move(data), {});
  return {var, type};
}

Array Nest::constant(const std::string& name, tir::DataType type, std::span<const std::int64_t> values) {
  std::string bytes;
  const auto width = static_cast<std::size_t>(type.element_bytes());
  bytes.reserve(values.size() * width);
  for (const std::int64_t value : values) {
    for (std::size_t i = 0; i < width; ++i) bytes += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
  }
  return constant(name, type, Shape{static_cast<std::int64_t>(values.size())}, std::move(bytes));
}

Num Nest::load(const Array& array, const Num& index) const {
  return Num(builder().load(array.element, array.var, index.tree(), {nullptr, 0}));
}

Num Nest::load_int(const Array& array, const Num& index) const { return cast(tir::int32_type, load(array, index)); }

void Nest::store(const Array& array, const Num& index, const Num& value) {
  body_.add(builder().store(array.var, index.tree(), cast(array.element, value).tree(), {nullptr, 0}));
}

Num Nest::let(const std::string& name, const Num& value) {
  const tir::ExprRef& expr = value.tree().expr;
  if (expr->kind == ExprKind::var || expr->kind == ExprKind::int_imm) return value;
  const tir::VarId var = add_var(name, value.type());
  body_.let(var, expr);
  return Num(tir::Tree{tir::make_var(module_, var)});
}

Num index_of(const Shape& shape, std::span<const Num> indices) {
  Num index = 0;
  std::int64_t stride = 1;
  std::vector<std::int64_t> strides(shape.size());
  for (std::size_t i = shape.size(); i-- > 0; stride *= shape[i]) strides[i] = stride;
  for (std::size_t i = 0; i < shape.size(); ++i) index = index + indices[i] * Num(strides[i]);
  return index;
}

}  // namespace usmp::tflite

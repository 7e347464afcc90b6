// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Converts operands as C does, and builds the operator.
#include "tvm_c/body/values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "tvm_c/body/idioms.hpp"
#include "tvm_c/text/syntax.hpp"
#include "tvm_c/text/tvm_names.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/integer_types.hpp"

namespace usmp::tvm_c {
namespace {

using tir::DataType;
using tir::Expr;
using tir::ExprKind;
using tir::float32_type;
using tir::Op;
using tir::Tree;

constexpr DataType uint32_type{tir::TypeCode::uint, 32, 1};
constexpr DataType uint64_type{tir::TypeCode::uint, 64, 1};
constexpr DataType float64_type{tir::TypeCode::float_, 64, 1};

bool is_literal(const Tree& a) { return a.expr->kind == ExprKind::int_imm; }

std::string spelled(DataType type) { return type.is_void() ? "void" : tir::to_string(type); }

struct Infix {
  std::string_view spelling;
  ExprKind kind;
};
constexpr std::array<Infix, 5> arithmetic = {
    {{"+", ExprKind::add}, {"-", ExprKind::sub}, {"*", ExprKind::mul}, {"/", ExprKind::div}, {"%", ExprKind::mod}}};
constexpr std::array<Infix, 6> comparisons = {{{"<", ExprKind::lt},
                                               {"<=", ExprKind::le},
                                               {">", ExprKind::gt},
                                               {">=", ExprKind::ge},
                                               {"==", ExprKind::eq},
                                               {"!=", ExprKind::ne}}};

template <std::size_t n>
std::optional<ExprKind> kind_of(std::string_view op, const std::array<Infix, n>& table) {
  const auto* found = std::find_if(table.begin(), table.end(), [&](const Infix& row) { return row.spelling == op; });
  return found == table.end() ? std::nullopt : std::optional(found->kind);
}

std::optional<Op> bitwise(std::string_view op) {
  if (op == "&") return Op::bitwise_and;
  if (op == "|") return Op::bitwise_or;
  if (op == "^") return Op::bitwise_xor;
  return std::nullopt;
}

// The result for literals, where C defines it.
std::optional<std::int64_t> folded(ExprKind kind, std::int64_t a, std::int64_t b) {
  switch (kind) {
    case ExprKind::add:
      return checked_add(a, b);
    case ExprKind::sub:
      return checked_sub(a, b);
    case ExprKind::mul:
      return checked_mul(a, b);
    case ExprKind::lt:
      return a < b ? 1 : 0;
    case ExprKind::le:
      return a <= b ? 1 : 0;
    case ExprKind::gt:
      return a > b ? 1 : 0;
    case ExprKind::ge:
      return a >= b ? 1 : 0;
    case ExprKind::eq:
      return a == b ? 1 : 0;
    case ExprKind::ne:
      return a != b ? 1 : 0;
    default:
      return std::nullopt;
  }
}

bool fits(std::int64_t value, DataType type) {
  const auto range = tir::range_of_type(type);
  return range && value >= range->low && value <= range->high;
}

// "expf" is exp of float.
std::optional<std::pair<Op, DataType>> math_function(std::string_view name) {
  for (const tir::OpInfo& row : tir::all_ops()) {
    if (row.c_name.empty()) continue;
    if (name == row.c_name) return std::pair(row.op, float64_type);
    if (name.size() == row.c_name.size() + 1 && name.ends_with('f') && name.starts_with(row.c_name)) {
      return std::pair(row.op, float32_type);
    }
  }
  return std::nullopt;
}

Value unimportant(Value record) {
  record.record.part = Record::Part::other;
  return record;
}

// 1 for n of 2^n.
std::optional<std::int64_t> power_of_two(std::int64_t exponent) {
  return exponent >= 0 && exponent <= 62 ? std::optional(std::int64_t{1} << exponent) : std::nullopt;
}

}  // namespace

bool is_math_function(std::string_view name) {
  return name == "fmod" || name == "fmodf" || math_function(name).has_value();
}

// --- Leaves ----------------------------------------------------------------------------------------------------------

Value Values::number(Tree tree) {
  Value value;
  value.type = tree.expr->type;
  value.tree = std::move(tree);
  return value;
}

Value Values::variable(tir::VarId var) const { return number({tir::make_var(module_, var)}); }

// --- Conversions -----------------------------------------------------------------------------------------------------

Tree Values::node(ExprKind kind, DataType type, const std::vector<Tree>& operands) const {
  Expr expr;
  expr.kind = kind;
  expr.type = type;
  return builder_.make(std::move(expr), operands);
}

Tree Values::operation(Op op, DataType type, const std::vector<Tree>& operands) const {
  Expr expr;
  expr.kind = ExprKind::call;
  expr.op = op;
  expr.type = type;
  return builder_.make(std::move(expr), operands);
}

Tree Values::rvalue(const Value& a) const {
  if (a.kind == Value::Kind::number) return a.tree;
  if (a.kind == Value::Kind::record) fail("found a part of the packed interface, expected a number");
  if (a.kind != Value::Kind::place) fail("found a pointer, expected a number");
  if (a.type.is_void() || a.type.is_handle()) fail("found an element of a pointer to void, expected one of a number");
  return builder_.load(a.type, a.storage, a.tree, {});
}

Tree Values::converted(const Value& a, DataType type) const {
  Tree value = rvalue(a);
  if (value.expr->type == type) return value;
  if (type.is_bool()) return condition(a);
  if (is_literal(value) && type.is_float()) {
    constexpr std::int64_t most = 1 << 24;  // that float holds exactly
    const std::int64_t number = value.expr->int_value;
    const bool is_huge = number < 0 && value.expr->type.is_uint();
    if (number >= -most && number <= most && !is_huge) {
      return {tir::make_float(static_cast<double>(number), type)};
    }
  }
  return builder_.converted(std::move(value), type);
}

Tree Values::condition(const Value& a) const {
  Tree value = rvalue(a);
  const DataType type = value.expr->type;
  if (type.is_bool()) return value;
  if (is_literal(value)) return {tir::make_int(value.expr->int_value != 0 ? 1 : 0, tir::bool_type)};
  const Tree zero = {type.is_float() ? tir::make_float(0, type) : tir::make_int(0, type)};
  return node(ExprKind::ne, tir::bool_type, {value, zero});
}

Tree Values::argument(const Value& a) const {
  const bool is_pointer = a.kind == Value::Kind::null || a.kind == Value::Kind::pointer;
  if (!is_pointer) return rvalue(a);
  if (a.kind == Value::Kind::null) {
    Tree zero = {tir::make_int(0, tir::int64_type)};
    return operation(Op::reinterpret, tir::handle_type, {std::move(zero)});
  }
  if (a.tree.expr == nullptr) return {tir::make_var(module_, a.storage)};
  if (a.type.is_void()) fail("found a pointer into void, expected one to elements");
  return operation(Op::address_of, tir::handle_type, {builder_.load(a.type, a.storage, a.tree, {})});
}

Tree Values::handed_argument(const Value& a) const {
  const bool is_start = a.kind == Value::Kind::pointer && a.tree.expr == nullptr && !a.type.is_void();
  if (!is_start) return argument(a);
  const Bytes own = std::max<Bytes>(1, module_.var(a.storage).element.element_bytes());
  if (a.type.element_bytes() <= own) return argument(a);
  constexpr std::int64_t reads_and_writes = 3;
  const Tree zero = {tir::make_int(0)};
  return operation(
      Op::tvm_access_ptr, tir::handle_type,
      {operation(Op::type_annotation, a.type, {}), argument(a), zero, zero, {tir::make_int(reads_and_writes)}});
}

// C's integer promotion: of what is narrower than int.
Tree Values::promoted(Tree a) const {
  const DataType type = a.expr->type;
  if (!type.is_integer() || type.bits >= 32) return a;
  return builder_.converted(std::move(a), tir::int32_type);
}

// C's usual arithmetic conversions. Two numbers of one narrow type stay: the operators of such types promote.
void Values::convert_both(Tree& a, Tree& b) const {
  const DataType x = a.expr->type;
  const DataType y = b.expr->type;
  if (x == y && !x.is_bool()) return;
  DataType type = tir::int32_type;
  if (x.is_float() || y.is_float()) {
    type = x == float64_type || y == float64_type ? float64_type : float32_type;
  } else if (x == uint64_type || y == uint64_type) {
    type = uint64_type;
  } else if (x == tir::int64_type || y == tir::int64_type) {
    type = tir::int64_type;
  } else if (x == uint32_type || y == uint32_type) {
    type = uint32_type;
  }
  a = converted(number(std::move(a)), type);
  b = converted(number(std::move(b)), type);
}

// --- Operators -------------------------------------------------------------------------------------------------------

Value Values::unary(std::string_view op, const Value& a) const {
  if (a.kind == Value::Kind::record && op != "*") return op == "&" ? a : unimportant(a);
  if (op == "*") {
    Value zero = number({tir::make_int(0)});
    return element(a, zero);
  }
  if (op == "&") {
    if (a.kind != Value::Kind::place) fail("found & of what is no element, expected one of storage");
    Value pointer = a;
    pointer.kind = Value::Kind::pointer;
    return pointer;
  }
  Tree value = rvalue(a);
  if (op == "!") {
    value = condition(a);
    if (is_literal(value)) return number({tir::make_int(value.expr->int_value != 0 ? 0 : 1, tir::bool_type)});
    return number(node(ExprKind::not_, tir::bool_type, {value}));
  }
  value = promoted(std::move(value));
  const DataType type = value.expr->type;
  if (op == "+") return number(std::move(value));
  if (op == "~") {
    if (!type.is_integer()) fail("found ~ of a " + spelled(type) + ", expected an integer");
    return number(operation(Op::bitwise_not, type, {std::move(value)}));
  }
  if (type.is_float()) {
    if (value.expr->kind == ExprKind::float_imm) return number({tir::make_float(-value.expr->float_value, type)});
    return number(node(ExprKind::mul, type, {value, {tir::make_float(-1, type)}}));
  }
  if (is_literal(value) && type.is_int()) {
    if (const auto negative = checked_sub(0, value.expr->int_value)) return number({tir::make_int(*negative, type)});
  }
  return number(node(ExprKind::sub, type, {{tir::make_int(0, type)}, value}));
}

// The type is that of the left side. Narrow ones stay where both are alike, as in convert_both.
Tree Values::shift(Op op, Tree a, Tree b) const {
  if (!a.expr->type.is_integer() || !b.expr->type.is_integer()) fail("found a shift of what is no integer");
  if (a.expr->type != b.expr->type || a.expr->type.is_bool()) {
    a = promoted(std::move(a));
    b = converted(number(std::move(b)), a.expr->type);
  }
  const DataType type = a.expr->type;
  if (is_literal(a) && is_literal(b) && type.bits >= 32) {
    const auto factor = power_of_two(b.expr->int_value);
    const auto product = factor ? checked_mul(a.expr->int_value, *factor) : std::nullopt;
    if (op == Op::shift_left && product && a.expr->int_value >= 0 && fits(*product, type)) {
      return {tir::make_int(*product, type)};
    }
  }
  if (is_literal(b) && (b.expr->int_value < 0 || b.expr->int_value >= std::max<int>(type.bits, 32))) {
    fail("found a shift by " + std::to_string(b.expr->int_value) + " bits of a " + spelled(type));
  }
  // A number that a printer shifts by nothing.
  if (is_literal(b) && b.expr->int_value == 0 && type.bits >= 32) return a;
  return operation(op, type, {std::move(a), std::move(b)});
}

Value Values::binary(std::string_view op, const Value& a, const Value& b) const {
  if (a.kind == Value::Kind::record && op == "+") return element(a, b);
  if (a.kind == Value::Kind::record) return unimportant(a);
  if (b.kind == Value::Kind::record) return unimportant(b);
  const bool is_moved = a.kind == Value::Kind::pointer && b.kind != Value::Kind::pointer && (op == "+" || op == "-");
  const bool is_swapped = a.kind != Value::Kind::pointer && b.kind == Value::Kind::pointer && op == "+";
  if (is_moved || is_swapped) {
    Value moved = element(is_swapped ? b : a, is_swapped ? a : (op == "+" ? b : unary("-", b)));
    moved.kind = Value::Kind::pointer;
    return moved;
  }
  if (op == "&&" || op == "||") {
    const bool is_and = op == "&&";
    const Tree x = condition(a);
    const Tree y = condition(b);
    if (is_literal(x)) return (x.expr->int_value != 0) == is_and ? number(y) : number(x);
    return number(node(is_and ? ExprKind::and_ : ExprKind::or_, tir::bool_type, {x, y}));
  }
  Tree x = rvalue(a);
  Tree y = rvalue(b);
  if (op == "<<" || op == ">>") {
    return number(shift(op == "<<" ? Op::shift_left : Op::shift_right, std::move(x), std::move(y)));
  }
  convert_both(x, y);
  const DataType type = x.expr->type;
  if (const auto operator_id = bitwise(op)) {
    if (!type.is_integer()) fail("found " + std::string(op) + " of a " + spelled(type) + ", expected integers");
    return number(operation(*operator_id, type, {std::move(x), std::move(y)}));
  }
  auto kind = kind_of(op, comparisons);
  const bool compares = kind.has_value();
  if (!compares) kind = kind_of(op, arithmetic);
  if (!kind) fail("found operator " + std::string(op) + ", which is not one of expressions here");
  const bool divides = kind == ExprKind::div || kind == ExprKind::mod;
  if (divides && type.is_integer() && is_literal(y) && y.expr->int_value == 0) fail("found a division by zero");
  if (is_literal(x) && is_literal(y) && !(type.is_uint() && type.bits == 64)) {
    const auto value = folded(*kind, x.expr->int_value, y.expr->int_value);
    if (value && compares) return number({tir::make_int(*value, tir::bool_type)});
    if (value && type.bits >= 32 && fits(*value, type)) return number({tir::make_int(*value, type)});
  }
  if (*kind == ExprKind::mod && type.is_float()) fail("found % of a " + spelled(type) + ", expected integers");
  return number(node(*kind, compares ? tir::bool_type : type, {std::move(x), std::move(y)}));
}

Value Values::choice(const Value& test, const Value& yes, const Value& no) const {
  const Tree holds = condition(test);
  Tree a = rvalue(yes);
  Tree b = rvalue(no);
  const bool are_bools = a.expr->type.is_bool() && b.expr->type.is_bool();
  if (!are_bools) convert_both(a, b);
  if (is_literal(holds)) return number(holds.expr->int_value != 0 ? a : b);
  if (const auto kind = min_or_max(*holds.expr, *a.expr, *b.expr)) {
    return number(
        node(*kind, a.expr->type, {{holds.expr->operands[0], a.height}, {holds.expr->operands[1], b.height}}));
  }
  const DataType type = a.expr->type;
  return number(operation(Op::if_then_else, type, {holds, std::move(a), std::move(b)}));
}

Value Values::cast(CType type, const Value& a) const {
  if (a.kind == Value::Kind::record) return a;
  if (type.stars > 0) {
    if (a.kind == Value::Kind::null) return a;
    if (a.kind != Value::Kind::pointer) fail("found a number as a pointer, expected storage");
    if (type.stars > 1) fail("found a pointer to pointers, expected one to numbers");
    Value pointer = a;
    if (a.tree.expr != nullptr && a.type != type.element && !type.element.is_void()) {
      const Bytes from = a.type.is_void() ? 1 : a.type.bytes();
      if (from != type.element.bytes()) fail("found a pointer into elements of another size");
    }
    pointer.is_void = type.element.is_void();
    if (!pointer.is_void) pointer.type = type.element;
    return pointer;
  }
  if (type.element.is_void()) return a;
  if (type.element == tir::int32_type && (a.kind == Value::Kind::number || a.kind == Value::Kind::place)) {
    const Tree wide = rvalue(a);
    if (auto found = fixed_point(*wide.expr)) {
      std::vector<Tree> operands;
      for (tir::ExprRef& operand : found->operands) operands.push_back({std::move(operand), wide.height});
      return number(operation(found->op, tir::int32_type, operands));
    }
  }
  Tree value = converted(a, type.element);
  return number(is_cut(*value.expr) ? value : node(ExprKind::cast, type.element, {value}));
}

Value Values::element(const Value& pointer, const Value& index) const {
  if (pointer.kind == Value::Kind::record) return element_of_record(pointer, index);
  if (pointer.kind != Value::Kind::pointer) fail("found an element of what is no storage");
  Value place = pointer;
  place.kind = Value::Kind::place;
  Tree at_index = rvalue(index);
  if (!at_index.expr->type.is_integer()) fail("found an index that is no integer");
  // Some compilers count bytes there.
  const bool is_moved = tir::as_int(*at_index.expr) != 0;
  if (pointer.is_void && !pointer.type.is_void() && is_moved) {
    fail("found a pointer to void moved, expected one to numbers");
  }
  if (at_index.expr->type.bits < 32) at_index = promoted(std::move(at_index));
  place.tree = pointer.tree.expr == nullptr ? at_index : builder_.sum(pointer.tree, at_index);
  return place;
}

// A handle is the address of one tensor.
Value Values::element_of_record(const Value& array, const Value& index) const {
  Value one = array;
  if (array.record.part == Record::Part::other || array.record.part == Record::Part::offset) return unimportant(one);
  const auto at_index = tir::as_int(*rvalue(index).expr);
  if (!at_index) fail("found an index that is no number, expected one in the packed interface");
  const auto sum = checked_add(array.record.index, *at_index);
  if (!sum || *sum < 0 || *sum > INT32_MAX || array.record.part == Record::Part::data ||
      (array.record.part == Record::Part::handle && *at_index != 0)) {
    fail("found an element of an argument of the packed interface, expected a tensor");
  }
  if (array.record.part == Record::Part::element) one.record.index = *sum;
  return one;
}

Value Values::member(const Value& value, std::string_view name) const {
  if (value.kind != Value::Kind::record) fail("found a member of what is no part of the packed interface");
  Value one = value;
  if (name == "v_handle" && value.record.part == Record::Part::element) {
    one.record.part = Record::Part::handle;
  } else if (name == "data" && value.record.part != Record::Part::other) {
    one.record.part = Record::Part::data;
  } else if (name == "byte_offset" && value.record.part == Record::Part::element) {
    one.record.part = Record::Part::offset;
  } else {
    one.record.part = Record::Part::other;
  }
  return one;
}

Value Values::call(std::string_view function, const std::vector<Value>& arguments) const {
  if (function == "fmodf" || function == "fmod") {
    const DataType type = function == "fmodf" ? float32_type : float64_type;
    if (arguments.size() != 2) fail("found " + std::to_string(arguments.size()) + " arguments of fmod, expected 2");
    return number(node(ExprKind::mod, type, {converted(arguments[0], type), converted(arguments[1], type)}));
  }
  const auto known = math_function(function);
  if (!known && is_generated(function)) {
    fail("found a call of " + shown(function) + " in an expression, expected if (" + std::string(function) +
         "(…) != 0) return -1;");
  }
  if (!known) fail("found a call of " + shown(function) + " in an expression, expected a function of math.h");
  std::vector<Tree> operands;
  operands.reserve(arguments.size());
  for (const Value& argument : arguments) operands.push_back(converted(argument, known->second));
  if (operands.size() != tir::info(known->first).arity) {
    fail("found " + std::to_string(operands.size()) + " arguments of " + shown(function) + ", expected " +
         std::to_string(tir::info(known->first).arity));
  }
  return number(operation(known->first, known->second, operands));
}

}  // namespace usmp::tvm_c

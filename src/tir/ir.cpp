// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Spells types, sizes storage, makes expressions, and destroys trees without recursion.
#include "usmp/tir/ir.hpp"

#include <algorithm>
#include <charconv>
#include <new>
#include <utility>

namespace usmp::tir {
namespace {

struct NamedCode {
  const char* name;
  TypeCode code;
};
constexpr NamedCode named_codes[] = {
    {"int", TypeCode::int_}, {"uint", TypeCode::uint}, {"float", TypeCode::float_}, {"bfloat", TypeCode::bfloat}};

std::optional<int> parse_positive(const char*& position, const char* end) {
  int value = 0;
  const auto [next, error] = std::from_chars(position, end, value);
  if (error != std::errc() || value <= 0) return std::nullopt;
  position = next;
  return value;
}

bool gives_bool(ExprKind kind) {
  return kind == ExprKind::eq || kind == ExprKind::ne || kind == ExprKind::lt || kind == ExprKind::le ||
         kind == ExprKind::gt || kind == ExprKind::ge || kind == ExprKind::and_ || kind == ExprKind::or_;
}

}  // namespace

std::string to_string(DataType type) {
  std::string text;
  switch (type.code) {
    case TypeCode::void_:
      return "";
    case TypeCode::handle:
      text = "handle";
      break;
    default:
      if (type.is_bool()) {
        text = "bool";
        break;
      }
      for (const NamedCode& entry : named_codes) {
        if (entry.code == type.code) text = entry.name + std::to_string(type.bits);
      }
  }
  if (type.lanes > 1) text += "x" + std::to_string(type.lanes);
  return text;
}

bool may_alias(DataType a, DataType b) {
  const auto is_char = [](DataType type) { return type.is_integer() && type.bits == 8; };
  return a.element() == b.element() || is_char(a) || is_char(b);
}

std::optional<DataType> parse_data_type(const std::string& text) {
  if (text.empty() || text == "void") return void_type;
  DataType type;
  const char* position = text.data();
  const char* const end = position + text.size();
  if (text.starts_with("handle")) {
    type = handle_type;
    position += 6;
  } else if (text.starts_with("bool")) {
    type = bool_type;
    position += 4;
  } else {
    const auto* entry = std::find_if(std::begin(named_codes), std::end(named_codes),
                                     [&](const NamedCode& named) { return text.starts_with(named.name); });
    if (entry == std::end(named_codes)) return std::nullopt;
    position += std::string(entry->name).size();
    const auto bits = parse_positive(position, end);
    if (!bits || *bits > 64) return std::nullopt;
    type = {entry->code, static_cast<std::uint8_t>(*bits), 1};
  }
  if (position != end && *position == 'x') {
    ++position;
    const auto lanes = parse_positive(position, end);
    if (!lanes || *lanes > 4096) return std::nullopt;
    type.lanes = static_cast<std::uint16_t>(*lanes);
  }
  if (position != end) return std::nullopt;
  return type;
}

std::optional<std::size_t> Module::find(const std::string& function_name) const {
  const auto found =
      std::lower_bound(functions.begin(), functions.end(), function_name,
                       [](const Function& function, const std::string& name) { return function.name < name; });
  if (found == functions.end() || found->name != function_name) return std::nullopt;
  return static_cast<std::size_t>(found - functions.begin());
}

std::optional<Bytes> size_of(const std::vector<std::int64_t>& shape, DataType type) {
  std::optional<Bytes> size = type.bytes();
  for (const std::int64_t extent : shape) size = size && extent >= 0 ? checked_mul(*size, extent) : std::nullopt;
  return size;
}

std::optional<Bytes> size_of(const Param& param) {
  return param.is_tensor && param.shape ? size_of(*param.shape, param.element) : std::nullopt;
}

AllocationSize allocation_size(const Allocate& allocate) {
  Bytes size = allocate.type.bytes();
  for (const ExprRef& extent : allocate.extents) {
    const auto value = as_int(*extent);
    if (!value) return {std::nullopt, AllocationSize::Unknown::not_constant};
    if (*value < 0) return {std::nullopt, AllocationSize::Unknown::negative};
    const auto product = checked_mul(size, *value);
    if (!product) return {std::nullopt, AllocationSize::Unknown::overflow};
    size = *product;
  }
  return {size, AllocationSize::Unknown::none};
}

bool stays_on_stack(const Module& module, std::size_t function, const Allocate& allocate) {
  if (allocate.on_stack) return true;
  const bool is_plain = allocate.was_on_stack && !allocate.ring && allocate.condition == nullptr;
  // What the entry has is live across calls.
  if (!is_plain || function == module.entry || allocate.type.is_vector()) return false;
  const std::optional<Bytes> size = allocation_size(allocate).bytes;
  return size && *size <= module.stack_arrays;
}

std::optional<std::int64_t> element_count(const Allocate& allocate) {
  const auto size = allocation_size(allocate);
  const Bytes element = allocate.type.bytes();
  if (!size.bytes || element == 0) return std::nullopt;
  return *size.bytes / element;
}

std::optional<std::int64_t> as_int(const Expr& expr) {
  if (expr.kind != ExprKind::int_imm) return std::nullopt;
  return expr.int_value;
}

void Operands::destroy() noexcept {
  std::vector<ExprRef> dying;
  // Without memory for the list the rest is destroyed one inside the other, as it would be without all this.
  const auto take = [&](Operands& operands) {
    try {
      for (ExprRef& operand : operands) {
        if (operand && !operand->operands.empty()) dying.push_back(std::move(operand));
      }
    } catch (const std::bad_alloc&) {
    }
  };
  take(*this);
  while (!dying.empty()) {
    const ExprRef last = std::move(dying.back());
    dying.pop_back();
    // Nobody else can see it any more, and make_expr made it as an object that is not const.
    if (last.use_count() == 1) take(const_cast<Expr&>(*last).operands);
  }
}

ExprRef make_expr(Expr expr) { return std::make_shared<Expr>(std::move(expr)); }

ExprRef make_int(std::int64_t value, DataType type) {
  Expr expr{.kind = ExprKind::int_imm,
            .type = type,
            .var = {},
            .int_value = value,
            .float_value = 0,
            .text = {},
            .operands = {}};
  return make_expr(std::move(expr));
}

ExprRef make_float(double value, DataType type) {
  Expr expr{.kind = ExprKind::float_imm,
            .type = type,
            .var = {},
            .int_value = 0,
            .float_value = value,
            .text = {},
            .operands = {}};
  return make_expr(std::move(expr));
}

ExprRef make_string(std::string text) {
  Expr expr{.kind = ExprKind::string_imm,
            .type = handle_type,
            .var = {},
            .int_value = 0,
            .float_value = 0,
            .text = std::move(text),
            .operands = {}};
  return make_expr(std::move(expr));
}

ExprRef make_var(const Module& module, VarId var) {
  Expr expr{.kind = ExprKind::var,
            .type = module.var(var).type,
            .var = var,
            .int_value = 0,
            .float_value = 0,
            .text = {},
            .operands = {}};
  return make_expr(std::move(expr));
}

ExprRef make_binary(ExprKind kind, ExprRef a, ExprRef b) {
  const DataType type = gives_bool(kind) ? bool_type.with_lanes(a->type.lanes) : a->type;
  Expr expr{.kind = kind,
            .type = type,
            .var = {},
            .int_value = 0,
            .float_value = 0,
            .text = {},
            .operands = {std::move(a), std::move(b)}};
  return make_expr(std::move(expr));
}

ExprRef make_cast(DataType type, ExprRef value) {
  Expr expr{.kind = ExprKind::cast,
            .type = type,
            .var = {},
            .int_value = 0,
            .float_value = 0,
            .text = {},
            .operands = {std::move(value)}};
  return make_expr(std::move(expr));
}

ExprRef make_load(DataType type, VarId storage, ExprRef index) {
  Expr expr{.kind = ExprKind::load,
            .type = type,
            .var = storage,
            .int_value = 0,
            .float_value = 0,
            .text = {},
            .operands = {std::move(index)}};
  return make_expr(std::move(expr));
}

namespace {

ExprRef call_of(DataType type, Op op, std::string text, std::vector<ExprRef> arguments) {
  Expr expr{.kind = ExprKind::call,
            .op = op,
            .type = type,
            .var = {},
            .int_value = 0,
            .float_value = 0,
            .text = std::move(text),
            .operands = std::move(arguments)};
  return make_expr(std::move(expr));
}

}  // namespace

ExprRef make_call(DataType type, Op op, std::vector<ExprRef> arguments) {
  return call_of(type, op, {}, std::move(arguments));
}

ExprRef make_call(DataType type, std::string_view name, std::vector<ExprRef> arguments) {
  const Op op = op_of(name);
  return call_of(type, op, op == Op::other ? std::string(name) : std::string(), std::move(arguments));
}

std::string_view operator_name(const Expr& expr) { return expr.op == Op::other ? expr.text : info(expr.op).name; }

}  // namespace usmp::tir

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Compares the types of operands kind by kind, and those of calls by the operator's row in the table.
#include "tir/node_rules.hpp"

#include <algorithm>

#include "usmp/support/text.hpp"
#include "usmp/tir/builder.hpp"
#include "usmp/tir/integer_types.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tir {
namespace {

using Rule = std::optional<std::string>;

std::string shown_type(DataType type) { return type.is_void() ? "'void'" : in_quotes(to_string(type)); }

bool is_possible(DataType type) {
  constexpr int most_bits = 64;
  if (type.lanes == 0) return false;
  if (type.is_void()) return type.bits == 0 && !type.is_vector();
  if (type.is_handle()) return type.bits == most_bits;
  return type.bits > 0 && type.bits <= most_bits;
}

struct OperandCount {
  std::size_t least;
  std::size_t most;
};

OperandCount operand_count(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::int_imm:
    case ExprKind::float_imm:
    case ExprKind::string_imm:
    case ExprKind::var:
      return {0, 0};
    case ExprKind::not_:
    case ExprKind::cast:
    case ExprKind::broadcast:
      return {1, 1};
    case ExprKind::load:
      return {1, 2};
    case ExprKind::select:
      return {3, 3};
    case ExprKind::shuffle:
      return {2, any_arity};
    case ExprKind::call: {
      const std::size_t arity = info(expr.op).arity;
      return arity == any_arity ? OperandCount{0, any_arity} : OperandCount{arity, arity};
    }
    default:
      return {2, 2};
  }
}

std::string what(const Expr& expr) {
  return expr.kind == ExprKind::call ? "operator " + shown(operator_name(expr)) : "an expression";
}

Rule literal_fault(const Expr& expr) {
  if (!expr.type.is_integer() || expr.type.is_vector()) {
    return "an integer literal is of type " + shown_type(expr.type);
  }
  const auto range = range_of_type(expr.type);
  if (!range || (expr.int_value >= range->low && expr.int_value <= range->high)) return std::nullopt;
  return "the literal " + std::to_string(expr.int_value) + " does not fit its type " + shown_type(expr.type);
}

Rule binary_fault(const Expr& expr) {
  const DataType type = expr.operands[0]->type;
  const bool compares = expr.kind >= ExprKind::eq && expr.kind <= ExprKind::ge;
  const bool is_logic = expr.kind == ExprKind::and_ || expr.kind == ExprKind::or_;
  const DataType result = compares ? bool_type.with_lanes(type.lanes) : type;
  if (expr.operands[1]->type != type || expr.type != result) {
    return "the operands are " + shown_type(type) + " and " + shown_type(expr.operands[1]->type) + ", the result is " +
           shown_type(expr.type) + ": expected types that agree";
  }
  if (is_logic && !type.is_bool()) return "logic of " + shown_type(type) + ", expected bools";
  const bool is_number = type.is_integer() || type.is_float();
  if (!is_number && !(compares && type.is_handle())) return "arithmetic of " + shown_type(type);
  return std::nullopt;
}

Rule vector_fault(const Expr& expr) {
  if (!expr.type.is_vector()) return "a ramp or broadcast is of type " + shown_type(expr.type) + ", expected a vector";
  for (const ExprRef& operand : expr.operands) {
    if (operand->type == expr.type.element()) continue;
    return "an operand of type " + shown_type(operand->type) + " in a vector of type " + shown_type(expr.type);
  }
  if (expr.kind == ExprKind::ramp && !expr.type.is_integer()) return "a ramp of type " + shown_type(expr.type);
  return std::nullopt;
}

Rule shuffle_fault(const Expr& expr) {
  const std::size_t operands = expr.operands.size();
  if (expr.int_value < 1 || static_cast<std::uint64_t>(expr.int_value) >= operands) {
    return "a shuffle of " + std::to_string(expr.int_value) + " vectors has " + std::to_string(operands) + " operands";
  }
  const auto vectors = static_cast<std::size_t>(expr.int_value);
  std::int64_t lanes = 0;
  for (std::size_t i = 0; i < vectors; ++i) {
    const DataType type = expr.operands[i]->type;
    if (type.element() != expr.type.element()) {
      return "a shuffle of " + shown_type(type) + " gives " + shown_type(expr.type);
    }
    lanes += type.lanes;
  }
  if (operands - vectors != expr.type.lanes) {
    return "a shuffle takes " + std::to_string(operands - vectors) + " lanes for type " + shown_type(expr.type);
  }
  for (std::size_t i = vectors; i < operands; ++i) {
    if (!is_scalar_integer(expr.operands[i]->type)) return "a shuffle takes a lane index that is not an integer";
    const auto lane = as_int(*expr.operands[i]);
    if (lane && (*lane < 0 || *lane >= lanes)) {
      return "a shuffle takes lane " + std::to_string(*lane) + ", which its vectors do not have";
    }
  }
  return std::nullopt;
}

Rule load_fault(const Module& module, const Expr& expr) {
  const DataType index = expr.operands[0]->type;
  if (expr.type.is_void()) return std::string("a load of nothing");
  if (!index.is_integer() || index.lanes != expr.type.lanes) {
    return "a load of type " + shown_type(expr.type) + " from variable " + shown(module.var(expr.var).name) +
           " at an index of type " + shown_type(index);
  }
  if (expr.operands.size() < 2) return std::nullopt;
  const DataType predicate = expr.operands[1]->type;
  if (is_condition_for(predicate, expr.type.lanes)) return std::nullopt;
  return "a load of type " + shown_type(expr.type) + " has a predicate of type " + shown_type(predicate);
}

// --- Operators -------------------------------------------------------------------------------------------------------

bool is_load_of_factor(const Expr& expr) {
  const DataType type = expr.type;
  return expr.kind == ExprKind::load && expr.operands.size() == 1 && type.is_integer() && !type.is_vector() &&
         (type.bits == 8 || (type.bits == 16 && type.is_int()));
}

// The types that an operator asks for; those that are not named here are looked at where their C is written.
bool goes_together(const Expr& expr) {
  const Operands& operands = expr.operands;
  const DataType type = expr.type;
  const auto operand = [&](std::size_t i) { return operands[i]->type; };
  const auto all_are = [&](DataType wanted) {
    return std::ranges::all_of(operands, [&](const ExprRef& one) { return one->type == wanted; });
  };
  const auto is_integer_of = [&](DataType one, std::uint16_t lanes) { return one.is_integer() && one.lanes == lanes; };
  switch (expr.op) {
    case Op::if_then_else:
      return is_condition_for(operand(0), type.lanes) && operand(1) == type && operand(2) == type;
    case Op::likely:
    case Op::rsqrt:
    case Op::sigmoid:
    case Op::exp10:
      return all_are(type);
    case Op::bitwise_and:
    case Op::bitwise_or:
    case Op::bitwise_xor:
    case Op::bitwise_not:
      return type.is_integer() && all_are(type);
    case Op::shift_left:
    case Op::shift_right:
      return type.is_integer() && operand(0) == type && is_integer_of(operand(1), type.lanes);
    case Op::clz:
    case Op::popcount:
      return type.is_integer() && is_integer_of(operand(0), type.lanes);
    case Op::isnan:
    case Op::isinf:
    case Op::isfinite:
      return operand(0).is_float() && type == bool_type.with_lanes(operand(0).lanes);
    case Op::isnullptr:
      return type == bool_type && is_pointer(operand(0));
    case Op::q_multiply_shift_half:
      if (fixed_point_op(operands) != expr.op) return false;
      [[fallthrough]];
    case Op::q_multiply_shift:
    case Op::q_multiply_shift_per_axis:
      return type.is_integer() && operand(0) == type && std::ranges::all_of(operands, [&](const ExprRef& one) {
               return is_integer_of(one->type, type.lanes) || is_integer_of(one->type, 1);
             });
    case Op::large_uint_imm:
      return type.is_integer() && operand(0).is_integer() && operand(1).is_integer();
    case Op::reinterpret:
      if (is_pointer(type) || is_pointer(operand(0))) {
        return (is_pointer(type) || is_scalar_integer(type)) &&
               (is_pointer(operand(0)) || is_scalar_integer(operand(0)));
      }
      return int{type.bits} * type.lanes == int{operand(0).bits} * operand(0).lanes;
    case Op::address_of:
      return is_pointer(type) && operands[0]->kind == ExprKind::load;
    case Op::tvm_access_ptr:
      return is_pointer(type) && operands[0]->op == Op::type_annotation && is_pointer(operand(1)) &&
             std::all_of(operands.begin() + 2, operands.end(),
                         [](const ExprRef& one) { return is_scalar_integer(one->type); });
    case Op::handle_add_byte_offset:
      return is_pointer(type) && is_pointer(operand(0)) && is_scalar_integer(operand(1));
    case Op::multiply_high:
      return type == int32_type && all_are(int32_type);
    case Op::paired_weight:
      return type == int32_type && operand(0) == int16_type && operand(1) == int32_type;
    case Op::pair_run:
      return type == void_type && operands[0]->kind == ExprKind::load && operand(0) == int32_type &&
             is_load_of_factor(*operands[1]) && operand(1).bits == 8 && is_load_of_factor(*operands[2]) &&
             operand(2) == int16_type && operand(3) == int32_type && operand(4) == int32_type &&
             as_int(*operands[5]).has_value();
    case Op::lane_window:
      return type == void_type && operands[0]->kind == ExprKind::load && operand(0) == int32_type &&
             is_load_of_factor(*operands[1]) && operand(1).bits == 8 && is_load_of_factor(*operands[2]) &&
             operand(2).bits == 8 &&
             std::all_of(operands.begin() + 3, operands.end(),
                         [](const ExprRef& one) { return one->type == int32_type; }) &&
             as_int(*operands[11]).has_value() && as_int(*operands[13]).has_value() &&
             as_int(*operands[14]).has_value();
    case Op::dot4:
    case Op::lane_product:
      return type == int32_type && operand(0) == type && is_load_of_factor(*operands[1]) &&
             is_load_of_factor(*operands[2]) &&
             std::all_of(operands.begin() + 3, operands.end(),
                         [](const ExprRef& one) { return as_int(*one).has_value(); });
    case Op::dot_run:
    case Op::lane_run:
    case Op::row_run:
    case Op::window_run:
      return type == void_type && operands[0]->kind == ExprKind::load && operand(0) == int32_type &&
             is_load_of_factor(*operands[1]) && is_load_of_factor(*operands[2]) &&
             std::all_of(operands.begin() + 3, operands.end(),
                         [](const ExprRef& one) { return one->type == int32_type; }) &&
             as_int(*operands.back()).has_value() &&
             (expr.op == Op::window_run ? operand(1).bits == 8 && operand(2).bits == 8
                                        : expr.op == Op::lane_run || as_int(*operands[7]).has_value());
    default:
      return info(expr.op).c_name.empty() || all_are(type);
  }
}

Rule named_fault(const Module& module, const Expr& expr) {
  const auto call = named_call(expr);
  if (!call) return what(expr) + " has no name of a function in front";
  if (expr.op == Op::tvm_call_cpacked && (expr.operands.size() < 2 || !is_pointer(expr.operands.back()->type))) {
    return "a call of " + shown(*call->name) + " has no resource handle at the end";
  }
  const auto index = module.find(*call->name);
  if (!index) return std::nullopt;
  const std::vector<Param>& params = module.functions[*index].params;
  if (params.size() != call->arguments.size()) {
    return "a call passes " + std::to_string(call->arguments.size()) + " arguments to " + shown(*call->name) +
           ", which takes " + std::to_string(params.size());
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    // A parameter without a variable is told by its own function.
    if (params[i].var.index() >= module.vars.size()) continue;
    const DataType wanted = module.var(params[i].var).type;
    const DataType given = call->arguments[i]->type;
    if (given.is_handle() != wanted.is_handle() || given.lanes != wanted.lanes || given.is_void()) {
      return "a call passes " + shown_type(given) + " to " + shown(*call->name) + ", whose parameter " +
             std::to_string(i) + " is " + shown_type(wanted);
    }
  }
  return std::nullopt;
}

Rule call_fault(const Module& module, const Expr& expr) {
  if (expr.op == Op::none) return std::string("a call without an operator");
  if ((expr.op == Op::other) == expr.text.empty()) return std::string("a call whose operator has two names or none");
  const bool names_function = expr.op == Op::call_extern || expr.op == Op::call_pure_extern ||
                              expr.op == Op::tvm_call_packed || expr.op == Op::tvm_call_cpacked;
  if (names_function) return named_fault(module, expr);
  if (goes_together(expr)) return std::nullopt;
  std::string types;
  for (const ExprRef& operand : expr.operands) types += (types.empty() ? "" : ", ") + shown_type(operand->type);
  return what(expr) + " of type " + shown_type(expr.type) + " does not go with operands of type " + types;
}

}  // namespace

bool is_condition_for(DataType condition, std::uint16_t lanes) {
  return condition.is_bool() && (condition.lanes == 1 || condition.lanes == lanes);
}

bool is_pointer(DataType type) { return type.is_handle() && !type.is_vector(); }

bool is_scalar_integer(DataType type) { return type.is_integer() && !type.is_vector(); }

std::optional<std::string> fault_of_node(const Module& module, const Expr& expr) {
  if (!is_possible(expr.type)) return std::string("an impossible type");
  if (expr.kind != ExprKind::call && expr.op != Op::none)
    return std::string("an operator on an expression that is not a call");
  const auto [least, most] = operand_count(expr);
  const Operands& operands = expr.operands;
  if (operands.size() < least || operands.size() > most) {
    return what(expr) + " has " + counted(operands.size(), "operand") + ", expected " + std::to_string(least) +
           (most == least ? "" : " or more");
  }
  const auto type = [&](std::size_t i) { return operands[i]->type; };
  switch (expr.kind) {
    case ExprKind::int_imm:
      return literal_fault(expr);
    case ExprKind::float_imm:
      if (expr.type.is_float() && !expr.type.is_vector()) return std::nullopt;
      return "a floating point literal is of type " + shown_type(expr.type);
    case ExprKind::string_imm:
      if (is_pointer(expr.type)) return std::nullopt;
      return "a text is of type " + shown_type(expr.type);
    case ExprKind::var:
      if (expr.type == module.var(expr.var).type) return std::nullopt;
      return "variable " + shown(module.var(expr.var).name) + " of type " + shown_type(module.var(expr.var).type) +
             " is used as " + shown_type(expr.type);
    case ExprKind::not_:
      if (expr.type.is_bool() && type(0) == expr.type) return std::nullopt;
      return "the complement of " + shown_type(type(0)) + " is " + shown_type(expr.type) + ", expected bools";
    case ExprKind::select:
      if (is_condition_for(type(0), expr.type.lanes) && type(1) == expr.type && type(2) == expr.type)
        return std::nullopt;
      return "a select by " + shown_type(type(0)) + " between " + shown_type(type(1)) + " and " + shown_type(type(2)) +
             " is " + shown_type(expr.type);
    case ExprKind::cast:
      if (type(0).lanes == expr.type.lanes && type(0).is_handle() == expr.type.is_handle() && !type(0).is_void() &&
          !expr.type.is_void()) {
        return std::nullopt;
      }
      return "a cast from " + shown_type(type(0)) + " to " + shown_type(expr.type);
    case ExprKind::load:
      return load_fault(module, expr);
    case ExprKind::ramp:
    case ExprKind::broadcast:
      return vector_fault(expr);
    case ExprKind::shuffle:
      return shuffle_fault(expr);
    case ExprKind::let:
      if (type(0) == module.var(expr.var).type && type(1) == expr.type) return std::nullopt;
      return "a let of variable " + shown(module.var(expr.var).name) + " of type " +
             shown_type(module.var(expr.var).type) + " binds " + shown_type(type(0)) + " and gives " +
             shown_type(type(1)) + " as " + shown_type(expr.type);
    case ExprKind::call:
      return call_fault(module, expr);
    default:
      return binary_fault(expr);
  }
}

}  // namespace usmp::tir

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Works off a stack of pieces, with parentheses where C's precedence or a compiler's warning asks for them.
#include "codegen/expressions.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "usmp/tir/integer_types.hpp"

namespace usmp::codegen {

using tir::DataType;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::VarId;

bool may_leave_type(const Expr& root) {
  if (tir::promoted(root.type) == root.type.element()) return false;
  std::vector<const Expr*> parts = {&root};
  while (!parts.empty()) {
    const Expr& expr = *parts.back();
    parts.pop_back();
    const bool is_leaf = expr.kind == ExprKind::load || expr.kind == ExprKind::var || expr.kind == ExprKind::cast ||
                         expr.kind == ExprKind::int_imm;
    const bool is_choice =
        expr.kind == ExprKind::select || (expr.kind == ExprKind::call && expr.op == tir::Op::if_then_else);
    const bool is_of_cut = expr.kind == ExprKind::min || expr.kind == ExprKind::max;
    if (is_leaf || is_of_cut) continue;
    if (expr.kind == ExprKind::broadcast) {
      parts.push_back(expr.operands[0].get());
    } else if (is_choice && expr.operands.size() == 3) {
      parts.insert(parts.end(), {expr.operands[1].get(), expr.operands[2].get()});
    } else {
      return true;
    }
  }
  return false;
}

ExpressionPrinter::ExpressionPrinter(FileContext& file, std::size_t function, std::string& out)
    : file_(file),
      module_(file.module),
      function_(file.module.functions[function]),
      facts_(file.facts.functions[function]),
      out_(&out),
      names_(&file.names) {
  tir::for_each_expr_in(function_.body, [&](const Expr& expr) {
    if (expr.kind == ExprKind::var || expr.kind == ExprKind::load) ++uses_[expr.var];
  });
}

// --- Text and names --------------------------------------------------------------------------------------------------

void ExpressionPrinter::put(std::string_view text) {
  if (out_->size() + text.size() > max_function_text) {
    fail(function_, "the function is too large to print: its shared expressions expand to more than " +
                        std::to_string(max_function_text >> 20) + " MiB of C");
  }
  *out_ += text;
}

// Brackets as clang counts them, which does not add up the kinds; all kinds together are on the safe side.
void ExpressionPrinter::count_brackets(std::string_view text) {
  for (const char character : text) {
    if (character == '(' || character == '[') ++brackets_;
    if (character == ')' || character == ']') --brackets_;
    if (brackets_ > max_bracket_depth) {
      unsupported("an expression needs more than " + std::to_string(max_bracket_depth) +
                  " nested brackets, which is the limit: C compilers accept no more");
    }
  }
}

void ExpressionPrinter::flush() {
  pieces_.run([&](const Piece& piece) {
    depth_ = piece.depth + 1;
    if (piece.expr != nullptr) {
      add_value(*piece.expr, piece.min, piece.lane);
    } else if (piece.action != nullptr) {
      (*piece.action)();
    } else {
      if (piece.is_code) count_brackets(piece.text);
      put(piece.text);
    }
  });
  depth_ = 0;
  kept_.clear();
}

void ExpressionPrinter::print(const Expr& expr, int min, std::size_t lane) {
  add(expr, min, lane);
  flush();
}

void ExpressionPrinter::print_converted(const Expr& expr, int min, std::size_t lane) {
  add_converted(expr, min, lane);
  flush();
}

void ExpressionPrinter::print_assigned(const Expr& expr, int min, std::size_t lane) {
  add_passed(expr, min, lane);
  flush();
}

void ExpressionPrinter::add_passed(const Expr& expr, int min, std::size_t lane) {
  if (is_computed_wider(expr) && !is_folded(expr) && !may_leave_type(expr)) {
    const bool opened = open(prec_unary, min);
    add("(" + c_type(expr.type) + ")");
    add_assigned(expr, prec_unary, lane);
    close(opened);
  } else {
    add_assigned(expr, min, lane);
  }
}

// Whether C computes the value in a wider type, of which it leaves nothing: -Wconversion asks for a cast.
bool ExpressionPrinter::is_computed_wider(const Expr& root) const {
  const bool is_bool = root.type.is_bool();
  if (!is_bool && tir::promoted(root.type) == root.type.element()) return false;
  bool is_of_int = false;  // of macros that give any, or of bits
  if (is_bool) {
    tir::for_each_expr(root, [&](const Expr& expr) {
      is_of_int = is_of_int || expr.op == tir::Op::isnan || expr.op == tir::Op::isinf || expr.op == tir::Op::isfinite ||
                  (expr.type.is_bool() && tir::is_bitwise(expr.op));
    });
  }
  if (is_of_int) return true;
  std::vector<const Expr*> parts = {&root};
  while (!parts.empty()) {
    const Expr& expr = peeled(*parts.back());
    parts.pop_back();
    const bool is_choice =
        expr.kind == ExprKind::select || (expr.kind == ExprKind::call && expr.op == tir::Op::if_then_else);
    if (expr.kind == ExprKind::min || expr.kind == ExprKind::max) return true;
    if (expr.type.is_bool() && is_choice) return true;  // of comparisons, which are of type int
    if (is_choice && expr.operands.size() == 3) {
      parts.insert(parts.end(), {expr.operands[1].get(), expr.operands[2].get()});
    }
  }
  return false;
}

void ExpressionPrinter::print_pointer(const Expr& expr, const PointerType& target, int min) {
  add_pointer(expr, target, min);
  flush();
}

void ExpressionPrinter::print_call(const tir::NamedCall& call, DataType result) {
  add_call(call, result);
  flush();
}

bool ExpressionPrinter::open(int own, int min) {
  if (own < min) add("(");
  return own < min;
}

void ExpressionPrinter::close(bool opened) {
  if (opened) add(")");
}

std::string ExpressionPrinter::declare(VarId var, std::string_view wanted, std::size_t lane) {
  auto& name = var_names_[{var, lane}];
  if (name.empty()) name = names_.unique(wanted.empty() ? std::string_view(module_.var(var).name) : wanted);
  return name;
}

void ExpressionPrinter::declare_constant(VarId var, const tir::Constant& constant) { constants_[var] = &constant; }

std::string ExpressionPrinter::declared_name(VarId var, std::size_t lane) const {
  const auto found = var_names_.find({var, lane});
  return found == var_names_.end() ? std::string() : found->second;
}

std::size_t ExpressionPrinter::times_printed(VarId var, std::size_t lane) const {
  const auto found = printed_.find({var, lane});
  return found == printed_.end() ? 0 : found->second;
}

std::string ExpressionPrinter::name_of(VarId var, std::size_t lane) {
  const VarLane used{var, lane};
  if (counts_) ++printed_[used];
  if (const auto constant = constants_.find(var); constant != constants_.end()) return name_of_constant(var);
  if (!captures_.empty()) {
    std::vector<VarLane>& capture = *captures_.back();
    if (std::find(capture.begin(), capture.end(), used) == capture.end()) capture.push_back(used);
  }
  std::string name = declared_name(var, lane);
  if (name.empty()) fail(function_, "variable '" + module_.var(var).name + "' is used outside of its scope");
  return name;
}

// Constants are arrays at file scope, one for all AllocateConst nodes with the same data.
std::string ExpressionPrinter::name_of_constant(VarId var) {
  const tir::Constant* data = constants_.at(var);
  std::string& name = file_.constant_names[data];
  if (name.empty()) {
    name = file_.names.unique(c_identifier(file_.planned.info.name) + "_" + module_.var(var).name);
    file_.constants.emplace_back(name, data);
  }
  return name;
}

const PointerFacts& ExpressionPrinter::pointer(VarId var) const {
  static const PointerFacts unknown;
  const auto found = facts_.pointers.find(var);
  return found == facts_.pointers.end() ? unknown : found->second;
}

void ExpressionPrinter::unsupported(const std::string& what) const { fail(function_, what); }

void ExpressionPrinter::check_type(DataType type) const {
  if (!has_c_type(type.element()))
    unsupported("data type " + (type.is_void() ? "void" : tir::to_string(type)) + " has no C equivalent");
}

std::string ExpressionPrinter::c_type(DataType type) {
  if (type.is_handle()) return "void*";
  check_type(type);
  if (type.is_bool()) file_.helpers.need_header("stdbool.h");
  return value_type(type.element());
}

const std::string& ExpressionPrinter::literal_true_false(bool value) {
  static const std::string texts[] = {"false", "true"};
  file_.helpers.need_header("stdbool.h");
  return texts[value ? 1 : 0];
}

void ExpressionPrinter::need_operands(const Expr& expr, std::size_t count) const {
  if (expr.operands.size() == count) return;
  unsupported("operator " + name_of_operator(expr) + " has " + std::to_string(expr.operands.size()) +
              " operands, not " + std::to_string(count));
}

// --- Dispatch --------------------------------------------------------------------------------------------------------

void ExpressionPrinter::check_depth() const {
  if (depth_ <= max_expression_depth) return;
  unsupported("an expression nests deeper than " + std::to_string(max_expression_depth) +
              " levels, which is the limit: C compilers accept no more");
}

void ExpressionPrinter::add_value(const Expr& expr, int min, std::size_t lane) {
  check_depth();
  // A scalar among vectors (the condition of a choice) is the same in all lanes.
  if (!expr.type.is_vector()) lane = 0;
  const bool is_call = expr.kind == ExprKind::call;
  if (expr.type.is_handle() ? !is_call && expr.kind != ExprKind::var && expr.kind != ExprKind::string_imm
                            : !is_call || !expr.type.is_void()) {
    check_type(expr.type);
  }
  if (is_folded(expr)) return add_literal(*ranges_.constant(expr), tir::promoted(expr.type), min, false);
  switch (expr.kind) {
    case ExprKind::int_imm:
      return add_literal(expr.int_value, expr.type, min, false);
    case ExprKind::float_imm: {
      std::string literal = float_literal(expr.float_value, expr.type.element());
      if (expr.type.bits == 64 && !std::isfinite(expr.float_value))
        literal = "(double)" + literal;  // the macros' is float
      if (literal.find_first_of("NI") != std::string::npos) file_.helpers.need_header("math.h");
      const bool opened = open(literal[0] == '-' ? prec_unary : prec_postfix, min);
      add(literal);
      return close(opened);
    }
    case ExprKind::string_imm:
      return pieces_.add({.text = string_literal(expr.text), .is_code = false, .depth = depth_});
    case ExprKind::var:
      return add_var(expr, min, lane);
    case ExprKind::add:
    case ExprKind::sub:
    case ExprKind::mul:
      return add_arithmetic(expr, min, lane);
    case ExprKind::div:
    case ExprKind::mod:
    case ExprKind::floor_div:
    case ExprKind::floor_mod:
      return add_division(expr, min, lane);
    case ExprKind::min:
    case ExprKind::max:
      return add_min_max(expr, min, lane);
    case ExprKind::eq:
    case ExprKind::ne:
    case ExprKind::lt:
    case ExprKind::le:
    case ExprKind::gt:
    case ExprKind::ge:
      return add_comparison(expr, min, lane);
    case ExprKind::and_:
    case ExprKind::or_:
      return add_logic(expr, min, lane);
    case ExprKind::not_: {
      const bool opened = open(prec_unary, min);
      add("!");
      add(*expr.operands[0], prec_unary, lane);
      return close(opened);
    }
    case ExprKind::select:
      return add_conditional(*expr.operands[0], *expr.operands[1], *expr.operands[2], min, lane);
    case ExprKind::cast:
      return add_cast(expr, min, lane);
    case ExprKind::load:
      return add_load(expr, min, lane);
    case ExprKind::ramp:
      return add_ramp(expr, min, lane);
    case ExprKind::broadcast:
      return add(*expr.operands[0], min);
    case ExprKind::shuffle:
      return add_shuffle(expr, min, lane);
    case ExprKind::let:
      return add_let(expr, min, lane);
    case ExprKind::call:
      return add_operator(expr, min, lane);
  }
}

void ExpressionPrinter::add_converted(const Expr& expr, int min, std::size_t lane) {
  const Expr* inner = &expr;
  if (inner->kind == ExprKind::broadcast) inner = inner->operands[0].get();
  if (inner->kind != ExprKind::int_imm) return add(expr, min, lane);
  check_type(inner->type);
  add_literal(inner->int_value, inner->type, min, true);
}

void ExpressionPrinter::add_literal(std::int64_t value, DataType type, int min, bool wide_sibling) {
  if (type.is_bool()) file_.helpers.need_header("stdbool.h");
  const std::string literal = int_literal(value, type.element(), wide_sibling);
  // On machines whose uint64_t is an unsigned long, compilers warn where both types meet.
  const bool is_wide = literal.ends_with("ULL");
  const bool opened = open(literal[0] == '-' || is_wide ? prec_unary : prec_postfix, min);
  add(is_wide ? "(uint64_t)" + literal : literal);
  close(opened);
}

// Operators on constants are computed here.
bool ExpressionPrinter::is_folded(const Expr& expr) {
  const bool is_leaf = expr.kind == ExprKind::int_imm || expr.kind == ExprKind::var || expr.kind == ExprKind::load ||
                       expr.kind == ExprKind::let;
  return !is_leaf && expr.type.is_integer() && ranges_.constant(expr) && !has_side_effects(expr);
}

void ExpressionPrinter::add_assigned(const Expr& expr, int min, std::size_t lane) {
  if (is_folded(expr)) {
    const std::int64_t value = *ranges_.constant(expr);
    return add_literal(tir::value_in_type(value, expr.type).value_or(value), expr.type, min, true);
  }
  if (!may_leave_type(expr)) return add_converted(expr, min, lane);
  const bool opened = open(prec_unary, min);
  add("(" + c_type(expr.type) + ")");
  add(expr, prec_unary, lane);
  close(opened);
}

const Expr& ExpressionPrinter::cut_to_type(const ExprRef& value) {
  return may_leave_type(*value) ? keep(tir::make_cast(value->type, value)) : *value;
}

// What the expression is printed as: without hints, broadcasts and variables that their values stand for.
const Expr& ExpressionPrinter::peeled(const Expr& root) const {
  const Expr* expr = &root;
  while (true) {
    const bool is_hint = expr->kind == ExprKind::call && expr->op == tir::Op::likely && expr->operands.size() == 1;
    const auto value = expr->kind == ExprKind::var ? substituted_.find(expr->var) : substituted_.end();
    const bool is_same_bool = expr->kind == ExprKind::cast && expr->type.is_bool() && expr->operands[0]->type.is_bool();
    if (expr->kind == ExprKind::broadcast || is_hint || is_same_bool) {
      expr = expr->operands[0].get();
    } else if (value != substituted_.end() && value->second->kind != ExprKind::let) {
      expr = value->second;
    } else {
      return *expr;
    }
  }
}

void ExpressionPrinter::add_var(const Expr& expr, int min, std::size_t lane) {
  const auto found = substituted_.find(expr.var);
  if (found == substituted_.end()) return add(name_of(expr.var, lane));
  // The value belongs to the scope around the let: the variable does not stand for itself there.
  const Expr* value = found->second;
  substituted_.erase(found);
  add(*value, min, lane);
  later([this, var = expr.var, value] { substituted_[var] = value; });
}

// --- Memory and vectors ----------------------------------------------------------------------------------------------

void ExpressionPrinter::add_load(const Expr& expr, int min, std::size_t lane) {
  const bool is_predicated = expr.operands.size() > 1;
  if (!is_predicated) return add_element(expr, min, lane);
  const bool opened = open(prec_ternary, min);
  add_condition(*expr.operands[1], lane);
  add(" ? ");
  later([=, this, &expr] { add_element(expr, prec_or, lane); });
  add(expr.type.is_float() ? (expr.type.bits == 64 ? " : 0.0" : " : 0.0f") : " : 0");
  close(opened);
}

void ExpressionPrinter::add_element(const Expr& expr, int min, std::size_t lane) {
  const Expr& index = *expr.operands[0];
  const DataType element = expr.type.element();
  if (expr.type.lanes != index.type.lanes)
    unsupported("a load of several lanes has an index with a different number of lanes");
  const bool opened = element.is_bool() && open(prec_equality, min);
  if (is_half(element)) add(file_.helpers.half_to_float(element) + "(");
  const std::string storage = storage_type(element);
  const PointerFacts& facts = pointer(expr.var);
  if (facts.mixed_types) {
    add(file_.helpers.load(storage) + "(" + name_of(expr.var) + ", ");
    add_converted(index, prec_any, lane);
    add(")");
  } else {
    if (facts.type.element == storage) {
      add(name_of(expr.var));
    } else {
      add("((" + to_string(PointerType{storage, facts.type.is_const}) + ")" +
          (facts.type.is_const ? "(const void*)" : "(void*)") + name_of(expr.var) + ")");
    }
    add("[");
    add_converted(index, prec_any, lane);
    add("]");
  }
  if (is_half(element)) add(")");
  if (element.is_bool()) add(" != 0");
  close(opened);
}

void ExpressionPrinter::add_ramp(const Expr& expr, int min, std::size_t lane) {
  const ExprRef& base = expr.operands[0];
  const ExprRef& stride = expr.operands[1];
  if (lane == 0) return add(*base, min);
  ExprRef distance = tir::make_int(static_cast<std::int64_t>(lane), stride->type);
  if (const auto step = tir::as_int(*stride)) {
    const auto reach = checked_mul(*step, static_cast<std::int64_t>(lane));
    if (!reach) unsupported("the stride of a ramp is too large");
    distance = tir::make_int(*reach, stride->type);
  } else {
    distance = tir::make_binary(ExprKind::mul, stride, distance);
  }
  add(keep(tir::make_binary(ExprKind::add, base, distance)), min, 0);
}

void ExpressionPrinter::add_shuffle(const Expr& expr, int min, std::size_t lane) {
  const auto vectors = static_cast<std::size_t>(expr.int_value);
  if (expr.int_value < 0 || vectors + lane >= expr.operands.size()) unsupported("a shuffle has too few operands");
  const auto index = tir::as_int(*expr.operands[vectors + lane]);
  if (!index || *index < 0) unsupported("a shuffle takes a lane index that is not constant");
  auto rest = static_cast<std::size_t>(*index);
  for (std::size_t i = 0; i < vectors; ++i) {
    const std::size_t lanes = expr.operands[i]->type.lanes;
    if (rest < lanes) return add(*expr.operands[i], min, rest);
    rest -= lanes;
  }
  unsupported("a shuffle takes lane " + std::to_string(*index) + ", which its vectors do not have");
}

}  // namespace usmp::codegen

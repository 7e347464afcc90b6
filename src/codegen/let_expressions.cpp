// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// tir.let inside an expression: "let x = value in body" has no counterpart in C.
//
// Where x stands for something trivial, or is used once, the value takes its place in the text. Otherwise the body
// becomes a small function of x and of the variables that it uses, called with the value: nothing is evaluated twice or
// where the surrounding expression would not evaluate it, and nested lets do not multiply the text. Vectors and
// pointers are always replaced, lane by lane; max_function_text bounds what that may come to.
// Tested by tests/codegen/expressions_test.cpp: nested, in the untaken side of if_then_else, and 40 deep with two uses
// each.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "codegen/expressions.hpp"

namespace usmp::codegen {

using tir::Expr;
using tir::ExprKind;
using tir::VarId;

void ExpressionPrinter::add_let(const Expr& expr, int min, std::size_t lane) {
  const Expr& value = *expr.operands[0];
  const Expr& body = *expr.operands[1];
  const bool is_trivial = value.kind == ExprKind::var || value.kind == ExprKind::int_imm ||
                          value.kind == ExprKind::float_imm || value.type.is_vector() || value.type.is_handle();
  // A call in the body might change what a load gives.
  const bool replace = is_trivial || (uses_[expr.var] <= 1 && !has_side_effects(value) && !has_side_effects(body));
  if (!replace) return add_let_function(expr, lane);
  const auto outer = substituted_.find(expr.var);
  const Expr* hidden = outer == substituted_.end() ? nullptr : outer->second;
  const auto hidden_range = ranges_.bound(expr.var);
  substituted_[expr.var] = &cut_to_type(expr.operands[0]);
  ranges_.bind(expr.var, ranges_.value(*substituted_[expr.var]));
  add(body, min, lane);
  later([this, var = expr.var, hidden, hidden_range] {
    if (hidden_range) ranges_.bind(var, *hidden_range);
    if (hidden == nullptr) {
      substituted_.erase(var);
    } else {
      substituted_[var] = hidden;
    }
  });
}

// What is remembered while the body of a let function is printed.
struct ExpressionPrinter::LetFunction {
  std::string name;
  std::string param;
  std::string text;  // of the body
  std::vector<VarLane> captured;
  std::string* outer_text = nullptr;
  std::size_t outer_brackets = 0;
  // What the variable is outside: a value that is printed late may bind what the scope around it binds, too.
  std::string hidden;
  const Expr* hidden_value = nullptr;
  std::optional<Ranges::Value> hidden_range;
  std::size_t uses = 0;  // of the variable, before the body
};

void ExpressionPrinter::add_let_function(const Expr& expr, std::size_t lane) {
  const auto function = std::make_shared<LetFunction>();
  function->name = file_.names.unique(c_identifier(function_.name) + "_let");
  function->param = names_.unique(module_.var(expr.var).name);
  (void)c_type(expr.operands[0]->type);
  add(function->name + "(");
  add_passed(*expr.operands[0], prec_any, lane);
  later([this, &expr, function] { begin_let_body(expr, *function); });
  later([this, &expr, function] { end_let_body(expr, *function); });
  add(")");
}

// The body goes to a text of its own; what it uses of the variables around it becomes parameters.
void ExpressionPrinter::begin_let_body(const Expr& expr, LetFunction& function) {
  const Expr& value = *expr.operands[0];
  function.outer_text = std::exchange(out_, &function.text);
  function.outer_brackets = std::exchange(brackets_, 0);
  function.hidden = std::exchange(var_names_[{expr.var, 0}], function.param);
  if (const auto outer = substituted_.find(expr.var); outer != substituted_.end()) {
    function.hidden_value = outer->second;
    substituted_.erase(outer);
  }
  captures_.push_back(&function.captured);
  function.hidden_range = ranges_.bound(expr.var);
  ranges_.bind_let(expr.var, value);
  function.uses = times_printed(expr.var);
  add_converted(*expr.operands[1]);
}

void ExpressionPrinter::end_let_body(const Expr& expr, LetFunction& function) {
  captures_.pop_back();
  out_ = function.outer_text;
  brackets_ = function.outer_brackets;
  var_names_[{expr.var, 0}] = function.hidden;
  if (function.hidden_value != nullptr) substituted_[expr.var] = function.hidden_value;
  if (function.hidden_range) ranges_.bind(expr.var, *function.hidden_range);

  // The body is not cut to its type: see ir.hpp.
  std::string head = "static inline " + c_type(tir::promoted(expr.operands[1]->type)) + " " + function.name + "(" +
                     c_type(expr.operands[0]->type) + " " + function.param;
  for (const auto& [var, var_lane] : function.captured) {
    if (var == expr.var) continue;
    const bool is_pointer = module_.var(var).type.is_handle();
    const std::string type = is_pointer ? to_string(pointer(var).type) : c_type(module_.var(var).type);
    head += ", " + type + " " + var_names_.at({var, var_lane});
    add(", " + name_of(var, var_lane));
  }
  // The body may turn out to be constant.
  const std::string mention =
      times_printed(expr.var) == function.uses ? "(void)" + function.param + "; " : std::string();
  local_functions_ += head + ") { " + mention + "return " + function.text + "; }\n\n";
  if (local_functions_.size() > max_function_text) unsupported("the function's let expressions are too large to print");
}

}  // namespace usmp::codegen

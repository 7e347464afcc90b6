// tir.let inside an expression: "let x = value in body" has no counterpart in C.
//
// Where x stands for something trivial, or is used once, the value takes its place in the text. Otherwise the body
// becomes a small function of x and of the variables that it uses, called with the value: nothing is evaluated twice or
// where the surrounding expression would not evaluate it, and nested lets do not multiply the text. Vectors and
// pointers are always replaced, lane by lane; max_function_text bounds what that may come to.
// Tested by tests/codegen/expressions_test.cpp: nested, in the untaken side of if_then_else, and 40 deep with two uses
// each.
#include <utility>

#include "codegen/expressions.hpp"

namespace usmp::codegen {

using tir::Expr;
using tir::ExprKind;
using tir::VarId;

void ExpressionPrinter::print_let(const Expr& expr, int min, std::size_t lane) {
  const Expr& value = *expr.operands[0];
  const Expr& body = *expr.operands[1];
  const bool is_trivial = value.kind == ExprKind::var || value.kind == ExprKind::int_imm ||
                          value.kind == ExprKind::float_imm || value.type.is_vector() || value.type.is_handle();
  // A call in the body might change what a load gives.
  const bool replace = is_trivial || (uses_[expr.var] <= 1 && !has_side_effects(value) && !has_side_effects(body));
  if (!replace) return print_let_function(expr, lane);
  const auto outer = substituted_.find(expr.var);
  const Expr* hidden = outer == substituted_.end() ? nullptr : outer->second;
  substituted_[expr.var] = &value;
  ranges_.bind(expr.var, ranges_.of(value));
  print(body, min, lane);
  if (hidden == nullptr) {
    substituted_.erase(expr.var);
  } else {
    substituted_[expr.var] = hidden;
  }
}

void ExpressionPrinter::print_let_function(const Expr& expr, std::size_t lane) {
  const Expr& value = *expr.operands[0];
  const Expr& body = *expr.operands[1];
  const std::string function = file_.names.unique(c_identifier(function_.name) + "_let");
  const std::string param = names_.unique(module_.var(expr.var).name);
  const std::string value_c_type = c_type(value.type);

  put(function + "(");
  print_assigned(value, lane);

  // The body goes to a text of its own; what it uses of the variables around it becomes parameters.
  std::string text;
  std::string* const outer = std::exchange(out_, &text);
  std::string& name = var_names_[{expr.var, 0}];
  const std::string hidden = std::exchange(name, param);
  std::vector<VarLane> captured;
  captures_.push_back(&captured);
  const auto range = ranges_.of(value);
  const auto whole = range_of_type(value.type);
  const bool fits = range && whole && range->low >= whole->low && range->high <= whole->high;
  ranges_.bind(expr.var, fits ? range : whole);
  const std::string result_c_type = c_type(body.type);
  print_assigned(body, lane);
  captures_.pop_back();
  out_ = outer;
  var_names_[{expr.var, 0}] = hidden;

  std::string head = "static inline " + result_c_type + " " + function + "(" + value_c_type + " " + param;
  for (const auto& [var, var_lane] : captured) {
    if (var == expr.var) continue;
    const bool is_pointer = module_.var(var).type.is_handle();
    const std::string type = is_pointer ? to_string(pointer(var).type) : c_type(module_.var(var).type);
    head += ", " + type + " " + var_names_.at({var, var_lane});
    put(", " + name_of(var, var_lane));
  }
  put(")");
  local_functions_ += head + ") { return " + text + "; }\n\n";
  if (local_functions_.size() > max_function_text) unsupported("the function's let expressions are too large to print");
}

}  // namespace usmp::codegen

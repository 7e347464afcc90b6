#include "codegen/expressions.hpp"

#include <algorithm>
#include <cstdint>

namespace usmp::codegen {
namespace {

using tir::DataType;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::VarId;

bool is_integer(DataType type) { return type.is_int() || type.is_uint(); }

// The C expression has a value of the narrow type without being cut to it.
bool is_within_type(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::load:
    case ExprKind::var:
    case ExprKind::cast:
    case ExprKind::int_imm:
      return true;
    case ExprKind::broadcast:
      return is_within_type(*expr.operands[0]);
    case ExprKind::select:
    case ExprKind::call:
      if (expr.kind == ExprKind::call && expr.text != "tir.if_then_else") return false;
      return expr.operands.size() == 3 && is_within_type(*expr.operands[1]) && is_within_type(*expr.operands[2]);
    default:
      return false;
  }
}

}  // namespace

ExpressionPrinter::ExpressionPrinter(FileContext& file, std::size_t function, std::string& out)
    : file_(file),
      module_(file.module),
      function_(file.module.functions[function]),
      facts_(file.facts.functions[function]),
      out_(&out),
      names_(&file.names) {
  tir::for_each_stmt(function_.body, [&](const tir::Stmt& stmt) {
    tir::for_each_expr_of(stmt, [&](const ExprRef& root) {
      tir::for_each_expr(*root, [&](const Expr& expr) {
        if (expr.kind == ExprKind::var || expr.kind == ExprKind::load) ++uses_[expr.var];
      });
    });
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

bool ExpressionPrinter::open(int own, int min) {
  if (own < min) put("(");
  return own < min;
}

void ExpressionPrinter::close(bool opened) {
  if (opened) put(")");
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
  ++printed_[used];
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

void ExpressionPrinter::put_name(VarId var) { put(name_of(var)); }

const PointerFacts& ExpressionPrinter::pointer(VarId var) const {
  static const PointerFacts unknown;
  const auto found = facts_.pointers.find(var);
  return found == facts_.pointers.end() ? unknown : found->second;
}

void ExpressionPrinter::unsupported(const std::string& what) const { fail(function_, what); }

void ExpressionPrinter::check_type(DataType type) const {
  if (!has_c_type(type.element()))
    unsupported("data type " + (type.is_void() ? "void" : tir::to_string(type)) + " has no C");
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
  unsupported("operator " + expr.text + " has " + std::to_string(expr.operands.size()) + " operands, not " +
              std::to_string(count));
}

// --- Dispatch --------------------------------------------------------------------------------------------------------

void ExpressionPrinter::print(const Expr& expr, int min, std::size_t lane) {
  // A scalar among vectors (the condition of a choice) is the same in all lanes.
  if (!expr.type.is_vector()) lane = 0;
  const bool is_call = expr.kind == ExprKind::call;
  if (expr.type.is_handle() ? !is_call && expr.kind != ExprKind::var && expr.kind != ExprKind::string_imm
                            : !is_call || !expr.type.is_void()) {
    check_type(expr.type);
  }
  switch (expr.kind) {
    case ExprKind::int_imm: {
      const std::string literal = int_literal(expr.int_value, expr.type.element(), false);
      if (expr.type.is_bool()) file_.helpers.need_header("stdbool.h");
      const bool opened = open(literal[0] == '-' ? prec_unary : prec_postfix, min);
      put(literal);
      return close(opened);
    }
    case ExprKind::float_imm: {
      const std::string literal = float_literal(expr.float_value, expr.type.element());
      if (literal.find_first_of("NI") != std::string::npos) file_.helpers.need_header("math.h");
      const bool opened = open(literal[0] == '-' ? prec_unary : prec_postfix, min);
      put(literal);
      return close(opened);
    }
    case ExprKind::string_imm:
      return put(string_literal(expr.text));
    case ExprKind::var:
      return print_var(expr, min, lane);
    case ExprKind::add:
    case ExprKind::sub:
    case ExprKind::mul:
      return print_arithmetic(expr, min, lane);
    case ExprKind::div:
    case ExprKind::mod:
    case ExprKind::floor_div:
    case ExprKind::floor_mod:
      return print_division(expr, min, lane);
    case ExprKind::min:
    case ExprKind::max:
      return print_min_max(expr, min, lane);
    case ExprKind::eq:
    case ExprKind::ne:
    case ExprKind::lt:
    case ExprKind::le:
    case ExprKind::gt:
    case ExprKind::ge:
      return print_comparison(expr, min, lane);
    case ExprKind::and_:
    case ExprKind::or_:
      return print_binary(expr, min, lane);
    case ExprKind::not_: {
      const bool opened = open(prec_unary, min);
      put("!");
      print(*expr.operands[0], prec_unary, lane);
      return close(opened);
    }
    case ExprKind::select:
      return print_conditional(*expr.operands[0], *expr.operands[1], *expr.operands[2], min, lane);
    case ExprKind::cast:
      return print_cast(expr, min, lane);
    case ExprKind::load:
      return print_load(expr, min, lane);
    case ExprKind::ramp:
      return print_ramp(expr, min, lane);
    case ExprKind::broadcast:
      return print(*expr.operands[0], min);
    case ExprKind::shuffle:
      return print_shuffle(expr, min, lane);
    case ExprKind::let:
      return print_let(expr, min, lane);
    case ExprKind::call:
      return print_operator(expr, min, lane);
  }
}

void ExpressionPrinter::print_converted(const Expr& expr, int min, std::size_t lane) {
  const Expr* inner = &expr;
  if (inner->kind == ExprKind::broadcast) inner = inner->operands[0].get();
  if (inner->kind != ExprKind::int_imm) return print(expr, min, lane);
  check_type(inner->type);
  if (inner->type.is_bool()) file_.helpers.need_header("stdbool.h");
  const std::string literal = int_literal(inner->int_value, inner->type.element(), true);
  const bool opened = open(literal[0] == '-' ? prec_unary : prec_postfix, min);
  put(literal);
  close(opened);
}

void ExpressionPrinter::print_assigned(const Expr& expr, std::size_t lane) {
  if (is_integer(expr.type) && expr.type.bits < 32 && !expr.type.is_bool() && !is_within_type(expr)) {
    put("(" + c_type(expr.type) + ")");
    return print(expr, prec_unary, lane);
  }
  print_converted(expr, prec_any, lane);
}

void ExpressionPrinter::print_var(const Expr& expr, int min, std::size_t lane) {
  const auto found = substituted_.find(expr.var);
  if (found == substituted_.end()) return put(name_of(expr.var, lane));
  // The value belongs to the scope around the let: the variable does not stand for itself there.
  const Expr* value = found->second;
  substituted_.erase(found);
  print(*value, min, lane);
  substituted_[expr.var] = value;
}

// --- Memory and vectors ----------------------------------------------------------------------------------------------

void ExpressionPrinter::print_load(const Expr& expr, int min, std::size_t lane) {
  const bool is_predicated = expr.operands.size() > 1;
  if (!is_predicated) return print_element(expr, min, lane);
  const bool opened = open(prec_ternary, min);
  print(*expr.operands[1], prec_or, lane);
  put(" ? ");
  print_element(expr, prec_or, lane);
  put(expr.type.is_float() ? (expr.type.bits == 64 ? " : 0.0" : " : 0.0f") : " : 0");
  close(opened);
}

void ExpressionPrinter::print_element(const Expr& expr, int min, std::size_t lane) {
  const Expr& index = *expr.operands[0];
  const DataType element = expr.type.element();
  if (expr.type.lanes != index.type.lanes) unsupported("a load of several lanes has an index of another number");
  const bool opened = element.is_bool() && open(prec_equality, min);
  if (is_half(element)) put(file_.helpers.half_to_float(element) + "(");
  const std::string storage = storage_type(element);
  const PointerFacts& facts = pointer(expr.var);
  if (facts.mixed_types) {
    put(file_.helpers.load(storage) + "(" + name_of(expr.var) + ", ");
    print_converted(index, prec_any, lane);
    put(")");
  } else {
    if (facts.type.element == storage) {
      put_name(expr.var);
    } else {
      put("((" + to_string(PointerType{storage, facts.type.is_const}) + ")" + name_of(expr.var) + ")");
    }
    put("[");
    print_converted(index, prec_any, lane);
    put("]");
  }
  if (is_half(element)) put(")");
  if (element.is_bool()) put(" != 0");
  close(opened);
}

void ExpressionPrinter::print_ramp(const Expr& expr, int min, std::size_t lane) {
  const ExprRef& base = expr.operands[0];
  const ExprRef& stride = expr.operands[1];
  if (lane == 0) return print(*base, min);
  ExprRef distance = tir::make_int(static_cast<std::int64_t>(lane), stride->type);
  if (const auto step = tir::as_int(*stride)) {
    const auto reach = checked_mul(*step, static_cast<std::int64_t>(lane));
    if (!reach) unsupported("the stride of a ramp is too large");
    distance = tir::make_int(*reach, stride->type);
  } else {
    distance = tir::make_binary(ExprKind::mul, stride, distance);
  }
  const ExprRef sum = tir::make_binary(ExprKind::add, base, distance);
  print_arithmetic(*sum, min, 0);
}

void ExpressionPrinter::print_shuffle(const Expr& expr, int min, std::size_t lane) {
  const auto vectors = static_cast<std::size_t>(expr.int_value);
  if (expr.int_value < 0 || vectors + lane >= expr.operands.size()) unsupported("a shuffle has too few operands");
  const auto index = tir::as_int(*expr.operands[vectors + lane]);
  if (!index || *index < 0) unsupported("a shuffle takes a lane that is no constant");
  auto rest = static_cast<std::size_t>(*index);
  for (std::size_t i = 0; i < vectors; ++i) {
    const std::size_t lanes = expr.operands[i]->type.lanes;
    if (rest < lanes) return print(*expr.operands[i], min, rest);
    rest -= lanes;
  }
  unsupported("a shuffle takes lane " + std::to_string(*index) + ", which its vectors do not have");
}

}  // namespace usmp::codegen

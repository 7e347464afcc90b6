// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Statements that act: stores, and operators evaluated for their effect.
#include "codegen/statement_printer.hpp"
#include "codegen/status.hpp"
#include "usmp/lower/outline.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::codegen {
namespace {

using tir::DataType;
using tir::Expr;
using tir::ExprKind;

bool has_loads(const Expr& root) {
  bool found = false;
  tir::for_each_expr(root, [&](const Expr& expr) { found = found || expr.kind == ExprKind::load; });
  return found;
}

bool is_statement_operator(const Expr& call) {
  return call.op == tir::Op::tvm_check_return || call.op == tir::Op::ret || call.op == tir::Op::tvm_throw_last_error ||
         tir::named_call(call).has_value();
}

}  // namespace

// --- Stores ----------------------------------------------------------------------------------------------------------

void StatementPrinter::print(const tir::Store& store) {
  if (has_float_vectors(store)) {
    if (const auto stores = array_stores_.find(store.storage); stores != array_stores_.end()) ++stores->second;
    indent();
    return printer_.print_floats(store);
  }
  if (store.value->type.is_vector()) return print_vector_store(store);
  const bool is_conditional = store.predicate != nullptr;
  if (is_conditional) begin_block("if", *store.predicate);
  print_store(
      store, [&] { printer_.print_converted(*store.index); }, [&] { printer_.print_assigned(*store.value); });
  if (is_conditional) end_block();
}

void StatementPrinter::print_store(const tir::Store& store, const std::function<void()>& print_index,
                                   const std::function<void()>& print_value) {
  const DataType element = store.value->type.element();
  printer_.check_type(element);
  const std::string storage = storage_type(element);
  const PointerFacts& facts = printer_.pointer(store.storage);
  if (const auto stores = array_stores_.find(store.storage); stores != array_stores_.end()) ++stores->second;
  const auto print_bits = [&] {
    if (is_half(element)) printer_.put(file_.helpers.float_to_half(element) + "(");
    print_value();
    if (is_half(element)) printer_.put(")");
  };
  indent();
  if (facts.mixed_types) {
    printer_.put(file_.helpers.store(storage) + "(" + printer_.name_of(store.storage) + ", ");
    print_index();
    printer_.put(", ");
    print_bits();
    printer_.put(");\n");
    return;
  }
  if (facts.type.element == storage) {
    printer_.put(printer_.name_of(store.storage));
  } else {
    printer_.put("((" + storage + "*)(void*)" + printer_.name_of(store.storage) + ")");
  }
  printer_.put("[");
  print_index();
  printer_.put("] = ");
  print_bits();
  printer_.put(";\n");
}

// Whether it sets or reads a variable that is a vector: then it can be printed so.
bool StatementPrinter::has_float_vectors(const tir::Store& store) const {
  if (facts_.float_vectors.empty()) return false;
  bool has = facts_.float_vectors.contains(store.storage);
  tir::for_each_expr(*store.value, [&](const Expr& expr) {
    has = has || (expr.kind == ExprKind::load && facts_.float_vectors.contains(expr.var));
  });
  return has;
}

// All lanes are read before the first is written, as the value may come from the same storage.
void StatementPrinter::print_vector_store(const tir::Store& store) {
  const std::size_t lanes = store.value->type.lanes;
  if (store.index->type.lanes != lanes || (store.predicate && store.predicate->type.lanes != lanes)) {
    printer_.unsupported("a store of " + std::to_string(lanes) +
                         " lanes has an index or predicate with a different number of lanes");
  }
  begin_block();
  std::vector<std::string> predicates;
  std::vector<std::string> indices;
  std::vector<std::string> values;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    if (store.predicate) predicates.push_back(print_temporary("lane_on", *store.predicate, lane));
    if (has_loads(*store.index)) indices.push_back(print_temporary("lane_index", *store.index, lane));
    values.push_back(print_temporary("lane", *store.value, lane, store.predicate ? predicates.back() : std::string()));
  }
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    if (store.predicate) {
      begin_block("if (" + predicates[lane] + ") {");
    }
    print_store(
        store,
        [&] {
          if (indices.empty()) {
            printer_.print_converted(*store.index, prec_any, lane);
          } else {
            printer_.put(indices[lane]);
          }
        },
        [&] { printer_.put(values[lane]); });
    if (store.predicate) end_block();
  }
  end_block();
}

// "const T name = value;", or "… = condition ? value : 0;".
std::string StatementPrinter::print_temporary(std::string_view base, const Expr& value, std::size_t lane,
                                              const std::string& condition) {
  std::string name = printer_.temporary(base);
  indent();
  printer_.put("const " + printer_.c_type(value.type) + " " + name + " = ");
  if (condition.empty()) {
    printer_.print_assigned(value, prec_any, lane);
  } else {
    printer_.put(condition + " ? ");
    printer_.print_assigned(value, prec_or, lane);
    printer_.put(" : 0");
  }
  printer_.put(";\n");
  return name;
}

// --- Calls -----------------------------------------------------------------------------------------------------------

void StatementPrinter::print(const tir::Evaluate& evaluate) {
  const Expr& value = *evaluate.value;
  if (!is_worth_evaluating(value)) return;
  if (const std::string* text = tir::kept_text_of(value)) return printer_.put(*text + "\n");
  if (value.kind == ExprKind::call && value.op == tir::Op::memory_fence) return print_fence();
  if (const Expr* call = called_for_effect(value)) {
    const auto callee = module_.find(*tir::named_call(*call)->name);
    if (callee && !file_.facts.functions[*callee].gives_status) return print_plain_call(*call);
  }
  if (value.kind == ExprKind::call && is_statement_operator(value)) return print_statement_operator(value);
  print_evaluation(value);
}

void StatementPrinter::print_fence() {
  file_.uses_fence = true;
  line("USMP_FENCE();");
}

void StatementPrinter::print_statement_operator(const Expr& call) {
  if (call.op == tir::Op::tvm_throw_last_error) return print_return("-1");
  if (call.op == tir::Op::ret) return print_ret(call);
  if (call.op == tir::Op::tvm_check_return) return print_check_return(call);
  const auto named = tir::named_call(call);
  const auto callee = module_.find(*named->name);
  const bool returns_status = !printer_.gives_nothing(*named->name) &&
                              (callee || call.op == tir::Op::tvm_call_packed || call.op == tir::Op::tvm_call_cpacked);
  if (!callee && call.op != tir::Op::call_extern && call.op != tir::Op::call_pure_extern) {
    printer_.unsupported("operator " + name_of_operator(call) + " calls '" + *named->name +
                         "', which the module does not define");
  }
  if (!returns_status) return print_evaluation(call);
  print_return_if(
      [&] {
        printer_.print_call(*named, tir::int32_type);
        printer_.put(" != 0");
      },
      "-1");
}

void StatementPrinter::print_plain_call(const Expr& call) {
  indent();
  printer_.print_call(*tir::named_call(call), tir::int32_type);
  printer_.put(";\n");
}

void StatementPrinter::print_check_return(const Expr& call) {
  const auto expected = call.operands.size() == 3 ? tir::as_int(*call.operands[0]) : std::nullopt;
  const auto returned = call.operands.size() == 3 ? tir::as_int(*call.operands[1]) : std::nullopt;
  const bool returns_own = expected && tir::is_own_code(*call.operands[1]);
  const auto failure = expected ? tir::kept_failure_of(*call.operands[1]) : std::nullopt;
  if (!expected || (!returned && !returns_own && !failure))
    printer_.unsupported("operator tir.tvm_check_return has operands of another kind");
  const auto checked = tir::named_call(*call.operands[2]);
  if (checked && printer_.gives_nothing(*checked->name)) {
    printer_.unsupported("the result of '" + *checked->name + "' is checked, but its C returns none");
  }
  if (failure) return print_kept_failure(call, *expected, *failure);
  if (returns_own) {
    begin_block();
    const std::string status = print_temporary("status", *call.operands[2]);
    print_return_if([&] { printer_.put(status + " != " + int_literal(*expected, tir::int32_type, false)); }, status);
    return end_block();
  }
  print_return_if(
      [&] {
        printer_.print(*call.operands[2], prec_add);
        printer_.put(" != " + int_literal(*expected, tir::int32_type, false));
      },
      int_literal(*returned, tir::int32_type, false));
}

void StatementPrinter::print_kept_failure(const Expr& call, std::int64_t expected, const tir::KeptFailure& failure) {
  if (!workspaces_.empty()) printer_.unsupported("C that stays may leave the function, which holds workspace");
  const auto print_compared = [&] { printer_.put(" != " + int_literal(expected, tir::int32_type, false) + ") {\n"); };
  if (failure.variable.empty()) {
    indent();
    printer_.put("if (");
    printer_.print(*call.operands[2], prec_add);
    print_compared();
  } else {
    begin_block();
    indent();
    printer_.put(std::string(failure.variable) + " = ");
    printer_.print_assigned(*call.operands[2]);
    printer_.put(";\n");
    indent();
    printer_.put("if (" + std::string(failure.variable.substr(failure.variable.rfind(' ') + 1)));
    print_compared();
  }
  ++depth_;
  line(failure.text);
  end_block();
  if (!failure.variable.empty()) end_block();
}

void StatementPrinter::print_ret(const Expr& call) {
  if (call.operands.size() != 1) printer_.unsupported("operator tir.ret does not have exactly one operand");
  const Expr& value = *call.operands[0];
  if (value.type.is_handle() || value.type.is_vector()) {
    printer_.unsupported("a value of type " + tir::to_string(value.type) + " is returned");
  }
  if (workspaces_.empty()) {
    indent();
    printer_.put("return ");
    printer_.print_assigned(value);
    printer_.put(";\n");
    return;
  }
  begin_block();
  const std::string name = print_temporary("result", value);
  print_return(name);
  end_block();
}

void StatementPrinter::print_evaluation(const Expr& value) {
  indent();
  if (value.kind != ExprKind::call || !value.type.is_void()) printer_.put("(void)");
  if (value.type.is_handle()) {
    printer_.print_pointer(value, printer_.pointer_type_of(value), prec_unary);
  } else if (const auto named = tir::named_call(value)) {
    printer_.print_call(*named, value.type);
  } else {
    printer_.print(value, prec_unary);
  }
  printer_.put(";\n");
}

}  // namespace usmp::codegen

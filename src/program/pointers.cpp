// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Evaluates expressions to sets of pointer variables, with a stack of its own, and notes accesses and escapes.
#include "usmp/program/pointers.hpp"

#include <algorithm>
#include <utility>

#include "usmp/program/call_graph.hpp"

namespace usmp::program {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::VarId;

// Adds the smaller set to the larger one. Both are sorted.
PointerSet united(PointerSet to, PointerSet from) {
  if (to.size() < from.size()) std::swap(to, from);
  if (from.empty()) return to;
  const auto middle = static_cast<std::ptrdiff_t>(to.size());
  to.insert(to.end(), from.begin(), from.end());
  std::inplace_merge(to.begin(), to.begin() + middle, to.end());
  to.erase(std::unique(to.begin(), to.end()), to.end());
  return to;
}

bool is_pointer(const Expr& expr) { return expr.type.is_handle() && expr.kind != ExprKind::string_imm; }

PointerSet united_all(std::span<PointerSet> sets) {
  PointerSet all;
  for (PointerSet& set : sets) all = united(std::move(all), std::move(set));
  return all;
}

bool is_address_of_load(const Expr& expr) {
  return expr.kind == ExprKind::call && expr.op == tir::Op::address_of && expr.operands.size() == 1 &&
         expr.operands[0]->kind == ExprKind::load;
}

// The load below address_of does not happen, but its index is evaluated; a function's name is nothing to evaluate.
void append_parts(const Expr& expr, std::vector<const Expr*>& parts) {
  const bool is_address = is_address_of_load(expr);
  const std::span<const ExprRef> operands(is_address ? expr.operands[0]->operands : expr.operands);
  for (const ExprRef& operand : operands.subspan(tir::named_call(expr) ? 1 : 0)) parts.push_back(operand.get());
}

// Whether it only computes with numbers, and what it loads are numbers.
bool is_of_numbers(const Expr& root) {
  bool result = true;
  tir::for_each_expr(root, [&](const Expr& expr) {
    result = result && !is_pointer(expr) && expr.kind != ExprKind::call && expr.kind != ExprKind::let;
    return result;
  });
  return result;
}

}  // namespace

void append_pointer_parts(const Expr& pointer, std::vector<const Expr*>& parts) {
  const auto append = [&](std::initializer_list<std::size_t> which) {
    for (const std::size_t i : which) {
      if (i < pointer.operands.size()) parts.push_back(pointer.operands[i].get());
    }
  };
  const tir::Op op = pointer.op;
  if (pointer.kind == ExprKind::cast || op == tir::Op::address_of || op == tir::Op::reinterpret) return append({0});
  if (pointer.kind == ExprKind::let || op == tir::Op::tvm_access_ptr) return append({1});
  if (pointer.kind == ExprKind::select || op == tir::Op::if_then_else) return append({1, 2});
}

PointerReader::PointerReader(const tir::Module& module, std::size_t function, PointerUses& uses)
    : module_(module), function_(function), uses_(uses) {
  for (const tir::Param& param : module.functions[function].params) (void)declare(param.var);
}

Slot PointerReader::declare(VarId var) {
  const auto [slot, is_new] = slots_.emplace(var, static_cast<Slot>(vars_.size()));
  if (is_new) vars_.push_back(var);
  return slot->second;
}

PointerSet PointerReader::read(const tir::Stmt& stmt) {
  if (const auto* let = std::get_if<tir::Let>(&stmt.node)) return part(*let->value);
  if (const auto* evaluate = std::get_if<tir::Evaluate>(&stmt.node)) {
    (void)part(*evaluate->value);  // the result is dropped, so a pointer goes nowhere
    return {};
  }
  if (const auto* store = std::get_if<tir::Store>(&stmt.node)) access(store->storage, true, store->value->type);
  tir::for_each_expr_of(stmt, [&](const ExprRef& expr) { value(*expr); });
  return {};
}

// The expression is evaluated and its value used as a number.
void PointerReader::value(const Expr& expr) {
  if (is_of_numbers(expr)) {  // nearly all are: only what they load matters
    return tir::for_each_expr(expr, [&](const Expr& part) {
      if (part.kind == ExprKind::load) access(part.var, false, part.type);
    });
  }
  const PointerSet targets = part(expr);
  if (is_pointer(expr)) uses_.escape(targets);
}

// The expression is evaluated, and what it points to is known to whoever asked.
PointerSet PointerReader::part(const Expr& root) {
  const auto before = [&](const Expr& expr, std::size_t i, std::span<PointerSet> values) {
    if (expr.kind == ExprKind::let && i == 1) let_targets_[expr.var].push_back(values[0]);
  };
  const auto combine = [&](const Expr& expr, std::span<PointerSet> values) {
    PointerSet targets = evaluate(expr, values);
    return is_pointer(expr) ? std::move(targets) : PointerSet();
  };
  return tir::fold<PointerSet>(root, append_parts, before, combine);
}

// What the expression does by itself, and what it points to, given what its parts point to.
PointerSet PointerReader::evaluate(const Expr& expr, std::span<PointerSet> parts) {
  switch (expr.kind) {
    case ExprKind::var:
      return is_pointer(expr) ? targets_of(expr.var) : PointerSet();
    case ExprKind::load:
      // A pointer in memory can only be one that escaped when it was stored.
      access(expr.var, false, expr.type);
      escape_all(parts);
      return {};
    case ExprKind::let:
      let_targets_[expr.var].pop_back();
      return std::move(parts[1]);
    case ExprKind::call:
      return evaluate_call(expr, parts);
    case ExprKind::eq:
    case ExprKind::ne:
      return {};  // comparing a pointer (with NULL) does not let it out
    default:
      // select, cast, arithmetic on a pointer; otherwise a pointer is taken for a number
      if (is_pointer(expr)) return united_all(parts);
      escape_all(parts);
      return {};
  }
}

// Gives what the result may point to.
PointerSet PointerReader::evaluate_call(const Expr& expr, std::span<PointerSet> parts) {
  if (const auto named = tir::named_call(expr))
    return evaluate_named_call(*named, parts, expr.op == tir::Op::call_pure_extern);
  if (is_address_of_load(expr)) {
    escape_all(parts);
    return targets_of(expr.operands[0]->var);
  }
  PointerSet all = united_all(parts);
  if (tir::info(expr.op).derives_pointer) {
    // As a number (a reinterpreted pointer) the result is out of sight.
    if (!expr.type.is_handle() && expr.op != tir::Op::isnullptr) uses_.escape(all);
    return all;
  }
  if (expr.op == tir::Op::ret || expr.op == tir::Op::tvm_struct_set) {
    uses_.escape(all);  // handed out, or put into a structure that a later call unpacks
  } else {
    access_all(all, function_);
  }
  return all;
}

PointerSet PointerReader::evaluate_named_call(const tir::NamedCall& named, std::span<PointerSet> operands,
                                              bool is_pure) {
  PointerCall call;
  call.callee = *named.name;
  call.is_pure = is_pure;
  const auto arguments = operands.first(named.arguments.size());
  call.arguments.assign(arguments.begin(), arguments.end());
  for (const ExprRef& argument : named.arguments) call.is_variable.push_back(is_declared_variable(*argument));
  PointerSet handed = united_all(operands);
  if (const auto function = module_.find(call.callee)) {
    call.is_defined = true;
    call.function = *function;
    call.is_walked = !tir::is_opaque(module_, module_.functions[*function]);
  }
  if (call.is_walked) {
    check_arguments(call);
  } else {
    const std::size_t by = call.is_defined ? call.function : function_;
    access_all(handed, by);
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      access_all(call.arguments[i], by, handed_element_bytes(call, i, *named.arguments[i]));
    }
  }
  uses_.call(std::move(call));
  return handed;
}

// And not one of a let expression.
bool PointerReader::is_declared_variable(const Expr& argument) const {
  if (argument.kind != ExprKind::var || !slots_.contains(argument.var)) return false;
  const auto let = let_targets_.find(argument.var);
  return let == let_targets_.end() || let->second.empty();
}

// How wide elements are that an opaque callee is handed: as it declares its parameter, or as the pointer was made.
Bytes PointerReader::handed_element_bytes(const PointerCall& call, std::size_t index, const Expr& argument) const {
  Bytes bytes = 1;
  if (call.is_defined && index < module_.functions[call.function].params.size()) {
    bytes = module_.functions[call.function].params[index].element.element_bytes();
  }
  const bool is_typed = argument.kind == ExprKind::call && !argument.operands.empty() &&
                        (argument.op == tir::Op::address_of || argument.op == tir::Op::tvm_access_ptr);
  if (is_typed) bytes = std::max(bytes, argument.operands[0]->type.element_bytes());
  return std::max<Bytes>(1, bytes);
}

void PointerReader::check_arguments(const PointerCall& call) const {
  const std::size_t expected = module_.functions[call.function].params.size();
  if (call.arguments.size() == expected) return;
  fail_in(module_.functions[function_], "a call passes " + std::to_string(call.arguments.size()) + " arguments to '" +
                                            call.callee + "', which takes " + std::to_string(expected));
}

void PointerReader::access(VarId var, bool writes, tir::DataType type) {
  uses_.access(targets_of(var), {.reads = !writes,
                                 .writes = writes,
                                 .function = function_,
                                 .element_bytes = std::max<Bytes>(1, type.element_bytes()),
                                 .lanes = std::max<std::size_t>(1, type.lanes)});
}

void PointerReader::access_all(const PointerSet& pointers, std::size_t by, Bytes element_bytes) {
  uses_.access(pointers, {.reads = true, .writes = true, .function = by, .element_bytes = element_bytes});
}

void PointerReader::escape_all(std::span<const PointerSet> sets) {
  for (const PointerSet& pointers : sets) uses_.escape(pointers);
}

// What a pointer variable may point to.
PointerSet PointerReader::targets_of(VarId var) const {
  const auto let = let_targets_.find(var);
  if (let != let_targets_.end() && !let->second.empty()) return let->second.back();
  const auto slot = slots_.find(var);
  if (slot != slots_.end()) return {slot->second};
  fail_in(module_.functions[function_],
          "variable '" + module_.var(var).name + "' points to storage that the function does not declare");
}

}  // namespace usmp::program

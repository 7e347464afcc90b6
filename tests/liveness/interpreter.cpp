// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Executes statements and calls step by step, and looks at each read whether its buffer was live since the write.
#include "liveness/interpreter.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "tir_support/c_integers.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::liveness::testing {

using tir::Expr;
using tir::ExprKind;

Interpreter::Interpreter(const tir::Module& module, const Analysis& analysis, std::uint32_t order)
    : module_(module), analysis_(analysis), order_(order), last_dead_(analysis.sites.size(), -1) {
  for (std::size_t i = 0; i < analysis.sites.size(); ++i) site_of_[analysis.sites[i].var] = i;
}

void Interpreter::run(std::size_t max_steps) {
  max_steps_ = max_steps;
  std::vector<Value> arguments;
  for (const tir::Param& param : module_.functions[module_.entry].params) {
    Frame frame;
    allocate(param.var, (*param.shape)[0], frame);
    arguments.push_back(frame.vars[param.var]);
    Instance& instance = instances_.back();
    if (analysis_.sites[instance.site].kind != BufferKind::input) continue;
    for (std::size_t i = 0; i < instance.elements.size(); ++i) {
      instance.elements[i] = {.value = {.number = static_cast<std::int64_t>(i) + 1, .pointer = {}}, .written = 0};
    }
  }
  try {
    call(module_.entry, arguments, 0);
  } catch (const OutOfSteps&) {
    return;
  }
  // The application reads the outputs after the last step.
  for (const Instance& instance : instances_) {
    const Site& site = analysis_.sites[instance.site];
    if (site.kind != BufferKind::output) continue;
    if (site.live.empty() || site.live.back().end != analysis_.horizon) violations_.insert(site.name + " ends early");
    for (const Element& element : instance.elements) {
      if (element.written) check_live(instance.site, *element.written, "is an output");
    }
  }
}

// --- Statements ------------------------------------------------------------------------------------------------------

std::size_t Interpreter::call(std::size_t function, const std::vector<Value>& arguments, Tick base) {
  const tir::Function& callee = module_.functions[function];
  Frame frame;
  for (std::size_t i = 0; i < arguments.size(); ++i) frame.vars[callee.params[i].var] = arguments[i];
  run_block(callee.body, frame, base);
  if (length(callee.body) == 0) step(base);
  return function;
}

void Interpreter::run_block(const tir::Block& block, Frame& frame, Tick base) {
  for (const tir::Stmt& stmt : block) {
    run_stmt(stmt, frame, base);
    base += length(stmt);
  }
}

void Interpreter::run_stmt(const tir::Stmt& stmt, Frame& frame, Tick base) {
  std::visit(tir::Overloaded{
                 [&](const tir::Allocate& s) { allocate(s.var, *tir::as_int(*s.extents[0]), frame); },
                 [&](const tir::Let& s) {
                   step(base);
                   frame.vars[s.var] = evaluate(*s.value, frame);
                 },
                 [&](const tir::Store& s) {
                   std::size_t calls = 0;
                   const Tick own = base + length_of_calls(*s.value, calls);
                   if (calls == 0) {
                     step(own);
                     const auto value = evaluate(*s.value, frame);
                     write(frame.vars[s.storage].pointer, evaluate(*s.index, frame).number, value);
                   } else {  // other + f(...): the other operand may be read before the call
                     step(own);
                     const Value other = evaluate(*s.value->operands[0], frame);
                     run_evaluated(*s.value->operands[1], frame, base);
                     step(own);
                     write(frame.vars[s.storage].pointer, evaluate(*s.index, frame).number, other);
                   }
                 },
                 [&](const tir::Evaluate& s) { run_evaluated(*s.value, frame, base); },
                 [&](const tir::For& s) { run_for(s, frame, base); },
                 [&](const tir::While& s) {
                   for (;;) {
                     step(base);
                     if (evaluate(*s.condition, frame).number == 0) break;
                     run_block(s.body, frame, base + 1);
                   }
                 },
                 [&](const tir::IfThenElse& s) {
                   step(base);
                   if (evaluate(*s.condition, frame).number != 0) {
                     run_block(s.then_body, frame, base + 1);
                   } else {
                     run_block(s.else_body, frame, base + 1 + length(s.then_body));
                   }
                 },
                 [&](const tir::Scope& s) { run_block(s.body, frame, base); },
                 [](const auto&) { throw std::logic_error("statement kind not generated"); },
             },
             stmt.node);
}

void Interpreter::run_for(const tir::For& loop, Frame& frame, Tick base) {
  step(base);
  for (std::int64_t i = evaluate(*loop.min, frame).number, n = 0;; ++i, ++n) {
    // C evaluates the bound in each iteration, which shows only if it is no constant.
    if (n > 0 && !tir::as_int(*loop.extent)) step(base);
    if (n >= evaluate(*loop.extent, frame).number) break;
    frame.vars[loop.var] = {.number = i, .pointer = {}};
    run_block(loop.body, frame, base + 1);
  }
}

// A call, alone or two of them in a sum, in either order.
void Interpreter::run_evaluated(const Expr& expr, Frame& frame, Tick base) {
  if (expr.kind == ExprKind::add) {
    std::size_t ignored = 0;
    const Tick second = base + length_of_calls(*expr.operands[0], ignored);
    const bool swapped = order_() % 2 == 0;
    if (swapped) run_evaluated(*expr.operands[1], frame, second);
    run_evaluated(*expr.operands[0], frame, base);
    if (!swapped) run_evaluated(*expr.operands[1], frame, second);
    return;
  }
  const auto named = tir::named_call(expr);
  const auto function = named ? module_.find(*named->name) : std::nullopt;
  if (function) {
    call(*function, arguments_of(expr, frame), base);
    return;
  }
  step(base);
  (void)evaluate(expr, frame);
}

void Interpreter::allocate(tir::VarId var, std::int64_t elements, Frame& frame) {
  frame.vars[var] = {.number = 0, .pointer = {.instance = instances_.size(), .offset = 0}};
  instances_.push_back(
      {.site = site_of_.at(var), .elements = std::vector<Element>(static_cast<std::size_t>(elements))});
}

void Interpreter::step(Tick tick) {
  if (static_cast<std::size_t>(++now_) > max_steps_) throw OutOfSteps{};
  tick_ = tick;
  for (std::size_t i = 0; i < last_dead_.size(); ++i) {
    const bool live = overlap(analysis_.sites[i].live, {{tick, tick + 1}});
    if (!live) last_dead_[i] = now_;
  }
}

// --- Expressions and memory ------------------------------------------------------------------------------------------

Interpreter::Value Interpreter::evaluate(const Expr& expr, Frame& frame) {
  const auto operand = [&](std::size_t i) { return evaluate(*expr.operands[i], frame); };
  switch (expr.kind) {
    case ExprKind::int_imm:
      return {.number = expr.int_value, .pointer = {}};
    case ExprKind::var:
      return frame.vars.at(expr.var);
    case ExprKind::load:
      return read(frame.vars.at(expr.var).pointer, operand(0).number);
    case ExprKind::add:
    case ExprKind::mul:
    case ExprKind::mod: {
      const std::int64_t a = operand(0).number;
      const std::int64_t b = operand(1).number;
      return {.number = tir::testing::c_arithmetic(expr.kind, a, b, expr.type).value(), .pointer = {}};
    }
    case ExprKind::select:
      return operand(0).number != 0 ? operand(1) : operand(2);
    case ExprKind::call:
      return evaluate_call(expr, frame);
    default:
      throw std::logic_error("expression kind not generated");
  }
}

Interpreter::Value Interpreter::evaluate_call(const Expr& expr, Frame& frame) {
  if (expr.op == tir::Op::address_of || expr.op == tir::Op::tvm_access_ptr) {
    const bool is_load = expr.op == tir::Op::address_of;
    const Expr& base = is_load ? *expr.operands[0] : *expr.operands[1];
    Value value = frame.vars.at(base.var);
    value.pointer.offset += evaluate(is_load ? *base.operands[0] : *expr.operands[2], frame).number;
    return value;
  }
  // An extern function reads all it is handed, then writes all.
  const std::vector<Value> arguments = arguments_of(expr, frame);
  for (const bool writes : {false, true}) {
    for (const Value& argument : arguments) {
      const std::size_t count = instances_[argument.pointer.instance].elements.size();
      for (std::size_t i = 0; i < count; ++i) {
        const Pointer start{.instance = argument.pointer.instance, .offset = 0};
        if (writes) {
          write(start, static_cast<std::int64_t>(i), {.number = 5, .pointer = {}});
        } else {
          (void)read(start, static_cast<std::int64_t>(i));
        }
      }
    }
  }
  return {};
}

std::vector<Interpreter::Value> Interpreter::arguments_of(const Expr& call, Frame& frame) {
  std::vector<Value> arguments;
  const auto named = tir::named_call(call);
  for (const tir::ExprRef& argument : named->arguments) arguments.push_back(evaluate(*argument, frame));
  return arguments;
}

Interpreter::Element* Interpreter::element(const Pointer& pointer, std::int64_t index) {
  return &instances_.at(pointer.instance).elements.at(static_cast<std::size_t>(pointer.offset + index));
}

Interpreter::Value Interpreter::read(const Pointer& pointer, std::int64_t index) {
  const Element& found = *element(pointer, index);
  if (!found.written) return {};
  const std::size_t site = instances_[pointer.instance].site;
  ++checked_reads_;
  if (*found.written < now_) ++carried_reads_;
  check_live(site, *found.written, "is read");
  return found.value;
}

void Interpreter::write(const Pointer& pointer, std::int64_t index, const Value& value) {
  // Small numbers, so that no arithmetic of a long run overflows.
  const Value kept{.number = value.number % 97, .pointer = value.pointer};
  *element(pointer, index) = {.value = kept, .written = now_};
  check_live(instances_[pointer.instance].site, now_, "is written");
}

void Interpreter::check_live(std::size_t site, std::int64_t since, const char* what) {
  if (last_dead_[site] < since) return;
  violations_.insert(analysis_.sites[site].name + " " + what + " at tick " + std::to_string(tick_) +
                     ", but was not live since the value was written");
}

// --- The numbering of ticks ------------------------------------------------------------------------------------------

Tick Interpreter::length(const tir::Block& block) {
  Tick total = 0;
  for (const tir::Stmt& stmt : block) total += length(stmt);
  return total;
}

Tick Interpreter::length(const tir::Stmt& stmt) {
  if (std::holds_alternative<tir::Allocate>(stmt.node)) return 0;
  Tick total = std::holds_alternative<tir::Scope>(stmt.node) ? 0 : 1;
  if (const auto* evaluated = std::get_if<tir::Evaluate>(&stmt.node)) {
    std::size_t calls = 0;
    const Tick inside = length_of_calls(*evaluated->value, calls);
    return calls == 1 ? inside : inside + 1;
  }
  if (const auto* store = std::get_if<tir::Store>(&stmt.node)) {
    std::size_t calls = 0;
    total += length_of_calls(*store->value, calls);
  }
  for (const tir::Block* inner : tir::blocks_of(stmt)) total += length(*inner);
  return total;
}

Tick Interpreter::length_of_calls(const Expr& expr, std::size_t& calls) {
  Tick total = 0;
  tir::for_each_expr(expr, [&](const Expr& part) {
    const auto named = tir::named_call(part);
    const auto function = named ? module_.find(*named->name) : std::nullopt;
    if (!function) return;
    ++calls;
    total += length_of_function(*function);
  });
  return total;
}

Tick Interpreter::length_of_function(std::size_t function) {
  const auto [entry, is_new] = function_length_.try_emplace(function, 0);
  if (is_new) {
    const Tick total = std::max<Tick>(1, length(module_.functions[function].body));
    function_length_[function] = total;
    return total;
  }
  return entry->second;
}

}  // namespace usmp::liveness::testing

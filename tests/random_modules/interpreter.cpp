// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Statements and calls.
#include "random_modules/interpreter.hpp"

#include <algorithm>
#include <cmath>

namespace usmp::random_modules {
namespace {

using tir::Expr;
using tir::ExprKind;

constexpr std::size_t most_steps = 200'000;
constexpr Wide largest_allocation = 1 << 16;

}  // namespace

Outcome Interpreter::run(const std::vector<Argument>& arguments) && {
  const tir::Function& entry = module_.functions[module_.entry];
  constants_.assign(module_.vars.size(), no_instance);
  Outcome outcome;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    const tir::VarId var = entry.params[i].var;
    const std::uint32_t id =
        argument.contents ? memory_.create(var, *argument.contents, false) : memory_.create(var, argument.bytes);
    outcome.params.push_back(id);
    Variable& variable = vars_[var.index()];
    variable.is_bound = true;
    variable.lanes[0].instance = id;
  }
  run_block(entry.body);
  outcome.memory = std::move(memory_);
  outcome.row_runs = std::move(row_runs_);
  return outcome;
}

void Interpreter::step() {
  if (++steps_ > most_steps * patience_) throw Undefined("too many steps");
}

bool Interpreter::run_block(const tir::Block& block) {
  return std::all_of(block.begin(), block.end(), [&](const tir::Stmt& stmt) { return run_stmt(stmt); });
}

bool Interpreter::run_stmt(const tir::Stmt& stmt) {
  step();
  return std::visit(
      tir::Overloaded{
          [&](const tir::Allocate& s) {
            allocate(s);
            return true;
          },
          [&](const tir::AllocateConst& s) {
            allocate(s);
            return true;
          },
          [&](const tir::Let& s) {
            bind(s.var, *s.value);
            return true;
          },
          [&](const tir::Store& s) {
            run_store(s);
            return true;
          },
          [&](const tir::Evaluate& s) { return run_evaluate(*s.value); }, [&](const tir::For& s) { return run_for(s); },
          [&](const tir::While& s) { return run_while(s); },
          [&](const tir::IfThenElse& s) { return run_block(number(*s.condition) != 0 ? s.then_body : s.else_body); },
          [&](const tir::Assert& s) {
            if (number(*s.condition) == 0) throw Undefined("an assertion fails");
            return true;
          },
          [&](const tir::Scope& s) { return run_block(s.body); }},
      stmt.node);
}

bool Interpreter::run_for(const tir::For& loop) {
  const tir::DataType type = module_.var(loop.var).type;
  const Wide first = widened(number(*loop.min), loop.min->type);
  const Wide end = first + widened(number(*loop.extent), loop.extent->type);
  if (first < lowest(type) || first > highest(type) || end < lowest(type) || end > highest(type)) {
    throw Undefined("a loop leaves its variable's type");
  }
  for (Wide i = first; i < end; ++i) {
    step();
    if (loop.row_runs > 0) ++row_runs_[loop.var];
    Variable& variable = vars_[loop.var.index()];
    variable.is_bound = true;
    variable.lanes[0] = integer(static_cast<std::int64_t>(i));
    if (!run_block(loop.body)) return false;
  }
  return true;
}

bool Interpreter::run_while(const tir::While& loop) {
  while (number(*loop.condition) != 0) {
    step();
    if (!run_block(loop.body)) return false;
  }
  return true;
}

// All lanes are read before the first is written.
void Interpreter::run_store(const tir::Store& store) {
  const std::size_t lanes = store.value->type.lanes;
  if (store.index->type.lanes != lanes) throw Undefined("lanes of a store differ");
  std::array<std::int64_t, most_lanes> indices{};
  std::array<Scalar, most_lanes> values;
  std::array<bool, most_lanes> is_on{};
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    indices[lane] = number(*store.index, lane);
    values[lane] = assigned(*store.value, lane);
    is_on[lane] = store.predicate == nullptr || number(*store.predicate, lane) != 0;
  }
  const Variable& storage = vars_[store.storage.index()];
  if (!storage.is_bound) throw Undefined("a pointer is used before it is bound");
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    if (is_on[lane]) memory_.store(storage.lanes[0], indices[lane], store.value->type.element(), values[lane]);
  }
}

bool Interpreter::run_evaluate(const Expr& value_of) {
  if (value_of.kind == ExprKind::call && value_of.op == tir::Op::ret) {
    if (number(*value_of.operands.at(0)) != 0) throw Undefined("a function fails");
    return false;
  }
  if (value_of.kind == ExprKind::call && value_of.op == tir::Op::tvm_check_return) {
    if (number(*value_of.operands.at(2)) != number(*value_of.operands.at(0))) throw Undefined("a call fails");
    return true;
  }
  if (tir::is_run(value_of.op)) {
    run_of_products(value_of);
    return true;
  }
  if (value_of.type.is_handle() && !tir::named_call(value_of)) {
    (void)pointer(value_of);
    return true;
  }
  for (std::size_t lane = 0; lane < value_of.type.lanes; ++lane) (void)value(value_of, lane);
  return true;
}

void Interpreter::allocate(const tir::Allocate& allocate) {
  Wide size = allocate.type.bytes();
  for (const tir::ExprRef& extent : allocate.extents) {
    const Wide count = number(*extent);
    if (count < 0) throw Undefined("a negative extent");
    size *= count;
    if (size > largest_allocation) throw Undefined("an allocation is too large");
  }
  if (allocate.condition) (void)number(*allocate.condition);
  Variable& variable = vars_[allocate.var.index()];
  variable.is_bound = true;
  variable.lanes[0] = integer(0);
  const auto bytes = static_cast<std::size_t>(size);
  variable.lanes[0].instance = allocate.ring
                                   ? memory_.create(allocate.var, bytes, *allocate.ring, allocate.type.element_bytes())
                                   : memory_.create(allocate.var, bytes);
}

void Interpreter::allocate(const tir::AllocateConst& constant) {
  std::uint32_t& id = constants_[constant.var.index()];
  if (id == no_instance) id = memory_.create(constant.var, constant.data->bytes, true);
  Variable& variable = vars_[constant.var.index()];
  variable.is_bound = true;
  variable.lanes[0] = integer(0);
  variable.lanes[0].instance = id;
}

void Interpreter::bind(tir::VarId var, const Expr& expr) {
  std::array<Scalar, most_lanes> lanes;
  if (expr.type.lanes > most_lanes) throw Undefined("too many lanes");
  for (std::size_t lane = 0; lane < expr.type.lanes; ++lane) {
    lanes[lane] = expr.type.is_handle() ? pointer(expr) : assigned(expr, lane);
  }
  Variable& variable = vars_[var.index()];
  variable.is_bound = true;
  variable.lanes = lanes;
}

// --- Calls -----------------------------------------------------------------------------------------------------------

Scalar Interpreter::call(const tir::NamedCall& call, tir::DataType result) {
  std::vector<Scalar> arguments;
  for (const tir::ExprRef& argument : call.arguments) {
    arguments.push_back(argument->type.is_handle() ? pointer(*argument) : assigned(*argument));
  }
  const auto index = module_.find(*call.name);
  if (!index || tir::is_opaque(module_, module_.functions[*index])) return call_extern(*call.name, arguments, result);
  const tir::Function& function = module_.functions[*index];
  if (function.params.size() != arguments.size()) throw Undefined("a wrong number of arguments");
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    Variable& variable = vars_[function.params[i].var.index()];
    variable.is_bound = true;
    variable.lanes[0] = arguments[i];
  }
  step();
  run_block(function.body);
  return integer(0);
}

// C of the standard library, and the functions of imported_source (see imported.hpp).
Scalar Interpreter::call_extern(const std::string& name, const std::vector<Scalar>& arguments, tir::DataType result) {
  const auto argument = [&](std::size_t i) { return arguments.at(i); };
  if (name == "memcpy") {
    memory_.copy(argument(0), argument(1), argument(2).integer);
    return argument(0);
  }
  if (name == "memset") {
    memory_.fill(argument(0), static_cast<std::uint8_t>(argument(1).integer), argument(2).integer);
    return argument(0);
  }
  if (name == "sqrtf") return real(static_cast<double>(std::sqrt(static_cast<float>(argument(0).real))));
  if (name == "fabs") return real(std::fabs(argument(0).real));
  if (name.ends_with("_sum")) {  // of n bytes
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < argument(1).integer; ++i) {
      sum += memory_.load(argument(0), i, {tir::TypeCode::int_, 8, 1}).integer;
    }
    return integer(sum);
  }
  if (name.ends_with("_reverse") || name.ends_with("_opaque")) {  // n int32 from one place to another, backwards
    std::vector<Scalar> values;
    const bool in_place = name.ends_with("_reverse");
    const std::int64_t n = in_place ? argument(1).integer : argument(2).integer;
    for (std::int64_t i = 0; i < n; ++i) values.push_back(memory_.load(argument(0), i, tir::int32_type));
    for (std::int64_t i = 0; i < n; ++i) {
      memory_.store(argument(in_place ? 0 : 1), i, tir::int32_type, values[static_cast<std::size_t>(n - 1 - i)]);
    }
    return integer(0);
  }
  (void)result;
  throw Undefined("unknown function " + name);
}

}  // namespace usmp::random_modules

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Statements but for those that make storage or call operators.
#include <algorithm>

#include "random_modules/generator.hpp"

namespace usmp::random_modules {

void Generator::statements(Block& body, Scope& scope, std::int64_t count) {
  for (; count > 0; --count) statement(body, scope);
}

void Generator::statement(Block& body, Scope& scope) {
  count(scope);
  if (--budget_ < 0) return add_store(body, scope);
  const bool may_nest = scope.depth < 3 && scope.times < 200;
  switch (random_.below(may_nest ? 40 : 24)) {
    case 0:
    case 1:
    case 2:
    case 3: {
      const DataType element = some_type();
      const std::int64_t elements = some_count();
      const std::size_t storage = add_allocate(body, scope, element, elements);
      if (!random_.chance(10)) fill(body, scope, storage);
      return;
    }
    case 4: {
      const DataType element = some_type();
      const std::int64_t elements = some_count();
      (void)add_constant(body, scope, element, elements);
      return;
    }
    case 5:
      return add_alias(body, scope);
    case 6:
      return add_view(body, scope);
    case 7:
    case 8:
    case 9:
      return add_let(body, scope);
    case 10:
    case 11:
    case 12:
      return add_vector_store(body, scope);
    case 13:
      return add_assert(body, scope);
    case 14:
      return add_dropped(body, scope);
    case 15:
      return is_in_c_ ? add_store(body, scope) : add_extern(body, scope);
    case 16:
    case 17:
      return add_call(body, scope);
    case 18:
      if (is_in_c_) return add_store(body, scope);
      return random_.chance(25) ? add_dynamic_allocate(body, scope) : add_return(body, scope);
    case 24:
    case 25:
    case 26:
    case 27:
    case 28:
    case 29:
    case 30:
      return add_loop(body, scope);
    case 31:
      return add_reduction(body, scope);
    case 32:
      return add_history(body, scope);
    case 33:
    case 34:
      return add_while(body, scope);
    case 35:
    case 36:
    case 37:
      return add_branch(body, scope);
    case 38:
    case 39:
      return add_nested_scope(body, scope);
    default:
      return add_store(body, scope);
  }
}

// --- Control flow ----------------------------------------------------------------------------------------------------

void Generator::add_loop(Block& body, Scope& scope) {
  static const std::vector<DataType> types = {tir::int32_type, tir::int32_type, tir::int32_type,
                                              tir::int32_type, tir::int64_type, type_of(tir::TypeCode::uint, 32)};
  const DataType type = random_.pick(types);
  static const std::vector<std::int64_t> trips = {0, 1, 2, 2, 3, 3, 4, 5, 7};
  std::int64_t most = random_.pick(trips);
  std::int64_t least = most;
  ExprRef extent = tir::make_int(most, type);
  if (random_.chance(20)) {  // not known at compile time
    most = random_.between(1, 4);
    least = 0;
    const Typed any = integer(type, scope, 1);
    extent = tir::make_binary(ExprKind::floor_mod, any.expr, tir::make_int(most + 1, type));
  }
  Wide low = 0;
  Wide high = 0;
  ExprRef min = tir::make_int(0, type);
  if (random_.chance(30)) {
    const std::int64_t start = random_.between(type.is_uint() ? 0 : -3, 5);
    min = tir::make_int(start, type);
    low = high = start;
  } else if (random_.chance(15)) {
    const Typed any = integer(type, scope, 1);
    const Typed near = limited(any, type, 8);
    min = near.expr;
    low = near.low;
    high = near.high;
  }
  const VarId var = new_var(some_name("i"), type);
  Block inside = inner(scope, most, least > 0, [&](Block& block, Scope& nested) {
    nested.numbers.push_back({var, type, low, std::max(high + most - 1, low)});
    statements(block, nested, random_.between(1, 4));
  });
  body.push_back({tir::For{var, std::move(min), std::move(extent), std::move(inside)}});
}

// acc = first; for k: acc = acc + …
void Generator::add_reduction(Block& body, Scope& scope) {
  static const std::vector<DataType> types = {tir::int32_type,
                                              float32_type,
                                              uint64_type,
                                              tir::int64_type,
                                              type_of(tir::TypeCode::float_, 64),
                                              type_of(tir::TypeCode::int_, 16)};
  const DataType type = random_.pick(types);
  const std::size_t sum = add_allocate(body, scope, type, random_.between(1, 3));
  fill(body, scope, sum);
  const Storage storage = scope.storages[sum];
  const std::int64_t trips = random_.between(1, 6);
  const VarId var = new_var(some_name("k"), tir::int32_type);
  Block inside = inner(scope, trips, true, [&](Block& block, Scope& nested) {
    nested.numbers.push_back({var, tir::int32_type, 0, trips - 1});
    count(nested);
    const ExprRef at = index(storage.elements, nested, 0).expr;
    const Typed term = value(type, nested, 2);
    ExprRef total;
    if (type.is_float()) {
      total = tir::make_binary(ExprKind::add, tir::make_load(type, storage.var, at), term.expr);
    } else {
      const Typed before = limited(whole(tir::make_load(type, storage.var, at), type), type, highest(type) / 4);
      const Typed more = limited(term, type, highest(type) / 4);
      total = tir::make_binary(ExprKind::add, before.expr, more.expr);
    }
    block.push_back(store(storage.var, at, total));
    if (random_.chance(30)) statements(block, nested, 1);
  });
  body.push_back({tir::For{var, tir::make_int(0), tir::make_int(trips), std::move(inside)}});
}

// Each iteration adds an element and reads those of the iterations before.
void Generator::add_history(Block& body, Scope& scope) {
  const DataType type = random_.chance(50) ? uint64_type : type_of(tir::TypeCode::uint, 32);
  const std::int64_t trips = random_.between(2, 5);
  const std::size_t sum = add_allocate(body, scope, type, 1);
  fill(body, scope, sum);
  const VarId total = scope.storages[sum].var;
  const std::size_t history = add_allocate(body, scope, type, trips);
  const VarId past = scope.storages[history].var;
  scope.storages.pop_back();  // nothing else may touch it
  const VarId i = new_var(some_name("i"), tir::int32_type);
  const VarId j = new_var(some_name("j"), tir::int32_type);
  Block inside = inner(scope, trips, true, [&](Block& block, Scope& nested) {
    nested.numbers.push_back({i, tir::int32_type, 0, trips - 1});
    count(nested, trips);
    if (random_.chance(50)) statements(block, nested, 1);
    const Typed next = value(type, nested, 2);
    const ExprRef at = tir::make_var(module_, i);
    block.push_back(store(past, at, next.expr));
    const ExprRef zero = tir::make_int(0);
    const ExprRef earlier = tir::make_load(type, past, tir::make_var(module_, j));
    Block read = {store(total, zero, tir::make_binary(ExprKind::add, tir::make_load(type, total, zero), earlier))};
    const ExprRef end = tir::make_binary(ExprKind::add, at, tir::make_int(1));
    block.push_back({tir::For{j, zero, end, std::move(read)}});
    statements(block, nested, random_.between(0, 2));
  });
  body.push_back({tir::For{i, tir::make_int(0), tir::make_int(trips), std::move(inside)}});
}

// Counts down in a buffer of its own.
void Generator::add_while(Block& body, Scope& scope) {
  const DataType type = random_.chance(70) ? tir::int32_type : some_integer_type();
  const std::int64_t trips = random_.between(0, 4);
  const std::size_t counter = add_allocate(body, scope, type, 1);
  const VarId var = scope.storages[counter].var;
  body.push_back(store(var, tir::make_int(0), tir::make_int(trips, type)));
  scope.storages[counter].readable = true;
  scope.storages[counter].writable = false;
  const ExprRef left = tir::make_load(type, var, tir::make_int(0));
  Block inside = inner(scope, trips, false, [&](Block& block, Scope& nested) {
    const bool first = random_.chance(50);
    const ExprRef less = tir::make_binary(ExprKind::sub, left, tir::make_int(1, type));
    if (first) block.push_back(store(var, tir::make_int(0), less));
    statements(block, nested, random_.between(1, 2));
    if (!first) block.push_back(store(var, tir::make_int(0), less));
  });
  body.push_back({tir::While{tir::make_binary(ExprKind::gt, left, tir::make_int(0, type)), std::move(inside)}});
}

void Generator::add_branch(Block& body, Scope& scope) {
  ExprRef test = condition(scope, 2);
  Scope before = scope;
  Scope after = scope;
  Block yes =
      inner(before, 1, true, [&](Block& block, Scope& nested) { statements(block, nested, random_.between(1, 3)); });
  Block no;
  if (random_.chance(50)) {
    no = inner(after, 1, true, [&](Block& block, Scope& nested) { statements(block, nested, random_.between(1, 2)); });
  }
  for (std::size_t i = 0; i < scope.storages.size(); ++i) {
    scope.storages[i].readable = before.storages[i].readable && after.storages[i].readable;
  }
  body.push_back({tir::IfThenElse{std::move(test), std::move(yes), std::move(no)}});
}

void Generator::add_nested_scope(Block& body, Scope& scope) {
  Block inside =
      inner(scope, 1, true, [&](Block& block, Scope& nested) { statements(block, nested, random_.between(1, 3)); });
  body.push_back({tir::Scope{std::move(inside)}});
}

// --- Leaves ----------------------------------------------------------------------------------------------------------

void Generator::add_let(Block& body, Scope& scope) {
  DataType type = some_type();
  if (random_.chance(12)) type = type.with_lanes(random_.chance(50) ? 2 : 4);
  const Typed bound = value(type, scope, 3);
  const VarId var = new_var(some_name("let"), type);
  body.push_back({tir::Let{var, bound.expr}});
  scope.numbers.push_back(held(var, type, bound));
}

void Generator::add_store(Block& body, Scope& scope) {
  const std::size_t found = find_storage(scope, [](const Storage& s) { return s.writable && s.elements > 0; });
  if (found == SIZE_MAX) return;
  const Storage storage = scope.storages[found];
  DataType type = storage.element;
  // Now and then as another type, where no half written float comes of it.
  if (random_.chance(6) && storage.readable && !type.is_float()) {
    const DataType other = some_integer_type();
    if (storage.bytes() >= other.bytes() && storage.is_aligned_for(other)) type = other;
  }
  const std::int64_t elements = storage.elements_of(type);
  if (random_.chance(10) && !scope.numbers.empty()) {  // out of bounds where the predicate is false
    const Number number = random_.pick(scope.numbers);
    if (number.type == tir::int32_type && number.low > -5000 && number.high < 5000) {
      const Typed at{tir::make_var(module_, number.var), number.low, number.high};
      const ExprRef check = bounds_check(at, elements);
      const Typed stored = value(type, scope, 3);
      body.push_back(store(storage.var, at.expr, stored.expr, check));
      return;
    }
  }
  const ExprRef at = index(elements, scope, 2).expr;
  const Typed stored = value(type, scope, static_cast<int>(random_.between(1, 4)));
  ExprRef predicate;
  if (random_.chance(8)) predicate = condition(scope, 1);
  body.push_back(store(storage.var, at, stored.expr, predicate));
}

void Generator::add_vector_store(Block& body, Scope& scope) {
  static const std::vector<std::uint16_t> widths = {2, 2, 4, 4, 3, 8};
  const std::uint16_t lanes = random_.pick(widths);
  const std::size_t found = find_storage(scope, [&](const Storage& s) { return s.writable && s.elements >= lanes; });
  if (found == SIZE_MAX) return add_store(body, scope);
  const Storage storage = scope.storages[found];
  count(scope, lanes);
  const ExprRef at = vector_index(storage.elements, lanes, scope, true);
  const Typed stored = value(storage.element.with_lanes(lanes), scope, static_cast<int>(random_.between(1, 3)));
  ExprRef predicate;
  if (random_.chance(20)) predicate = condition(scope, 1, lanes);
  body.push_back(store(storage.var, at, stored.expr, predicate));
}

void Generator::add_assert(Block& body, Scope& scope) {
  const Typed any = integer(tir::int32_type, scope, 1);
  const Typed small = limited(any, tir::int32_type, 1000);
  const ExprRef bound = tir::make_int(static_cast<std::int64_t>(small.high));
  body.push_back({tir::Assert{tir::make_binary(ExprKind::le, small.expr, bound), "value \"is\" small"}});
}

void Generator::add_dropped(Block& body, Scope& scope) {
  const DataType type = some_type();
  const Typed dropped = value(type, scope, 2);
  body.push_back({tir::Evaluate{dropped.expr}});
}

// C that operators import: reads and writes what it is handed.
void Generator::add_extern(Block& body, Scope& scope) {
  const std::size_t found = find_storage(scope, [](const Storage& s) {
    return s.readable && s.writable && s.element == tir::int32_type && s.elements > 0;
  });
  if (found == SIZE_MAX || scope.is_entry) return add_store(body, scope);
  imports_.insert(imported_reverse());
  const Storage storage = scope.storages[found];
  const std::int64_t elements = random_.between(1, storage.elements);
  const ExprRef pointer = pointer_to(storage, parameter(Parameter::Mode::inout, storage.element, elements), true);
  const std::string name = std::string(module_name) + "_reverse";
  const ExprRef expr = call("call_extern", tir::int32_type, {tir::make_string(name), pointer, tir::make_int(elements)});
  if (random_.chance(50)) {
    body.push_back(
        {tir::Evaluate{call("tvm_check_return", tir::int32_type, {tir::make_int(0), tir::make_int(-1), expr})}});
  } else {
    body.push_back({tir::Evaluate{expr}});
  }
}

// Early, once all outputs are written.
void Generator::add_return(Block& body, Scope& scope) {
  const bool complete = std::all_of(outputs_.begin(), outputs_.end(), [&](const Storage& output) {
    return std::any_of(scope.storages.begin(), scope.storages.end(),
                       [&](const Storage& s) { return s.var == output.var && s.readable; });
  });
  if (!complete || scope.is_entry) return add_store(body, scope);
  ExprRef test = condition(scope, 2);
  Block yes = {{tir::Evaluate{call("ret", tir::int32_type, {tir::make_int(0)})}}};
  body.push_back({tir::IfThenElse{std::move(test), std::move(yes), {}}});
}

}  // namespace usmp::random_modules

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Storage, pointers to it and first values of it.
#include <algorithm>
#include <numeric>

#include "random_modules/generator.hpp"

namespace usmp::random_modules {

std::size_t Generator::add_allocate(Block& body, Scope& scope, DataType element, std::int64_t elements) {
  // The entry's tensors are bytes to TVM, whatever they hold; inside of operators that is rare.
  const bool as_bytes = random_.chance(scope.is_entry ? 60 : 12);
  const DataType declared = as_bytes ? int8_type : element;
  const VarId var = new_pointer(some_name(scope.is_entry ? "sid_" : "buffer"), declared);
  if (scope.is_entry) module_.vars[var.index()].storage_scope = "global.workspace";
  tir::Allocate allocate{.var = var, .type = declared, .extents = {}, .condition = {}, .candidate_pools = {}};
  const std::int64_t extent = as_bytes ? elements * element.element_bytes() : elements;
  if (extent % 2 == 0 && random_.chance(20)) {
    allocate.extents = {tir::make_int(2), tir::make_int(extent / 2)};
  } else if (extent % 4 == 0 && !as_bytes && random_.chance(10)) {
    allocate.type = declared.with_lanes(4);
    allocate.extents = {tir::make_int(extent / 4)};
  } else if (extent != 1 || random_.chance(50)) {
    allocate.extents = {tir::make_int(extent)};
  }
  if (random_.chance(8)) allocate.condition = condition(scope, 1);
  if (random_.chance(10)) allocate.candidate_pools = some_candidates();
  body.push_back({std::move(allocate)});
  scope.storages.push_back(storage_of(var, element, elements));
  return scope.storages.size() - 1;
}

// Allocates a size that is not known at compile time: it stays outside of the plan.
void Generator::add_dynamic_allocate(Block& body, Scope& scope) {
  const DataType element = some_type();
  const std::int64_t least = random_.between(1, 6);
  const Typed any = integer(tir::int32_type, scope, 1);
  const Typed more = limited(any, tir::int32_type, 3);
  const ExprRef extra =
      more.low >= 0 ? more.expr : tir::make_binary(ExprKind::max, more.expr, tir::make_int(0, tir::int32_type));
  const VarId var = new_pointer(some_name("dynamic"), element);
  body.push_back({tir::Allocate{.var = var,
                                .type = element,
                                .extents = {tir::make_binary(ExprKind::add, extra, tir::make_int(least))},
                                .condition = {},
                                .candidate_pools = {}}});
  scope.storages.push_back(storage_of(var, element, least));
  fill(body, scope, scope.storages.size() - 1);
}

std::size_t Generator::add_constant(Block& body, Scope& scope, DataType element, std::int64_t elements) {
  const VarId var = new_pointer(some_name("constant"), element);
  tir::Constant data{.type = element, .shape = {elements}, .bytes = random_bytes(element, elements)};
  tir::AllocateConst allocate{.var = var,
                              .type = element,
                              .data = std::make_shared<const tir::Constant>(std::move(data)),
                              .candidate_pools = {}};
  if (random_.chance(8)) allocate.candidate_pools = {"flash"};
  body.push_back({std::move(allocate)});
  // There is no NaN in it (random_bytes).
  scope.storages.push_back({.var = var, .element = element, .elements = elements, .readable = true, .writable = false});
  return scope.storages.size() - 1;
}

// Another pointer into storage that there is.
void Generator::add_alias(Block& body, Scope& scope) {
  const std::size_t found = find_storage(scope, [](const Storage& s) { return s.elements > 0; });
  if (found == SIZE_MAX) return;
  const Storage storage = scope.storages[found];
  const std::int64_t offset = random_.below(storage.elements);
  Storage alias = storage;
  alias.elements -= offset;
  alias.alignment = std::gcd(storage.alignment, offset * storage.element.element_bytes());
  ExprRef pointer = tir::make_var(module_, storage.var);
  const ExprRef moved =
      call("address_of", tir::handle_type, {tir::make_load(storage.element, storage.var, tir::make_int(offset))});
  switch (random_.below(is_in_c_ ? 3 : 5)) {
    case 0:
      alias.elements = storage.elements;
      alias.alignment = storage.alignment;
      break;
    case 1:
      pointer = moved;
      break;
    case 2:
      pointer = call("tvm_access_ptr", tir::handle_type,
                     {call("type_annotation", storage.element, {}), pointer, tir::make_int(offset),
                      tir::make_int(alias.elements), tir::make_int(3)});
      break;
    default: {  // one of two places
      const std::size_t second = find_storage(scope, [&](const Storage& s) {
        return s.element == storage.element && s.elements > 0 && s.writable == storage.writable;
      });
      const Storage other = scope.storages[second];
      alias.elements = std::min(alias.elements, other.elements);
      alias.readable = storage.readable && other.readable;
      alias.alignment = std::gcd(alias.alignment, other.alignment);
      alias.has_nan = storage.has_nan || other.has_nan;
      // Written through the alias, neither of the two is complete.
      ExprRef test = condition(scope, 1);
      const ExprRef no = tir::make_var(module_, other.var);
      if (random_.chance(50)) {
        pointer = call("if_then_else", tir::handle_type, {std::move(test), moved, no});
      } else {
        pointer = node(ExprKind::select, tir::handle_type, {std::move(test), moved, no});
      }
    }
  }
  alias.var = new_pointer(some_name("alias"), storage.element);
  body.push_back({tir::Let{alias.var, pointer}});
  scope.storages.push_back(alias);
  // Used once more when other storage has come and gone.
  if (!alias.readable || !random_.chance(60)) return;
  statement(body, scope);
  const std::size_t target =
      find_storage(scope, [&](const Storage& s) { return s.writable && s.elements > 0 && s.element == alias.element; });
  if (target == SIZE_MAX) return;
  const Storage to = scope.storages[target];
  const ExprRef to_at = index(to.elements, scope, 0).expr;
  const ExprRef from_at = index(alias.elements, scope, 0).expr;
  body.push_back(store(to.var, to_at, tir::make_load(alias.element, alias.var, from_at)));
}

// --- First values ----------------------------------------------------------------------------------------------------

void Generator::fill(Block& body, Scope& scope, std::size_t storage) {
  const Storage target = scope.storages[storage];
  count(scope, target.elements);
  if (target.elements == 0) {
    scope.storages[storage].readable = true;
    return;
  }
  const std::int64_t way = random_.below(10);
  const bool done = way == 0 && !is_in_c_ && fill_by_extern(body, scope, storage);
  if (!done) {
    if (way <= 2 && target.elements % 2 == 0) {
      fill_by_vectors(body, scope, storage);
    } else if (way <= 4 && target.elements > 3) {
      fill_by_nest(body, scope, storage);
    } else if (way == 5 && target.elements <= 4) {
      for (std::int64_t i = 0; i < target.elements; ++i) {
        const Typed first = value(target.element, scope, 2);
        body.push_back(store(target.var, tir::make_int(i), first.expr));
      }
    } else {
      fill_by_loop(body, scope, storage);
    }
  }
  scope.storages[storage].readable = true;
}

// memset, or memcpy of what is elsewhere.
bool Generator::fill_by_extern(Block& body, Scope& scope, std::size_t storage) {
  const Storage target = scope.storages[storage];
  if (scope.is_entry) return false;
  const ExprRef to = tir::make_var(module_, target.var);
  const ExprRef size = tir::make_int(target.bytes(), tir::int32_type);
  const std::size_t source = find_storage(scope, [&](const Storage& s) {
    return s.readable && s.element == target.element && s.elements >= target.elements;
  });
  if (source == SIZE_MAX) {
    if (target.element.is_float()) return false;
    body.push_back({tir::Evaluate{call("call_extern", tir::handle_type,
                                       {tir::make_string("memset"), to, tir::make_int(random_.below(100)), size})}});
    return true;
  }
  const ExprRef from = tir::make_var(module_, scope.storages[source].var);
  body.push_back({tir::Evaluate{call("call_extern", tir::handle_type, {tir::make_string("memcpy"), to, from, size})}});
  return true;
}

void Generator::fill_by_loop(Block& body, Scope& scope, std::size_t storage) {
  const Storage target = scope.storages[storage];
  const std::int64_t start = random_.chance(25) ? random_.between(-4, 4) : 0;
  const VarId var = new_var(some_name("i"), tir::int32_type);
  Block inside = inner(scope, target.elements, true, [&](Block& block, Scope& nested) {
    nested.numbers.push_back({var, tir::int32_type, start, start + target.elements - 1});
    ExprRef at = tir::make_var(module_, var);
    if (start != 0) at = tir::make_binary(ExprKind::sub, at, tir::make_int(start));
    if (random_.chance(15)) at = tir::make_binary(ExprKind::sub, tir::make_int(target.elements - 1), at);
    if (random_.chance(15) && nested.times < 100) statements(block, nested, 1);
    const Typed first = value(target.element, nested, static_cast<int>(random_.between(1, 3)));
    block.push_back(store(target.var, at, first.expr));
    // What was just stored may be read and changed.
    if (random_.chance(20)) {
      const Typed again = value(target.element, nested, 1);
      const ExprRef test = condition(nested, 1);
      const ExprRef before = tir::make_load(target.element, target.var, at);
      block.push_back(store(target.var, at, choice(target.element, test, before, again.expr)));
    }
  });
  body.push_back({tir::For{var, tir::make_int(start), tir::make_int(target.elements), std::move(inside)}});
}

void Generator::fill_by_vectors(Block& body, Scope& scope, std::size_t storage) {
  const Storage target = scope.storages[storage];
  const std::uint16_t lanes = target.elements % 4 == 0 ? 4 : 2;
  const std::int64_t trips = target.elements / lanes;
  const VarId var = new_var(some_name("v"), tir::int32_type);
  Block inside = inner(scope, trips, true, [&](Block& block, Scope& nested) {
    nested.numbers.push_back({var, tir::int32_type, 0, trips - 1});
    const ExprRef base = tir::make_binary(ExprKind::mul, tir::make_var(module_, var), tir::make_int(lanes));
    const ExprRef at = node(ExprKind::ramp, tir::int32_type.with_lanes(lanes), {base, tir::make_int(1)});
    const Typed first = value(target.element.with_lanes(lanes), nested, 2);
    block.push_back(store(target.var, at, first.expr));
  });
  body.push_back({tir::For{var, tir::make_int(0), tir::make_int(trips), std::move(inside)}});
}

void Generator::fill_by_nest(Block& body, Scope& scope, std::size_t storage) {
  const Storage target = scope.storages[storage];
  std::int64_t columns = 1;
  for (const std::int64_t divisor : {2, 3, 4, 5}) {
    if (target.elements % divisor == 0) columns = divisor;
  }
  const std::int64_t rows = target.elements / columns;
  const VarId row = new_var(some_name("row"), tir::int32_type);
  const VarId column = new_var(some_name("column"), tir::int32_type);
  Block outer = inner(scope, rows, true, [&](Block& block, Scope& nested) {
    nested.numbers.push_back({row, tir::int32_type, 0, rows - 1});
    if (random_.chance(20) && nested.times < 100) statements(block, nested, 1);
    Block inside = inner(nested, columns, true, [&](Block& innermost, Scope& deep) {
      deep.numbers.push_back({column, tir::int32_type, 0, columns - 1});
      const ExprRef begin = tir::make_binary(ExprKind::mul, tir::make_var(module_, row), tir::make_int(columns));
      const ExprRef at = tir::make_binary(ExprKind::add, begin, tir::make_var(module_, column));
      const Typed first = value(target.element, deep, 2);
      innermost.push_back(store(target.var, at, first.expr));
    });
    block.push_back({tir::For{column, tir::make_int(0), tir::make_int(columns), std::move(inside)}});
  });
  body.push_back({tir::For{row, tir::make_int(0), tir::make_int(rows), std::move(outer)}});
}

}  // namespace usmp::random_modules

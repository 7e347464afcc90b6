// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Pointers of another element type into storage that there is.
#include <algorithm>
#include <numeric>

#include "random_modules/generator.hpp"

namespace usmp::random_modules {

// Bits that C leaves open, those of a NaN, must not be looked at: floats that the program stores are read as nothing
// else, and what is stored through a float view of other bytes is no NaN.
void Generator::add_view(Block& body, Scope& scope) {
  const DataType element = some_type();
  const std::int64_t size = element.element_bytes();
  const std::size_t found = find_storage(
      scope, [&](const Storage& s) { return s.element != element && s.bytes() >= size && s.is_aligned_for(element); });
  if (found == SIZE_MAX) return add_alias(body, scope);
  const Storage storage = scope.storages[found];
  const std::int64_t most = storage.elements_of(element);
  const std::int64_t offset = random_.chance(50) || is_in_c_ ? 0 : random_.below(most);
  Storage view = storage;
  view.element = element;
  view.elements = most - offset;
  view.alignment = std::gcd(storage.alignment, offset * size);
  if (storage.has_nan) {  // whole elements may be replaced
    view.readable = false;
    view.writable = storage.writable && size == storage.element.element_bytes();
  } else if (element.is_float()) {
    view.writable = false;
  }
  view.var = new_pointer(some_name("view"), element);
  ExprRef pointer = view_pointer(storage, view, offset);
  if (random_.chance(20) && !is_in_c_) {  // or one of another place
    const std::size_t other = find_storage(scope, [&](const Storage& s) {
      return s.bytes() >= size && s.is_aligned_for(element) && s.has_nan == storage.has_nan &&
             s.writable == storage.writable && s.element.element_bytes() == storage.element.element_bytes();
    });
    const Storage second = scope.storages[other];
    view.elements = std::min(view.elements, second.elements_of(element));
    view.readable = view.readable && second.readable;
    view.alignment = std::gcd(view.alignment, second.alignment);
    const ExprRef test = condition(scope, 1);
    const ExprRef no = view_pointer(second, view, 0);
    pointer = choice(tir::handle_type, test, std::move(pointer), no);
  }
  body.push_back({tir::Let{view.var, std::move(pointer)}});
  scope.storages.push_back(view);
  if (storage.readable && random_.chance(60)) use_view(body, scope, storage, view);
}

// At an offset in elements of the view.
ExprRef Generator::view_pointer(const Storage& storage, const Storage& view, std::int64_t offset) {
  const ExprRef var = tir::make_var(module_, storage.var);
  const DataType element = view.element;
  switch (random_.below(offset == 0 ? 4 : 3)) {
    case 0:
      return call("address_of", tir::handle_type, {tir::make_load(element, storage.var, tir::make_int(offset))});
    case 1:
      return call("tvm_access_ptr", tir::handle_type,
                  {call("type_annotation", element, {}), var, tir::make_int(offset), tir::make_int(view.elements),
                   tir::make_int(view.writable ? 3 : 1)});
    case 2: {  // in elements of the storage, where they fit
      const std::int64_t bytes = offset * element.element_bytes();
      const bool fits = bytes % storage.element.element_bytes() == 0;
      const DataType type = fits ? storage.element : element;
      const ExprRef at = tir::make_int(bytes / type.element_bytes());
      return call("address_of", tir::handle_type, {tir::make_load(type, storage.var, at)});
    }
    default:
      return var;
  }
}

// Written as the one type, then read as the other: nobody may change their order.
void Generator::use_view(Block& body, Scope& scope, const Storage& storage, const Storage& view) {
  if (view.element.is_float() && storage.writable && !storage.has_nan) {
    const ExprRef number = clamped(floating(view.element, scope, 2), view.element, 1000.0);
    body.push_back(store(view.var, index(view.elements, scope, 1).expr, number));
    const std::size_t target = find_storage(
        scope, [&](const Storage& s) { return s.writable && s.element == storage.element && s.elements > 0; });
    const Storage to = scope.storages[target];
    const ExprRef at = index(to.elements, scope, 0).expr;
    const ExprRef from = index(storage.elements, scope, 1).expr;
    body.push_back(store(to.var, at, tir::make_load(storage.element, storage.var, from)));
    return;
  }
  if (storage.writable) {
    const Typed stored = value(storage.element, scope, 2);
    body.push_back(store(storage.var, index(storage.elements, scope, 1).expr, stored.expr));
  }
  const std::size_t target =
      find_storage(scope, [&](const Storage& s) { return s.writable && s.elements > 0 && s.element == view.element; });
  if (!view.readable || target == SIZE_MAX) return;
  const Storage to = scope.storages[target];
  const ExprRef at = index(to.elements, scope, 0).expr;
  body.push_back(store(to.var, at, tir::make_load(view.element, view.var, index(view.elements, scope, 1).expr)));
}

}  // namespace usmp::random_modules

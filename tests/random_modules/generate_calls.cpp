// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Calls, and what they pass.
#include <algorithm>
#include <numeric>

#include "random_modules/generator.hpp"

namespace usmp::random_modules {

// Bytes of another type may be passed, too, unless a NaN may be among them or gets among them.
bool Generator::may_pass(const Storage& storage, const Parameter& param, bool is_mixed) const {
  if (storage.bytes() < param.bytes() || storage.alignment % param.alignment != 0) return false;
  if (storage.element == param.element) return param.element.is_float() || !storage.has_nan;
  return is_mixed && !storage.has_nan && (param.mode == Parameter::Mode::in || !param.element.is_float());
}

std::size_t Generator::readable_storage(Block& body, Scope& scope, const Parameter& param) {
  const bool is_mixed = random_.chance(30);
  const std::size_t found =
      find_storage(scope, [&](const Storage& s) { return s.readable && may_pass(s, param, is_mixed); });
  if (found != SIZE_MAX && !random_.chance(10)) return found;
  if (random_.chance(20)) return add_constant(body, scope, param.element, param.elements);
  const std::size_t made = add_allocate(body, scope, param.element, param.elements);
  fill(body, scope, made);
  return made;
}

std::size_t Generator::writable_storage(Block& body, Scope& scope, const Parameter& param) {
  const bool is_mixed = random_.chance(30);
  const std::size_t found =
      find_storage(scope, [&](const Storage& s) { return s.writable && may_pass(s, param, is_mixed); });
  if (found != SIZE_MAX && random_.chance(45)) return found;
  return add_allocate(body, scope, param.element, param.elements + (random_.chance(20) ? random_.below(5) : 0));
}

ExprRef Generator::pointer_to(const Storage& storage, const Parameter& param, bool is_checked) {
  // In the elements of the storage or in those of the parameter.
  const DataType type = random_.chance(50) && !is_checked ? storage.element : param.element;
  const std::int64_t step = std::lcm(type.element_bytes(), param.alignment);
  const std::int64_t steps = (storage.bytes() - param.bytes()) / step;
  const std::int64_t offset = random_.chance(50) ? 0 : random_.below(steps + 1) * step / type.element_bytes();
  const std::int64_t way = offset == 0 ? random_.below(6) : random_.between(4, 5);
  const ExprRef var = tir::make_var(module_, storage.var);
  const bool must_say_type = is_checked && module_.var(storage.var).element != param.element;
  if ((way < 4 && !must_say_type) || param.bytes() % type.element_bytes() != 0) return var;
  if (way <= 4) {
    return call("address_of", tir::handle_type, {tir::make_load(type, storage.var, tir::make_int(offset))});
  }
  return call("tvm_access_ptr", tir::handle_type,
              {call("type_annotation", type, {}), var, tir::make_int(offset),
               tir::make_int(param.bytes() / type.element_bytes()), tir::make_int(3)});
}

Stmt Generator::call_statement(const Scope& scope, const std::string& name, std::vector<ExprRef> arguments) {
  arguments.insert(arguments.begin(), tir::make_string(name));
  const std::int64_t way = random_.below(7);
  const bool is_packed = way == 0 || (packed_ && scope.is_entry);
  if (way == 1 && !is_packed) {
    return {tir::Evaluate{call("tvm_call_packed", tir::int32_type, std::move(arguments))}};
  }
  if (is_packed) arguments.push_back(call("reinterpret", tir::handle_type, {tir::make_int(0)}));
  const ExprRef expr = call(is_packed ? "tvm_call_cpacked" : "call_extern", tir::int32_type, std::move(arguments));
  if (is_packed && way != 3) return {tir::Evaluate{expr}};
  if (way == 2) return {tir::Evaluate{expr}};
  return {tir::Evaluate{call("tvm_check_return", tir::int32_type, {tir::make_int(0), tir::make_int(-1), expr})}};
}

void Generator::add_call(Block& body, Scope& scope) {
  std::vector<Operator> callable;
  for (const Operator& candidate : operators_) {
    if (candidate.cost * scope.times <= 6000 && cost_ + candidate.cost * scope.times <= 15000) {
      callable.push_back(candidate);
    }
  }
  if (callable.empty()) return add_store(body, scope);
  const Operator callee = random_.pick(callable);
  cost_ += callee.cost * scope.times;
  call_operator(body, scope, callee);
}

void Generator::call_operator(Block& body, Scope& scope, const Operator& callee) {
  std::vector<ExprRef> arguments;
  std::vector<std::size_t> written;
  std::size_t last_read = SIZE_MAX;
  for (const Parameter& param : callee.params) {
    if (param.mode == Parameter::Mode::number) {
      const Typed any = integer(tir::int32_type, scope, 1);
      const Typed small = limited(any, tir::int32_type, param.elements);
      arguments.push_back(small.expr);
      continue;
    }
    std::size_t storage = SIZE_MAX;
    if (param.mode == Parameter::Mode::in) {
      const bool again =
          last_read != SIZE_MAX && may_pass(scope.storages[last_read], param, true) && random_.chance(40);
      storage = again ? last_read : readable_storage(body, scope, param);
      last_read = storage;
    } else if (param.mode == Parameter::Mode::inout) {
      const bool is_mixed = random_.chance(30);
      storage = find_storage(
          scope, [&](const Storage& s) { return s.readable && s.writable && may_pass(s, param, is_mixed); });
      if (storage == SIZE_MAX) {
        storage = add_allocate(body, scope, param.element, param.elements);
        fill(body, scope, storage);
      }
    } else {
      storage = writable_storage(body, scope, param);
      if (scope.storages[storage].bytes() == param.bytes()) written.push_back(storage);
    }
    // What the callee fills must be all there is, or else be complete already.
    arguments.push_back(param.mode == Parameter::Mode::out && !scope.storages[storage].readable
                            ? tir::make_var(module_, scope.storages[storage].var)
                            : pointer_to(scope.storages[storage], param));
  }
  body.push_back(call_statement(scope, callee.name, std::move(arguments)));
  for (const std::size_t storage : written) scope.storages[storage].readable = true;
}

}  // namespace usmp::random_modules

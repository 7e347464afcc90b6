// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Looks names up in blocks, tables and pools, and declares what each stands for.
#include "tvm_c/body/body_names.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tvm_c/text/function_tree.hpp"
#include "tvm_c/text/literals.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {

using tir::DataType;
using tir::VarId;

Value pointer_to(VarId storage, DataType element) {
  Value value;
  value.kind = Value::Kind::pointer;
  value.type = element;
  value.storage = storage;
  return value;
}

void BodyNames::close_block() {
  for (const std::string& name : blocks_.back()) names_[name].pop_back();
  blocks_.pop_back();
}

void BodyNames::declare(const Token& name, Value value) {
  std::string key(name.text);
  names_[key].push_back(std::move(value));
  blocks_.back().push_back(std::move(key));
}

void BodyNames::declare_pool(const Token& name, std::string pool) {
  Value value;
  value.kind = Value::Kind::pool;
  value.pool = pool;
  declare(name, std::move(value));
  pools_.emplace(name.text, std::move(pool));
}

std::optional<Value> BodyNames::look_up(std::string_view name) {
  const auto found = names_.find(std::string(name));
  if (found != names_.end() && !found->second.empty()) return found->second.back();
  if (const auto number = number_of_macro(name)) return Values::number({tir::make_int(*number)});
  const Table* table = scope_.table(name, file_);
  if (table == nullptr) return std::nullopt;
  const auto [at, is_new] = constants_.tables.try_emplace({file_, std::string(name)});
  if (is_new) at->second = new_var(name, tir::handle_type, table->data->type);
  return pointer_to(at->second, table->data->type);
}

std::optional<Value> BodyNames::look_up_own(std::string_view name) const {
  const auto found = names_.find(std::string(name));
  return found != names_.end() && !found->second.empty() ? std::optional(found->second.back()) : std::nullopt;
}

std::optional<std::int64_t> BodyNames::number_of_macro(std::string_view name) const {
  const auto macros = scope_.numbers.find(file_);
  if (macros == scope_.numbers.end()) return std::nullopt;
  const auto found = macros->second.find(name);
  return found == macros->second.end() ? std::nullopt : std::optional(found->second);
}

VarId BodyNames::new_var(std::string_view name, DataType type, DataType element) {
  module_.vars.push_back({std::string(name), type, type.is_handle() ? element : tir::void_type, {}});
  return VarId(module_.vars.size() - 1);
}

VarId BodyNames::allocated(const Token& name, DataType element, std::int64_t elements, bool is_on_stack,
                           std::uint16_t alignment) {
  const VarId var = new_var(name.text, tir::handle_type, element);
  body_.allocate(var, element, {tir::make_int(elements)}, nullptr, {}, is_on_stack, alignment);
  return var;
}

std::optional<Value> BodyNames::start_of(const std::string& pool, std::span<const Value> given) {
  const auto size = scope_.arrays.find(pool);
  if (size == scope_.arrays.end()) return std::nullopt;
  for (const PlannedPlace& place : result_.memory.places) {
    const bool is_given = std::any_of(result_.function.params.begin(), result_.function.params.end(),
                                      [&](const tir::Param& param) { return param.var == place.var; });
    if (place.pool != pool || place.offset != 0 || is_given) continue;
    const auto argument = std::find_if(given.begin(), given.end(), [&](const Value& value) {
      return value.kind == Value::Kind::pointer && value.storage == place.var;
    });
    if (argument == given.end()) continue;
    result_.memory.last.emplace(place.var, size->second);
    return *argument;
  }
  return std::nullopt;
}

Value BodyNames::scratch(const std::string& pool, const PoolParam& used) {
  Value value;
  value.kind = Value::Kind::null;
  if (!used.is_used || used.is_named) return value;
  if (scope_.constant_pools.contains(pool)) {
    values_.fail("found constants of pool " + in_quotes(pool) + " in a function whose C stays, expected workspace");
  }
  const auto size = scope_.arrays.find(pool);
  const bool is_known = used.end || size != scope_.arrays.end();
  const Bytes end = used.end ? *used.end : is_known ? size->second : INT32_MAX;
  if (end <= std::max(used.begin, used.last))
    values_.fail("found an offset that pool " + in_quotes(pool) + " does not have");
  Token scratch;
  scratch.text = "scratch";
  scratch.offset = static_cast<std::uint32_t>(values_.at);
  const VarId var = allocated(scratch, tir::uint8_type, end - used.begin);
  if (!is_known) result_.memory.unbounded.insert(var);
  result_.pools.push_back(pool);
  if (used.last > used.begin) result_.memory.last.emplace(var, used.last);
  if (used.is_whole && is_known) result_.memory.whole.emplace(var, pool);
  if (!used.is_whole) result_.memory.places.push_back({var, pool, used.begin});
  return pointer_to(var, tir::uint8_type);
}

bool BodyNames::planned(const Expressions& code, c::ExprId value, const Token& name) {
  c::ExprId sum = without_casts(code.tree(), value);
  const bool is_address = code.is_prefix(sum, "&");
  if (is_address) sum = without_casts(code.tree(), code.operand(sum, 0));
  c::ExprId front = sum;
  while (code[front].operand_count > 0 && code[front].kind != c::ExprKind::call) front = code.operand(front, 0);
  const auto pool = pools_.find(std::string(code.name_of(front)));
  if (pool == pools_.end()) return false;
  const auto is_bytes = [&](c::ExprId id) {
    const auto type = code[id].kind == c::ExprKind::cast ? known_type(code.tree(), code[id].type) : std::nullopt;
    return id == front || (type && type->stars == 1 && type->element.bytes() <= 1 && code.operand(id, 0) == front);
  };
  const bool is_place = is_address ? code[sum].kind == c::ExprKind::subscript : code.is_binary(sum, "+");
  if (!is_place || !is_bytes(code.operand(sum, 0))) fail_at(code.at(front), "(&(pool[offset]))");
  const c::ExprId number = code.operand(sum, 1);
  const Token& offset = code.at(number);
  if (code[number].kind != c::ExprKind::number || is_real(offset)) fail_at(offset, "an offset in the pool");
  const std::int64_t at = integer_literal(offset).value;
  constexpr std::string_view suffix = "_let";
  Token plain = name;
  if (plain.text.ends_with(suffix)) plain.text.remove_suffix(suffix.size());
  if (const auto constants = scope_.constant_pools.find(pool->second); constants != scope_.constant_pools.end()) {
    planned_constant(name, plain, *constants, offset, at);
  } else if (result_.function.is_entry && plain.text.ends_with("_buffer_var")) {
    const VarId var = new_var(plain.text, tir::handle_type, tir::void_type);  // an input or output in the pool
    tir::Param param;
    param.var = var;
    param.name = std::string(plain.text);
    result_.function.params.push_back(std::move(param));
    if (at < 0) fail_at(offset, "an offset in the pool");
    result_.memory.places.push_back({var, pool->second, at});
    declare(name, pointer_to(var, tir::void_type));
  } else {
    result_.pools.push_back(pool->second);
    const auto size = scope_.arrays.find(pool->second);
    const std::int64_t most = size == scope_.arrays.end() ? INT32_MAX : size->second;
    if (at < 0 || at >= most) fail_at(offset, "an offset in the pool");
    const VarId var = allocated(plain, tir::uint8_type, most - at);
    if (size == scope_.arrays.end()) result_.memory.unbounded.insert(var);
    result_.memory.places.push_back({var, pool->second, at});
    declare(name, pointer_to(var, tir::void_type));
  }
  return true;
}

void BodyNames::planned_constant(const Token& name, const Token& plain,
                                 const std::pair<const std::string, ConstantPool>& named_pool, const Token& offset,
                                 std::int64_t at) {
  const auto& [pool_name, pool] = named_pool;
  std::string key = std::string(plain.text) + "@" + std::to_string(at) + "@" + pool_name;
  if (pool.bytes != nullptr) {
    if (at < 0 || static_cast<std::size_t>(at) >= pool.bytes->size()) fail_at(offset, "an offset in the pool");
    const auto [found, is_new] = constants_.pool_constants.try_emplace(std::move(key));
    if (is_new) {
      found->second = new_var(plain.text, tir::handle_type, tir::uint8_type);
      result_.memory.constants.push_back({found->second, pool_name, pool.bytes, static_cast<std::size_t>(at)});
      result_.memory.places.push_back({found->second, pool_name, at});
    }
    declare(name, pointer_to(found->second, tir::void_type));
    return;
  }
  const auto table = pool.tables.find(at);
  if (table == pool.tables.end()) fail_at(offset, "the offset of a constant in the pool");
  const auto [found, is_new] = constants_.placed.try_emplace(std::move(key));
  if (is_new) {
    found->second = {new_var(plain.text, tir::handle_type, table->second.data->type), &table->second};
    result_.memory.places.push_back({found->second.first, pool_name, at});
  }
  declare(name, pointer_to(found->second.first, table->second.data->type));
}

void BodyNames::insert_tables() {
  tir::Block constants;
  for (const auto& [place, var] : constants_.tables) {
    const auto& [file, name] = place;
    const Table& table = *scope_.table(name, file);
    result_.tables.push_back(name);
    constants.push_back({tir::AllocateConst{var, table.data->type, table.data, {}}});
  }
  for (const auto& [name, placed] : constants_.placed) {
    constants.push_back({tir::AllocateConst{placed.first, placed.second->data->type, placed.second->data, {}}});
  }
  for (const auto& [name, var] : constants_.pool_constants) {
    constants.push_back({tir::AllocateConst{var, tir::uint8_type, nullptr, {}}});
  }
  result_.function.body.insert(result_.function.body.begin(), std::make_move_iterator(constants.begin()),
                               std::make_move_iterator(constants.end()));
}

}  // namespace usmp::tvm_c

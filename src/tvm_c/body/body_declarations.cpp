// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Declares parameters, variables, arrays and workspace, and stores what is assigned.
#include "tvm_c/body/body_reader.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "tvm_c/body/variables.hpp"
#include "tvm_c/text/literals.hpp"
#include "tvm_c/text/syntax.hpp"
#include "tvm_c/text/tvm_names.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {

using tir::DataType;
using tir::Tree;
using tir::VarId;

namespace {

// What __attribute__((aligned(4))) says, at the most. Throws SyntaxError for other words.
std::uint16_t alignment_of(const c::Decl& decl, const Expressions& code) {
  constexpr std::int64_t most = 4096;
  std::int64_t alignment = 1;
  const auto add = [&](std::uint32_t name) {
    const Token& number = code.token(name + 2);
    if (!code.token(name + 1).is("(")) fail_at(code.token(name + 1), "'('");
    if (number.kind != TokenKind::number || is_real(number)) fail_at(number, "an alignment in bytes, as a number");
    const std::int64_t bytes = integer_literal(number).value;
    if (bytes < 1 || bytes > most || !std::has_single_bit(static_cast<std::uint64_t>(bytes))) {
      fail_at(number, "an alignment that is a power of two up to " + std::to_string(most));
    }
    if (!code.token(name + 3).is(")")) fail_at(code.token(name + 3), "')'");
    alignment = std::max(alignment, bytes);
  };
  if (!decl.unknown.empty()) code.fail_undeclared(code.token(decl.unknown[0].begin));
  for (const c::TokenRange words : decl.attributes) {
    if (!code.token(words.begin).is("__attribute__")) code.fail_undeclared(code.token(words.begin));
    for (std::uint32_t i = words.begin; i < words.end; ++i) {
      if (code.token(i).is("aligned") || code.token(i).is("__aligned__")) add(i);
    }
  }
  return static_cast<std::uint16_t>(alignment);
}

}  // namespace

// NOLINTBEGIN(misc-no-recursion): blocks of the source, which the parser limits; calls, at most most_nested_deep

void BodyReader::read_params(const FunctionTree& code, bool has_pools) {
  code_.read(code);
  open(Open::Kind::function);
  is_packed_ = tvm_c::takes_packed(text_);
  if (is_packed_) {
    // The first are the arguments; the others say nothing that is needed.
    for (const c::DeclId param : code_.tree()[code_.tree()[code.function].type].params) {
      const c::Decl& decl = code_.tree()[param];
      names_.declare(code_.token(decl.at), decl.name == "args" ? packed_.arguments() : PackedState::other());
    }
    return;
  }
  for (const auto& [type, name] : params_of(code_)) {
    const bool is_storage = type.stars == 1;
    if (auto pool = pool_of_param(name.text); !has_pools && pool && is_storage && type.element == tir::uint8_type) {
      names_.declare_pool(name, std::move(*pool));
      continue;
    }
    const VarId var = names_.new_var(name.text, is_storage ? tir::handle_type : type.element, type.element);
    names_.declare(name, is_storage ? pointer_to(var, type.element) : values_.variable(var));
    if (is_storage) c_types_.emplace(name.text, type.element);
    tir::Param param;
    param.var = var;
    param.name = std::string(name.text);
    param.is_tensor = is_storage && !type.element.is_void();
    param.element = param.is_tensor ? type.element : tir::void_type;
    function_.params.push_back(std::move(param));
  }
}

std::size_t BodyReader::declaration(const c::Stmt& stmt, Statements all) {
  if (stmt.decls.empty()) code_.fail_undeclared(code_.token(stmt.tokens.begin));
  const CType first = declarator(code_.tree()[stmt.decls[0]]);
  const bool is_number = first.stars == 0 && !first.element.is_void();
  for (const c::DeclId id : std::span(stmt.decls).subspan(1)) {
    const c::Decl& decl = code_.tree()[id];
    if (!is_number) fail_at(code_.token(decl.declarator.begin - 1), "';'");
    if (code_.tree()[decl.type].kind == c::TypeKind::pointer) fail_at(code_.token(decl.declarator.begin), "a name");
    (void)declarator(decl);
  }
  const bool is_record = first.stars == 0 && first.element.is_void();
  return is_record && all.size() > 1 && declare_type_code(code_[all[1]]) ? 2 : 1;
}

bool BodyReader::declare_type_code(const c::Stmt& stmt) {
  if (stmt.kind != c::StmtKind::declaration || stmt.decls.size() != 1) return false;
  const c::Decl& decl = code_.tree()[stmt.decls[0]];
  const auto type = known_type(code_.tree(), decl.type);
  if (!type || type->stars > 0 || !type->element.is_int() || decl.init.valid()) return false;
  names_.declare(code_.token(decl.at), PackedState::other());
  return true;
}

CType BodyReader::declarator(const c::Decl& decl) {
  const Token& name = code_.token(decl.at);
  const c::Type& own = code_.tree()[decl.type];
  const bool is_array = own.kind == c::TypeKind::array;
  if (!is_array) code_.require_plain(decl);
  const CType type = code_.type(is_array ? own.of : decl.type, decl.tokens.begin);
  if (is_array) {
    array(decl, type);
  } else if (type.stars > 0) {
    if (!decl.init.valid()) fail_at(code_.token(decl.declarator.end), "'='");
    if (type.stars > 1) fail_at(name, "a pointer to numbers");
    if (open_.size() == 1) c_types_[std::string(name.text)] = type.element;
    pointer(name, type, decl.init);
  } else if (type.element.is_void()) {
    if (decl.init.valid()) fail_at(code_.token(decl.declarator.end), "';'");
    names_.declare(name, packed_.array());
  } else if (decl.init.valid()) {
    number(name, type.element, decl.init);
  } else {
    (void)declare_variable(name, type.element, names_, body_);
  }
  return type;
}

void BodyReader::number(const Token& name, DataType type, c::ExprId init) {
  bool is_nested = false;
  const Value given = value_of(init, &is_nested);
  if (given.kind == Value::Kind::record) return names_.declare(name, PackedState::other());
  const Tree value = values_.converted(given, type);
  if (is_nested && is_zero(given) && !changing_.contains(name.text)) {
    return names_.declare(name, Values::number(value));
  }
  if (changing_.contains(name.text)) {
    const Value place = declare_variable(name, type, names_, body_);
    body_.add({place.storage, place.tree.expr, value.expr, nullptr});
    return;
  }
  const VarId var = names_.new_var(name.text, type, tir::void_type);
  body_.let(var, value.expr);
  names_.declare(name, values_.variable(var));
}

void BodyReader::pointer(const Token& name, CType type, c::ExprId init) {
  const c::ExprId taken = code_[init].kind == c::ExprKind::cast ? code_.operand(init, 0) : init;
  if (code_.callee(taken) == allocate_function) return workspace(name, type, taken);
  if (names_.planned(code_, init, name)) {
    Value& value = names_.declared(name);
    values_.at = name.offset;
    value = values_.cast(type, value);
    return;
  }
  const Value value = code_.evaluate(init);
  if (const auto argument = PackedState::argument_of(value)) return unpacked_.add(name, type, *argument);
  values_.at = name.offset;
  names_.declare(name, fixed_pointer(values_.cast(type, value), names_, values_, body_));
}

void BodyReader::workspace(const Token& name, CType type, c::ExprId call) {
  const std::vector<Value> arguments = code_.arguments(call);
  std::array<std::int64_t, 5> numbers{};
  bool are_literals = arguments.size() == numbers.size();
  for (std::size_t i = 2; are_literals && i < numbers.size(); ++i) {
    const auto number = tir::as_int(*values_.rvalue(arguments[i]).expr);
    are_literals = number.has_value();
    numbers[i] = number.value_or(0);
  }
  if (!are_literals) fail_at(name, "workspace of a constant number of bytes, with a type code and bits");
  DataType element = tir::uint8_type;
  if (numbers[3] >= 0 && numbers[3] <= 2 && numbers[4] >= 8 && numbers[4] <= 64 && numbers[4] % 8 == 0) {
    element = {static_cast<tir::TypeCode>(numbers[3]), static_cast<std::uint8_t>(numbers[4]), 1};
  }
  if (numbers[2] < 0 || numbers[2] % element.bytes() != 0) element = tir::uint8_type;
  const VarId var = names_.allocated(name, element, numbers[2] / element.bytes());
  names_.declare(name, values_.cast(type, pointer_to(var, element)));
}

void BodyReader::array(const c::Decl& decl, CType type) {
  const Token& name = code_.token(decl.at);
  if (type.stars == 0 && type.element.is_void()) return names_.declare(name, packed_.array());
  if (decl.storage != c::Storage::none) code_.fail_undeclared(code_.token(decl.tokens.begin));
  if (type.stars > 0) fail_at(code_.token(decl.at + 1), "'='");
  if (decl.init.valid()) fail_at(code_.token(decl.declarator.end), "';'");
  const std::uint16_t alignment = alignment_of(decl, code_);
  const c::ExprId extent = code_.tree()[decl.type].extent;
  const Tree count = extent.valid() ? values_.rvalue(code_.evaluate(extent)) : Tree{tir::make_int(0)};
  const auto elements = tir::as_int(*count.expr);
  if (!elements || *elements < 1) fail_at(name, "an array of a constant number of elements");
  const VarId var = names_.allocated(name, type.element, *elements, true, alignment);
  memory_.note_array(var, *elements * type.element.bytes());
  names_.declare(name, pointer_to(var, type.element));
}

void BodyReader::store(const Value& place, const Value& value) {
  body_.add({place.storage, place.tree.expr, values_.converted(value, place.type).expr, nullptr});
}

void BodyReader::packed_assignment(c::ExprId id, const Value& place, bool may_not_happen) {
  const Token& at = code_.at(id);
  if (code_[id].kind != c::ExprKind::assign || !at.is("=")) fail_at(at, "'='");
  const c::ExprId value = code_.operand(id, 1);
  if (PackedState::keeps(place)) {
    if (may_not_happen) fail_at(at, "arguments of a packed call outside of loops and branches");
    packed_.store(place, code_.evaluate(value));
  } else if (place.record.part == Record::Part::offset) {
    const Tree bytes = values_.rvalue(code_.evaluate(value));
    if (tir::as_int(*bytes.expr) != 0) fail_at(at, "a tensor without an offset");
  } else {
    packed_.overwrite(place);
  }
}

void BodyReader::assignment(c::ExprId id) {
  const c::Expr& expr = code_[id];
  const bool is_assigned = expr.kind == c::ExprKind::assign;
  const c::ExprId target = is_assigned || is_step(expr) ? code_.operand(id, 0) : id;
  const Value place = code_.evaluate(target);
  const Token& op = target != id ? code_.at(id) : code_.behind(id);
  if (place.kind == Value::Kind::record) {
    const bool may_not_happen = std::any_of(open_.begin(), open_.end(), [](const Open& block) {
      return block.kind != Kind::function && block.kind != Kind::braces;
    });
    return packed_assignment(id, place, may_not_happen);
  }
  const std::string_view name = code_.name_of(target);
  if (!function_.is_entry && place.kind == Value::Kind::number && !name.empty() && names_.look_up(name)) {
    throw ChangedVariable{std::string(name), code_.at(target).offset};
  }
  if (target == id) fail_at(op, "'='");
  if (place.kind != Value::Kind::place) fail_at(op, "an element of storage in front");
  Value value = is_assigned ? value_of(code_.operand(id, 1)) : Values::number({tir::make_int(1)});
  if (!op.is("=")) value = values_.binary(op.text.substr(0, op.text.size() - 1), place, value);
  if (place.type.is_void()) fail_at(op, "an element of a number in front");
  store(place, value);
}

// NOLINTEND(misc-no-recursion)

}  // namespace usmp::tvm_c

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads calls in a helper: functions of the same file, instructions, memcpy and memset.
#include "tvm_c/body/helper_body.hpp"

namespace usmp::tvm_c {

// NOLINTBEGIN(misc-no-recursion): as in helper_reader.cpp
Value HelperBody::called(c::ExprId id, std::span<const Value> operands) {
  const c::Expr& callee = tree()[tree().operands_of(id)[0]];
  if (callee.kind != c::ExprKind::name) fail("a call by something else than a name");
  std::vector<Value> arguments;
  for (const Value& operand : operands) {
    arguments.push_back(words_.loaded(operand));
    if (operand.kind == Value::Kind::place && operand.is_short_sum) relied_on_.insert(operand.storage);
  }
  if (!helpers_.find(callee.text, file_) && Words::is_instruction(callee.text)) {
    if (callee.decl.valid() && !is_prototype(callee.decl)) fail("a function of the name of an instruction");
    return words_.instruction(callee.text, arguments, repetitions_);
  }
  require_no_moves();
  const std::size_t before = all_stores_;
  const auto outer = at_;
  Value result = call(callee.text, arguments);
  at_ = outer;
  if (all_stores_ != before && id != statement_call_) fail("the result of a call that stores something");
  return result;
}

bool HelperBody::is_prototype(c::DeclId decl) const {
  return tree()[decl].kind == c::DeclKind::function && !tree()[decl].body.valid();
}

bool HelperBody::memory_call(c::ExprId id) {
  const auto operands = tree().operands_of(id);
  const c::Expr& callee = tree()[operands[0]];
  const bool is_copy = callee.text == "memcpy";
  if (callee.kind != c::ExprKind::name || (!is_copy && callee.text != "memset")) return false;
  if (callee.decl.valid() && !is_prototype(callee.decl)) fail("a function of the name of one of the C library");
  if (operands.size() != 4) fail("other than three arguments");
  const auto bytes = constant_of(evaluate(operands[3]));
  const Value second = evaluate(operands[2]);
  require_no_moves();
  if (!bytes || *bytes < 0 || *bytes > INT32_MAX) fail("a size that is no constant");
  if (is_copy) {
    copy(operands[1], second, *bytes);
  } else {
    fill(evaluate(operands[1]), second, *bytes);
  }
  return true;
}

void HelperBody::fill(const Value& to, const Value& with, std::int64_t bytes) {
  const auto byte = constant_of(with);
  const bool is_bytes = to.kind == Value::Kind::pointer && to.word_size == 0 && to.type == tir::int8_type;
  require_no_moves();
  if (!byte || !is_bytes) fail("memset of other elements than int8_t, or to a value that is no constant");
  const std::int64_t value = (*byte & 0xff) - ((*byte & 0x80) != 0 ? 0x100 : 0);
  each_element(to, bytes, [&](const Value&) { return Values::number({tir::make_int(value, tir::int8_type)}); });
}

void HelperBody::copy(c::ExprId target, const Value& from, std::int64_t bytes) {
  if (from.kind != Value::Kind::pointer || from.word_size != 0 || from.type.is_void())
    fail("memcpy from something else than numbers");
  const c::Expr& expr = tree()[target];
  const bool is_address = expr.kind == c::ExprKind::prefix && expr.text == "&";
  const c::ExprId of = is_address ? tree().operands_of(target)[0] : target;
  const CType words{tir::int32_type, 1};
  if (tree()[of].kind == c::ExprKind::name && tree()[of].decl.valid()) {
    const c::DeclId decl = tree()[of].decl;
    const auto array = arrays_.find(decl);
    const CType type = type_of(tree()[decl].type);
    const bool is_of_words = type.element.is_integer() && type.element.bits == 32;
    if (is_address && type.stars == 0 && is_of_words && bytes == type.element.bytes()) {
      const auto pointer = words_.pointer_to_words(words, from);
      if (!pointer) fail("memcpy to a word from other elements than int8_t or int16_t");
      return assign(decl, "", words_.unary("*", *pointer));
    }
    if (!is_address && array != arrays_.end() && is_of_words && from.type.bits < 32) {
      const auto pointer = words_.pointer_to_words(words, from);
      if (!pointer || bytes != array->second) fail("memcpy to a part of an array of words");
      if (own_.contains(from.storage)) fail("memcpy to words from what the function has computed");
      require_changeable(decl);
      Value copy = fixed(*pointer, "words");
      copies_.push_back(stores_);
      copy.copy = static_cast<std::uint32_t>(copies_.size());
      env_[decl] = copy;
      return;
    }
  }
  const Value to = evaluate(target);
  const bool are_alike = to.kind == Value::Kind::pointer && to.word_size == 0 && to.type == from.type;
  require_no_moves();
  if (!are_alike) fail("memcpy between elements of different types");
  each_element(to, bytes, [&](const Value& i) { return values_.element(from, i); });
}

void HelperBody::each_element(const Value& to, std::int64_t bytes, FunctionRef<Value(const Value&)> element) {
  if (bytes % to.type.bytes() != 0) fail("a size that is no whole number of elements");
  if (bytes == 0) return;
  const tir::VarId i = new_var_("i", tir::int32_type, tir::void_type);
  body_.open_loop(i, tir::make_int(0), tir::make_int(bytes / to.type.bytes()));
  const Value index = values_.variable(i);
  store(values_.element(to, index), element(index));
  body_.close();
}
// NOLINTEND(misc-no-recursion)

}  // namespace usmp::tvm_c

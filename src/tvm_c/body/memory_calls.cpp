// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads the arguments, proves that whole elements are meant, and makes the loops.
#include "tvm_c/body/memory_calls.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tvm_c/body/variables.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/c/constants.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {
namespace {

using tir::DataType;
using tir::Tree;

constexpr std::string_view numbers_of_one_size = "pointers to numbers of one size";

// A bool has no other bytes than those of 0 and 1; memory may.
DataType accessed(DataType type) { return type.is_bool() ? tir::uint8_type : type; }

Value as(Value pointer, DataType type) {
  pointer.type = type;
  pointer.is_void = false;
  return pointer;
}

Tree without_factor_1(const Tree& value) {
  if (value.expr->kind != tir::ExprKind::mul) return value;
  if (tir::as_int(*value.expr->operands[1]) == 1) return {value.expr->operands[0], value.height};
  if (tir::as_int(*value.expr->operands[0]) == 1) return {value.expr->operands[1], value.height};
  return value;
}

// A size in bytes, of which sizeof `whole` counts as one of elements of `width` bytes: sums and products give the same
// for all types that hold them, so that the types of sizeof and of casts do not matter.
class Sizes : Evaluator {
 public:
  using SizeOf = std::function<std::optional<Bytes>(c::ExprId)>;

  Sizes(const c::Tree& tree, const Token& at, Values& values, const LookUp& look_up, const SizeOf& size_of)
      : tree_(tree), at_(at), values_(values), look_up_(look_up), size_of_(size_of) {}

  Value read(c::ExprId root, c::ExprId whole = {}, Bytes width = 1) {
    whole_ = whole;
    width_ = width;
    return evaluate(tree_, root);
  }

 private:
  Value value_of(c::ExprId id, std::span<const Value> operands) override {
    const c::Expr& expr = tree_[id];
    if (is_size(expr)) {
      const auto size = size_of_(id);
      if (!size) fail_at(at_, "sizeof of a type, an element or an array of the function");
      return Values::number({tir::make_int(id == whole_ ? *size / width_ : *size)});
    }
    if (expr.kind == c::ExprKind::number) {
      const auto literal = c::integer_literal(expr.text);
      const auto number = literal ? literal->as_int64() : std::nullopt;
      if (number && *number <= INT32_MAX) return Values::number({tir::make_int(*number)});
    }
    if (expr.kind == c::ExprKind::name) {
      if (auto value = look_up_(expr.text)) return std::move(*value);
    }
    if (expr.kind == c::ExprKind::subscript) return values_.element(operands[0], operands[1]);
    if (expr.kind == c::ExprKind::cast && is_plain(expr.type)) return operands[0];
    const bool is_sum = expr.text == "+" || expr.text == "-" || expr.text == "*";
    if (expr.kind == c::ExprKind::prefix && is_sum) return values_.unary(expr.text, operands[0]);
    if (expr.kind == c::ExprKind::binary && expr.text != ",") {
      // Others give the same for all types that hold them from 0 on.
      const auto is_one = [](const Value& value) {
        return value.kind == Value::Kind::number && tir::as_int(*value.tree.expr).value_or(-1) >= 0;
      };
      if (is_sum || std::ranges::all_of(operands, is_one)) {
        Value value = folded(values_.binary(expr.text, operands[0], operands[1]));
        if (is_sum || is_one(value)) return value;
      }
    }
    fail_at(at_, "a size that is a number, or a sum or product of numbers");
  }

  // (size_t) or (unsigned)
  [[nodiscard]] bool is_plain(c::TypeId id) const {
    if (tree_[id].kind == c::TypeKind::integer && tree_[id].bits == 0) return true;  // of any size
    const auto type = known_type(tree_, id);
    return type && type->stars == 0 && type->element.is_integer() && type->element.bits == 32;
  }

  const c::Tree& tree_;
  const Token& at_;
  Values& values_;
  const LookUp& look_up_;
  const SizeOf& size_of_;
  c::ExprId whole_;
  Bytes width_ = 1;
};

}  // namespace

bool is_memory_function(std::string_view name) { return name == "memcpy" || name == "memmove" || name == "memset"; }

void MemoryCalls::read(c::ExprId call, const IsParam& is_param) {
  const Token& name = code_.at(call);
  const bool is_fill = name.is("memset");
  const auto operands = code_.tree().operands_of(call);
  if (operands.size() != 4) fail_at(name, "three arguments of it");
  const Value to = code_.evaluate(operands[1]);
  const Value second = code_.evaluate(operands[2]);
  values_.at = name.offset;
  if (to.kind != Value::Kind::pointer || (!is_fill && second.kind != Value::Kind::pointer)) {
    fail_at(name, numbers_of_one_size);
  }
  DataType written = accessed(to.type);
  DataType read = is_fill ? written : accessed(second.type);
  if (written.is_void()) written = read;
  if (read.is_void()) read = written;
  if (written.is_void()) written = read = tir::uint8_type;
  const bool are_alike = written == read || (written.is_integer() && read.is_integer() && written.bits == read.bits);
  const auto is_moved_void = [](const Value& value) { return value.type.is_void() && value.tree.expr != nullptr; };
  if (!are_alike || written.lanes != 1 || is_moved_void(to) || (!is_fill && is_moved_void(second))) {
    fail_at(name, numbers_of_one_size);
  }
  const Tree elements = count(operands[3], written.bytes(), name);
  if (is_fill) return fill(fixed_pointer(as(to, written), names_, values_, body_), second, elements, name);
  const bool is_backwards = name.is("memmove") && goes_backwards(to, second, is_param, name);
  copy(fixed_pointer(as(to, written), names_, values_, body_), fixed_pointer(as(second, read), names_, values_, body_),
       elements, is_backwards);
}

// (type), (*p), (p[0]) or (array), behind the word.
std::optional<Bytes> MemoryCalls::size_of(c::ExprId size) const {
  if (code_[size].kind == c::ExprKind::size_of) {
    const auto type = known_type(code_.tree(), code_[size].type);
    if (!type || type->stars > 0 || type->element.is_void()) return std::nullopt;
    return type->element.bytes();
  }
  const c::ExprId of = code_.operand(size, 0);
  const bool is_indexed = code_[of].kind == c::ExprKind::subscript && code_.is_number(code_.operand(of, 1), "0");
  const bool is_element = is_indexed || code_.is_prefix(of, "*");
  const std::string_view name = code_.name_of(is_element ? code_.operand(of, 0) : of);
  const auto value = name.empty() || !code_.has_brackets(of) ? std::nullopt : look_up_(name);
  if (!value || value->kind != Value::Kind::pointer) return std::nullopt;
  if (is_element) return value->is_void || value->type.is_void() ? std::nullopt : std::optional(value->type.bytes());
  const auto array = arrays_.find(value->storage);
  const bool is_whole = array != arrays_.end() && value->tree.expr == nullptr;
  return is_whole ? std::optional(array->second) : std::nullopt;
}

Tree MemoryCalls::count(c::ExprId size, Bytes width, const Token& at) {
  const Sizes::SizeOf size_of = [this](c::ExprId id) { return this->size_of(id); };
  Sizes sizes(code_.tree(), at, values_, look_up_, size_of);
  values_.at = at.offset;
  const Tree bytes = values_.rvalue(sizes.read(size));
  if (const auto number = tir::as_int(*bytes.expr)) {
    if (*number < 0 || *number > INT32_MAX || *number % width != 0) fail_at(at, "a whole number of elements");
    return {tir::make_int(*number / width)};
  }
  c::ExprId whole;
  std::vector<c::ExprId> factors = {size};
  while (width > 1 && !whole.valid() && !factors.empty()) {
    const c::ExprId factor = factors.back();
    factors.pop_back();
    if (code_.is_binary(factor, "*"))
      factors.insert(factors.end(), {code_.operand(factor, 1), code_.operand(factor, 0)});
    const auto of = is_size(code_[factor]) ? size_of(factor) : std::nullopt;
    if (of && *of > 0 && *of % width == 0) whole = factor;
  }
  if (width > 1 && !whole.valid()) fail_at(at, "a size in elements, n * sizeof(element)");
  const Tree elements = whole.valid() ? values_.rvalue(sizes.read(size, whole, width)) : bytes;
  if (elements.expr->type != tir::int32_type) fail_at(at, "a size of ints");
  return fixed(without_factor_1(elements), names_, values_, body_);  // the loop would compute it in each iteration
}

void MemoryCalls::fill(const Value& place, const Value& value, const Tree& count, const Token& at) {
  const DataType type = place.type;
  const auto number = tir::as_int(*values_.rvalue(value).expr);
  const std::int64_t byte = number ? *number & 0xff : -1;
  Value element;
  if (byte == 0 && type.is_float()) {
    element = Values::number({tir::make_float(0, type)});
  } else if (byte == 0 || (byte == 0xff && type.is_int())) {
    element = Values::number({tir::make_int(byte == 0 ? 0 : -1, type)});
  } else if (type.bytes() > 1) {
    fail_at(at, "a value of 0, or elements of one byte");
  } else if (number) {
    element = Values::number({tir::make_int(type.is_int() && byte > 127 ? byte - 256 : byte, type)});
  } else {
    element = values_.cast({tir::uint8_type, 0}, value);
  }
  if (tir::as_int(*count.expr) == 0) return;
  if (type.bytes() == 1 && !number) {  // C computes it once
    const tir::VarId var = names_.new_var("value", tir::uint8_type, tir::void_type);
    body_.let(var, element.tree.expr);
    element = values_.variable(var);
  }
  const tir::VarId i = names_.new_var("i", tir::int32_type, tir::void_type);
  body_.open_loop(i, tir::make_int(0), count.expr);
  const Value to = values_.element(place, values_.variable(i));
  body_.add({to.storage, to.tree.expr, values_.converted(element, type).expr, nullptr});
  body_.close();
}

void MemoryCalls::copy(const Value& to, const Value& from, const Tree& count, bool is_backwards) {
  if (tir::as_int(*count.expr) == 0) return;
  const tir::VarId i = names_.new_var("i", tir::int32_type, tir::void_type);
  body_.open_loop(i, tir::make_int(0), count.expr);
  Value at = values_.variable(i);
  if (is_backwards) {
    at = values_.binary("-", values_.binary("-", Values::number(count), Values::number({tir::make_int(1)})), at);
  }
  const Value target = values_.element(to, at);
  const Value element = values_.element(from, at);
  body_.add({target.storage, target.tree.expr, values_.converted(element, to.type).expr, nullptr});
  body_.close();
}

// From the last element on, so that none is read that has been written.
bool MemoryCalls::goes_backwards(const Value& to, const Value& from, const IsParam& is_param, const Token& at) const {
  if (to.storage != from.storage) {
    if (is_param(to.storage) && is_param(from.storage)) fail_at(at, "memcpy between two parameters");
    return false;
  }
  const auto index = [](const Value& value) {
    return value.tree.expr == nullptr ? std::optional<std::int64_t>(0) : tir::as_int(*value.tree.expr);
  };
  if (!index(to) || !index(from)) fail_at(at, "places whose distance is a number");
  return *index(to) > *index(from);
}

}  // namespace usmp::tvm_c

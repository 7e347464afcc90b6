// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// memcpy, memmove and memset in operators, as the loops over elements that they stand for.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "tvm_c/body/body_names.hpp"
#include "tvm_c/body/expressions.hpp"
#include "tvm_c/body/values.hpp"
#include "tvm_c/text/lexer.hpp"
#include "usmp/tir/builder.hpp"

namespace usmp::tvm_c {

[[nodiscard]] bool is_memory_function(std::string_view name);

using IsParam = std::function<bool(tir::VarId)>;

class MemoryCalls {
 public:
  MemoryCalls(Values& values, BodyNames& names, tir::BodyBuilder& body, Expressions& code, const LookUp& look_up)
      : values_(values), names_(names), body_(body), code_(code), look_up_(look_up) {}

  // Notes the bytes of an array that the function declares, for sizeof.
  void note_array(tir::VarId var, Bytes bytes) { arrays_.emplace(var, bytes); }
  [[nodiscard]] bool is_array(tir::VarId var) const { return arrays_.contains(var); }

  // Legal only if
  // - all pointers are to numbers of one size, a pointer to void is one to what the other points to, and the size is a
  //   whole number of them;
  // - the size is a number, or so many elements: + - * of ints;
  // - memset: the value is a number whose bytes are those of an element, or an element is a byte;
  // - memmove: the places are a known distance apart, or of different storage that no caller can have passed twice,
  //   `is_param`.
  // Else it throws SyntaxError.
  void read(c::ExprId call, const IsParam& is_param);

 private:
  // How many elements of `width` bytes the argument says.
  [[nodiscard]] tir::Tree count(c::ExprId size, Bytes width, const Token& at);
  [[nodiscard]] std::optional<Bytes> size_of(c::ExprId size) const;
  void fill(const Value& place, const Value& value, const tir::Tree& count, const Token& at);
  void copy(const Value& to, const Value& from, const tir::Tree& count, bool is_backwards);
  [[nodiscard]] bool goes_backwards(const Value& to, const Value& from, const IsParam& is_param, const Token& at) const;

  Values& values_;
  BodyNames& names_;
  tir::BodyBuilder& body_;
  Expressions& code_;
  const LookUp& look_up_;
  std::map<tir::VarId, Bytes> arrays_;
};

}  // namespace usmp::tvm_c

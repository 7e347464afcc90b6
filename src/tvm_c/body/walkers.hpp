// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Pointers that statements move: p += 4, *q++ = *p++; and variables that a statement counts beside other things,
// q[n++] = v.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/body/body_names.hpp"
#include "tvm_c/body/expressions.hpp"
#include "tvm_c/body/values.hpp"
#include "tvm_c/text/lexer.hpp"
#include "usmp/tir/builder.hpp"

namespace usmp::tvm_c {

// A value that is computed now, not where it is used: of one that reads memory, a variable.
[[nodiscard]] tir::Tree fixed(const tir::Tree& value, BodyNames& names, const Values& values, tir::BodyBuilder& body);
// The same of a pointer's place.
[[nodiscard]] Value fixed_pointer(Value pointer, BodyNames& names, const Values& values, tir::BodyBuilder& body);

// A variable that a statement changes and that is none yet whose value is storage: it has to be read as one.
struct ChangedVariable {
  std::string name;
  std::size_t offset = 0;
};

class Walkers {
 public:
  Walkers(Values& values, BodyNames& names, tir::BodyBuilder& body, Expressions& code)
      : values_(values), names_(names), body_(body), code_(code) {}

  // A pointer that moves: its place, in elements, is a variable.
  void declare(const Token& name, const Value& pointer);

  // p++; ++p; p += n; p -= n; p = q + n; where q points into the same storage. False: it is something else, or p is no
  // pointer. Throws ChangedVariable of one that does not move yet.
  bool move(c::ExprId statement);

  struct Step {
    Value place;  // of the variable
    bool is_up = true;
  };
  // What a statement without blocks counts behind itself; what it counts in front of it is made. Legal only
  // if the statement names each such variable once and evaluates all of it. `is_counted`: whether the value is a
  // variable that is storage. Throws ChangedVariable, SyntaxError.
  std::vector<Step> steps_of(const c::Stmt& stmt, const std::function<bool(const Value&)>& is_counted);
  void make(const Step& step);

 private:
  [[nodiscard]] std::optional<Value> place_of(const Value& pointer) const;
  [[nodiscard]] Value stepped(const Token& name, const std::function<bool(const Value&)>& is_counted);
  void move_to(const Value& place, const Value& index);

  Values& values_;
  BodyNames& names_;
  tir::BodyBuilder& body_;
  Expressions& code_;
  std::map<const tir::Expr*, Value> places_;  // by the index of the pointer's value
  std::vector<tir::ExprRef> kept_;            // so that no other expression takes the address of one
};

}  // namespace usmp::tvm_c

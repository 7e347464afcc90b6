// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Variables of a function of C that are no constants: those that statements change, which are storage of one element,
// and counters of loops.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "tvm_c/body/body_names.hpp"
#include "tvm_c/body/body_reader.hpp"
#include "tvm_c/body/loop_header.hpp"
#include "tvm_c/body/values.hpp"
#include "usmp/tir/builder.hpp"

namespace usmp::tvm_c {

class Variables {
 public:
  Variables(Values& values, BodyNames& names, tir::BodyBuilder& body, ReadFunction& result)
      : values_(values), names_(names), body_(body), result_(result) {}

  // One in storage. `is_open`: its type has another size elsewhere, so it may only count.
  Value declare(const Token& name, tir::DataType type, bool is_open = false);
  // One of a type that has another size elsewhere, with a value that does not change.
  void declare_open(const Token& name, tir::DataType type, const tir::Tree& value);

  [[nodiscard]] bool contains(const Value& value) const {
    return value.kind == Value::Kind::place && scalars_.contains(value.storage);
  }
  // What a name stands for, where an expression has it. A counter has the value that the loop around it gives it, so
  // nothing behind that may use it.
  std::optional<Value> used(std::optional<Value> value);

  // Opens the loop in the body: the value of its counter in the loop. Throws SyntaxError.
  Value open_loop(const LoopHeader& header);

 private:
  tir::DataType counter_outside(const Token& name);
  void note_counter(tir::VarId var, const Token& name, bool is_open);
  Value counted(const LoopHeader& header, tir::DataType counter, bool is_open, std::int64_t first, std::int64_t end);

  Values& values_;
  BodyNames& names_;
  tir::BodyBuilder& body_;
  ReadFunction& result_;
  std::set<tir::VarId> scalars_;       // variables that are storage
  std::set<tir::VarId> open_scalars_;  // of them, those whose types have other sizes elsewhere
  std::set<tir::VarId> counted_;       // those that loops count with
  std::set<tir::VarId> touched_;       // those that something else uses
};

}  // namespace usmp::tvm_c

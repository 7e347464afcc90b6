// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// C's expressions as TIR's, an operator at a time: C's conversions are written down, and what TVM's printer made of an
// operator of TIR becomes that operator again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/text/lexer.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/tir/builder.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {

// A part of the arrays that TVM's packed calls are made of (packed.hpp): an element, its v_handle (which is a
// DLTensor's address), its data, or something that is of no account here.
struct Record {
  enum class Part : std::uint8_t { element, handle, data, offset, other };
  std::size_t object = 0;
  std::int64_t index = 0;
  Part part = Part::other;
};

struct Value {
  enum class Kind : std::uint8_t {
    number,
    place,    // an element of storage: load or store decides
    pointer,  // to an element of storage
    null,
    pool,  // memory that TVM has planned, as a parameter
    record,
    word,     // 32 bits that are several numbers (words.hpp)
    address,  // of an element, as a number
  };
  Kind kind = Kind::number;
  tir::Tree tree;      // number: the value; place: the index, in elements; pointer: the same, without one: 0
  tir::DataType type;  // number: of the value; place, pointer: of the element, void_type if it is not said
  tir::VarId storage;
  bool is_void = false;  // pointer: it is one to void in C, though `type` says what it points to
  Record record;
  std::string pool;
  std::vector<tir::Tree> parts;  // word: the numbers, the lowest first
  std::uint8_t word_size = 0;    // place, pointer: to words of so many elements; 0: to elements
  // number: a constant of size_t or long, of which the width is not the same on all machines; its tree is an int32
  enum class Width : std::uint8_t { of_type, any_signed, any_unsigned };
  Width width = Width::of_type;
  bool is_short_sum = false;  // number, place: a sum of products that began with a literal (words.hpp)
  std::uint32_t copy = 0;     // place, pointer: to a copy of what is there, numbered by the reader; 0: to itself
};

// "expf", which means the function of the C library.
[[nodiscard]] bool is_math_function(std::string_view name);

// Each throws SyntaxError at `at` for what is not done with such operands.
class Values {
 public:
  Values(const tir::Module& module, std::size_t max_height) : module_(module), builder_(max_height) {}

  std::size_t at = 0;  // of the operator, for messages

  [[nodiscard]] static Value number(tir::Tree tree);
  [[nodiscard]] Value variable(tir::VarId var) const;

  [[nodiscard]] Value unary(std::string_view op, const Value& a) const;
  [[nodiscard]] Value binary(std::string_view op, const Value& a, const Value& b) const;
  [[nodiscard]] Value choice(const Value& condition, const Value& yes, const Value& no) const;
  [[nodiscard]] Value cast(CType type, const Value& a) const;
  [[nodiscard]] Value element(const Value& pointer, const Value& index) const;
  // value.name and value->name
  [[nodiscard]] Value member(const Value& value, std::string_view name) const;
  // A call of a function of math.h.
  [[nodiscard]] Value call(std::string_view function, const std::vector<Value>& arguments) const;

  // The number that it is, loaded if it is a place.
  [[nodiscard]] tir::Tree rvalue(const Value& a) const;
  // The same in the type; not cut to it where it has the type already, as what stores and binds does that.
  [[nodiscard]] tir::Tree converted(const Value& a, tir::DataType type) const;
  [[nodiscard]] tir::Tree condition(const Value& a) const;
  // As an argument of a call: a number, or a pointer.
  [[nodiscard]] tir::Tree argument(const Value& a) const;
  // The same, for C that stays: it accesses the storage as elements of the type that the pointer was cast to, if these
  // are wider than its own, and their address is to be one of such elements.
  [[nodiscard]] tir::Tree handed_argument(const Value& a) const;

  [[noreturn]] void fail(std::string message) const { throw SyntaxError{at, std::move(message)}; }

 private:
  [[nodiscard]] tir::Tree node(tir::ExprKind kind, tir::DataType type, const std::vector<tir::Tree>& operands) const;
  [[nodiscard]] tir::Tree operation(tir::Op op, tir::DataType type, const std::vector<tir::Tree>& operands) const;
  [[nodiscard]] Value element_of_record(const Value& array, const Value& index) const;
  [[nodiscard]] tir::Tree promoted(tir::Tree a) const;
  void convert_both(tir::Tree& a, tir::Tree& b) const;
  [[nodiscard]] tir::Tree shift(tir::Op op, tir::Tree a, tir::Tree b) const;

  const tir::Module& module_;
  tir::ExprBuilder builder_;
};

}  // namespace usmp::tvm_c

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Functions of operators, written as loops. The form is decided here and nowhere else, since passes and kernels
// recognise forms: no loop of one iteration, indices as sums of products, literals folded.
//
//   nest.loop("c", channels, [&](const Num& c) {
//     nest.store(out, c, clip(nest.load(in, c) + 3, -128, 127));
//   });
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tflite/model.hpp"
#include "usmp/tir/builder.hpp"

namespace usmp::tflite {

using tir::float32_type;
using tir::int16_type;
using tir::int8_type;

// The type of the elements; `type` has bytes_of(type) > 0.
[[nodiscard]] tir::DataType data_type_of(Type type);

// A number that the program computes. Literals in arithmetic take the type of the other side.
class Num {
 public:
  Num() = default;
  Num(std::int64_t literal) : tree_{tir::make_int(literal)} {}  // int32; NOLINT(google-explicit-constructor)
  Num(int literal) : Num(std::int64_t{literal}) {}              // NOLINT(google-explicit-constructor)
  explicit Num(tir::Tree tree) : tree_(std::move(tree)) {}

  [[nodiscard]] const tir::Tree& tree() const { return tree_; }
  [[nodiscard]] tir::DataType type() const { return tree_.expr->type; }
  [[nodiscard]] std::optional<std::int64_t> literal() const { return tir::as_int(*tree_.expr); }

 private:
  tir::Tree tree_{nullptr, 0};
};

[[nodiscard]] Num literal(std::int64_t value, tir::DataType type);
[[nodiscard]] Num float_literal(float value);

[[nodiscard]] Num operator+(const Num& a, const Num& b);
[[nodiscard]] Num operator-(const Num& a, const Num& b);
[[nodiscard]] Num operator*(const Num& a, const Num& b);
[[nodiscard]] Num operator/(const Num& a, const Num& b);  // towards zero
[[nodiscard]] Num operator<<(const Num& a, int bits);     // a · 2^bits, in a's type
[[nodiscard]] Num operator>>(const Num& a, const Num& bits);
[[nodiscard]] Num floor_div(const Num& a, std::int64_t divisor);  // of what is never negative
[[nodiscard]] Num floor_mod(const Num& a, std::int64_t divisor);
[[nodiscard]] Num min(const Num& a, const Num& b);
[[nodiscard]] Num max(const Num& a, const Num& b);
[[nodiscard]] Num clip(const Num& value, std::int64_t low, std::int64_t high);
[[nodiscard]] Num less(const Num& a, const Num& b);
[[nodiscard]] Num less_equal(const Num& a, const Num& b);
[[nodiscard]] Num equal(const Num& a, const Num& b);
[[nodiscard]] Num not_equal(const Num& a, const Num& b);
[[nodiscard]] Num both(const Num& a, const Num& b);
[[nodiscard]] Num select(const Num& condition, const Num& yes, const Num& no);        // both are evaluated
[[nodiscard]] Num if_then_else(const Num& condition, const Num& yes, const Num& no);  // one is
[[nodiscard]] Num cast(tir::DataType type, const Num& value);
[[nodiscard]] Num wide(const Num& value);  // int64
[[nodiscard]] Num call(tir::DataType type, tir::Op op, std::initializer_list<Num> operands);

// Storage of the function: a parameter, a constant, a buffer of its own.
struct Array {
  tir::VarId var;
  tir::DataType element;
};

class Nest {
 public:
  // The function must outlive the nest and have its parameters.
  Nest(tir::Module& module, tir::Function& function);

  // --- Blocks

  using Body = std::function<void(const Num&)>;
  // 0 … extent − 1. One iteration: no loop; none: nothing.
  void loop(const std::string& name, std::int64_t extent, const Body& body);
  void loop(const std::string& name, const Num& extent, const Body& body);  // of any number, even none
  // All indices of the shape, the last one innermost.
  void loops(const Shape& shape, const std::function<void(const std::vector<Num>&)>& body);
  void branch(const Num& condition, const std::function<void()>& body);
  void scope(const std::function<void()>& body);

  // --- Storage

  [[nodiscard]] Array allocate(const std::string& name, tir::DataType type, std::int64_t count);
  // An array that C has on its stack, unless it is larger than --plan-stack: accumulators.
  [[nodiscard]] Array variables(const std::string& name, tir::DataType type, std::int64_t count);
  // Little endian. To be called outside of loops.
  [[nodiscard]] Array constant(const std::string& name, tir::DataType type, Shape shape, std::string bytes);
  [[nodiscard]] Array constant(const std::string& name, tir::DataType type, std::span<const std::int64_t> values);

  // --- Values

  [[nodiscard]] Num load(const Array& array, const Num& index) const;
  [[nodiscard]] Num load_int(const Array& array, const Num& index) const;  // as int32
  void store(const Array& array, const Num& index, const Num& value);      // converted to its elements
  [[nodiscard]] Num let(const std::string& name, const Num& value);        // computed once, here

 private:
  [[nodiscard]] tir::VarId add_var(std::string name, tir::DataType type, tir::DataType element = {});

  tir::Module& module_;
  tir::BodyBuilder body_;
  std::size_t open_ = 0;
};

// Index of an element in storage in row-major order.
[[nodiscard]] Num index_of(const Shape& shape, std::span<const Num> indices);

}  // namespace usmp::tflite

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Expressions of TIR as TVM's code generator prints them in C.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "usmp/tir/ir.hpp"

namespace usmp::random_modules {

// Thrown for what TVM has no C for, or what its C does not compute.
struct NoSpelling {};

[[nodiscard]] std::string c_type(tir::DataType type);

// What versions of TVM print in different ways.
struct TvmDialect {
  bool brackets_indices = false;     // a[(i)]
  bool branches_choices = false;     // T condval; if (c) { condval = a; } else { condval = b; }
  bool bytes_are_bools = true;       // a bool is loaded as a byte that is compared: inputs are any bytes
  bool shifts_fixed_points = false;  // fixed-point products with TVM's shift to the left, which C leaves undefined
  bool suffixes_floats = false;      // 1.5e+00f instead of a cast
};

// Statements before the one that is printed hold what TVM's C puts into variables.
class TvmExpressions {
 public:
  // A pointer to elements of the type.
  using Pointer = std::function<std::string(tir::VarId storage, tir::DataType type)>;

  explicit TvmExpressions(TvmDialect dialect, Pointer pointer = {});

  void name(tir::VarId var, std::string text) { names_[var] = std::move(text); }
  [[nodiscard]] const std::string& statements() const { return statements_; }
  [[nodiscard]] std::string take_statements();

  // One lane of the value.
  std::string value(const tir::Expr& expr, std::size_t lane = 0);
  // The lane put into a variable; its name.
  std::string variable(const tir::Expr& expr, std::size_t lane = 0);
  // "a[i]" of a lane of the index.
  std::string element(tir::VarId storage, tir::DataType type, const tir::Expr& index, std::size_t lane);

  [[nodiscard]] static std::string literal(std::int64_t bits, tir::DataType type);
  [[nodiscard]] std::string real(double number, tir::DataType type) const;

 private:
  std::string operand(const tir::Expr& expr, std::size_t i, std::size_t lane);
  std::string lazy(const tir::Expr& expr, std::size_t i, std::size_t lane);
  std::string load(const tir::Expr& expr, std::size_t lane);
  std::string let(const tir::Expr& expr, std::size_t lane);
  std::string shuffle(const tir::Expr& expr, std::size_t lane);
  std::string infix(const tir::Expr& expr, std::string_view op, std::size_t lane);
  std::string choice(const tir::Expr& expr, std::size_t lane);
  static bool is_one_in_both(const tir::Expr& choice);
  std::string branches(const tir::Expr& expr);
  std::string call(const std::string& function, const tir::Expr& expr, std::size_t lane, std::size_t first = 0);
  std::string floor(const tir::Expr& expr, std::size_t lane);
  std::string float_floor(const tir::Expr& expr, std::size_t lane);
  std::string operation(const tir::Expr& expr, std::size_t lane);
  std::string fixed_point(const tir::Expr& expr, std::size_t lane);
  std::string shifted_fixed_point(const tir::Expr& expr, std::size_t lane);
  std::string fixed_point_per_axis(const tir::Expr& expr, std::size_t lane);

  TvmDialect dialect_;
  Pointer pointer_;
  std::map<tir::VarId, std::string> names_;
  std::string statements_;
  std::size_t count_ = 0;
  std::size_t lazy_ = 0;  // operands around that C evaluates only where they are chosen
};

}  // namespace usmp::random_modules

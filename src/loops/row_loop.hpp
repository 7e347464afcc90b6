// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Accesses in terms of the iterations of a row loop: the parts that a stage (usmp/loops/stage.hpp) is made of.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <utility>

#include "usmp/arith/facts.hpp"
#include "usmp/loops/stage.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::loops {

// The row loop: iteration n is that in which (v / by) mod rows is n, or v / by where rows is 0.
struct RowLoop {
  tir::VarId var;
  std::int64_t by = 1;
  std::int64_t rows = 0;

  friend auto operator<=>(const RowLoop&, const RowLoop&) = default;
};

// v = above · rows · by + n · by + below, each of which stays where the others move.
class Digits {
 public:
  explicit Digits(const RowLoop& loop);

  [[nodiscard]] bool is_n(const arith::Atom& atom) const { return atom == n_; }
  // The k of n / k, if it is above 1; else 0.
  [[nodiscard]] std::int64_t fraction(const arith::Atom& atom) const;
  // The k of n mod k; else 0.
  [[nodiscard]] std::int64_t cycle(const arith::Atom& atom) const;
  // Whether the atom may have another value in another row.
  [[nodiscard]] bool moves(const arith::Atom& atom) const;
  // The value with n as length · (n / length) + n mod length, for by = 1 and rows = 0. Nothing: a number leaves int64.
  [[nodiscard]] std::optional<arith::Affine> in_lines(const arith::Affine& value, std::int64_t length) const;
  // The value with v, and what else is a sum of the digits, written as one. Nothing: a number leaves int64.
  [[nodiscard]] std::optional<arith::Affine> written(const arith::Affine& value) const;

 private:
  [[nodiscard]] arith::Affine sum_of(const arith::Atom& atom) const;
  [[nodiscard]] arith::Affine all(std::int64_t n, std::int64_t above, const std::optional<arith::Atom>& below) const;

  RowLoop loop_;
  arith::Affine v_;
  arith::Atom n_;
  arith::Atom within_;
  arith::Affine n_alone_;
  arith::Affine within_alone_;
  std::optional<arith::Atom> above_;
  std::optional<arith::Atom> below_;
};

// The v of v / a / b …, all floor quotients, and a · b …, by which v is divided. Nothing: it is none.
[[nodiscard]] std::optional<std::pair<tir::VarId, std::int64_t>> quotient_of_var(const arith::Atom& atom);

// The row in which an element of a tensor of so many stands. Nothing: not known.
[[nodiscard]] std::optional<arith::Affine> row_of(const arith::Affine& index, const Axis& axis, std::int64_t elements,
                                                  const arith::Facts& facts);

// The rows of a tensor that the accesses added so far touch in an iteration.
class Touched {
 public:
  Touched(tir::VarId storage, const Axis& axis) : rows_{.storage = storage, .axis = axis, .advance = {}, .reach = {}} {}

  // An access in this row; nothing: in any.
  void add(const std::optional<arith::Affine>& row, const Digits& digits, const arith::Facts& facts);

  [[nodiscard]] const Rows& rows() const { return rows_; }

 private:
  [[nodiscard]] Rows all() const;
  [[nodiscard]] Rows rows_in(const arith::Affine& row, const Digits& digits, const arith::Facts& facts) const;

  Rows rows_;
  bool is_first_ = true;
};

}  // namespace usmp::loops

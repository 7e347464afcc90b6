// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What is known at one place of a function: which values variables may have, and conditions that hold.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "usmp/arith/affine.hpp"
#include "usmp/support/interval.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::arith {

class Facts {
 public:
  explicit Facts(const tir::Module& module) : module_(&module) {}

  // `restore` undoes all that is bound or assumed after `mark`.
  [[nodiscard]] std::size_t mark() const { return log_.size(); }
  void restore(std::size_t mark);

  void bind_loop(const tir::For& loop);
  void bind_value(tir::VarId var, const tir::Expr& value);
  void bind_interval(tir::VarId var, std::optional<Interval> interval);
  // The parameters of which it says what values they have.
  void bind_ranges(const tir::Function& function);
  // The condition holds, or does not hold. Only integer comparisons that follow from this add facts.
  void assume(const tir::Expr& condition, bool holds = true);

  // Nothing: not a sum of this kind. The sum has the value of the expression wherever that is defined.
  [[nodiscard]] std::optional<Affine> affine(const tir::Expr& expr) const;
  // Nothing: not known.
  [[nodiscard]] std::optional<Interval> interval(const Affine& value) const;
  // by >= 1. Nothing: nested too deep, or numbers too large.
  [[nodiscard]] std::optional<Division> divide(const Affine& value, std::int64_t by) const;
  // Whether a condition always holds (true), never holds (false), or neither is known.
  [[nodiscard]] std::optional<bool> truth(const tir::Expr& condition) const;

  [[nodiscard]] tir::ExprRef expr(const Affine& value, tir::DataType type) const;
  // Whether no intermediate result leaves the type when the sum is computed as `expr` writes it, nor when two such sums
  // are added or subtracted. A program's sum may not overflow as written, but may overflow in another form.
  [[nodiscard]] bool fits(const Affine& value, tir::DataType type) const;
  // The same value in simplest form; the expression itself if it is not such a sum, or might overflow.
  [[nodiscard]] tir::ExprRef simplified(const tir::ExprRef& index) const;

 private:
  struct Binding {
    std::optional<Affine> value;       // of a let
    std::optional<Interval> interval;  // of a loop variable
  };
  struct Fact {  // the sum of the terms stays in the interval
    Terms terms;
    Interval interval;
  };
  struct Undo {
    tir::VarId var;  // invalid: the last fact goes
    std::optional<Binding> before;
  };

  void bind(tir::VarId var, Binding binding);
  void bind_limits(const tir::For& loop);
  void assume_comparison(const tir::Expr& comparison);
  [[nodiscard]] std::optional<Interval> interval(const Atom& atom) const;
  [[nodiscard]] std::optional<Interval> interval_as_written(const Affine& value) const;
  [[nodiscard]] std::set<std::int64_t> divisors_of(tir::VarId var) const;
  // What a sum may be, or a minimum, maximum or choice of such.
  [[nodiscard]] std::optional<Interval> values_of(const tir::Expr& expr) const;
  [[nodiscard]] std::optional<Interval> interval_by_facts(const Terms& sum) const;
  [[nodiscard]] std::optional<Affine> quotient_or_remainder(Atom::Kind kind, const Affine& value,
                                                            std::int64_t by) const;
  [[nodiscard]] Affine rejoined(Affine value) const;

  const tir::Module* module_;
  std::map<tir::VarId, Binding> bindings_;
  std::vector<Fact> facts_;
  std::vector<Undo> log_;
};

// a - b <= bound, for the comparisons lt, le, gt, ge with linear sides: the sum and its upper bound.
struct Bound {
  Affine value;
  std::int64_t most = 0;
};
[[nodiscard]] std::optional<Bound> bound_of(const Facts& scope, const tir::Expr& comparison);

// A quotient or remainder that rounds toward zero as the floor one that has the same value: of what is never negative,
// by a positive literal. Null: it is none.
[[nodiscard]] tir::ExprRef as_floor(const tir::ExprRef& expr, const Facts& facts);

// The conjuncts of and_ (and of `likely` around it).
[[nodiscard]] std::vector<tir::ExprRef> conjuncts(const tir::ExprRef& condition);

}  // namespace usmp::arith

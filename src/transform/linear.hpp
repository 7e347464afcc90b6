// Index arithmetic as sums: a constant and integer multiples of atoms, where an atom is a variable, or the floor
// quotient or remainder of such a sum by a constant. TVM's indices are almost all of this kind.
//
// Division is the point: (96·i + 8·j + c) / 8 is 12·i + j with remainder c once c is known to stay in [0, 8). With that
// an element's index can be taken apart into the loop variables of the nest that wrote it.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "usmp/support/interval.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::transform {

struct Linear;

struct Atom {
  enum class Kind : std::uint8_t { var, quotient, remainder };
  Kind kind = Kind::var;
  tir::VarId var;                       // var
  std::shared_ptr<const Linear> whole;  // quotient, remainder: of this sum
  std::int64_t by = 1;                  // quotient, remainder: by this, at least 2

  friend std::strong_ordering operator<=>(const Atom& a, const Atom& b);
  friend bool operator==(const Atom& a, const Atom& b) { return std::is_eq(a <=> b); }
};

struct Linear {
  std::map<Atom, std::int64_t> terms;  // no factor is 0
  std::int64_t constant = 0;
  std::uint32_t nesting = 0;  // of quotients and remainders inside each other
  std::uint32_t size = 0;     // atoms, with those inside quotients and remainders

  [[nodiscard]] bool is_constant() const { return terms.empty(); }
  // The factor of the variable itself; what is inside quotients does not count.
  [[nodiscard]] std::int64_t factor(tir::VarId var) const;
  // The sum without the variable's own term.
  [[nodiscard]] Linear without(tir::VarId var) const;
  // Whether the variable occurs, also inside quotients and remainders.
  [[nodiscard]] bool mentions(tir::VarId var) const;

  friend bool operator==(const Linear&, const Linear&) = default;
};

inline constexpr std::uint32_t max_nesting = 6;
inline constexpr std::uint32_t max_size = 64;  // lets can make sums that are huge when written out

// Nothing: a number would leave the range of int64, or the sum would be too large.
[[nodiscard]] std::optional<Linear> sum(const Linear& a, const Linear& b);
[[nodiscard]] std::optional<Linear> difference(const Linear& a, const Linear& b);
[[nodiscard]] std::optional<Linear> scaled(const Linear& a, std::int64_t by);
[[nodiscard]] Linear variable(tir::VarId var);

struct Division {
  Linear quotient;
  Linear remainder;  // in [0, by)
};

// What is known at one place of a function: which values variables may have, and conditions that hold.
class Scope {
 public:
  explicit Scope(const tir::Module& module) : module_(&module) {}

  // What is bound or assumed from here on ends at `restore`.
  [[nodiscard]] std::size_t mark() const { return log_.size(); }
  void restore(std::size_t mark);

  void bind_loop(const tir::For& loop);
  void bind_value(tir::VarId var, const tir::Expr& value);
  void bind_interval(tir::VarId var, std::optional<Interval> interval);
  // The condition holds. Only conjunctions of integer comparisons tell anything.
  void assume(const tir::Expr& condition);

  // Nothing: not a sum of this kind. The sum's value is that of the expression wherever that is defined.
  [[nodiscard]] std::optional<Linear> linear(const tir::Expr& expr) const;
  // Nothing: not known.
  [[nodiscard]] std::optional<Interval> interval(const Linear& value) const;
  // by >= 1. Nothing: nested too deep, or numbers too large.
  [[nodiscard]] std::optional<Division> divide(const Linear& value, std::int64_t by) const;
  // Whether a condition always holds (true), never holds (false), or neither is known.
  [[nodiscard]] std::optional<bool> truth(const tir::Expr& condition) const;

  [[nodiscard]] tir::ExprRef expr(const Linear& value, tir::DataType type) const;
  // Whether no number on the way leaves the type when the sum is computed as `expr` writes it, nor when two such sums
  // are added or subtracted. Programs may hold sums that do not overflow as they stand, but would if written otherwise.
  [[nodiscard]] bool fits(const Linear& value, tir::DataType type) const;
  // The same value in simplest form; the expression itself if it is no such sum, or might overflow.
  [[nodiscard]] tir::ExprRef simplified(const tir::ExprRef& index) const;

 private:
  struct Binding {
    std::optional<Linear> value;       // of a let
    std::optional<Interval> interval;  // of a loop variable
  };
  struct Fact {  // the sum of the terms stays in the interval
    std::map<Atom, std::int64_t> terms;
    Interval interval;
  };
  struct Undo {
    tir::VarId var;  // invalid: the last fact goes
    std::optional<Binding> before;
  };

  void bind(tir::VarId var, Binding binding);
  void assume_comparison(const tir::Expr& comparison);
  [[nodiscard]] std::optional<Interval> interval(const Atom& atom) const;
  [[nodiscard]] std::optional<Linear> quotient_or_remainder(Atom::Kind kind, const Linear& value,
                                                            std::int64_t by) const;
  [[nodiscard]] Linear rejoined(Linear value) const;

  const tir::Module* module_;
  std::map<tir::VarId, Binding> bindings_;
  std::vector<Fact> facts_;
  std::vector<Undo> log_;
};

// a - b <= bound, for the comparisons lt, le, gt, ge with linear sides: the sum and its upper bound.
struct Bound {
  Linear value;
  std::int64_t most = 0;
};
[[nodiscard]] std::optional<Bound> bound_of(const Scope& scope, const tir::Expr& comparison);

// The conjuncts of and_ (and of `likely` around it).
[[nodiscard]] std::vector<tir::ExprRef> conjuncts(const tir::ExprRef& condition);

}  // namespace usmp::transform

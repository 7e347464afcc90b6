// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Index arithmetic as sums: a constant and integer multiples of atoms, where an atom is a variable, or the floor
// quotient or remainder of such a sum by a constant. TVM's indices are almost all of this kind.
//
// Division matters most: (96·i + 8·j + c) / 8 is 12·i + j with remainder c if c is known to be in [0, 8). So an
// element's index can be decomposed into the loop variables of the nest that wrote it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "usmp/tir/ir.hpp"

namespace usmp::arith {

struct Affine;

struct Atom {
  enum class Kind : std::uint8_t { var, quotient, remainder };
  Kind kind = Kind::var;
  tir::VarId var;                       // var
  std::shared_ptr<const Affine> whole;  // quotient, remainder: of this sum
  std::int64_t by = 1;                  // quotient, remainder: by this, at least 2

  friend std::strong_ordering operator<=>(const Atom& a, const Atom& b);
  friend bool operator==(const Atom& a, const Atom& b) { return std::is_eq(a <=> b); }
};

// Factors by atom, in the atoms' order, which most sums have few of: one block of memory. Changes take O(size).
class Terms {
 public:
  using Term = std::pair<Atom, std::int64_t>;
  using Iterator = std::vector<Term>::const_iterator;

  [[nodiscard]] Iterator begin() const { return terms_.begin(); }
  [[nodiscard]] Iterator end() const { return terms_.end(); }
  [[nodiscard]] std::size_t size() const { return terms_.size(); }
  [[nodiscard]] bool empty() const { return terms_.empty(); }
  [[nodiscard]] Iterator find(const Atom& atom) const;        // end(): it is not there
  void emplace(const Atom& atom, std::int64_t factor);        // nothing happens if it is there
  void add(Term term) { terms_.push_back(std::move(term)); }  // behind all others
  void reserve(std::size_t size) { terms_.reserve(size); }
  std::int64_t& operator[](const Atom& atom);  // 0 if it was not there
  void erase(const Atom& atom);
  // False: a factor would overflow; the terms are then unusable.
  [[nodiscard]] bool scale(std::int64_t by);
  template <class Predicate>
  void erase_if(const Predicate& is_gone) {  // is_gone(const Term&)
    std::erase_if(terms_, is_gone);
  }

  friend bool operator==(const Terms&, const Terms&) = default;

 private:
  std::vector<Term> terms_;
};

struct Affine {
  Terms terms;  // no factor is 0
  std::int64_t constant = 0;
  std::uint32_t nesting = 0;  // of quotients and remainders inside each other
  std::uint32_t size = 0;     // atoms, with those inside quotients and remainders

  [[nodiscard]] bool is_constant() const { return terms.empty(); }
  // The factor of the variable itself; what is inside quotients does not count.
  [[nodiscard]] std::int64_t factor(tir::VarId var) const;
  // The sum without the variable's own term.
  [[nodiscard]] Affine without(tir::VarId var) const;
  // Whether the variable occurs, also inside quotients and remainders.
  [[nodiscard]] bool mentions(tir::VarId var) const;

  void measure();  // sets nesting and size, after terms have been changed by hand

  friend bool operator==(const Affine&, const Affine&) = default;
};

inline constexpr std::uint32_t max_nesting = 6;
inline constexpr std::uint32_t max_size = 64;  // expanded lets can make huge sums

// Nothing: a number would overflow int64, or the sum would be too large.
[[nodiscard]] std::optional<Affine> sum(Affine a, const Affine& b);
[[nodiscard]] std::optional<Affine> difference(Affine a, const Affine& b);
[[nodiscard]] std::optional<Affine> scaled(Affine a, std::int64_t by);
[[nodiscard]] Affine variable(tir::VarId var);

struct Division {
  Affine quotient;
  Affine remainder;  // in [0, by)
};

}  // namespace usmp::arith

// SPDX-License-Identifier: Apache-2.0
// Tests: tests/loops/stage_test.cpp.
#include "loops/row_loop.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "usmp/support/interval.hpp"

namespace usmp::loops {

using arith::Affine;
using arith::Atom;

namespace {

Atom atom_of(Atom::Kind kind, Affine whole, std::int64_t by) {
  return {.kind = kind, .var = {}, .whole = std::make_shared<const Affine>(std::move(whole)), .by = by};
}

Affine term_of(const Atom& atom) {
  Affine value;
  value.terms.emplace(atom, 1);
  value.measure();
  return value;
}

}  // namespace

Digits::Digits(const RowLoop& loop) : loop_(loop) {
  const Affine v = arith::variable(loop.var);
  const std::int64_t period = loop.rows * loop.by;
  if (loop.rows > 0) above_ = atom_of(Atom::Kind::quotient, v, period);
  if (loop.by > 1) below_ = atom_of(Atom::Kind::remainder, v, loop.by);
  const Affine within = loop.rows > 0 ? term_of(atom_of(Atom::Kind::remainder, v, period)) : v;
  n_ = loop.by > 1 ? atom_of(Atom::Kind::quotient, within, loop.by) : within.terms.begin()->first;
  within_ = within.terms.begin()->first;
}

std::int64_t Digits::fraction(const Atom& atom) const {
  if (atom.kind != Atom::Kind::quotient || atom.by % loop_.by != 0 || atom.by == loop_.by) return 0;
  return *atom.whole == term_of(within_) ? atom.by / loop_.by : 0;
}

bool Digits::moves(const Atom& atom) const {
  if (atom == above_ || atom == below_) return false;
  return atom.kind == Atom::Kind::var ? atom.var == loop_.var : atom.whole->mentions(loop_.var);
}

std::optional<Affine> Digits::written(const Affine& value) const {
  std::optional<Affine> result = Affine();
  result->constant = value.constant;
  for (const auto& [atom, factor] : value.terms) {
    const auto part = scaled(sum_of(atom), factor);
    result = part && result ? sum(*result, *part) : std::nullopt;
  }
  return result;
}

Affine Digits::sum_of(const Atom& atom) const {
  const Affine v = arith::variable(loop_.var);
  const bool is_v = atom.kind == Atom::Kind::var && atom.var == loop_.var;
  if (is_v) return all(loop_.by, loop_.rows * loop_.by, below_);
  if (atom.kind == Atom::Kind::var || loop_.rows == 0) return term_of(atom);
  if (atom == within_) return all(loop_.by, 0, below_);  // v mod (rows · by)
  if (atom.kind == Atom::Kind::quotient && *atom.whole == v && atom.by == loop_.by) return all(1, loop_.rows, {});
  const bool is_n = atom.kind == Atom::Kind::remainder && atom.by == loop_.rows && loop_.by > 1 &&
                    *atom.whole == term_of(atom_of(Atom::Kind::quotient, v, loop_.by));
  return term_of(is_n ? n_ : atom);
}

Affine Digits::all(std::int64_t n, std::int64_t above, const std::optional<Atom>& below) const {
  Affine value;
  value.terms.emplace(n_, n);
  if (above_ && above != 0) value.terms.emplace(*above_, above);
  if (below) value.terms.emplace(*below, 1);
  value.measure();
  return value;
}

// The row in which an element stands.
std::optional<Affine> row_of(const Affine& index, const Axis& axis, std::int64_t elements, const arith::Facts& facts) {
  const auto along = facts.divide(index, axis.stride);
  if (!along || axis.stride * axis.extent >= elements) {
    return along ? std::optional(along->quotient) : std::nullopt;
  }
  const auto row = facts.divide(along->quotient, axis.extent);
  return row ? std::optional(row->remainder) : std::nullopt;
}

void Touched::add(const std::optional<Affine>& row, const Digits& digits, const arith::Facts& facts) {
  const Rows rows = row ? rows_in(*row, digits, facts) : all();
  if (is_first_) {
    rows_ = rows;
  } else if (rows_.step == rows.step && rows_.per == rows.per) {
    rows_.reach = hull(rows_.reach, rows.reach);
  } else {
    rows_ = all();
  }
  is_first_ = false;
}

Rows Touched::all() const {
  Rows rows = rows_;
  rows.step = 0;
  rows.per = 1;
  rows.reach = {0, rows.axis.extent - 1};
  return rows;
}

Rows Touched::rows_in(const Affine& row, const Digits& digits, const arith::Facts& facts) const {
  Rows rows = all();
  Affine rest;
  rest.constant = row.constant;
  for (const auto& [atom, factor] : row.terms) {
    const std::int64_t fraction = digits.is_n(atom) ? 1 : digits.fraction(atom);
    if (fraction == 0) {
      if (digits.moves(atom)) return all();
      rest.terms.emplace(atom, factor);
    } else if (rows.step != 0) {
      return all();  // moves with both
    } else {
      rows.step = factor;
      rows.per = fraction;
    }
  }
  rest.measure();
  const auto reach = facts.interval(rest);
  if (!reach || reach->low > reach->high) return all();
  if (rows.step != 0) {
    rows.reach = *reach;
  } else {
    rows.reach = {std::max(reach->low, rows.reach.low), std::min(reach->high, rows.reach.high)};
  }
  return rows;
}

double Rows::share() const {
  const auto rows = static_cast<double>(reach.high - reach.low + 1);
  return std::min(1.0, rows / static_cast<double>(axis.extent));
}

Interval Rows::in(std::int64_t iteration) const {
  const std::int64_t first = step * floor_quotient(iteration, per);
  return {std::max<std::int64_t>(first + reach.low, 0), std::min(first + reach.high, axis.extent - 1)};
}

}  // namespace usmp::loops

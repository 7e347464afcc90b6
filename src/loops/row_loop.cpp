// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Bounds the rows that an access may touch in each iteration.
#include "loops/row_loop.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "usmp/support/checked.hpp"
#include "usmp/support/interval.hpp"

namespace usmp::loops {

using arith::Affine;
using arith::Atom;

namespace {

// What rows are counted by stays below it, so that products with numbers of parts and of iterations fit.
constexpr std::int64_t most_rows = std::int64_t{1} << 30;

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

Digits::Digits(const RowLoop& loop) : loop_(loop), v_(arith::variable(loop.var)) {
  const std::int64_t period = loop.rows * loop.by;
  if (loop.rows > 0) above_ = atom_of(Atom::Kind::quotient, v_, period);
  if (loop.by > 1) below_ = atom_of(Atom::Kind::remainder, v_, loop.by);
  const Affine within = loop.rows > 0 ? term_of(atom_of(Atom::Kind::remainder, v_, period)) : v_;
  n_ = loop.by > 1 ? atom_of(Atom::Kind::quotient, within, loop.by) : within.terms.begin()->first;
  within_ = within.terms.begin()->first;
  n_alone_ = term_of(n_);
  within_alone_ = term_of(within_);
}

std::int64_t Digits::fraction(const Atom& atom) const {
  if (atom.kind != Atom::Kind::quotient || atom.by % loop_.by != 0 || atom.by == loop_.by) return 0;
  return *atom.whole == within_alone_ ? atom.by / loop_.by : 0;
}

std::int64_t Digits::cycle(const Atom& atom) const {
  const auto is_of = [&](const Affine& whole) { return atom.kind == Atom::Kind::remainder && *atom.whole == whole; };
  if (is_of(n_alone_)) return atom.by;
  // (v mod (by · k)) / by
  if (atom.kind == Atom::Kind::quotient && atom.by == loop_.by && loop_.by > 1 && atom.whole->terms.size() == 1) {
    const Atom& within = atom.whole->terms.begin()->first;
    const bool is_v = within.kind == Atom::Kind::remainder && *within.whole == v_ && within.by % loop_.by == 0 &&
                      *atom.whole == term_of(within);
    const std::int64_t by = is_v ? within.by / loop_.by : 0;
    return loop_.rows == 0 || (by > 0 && loop_.rows % by == 0 && by < loop_.rows) ? by : 0;
  }
  return loop_.by == 1 && loop_.rows > atom.by && loop_.rows % atom.by == 0 && is_of(v_) ? atom.by : 0;
}

bool Digits::moves(const Atom& atom) const {
  if (atom == above_ || atom == below_) return false;
  return atom.kind == Atom::Kind::var ? atom.var == loop_.var : atom.whole->mentions(loop_.var);
}

std::optional<Affine> Digits::in_lines(const Affine& value, std::int64_t length) const {
  const auto found = value.terms.find(n_);
  if (found == value.terms.end()) return value;
  const auto of_line = checked_mul(found->second, length);
  if (!of_line) return std::nullopt;
  Affine parts;
  parts.terms.emplace(atom_of(Atom::Kind::quotient, n_alone_, length), *of_line);
  parts.terms.emplace(atom_of(Atom::Kind::remainder, n_alone_, length), found->second);
  parts.measure();
  return sum(value.without(loop_.var), parts);
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
  const bool is_v = atom.kind == Atom::Kind::var && atom.var == loop_.var;
  if (is_v) return all(loop_.by, loop_.rows * loop_.by, below_);
  if (atom.kind == Atom::Kind::var || loop_.rows == 0) {
    const auto quotient = quotient_of_var(atom);
    return quotient == std::pair(loop_.var, loop_.by) ? n_alone_ : term_of(atom);
  }
  if (atom == within_) return all(loop_.by, 0, below_);  // v mod (rows · by)
  if (atom.kind == Atom::Kind::quotient && *atom.whole == v_ && atom.by == loop_.by) return all(1, loop_.rows, {});
  const bool is_n = atom.kind == Atom::Kind::remainder && atom.by == loop_.rows && loop_.by > 1 &&
                    *atom.whole == term_of(atom_of(Atom::Kind::quotient, v_, loop_.by));
  return is_n ? n_alone_ : term_of(atom);
}

Affine Digits::all(std::int64_t n, std::int64_t above, const std::optional<Atom>& below) const {
  Affine value;
  value.terms.emplace(n_, n);
  if (above_ && above != 0) value.terms.emplace(*above_, above);
  if (below) value.terms.emplace(*below, 1);
  value.measure();
  return value;
}

std::optional<std::pair<tir::VarId, std::int64_t>> quotient_of_var(const Atom& atom) {
  std::int64_t by = 1;
  for (const Atom* at = &atom; at->kind == Atom::Kind::quotient; at = &at->whole->terms.begin()->first) {
    const auto product = checked_mul(by, at->by);
    const Affine& whole = *at->whole;
    if (!product || whole.terms.size() != 1 || whole.constant != 0 || whole.terms.begin()->second != 1)
      return std::nullopt;
    by = *product;
    const Atom& inner = whole.terms.begin()->first;
    if (inner.kind == Atom::Kind::var) return std::pair(inner.var, by);
  }
  return std::nullopt;
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
  } else if (rows_.advance == rows.advance) {
    rows_.reach = hull(rows_.reach, rows.reach);
  } else {
    rows_ = all();
  }
  is_first_ = false;
}

Rows Touched::all() const {
  Rows rows = rows_;
  rows.advance = {};
  rows.reach = {0, rows.axis.extent - 1};
  return rows;
}

Rows Touched::rows_in(const Affine& row, const Digits& digits, const arith::Facts& facts) const {
  Rows rows = all();
  Affine rest;
  rest.constant = row.constant;
  std::int64_t of_n = 0;
  std::int64_t of_fraction = 0;
  std::int64_t by = 1;  // of the fractions
  const auto is_small = [](std::int64_t number) { return number > -most_rows && number < most_rows; };
  for (const auto& [atom, factor] : row.terms) {
    if (!is_small(factor)) return all();
    const std::int64_t cycle = digits.cycle(atom);
    const std::int64_t fraction = cycle > 0 ? cycle : digits.fraction(atom);
    if (digits.is_n(atom)) {
      of_n += factor;
    } else if (fraction == 0) {
      if (digits.moves(atom)) return all();
      rest.terms.emplace(atom, factor);
    } else {
      if (by > 1 && by != fraction) return all();
      by = fraction;
      // n mod k = n - k · (n / k)
      const auto turn = checked_mul(factor, cycle > 0 ? -cycle : 1);
      if (!turn || !is_small(*turn)) return all();
      of_n += cycle > 0 ? factor : 0;
      of_fraction += *turn;
    }
  }
  rest.measure();
  if (!is_small(of_n) || !is_small(of_fraction)) return all();
  if (of_fraction == 0) {
    rows.advance.step = of_n;
  } else if (of_n == 0) {
    rows.advance = {.step = of_fraction, .per = by, .turn = 0, .width = 1};
  } else {
    rows.advance = {.step = of_n, .per = 1, .turn = of_fraction, .width = by};
    if (of_n < 1 || of_n + of_fraction < 0) return all();
  }
  const auto reach = facts.interval(rest);
  if (!reach || !is_small(reach->low) || !is_small(reach->high) || reach->low > reach->high) return all();
  if (rows.advance.step != 0) {
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
  const std::int64_t first = advance.at(iteration);
  Interval rows{std::max<std::int64_t>(first + reach.low, 0), std::min(first + reach.high, axis.extent - 1)};
  if (lines) {
    const std::int64_t line = lines->advance.at(iteration);
    rows = {std::max(rows.low, line + lines->reach.low), std::min(rows.high, line + lines->reach.high)};
  }
  return rows;
}

std::optional<Rows> Rows::along(const Axis& finer) const {
  if (finer == axis) return *this;
  const bool has_same_planes = axis.stride * axis.extent == finer.stride * finer.extent;
  if (!has_same_planes || axis.stride % finer.stride != 0) return std::nullopt;
  const std::int64_t parts = axis.stride / finer.stride;
  if (parts > most_rows) return std::nullopt;
  const auto finer_window = [&](const Window& window) {
    Window result = window;
    result.advance.step *= parts;
    result.advance.turn *= parts;
    result.reach = {window.reach.low * parts, window.reach.high * parts + parts - 1};
    return result;
  };
  Rows rows = *this;
  const Window window = finer_window({advance, reach});
  rows.axis = finer;
  rows.advance = window.advance;
  rows.reach = window.reach;
  if (lines) rows.lines = finer_window(*lines);
  return rows;
}

}  // namespace usmp::loops

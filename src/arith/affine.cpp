// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Merges sums of terms sorted by atom; whatever leaves int64 makes the result nothing.
#include "usmp/arith/affine.hpp"

#include <algorithm>
#include <utility>

#include "usmp/support/checked.hpp"

namespace usmp::arith {

using tir::VarId;

// NOLINTBEGIN(misc-no-recursion): over sums inside sums, of which there are max_nesting at most.
std::strong_ordering operator<=>(const Atom& a, const Atom& b) {
  if (const auto order = a.kind <=> b.kind; std::is_neq(order)) return order;
  if (a.kind == Atom::Kind::var) return a.var <=> b.var;
  if (const auto order = a.by <=> b.by; std::is_neq(order)) return order;
  if (a.whole == b.whole) return std::strong_ordering::equal;
  if (const auto order = a.whole->constant <=> b.whole->constant; std::is_neq(order)) return order;
  if (const auto order = a.whole->terms.size() <=> b.whole->terms.size(); std::is_neq(order)) return order;
  auto other = b.whole->terms.begin();
  for (const auto& [atom, factor] : a.whole->terms) {
    if (const auto order = factor <=> other->second; std::is_neq(order)) return order;
    if (const auto order = atom <=> other->first; std::is_neq(order)) return order;
    ++other;
  }
  return std::strong_ordering::equal;
}

bool Affine::mentions(VarId var) const {
  return std::any_of(terms.begin(), terms.end(), [var](const auto& term) {
    return term.first.kind == Atom::Kind::var ? term.first.var == var : term.first.whole->mentions(var);
  });
}
// NOLINTEND(misc-no-recursion)

Terms::Iterator Terms::find(const Atom& atom) const {
  const auto found = std::ranges::lower_bound(terms_, atom, {}, &Term::first);
  return found != terms_.end() && found->first == atom ? found : terms_.end();
}

std::int64_t& Terms::operator[](const Atom& atom) {
  auto place = std::ranges::lower_bound(terms_, atom, {}, &Term::first);
  if (place == terms_.end() || place->first != atom) place = terms_.insert(place, Term{atom, 0});
  return place->second;
}

void Terms::emplace(const Atom& atom, std::int64_t factor) {
  const std::size_t before = terms_.size();
  std::int64_t& place = (*this)[atom];
  if (terms_.size() > before) place = factor;
}

void Terms::erase(const Atom& atom) {
  const auto place = find(atom);
  if (place != terms_.end()) terms_.erase(place);
}

bool Terms::scale(std::int64_t by) {
  for (auto& [atom, factor] : terms_) {
    const auto product = checked_mul(factor, by);
    if (!product) return false;
    factor = *product;
  }
  return true;
}

std::int64_t Affine::factor(VarId var) const {
  const auto found = terms.find(Atom{.kind = Atom::Kind::var, .var = var, .whole = nullptr, .by = 1});
  return found == terms.end() ? 0 : found->second;
}

Affine Affine::without(VarId var) const {
  Affine rest = *this;
  rest.terms.erase(Atom{.kind = Atom::Kind::var, .var = var, .whole = nullptr, .by = 1});
  return rest;
}

void Affine::measure() {
  nesting = 0;
  size = 0;
  for (const auto& [atom, factor] : terms) {
    ++size;
    if (atom.kind == Atom::Kind::var) continue;
    nesting = std::max(nesting, atom.whole->nesting + 1);
    size += atom.whole->size;
  }
}

Affine variable(VarId var) {
  Affine result;
  result.terms.add({Atom{.kind = Atom::Kind::var, .var = var, .whole = nullptr, .by = 1}, 1});
  result.size = 1;
  return result;
}

std::optional<Affine> scaled(Affine a, std::int64_t by) {
  if (by == 0) return Affine();
  const auto constant = checked_mul(a.constant, by);
  if (!constant || !a.terms.scale(by)) return std::nullopt;
  a.constant = *constant;
  return a;
}

std::optional<Affine> sum(Affine a, const Affine& b) {
  const auto constant = checked_add(a.constant, b.constant);
  if (!constant) return std::nullopt;
  if (b.is_constant()) {
    a.constant = *constant;
    a.measure();
    if (a.size > max_size) return std::nullopt;
    return a;
  }
  Affine result;
  result.constant = *constant;
  result.terms.reserve(a.terms.size() + b.terms.size());
  auto left = a.terms.begin();
  auto right = b.terms.begin();
  while (left != a.terms.end() && right != b.terms.end()) {
    const auto order = left->first <=> right->first;
    if (std::is_lt(order)) {
      result.terms.add(*left++);
    } else if (std::is_gt(order)) {
      result.terms.add(*right++);
    } else {
      const auto total = checked_add(left->second, right->second);
      if (!total) return std::nullopt;
      if (*total != 0) result.terms.add({left->first, *total});
      ++left;
      ++right;
    }
  }
  std::for_each(left, a.terms.end(), [&](const Terms::Term& term) { result.terms.add(term); });
  std::for_each(right, b.terms.end(), [&](const Terms::Term& term) { result.terms.add(term); });
  result.measure();
  if (result.size > max_size) return std::nullopt;
  return result;
}

std::optional<Affine> difference(Affine a, const Affine& b) {
  const auto negative = scaled(b, -1);
  return negative ? sum(std::move(a), *negative) : std::nullopt;
}

}  // namespace usmp::arith

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Splits each dimension into what moves inside and the rest: intervals of the one are joined, the other must agree.
#include "usmp/loops/box.hpp"

#include <algorithm>

#include "usmp/support/checked.hpp"

namespace usmp::loops {

using arith::Affine;
using arith::Atom;

Parted parted(const Affine& value, const std::set<tir::VarId>& inside) {
  Parted parts{value, value};
  parts.base.constant = 0;
  const auto changes = [&](const Atom& atom) {
    if (atom.kind == Atom::Kind::var) return inside.contains(atom.var);
    return std::any_of(inside.begin(), inside.end(), [&](tir::VarId var) { return atom.whole->mentions(var); });
  };
  parts.base.terms.erase_if([&](const auto& term) { return changes(term.first); });
  parts.rest.terms.erase_if([&](const auto& term) { return !changes(term.first); });
  parts.base.measure();
  parts.rest.measure();
  return parts;
}

bool Box::add(const std::vector<Affine>& point, const arith::Facts& facts) {
  const bool is_first = sides_.empty();
  for (std::size_t i = 0; i < point.size(); ++i) {
    Parted parts = parted(point[i], inside_);
    const auto reach = facts.interval(parts.rest);
    // Conditions that contradict each other leave an interval of nothing.
    if (!reach || reach->low > reach->high || (!is_first && !(sides_[i].base == parts.base))) return false;
    if (is_first) {
      sides_.push_back({std::move(parts.base), *reach});
    } else {
      sides_[i].reach = hull(sides_[i].reach, *reach);
    }
  }
  return true;
}

std::optional<std::int64_t> Box::size() const {
  std::optional<std::int64_t> size = 1;
  for (const Side& side : sides_) size = size ? checked_mul(*size, side.extent()) : size;
  return size;
}

std::int64_t Box::stride(std::size_t i) const {
  std::int64_t stride = 1;
  for (std::size_t inner = i + 1; inner < sides_.size(); ++inner) stride *= sides_[inner].extent();
  return stride;
}

std::optional<Affine> Box::position(const std::vector<Affine>& point) const {
  std::optional<Affine> place = Affine();
  for (std::size_t i = 0; place && i < point.size(); ++i) {
    if (sides_[i].extent() == 1) continue;
    Affine rest = parted(point[i], inside_).rest;
    rest.constant -= sides_[i].reach.low;
    const auto part = scaled(rest, stride(i));
    place = part ? sum(*place, *part) : std::nullopt;
  }
  return place;
}

}  // namespace usmp::loops

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Tries each factor as the unit of the digits that stay, the largest first.
#include "usmp/arith/low_digits.hpp"

#include <functional>
#include <limits>
#include <set>
#include <utility>

#include "usmp/support/checked.hpp"
#include "usmp/support/interval.hpp"

namespace usmp::arith {

Bound without_low_digits(Bound bound, const Facts& facts) {
  std::set<std::int64_t, std::greater<>> units;
  for (const auto& [atom, factor] : bound.value.terms) {
    if (factor != std::numeric_limits<std::int64_t>::min()) units.insert(factor < 0 ? -factor : factor);
  }
  for (const std::int64_t unit : units) {
    Affine high;
    Affine low;
    for (const Terms::Term& term : bound.value.terms) {
      if (term.second % unit == 0) {
        high.terms.add({term.first, term.second / unit});
      } else {
        low.terms.add(term);
      }
    }
    if (low.terms.empty()) continue;
    high.measure();
    low.measure();
    // unit · high <= room - low
    const auto room = checked_sub(bound.most, bound.value.constant);
    const auto range = facts.interval(low);
    const auto least = range && room ? checked_sub(*room, range->high) : std::nullopt;
    const auto most = range && room ? checked_sub(*room, range->low) : std::nullopt;
    if (!least || !most) continue;
    const std::int64_t limit = floor_quotient(*least, unit);
    if (limit == floor_quotient(*most, unit)) return {std::move(high), limit};
  }
  return bound;
}

}  // namespace usmp::arith

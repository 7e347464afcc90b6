// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Tested by reorder_search_test.cpp.
#include "transform/reorder_settle.hpp"

#include <utility>

#include "transform/reorder_state.hpp"

namespace usmp::transform {
namespace {

// Whether no load exceeds `peak` if `second` runs next, and `first` then. It waits for none that stands behind it.
bool may_swap(OrderState& state, std::size_t first, std::size_t second, Bytes peak) {
  if (state.peak_of(second) > peak) return false;
  state.run(second);
  const bool fits = state.peak_of(first) <= peak;
  state.undo(second);
  return fits;
}

}  // namespace

std::vector<std::size_t> settled(const OrderProblem& problem, std::vector<std::size_t> order, Bytes peak,
                                 std::size_t effort) {
  std::size_t spent = 0;
  for (bool again = true; again && spent < effort;) {
    again = false;
    OrderState state(problem);
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      if (order[i] > order[i + 1] && may_swap(state, order[i], order[i + 1], peak)) {
        std::swap(order[i], order[i + 1]);
        again = true;
      }
      spent += 4 * state.steps(order[i]);
      state.run(order[i]);
    }
  }
  return order;
}

}  // namespace usmp::transform

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Whether a plan fills a pool on purpose: where buffers may be in several pools, as many bytes as possible are in those
// that they name first.
#pragma once

#include <utility>
#include <vector>

namespace usmp::compare {

// What the buffers of a plan say of one pool. `Pool` is what the plan calls pools by: a PoolId or a name.
template <class Pool>
class Filling {
 public:
  explicit Filling(Pool pool) : pool_(std::move(pool)) {}

  // A buffer that may be in `choices`, best first, and is in `place`. O(choices).
  void add(const std::vector<Pool>& choices, const Pool& place, bool pinned);

  // A buffer in the pool could be in one that it names later.
  [[nodiscard]] bool is_preferred() const { return is_preferred_; }
  // A buffer lies in one that it names later than the pool.
  [[nodiscard]] bool overflows() const { return overflows_; }

 private:
  Pool pool_;
  bool is_preferred_ = false;
  bool overflows_ = false;
};

}  // namespace usmp::compare

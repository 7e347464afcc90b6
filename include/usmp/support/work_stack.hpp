// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Work that creates more work, done in the order of a recursion but without its stack: the depth of an input costs heap
// memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace usmp {

// Example: to print f(g(x), y), the work on f adds "f(", g(x), ", ", y and ")"; the work on g(x) then adds parts that
// are done before ", ".
template <class Item>
class WorkStack {
 public:
  void add(Item item) { items_.push_back(std::move(item)); }

  // Calls work(item) for every item; items that the call adds are done next, in the order in which they were added,
  // before all older ones. Items added before `run` are done in the order of adding. Work must not call `run`. Linear
  // in the items.
  template <class Work>
  void run(const Work& work) {
    std::reverse(items_.begin(), items_.end());  // the next item stands last
    while (!items_.empty()) {
      const Item item = std::move(items_.back());
      items_.pop_back();
      const auto first = static_cast<std::ptrdiff_t>(items_.size());
      work(item);
      std::reverse(items_.begin() + first, items_.end());
    }
  }

 private:
  std::vector<Item> items_;
};

}  // namespace usmp

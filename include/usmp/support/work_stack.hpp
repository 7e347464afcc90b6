// Work that turns up while other work is done, in the order of a recursion but without its stack: what the depth of an
// input costs is heap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace usmp {

// Printing f(g(x), y) is its use: the work on f adds "f(", g(x), ", ", y and ")", and the work on g(x), when its turn
// comes, adds parts that are done before ", ".
template <class Item>
class WorkStack {
 public:
  void add(Item item) { items_.push_back(std::move(item)); }

  // Calls work(item) for every item; what the call adds is done next, in the order in which it was added, before
  // everything older. Until `run`, items are done in the order of adding. Work must not call `run`. Linear in the
  // items.
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

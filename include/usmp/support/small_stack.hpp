// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A stack whose first elements need no heap: walks of trees that are mostly small.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace usmp {

// References to elements are valid until the next push or pop.
template <class T, std::size_t usual = 16>
class SmallStack {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] T& back() { return size_ <= usual ? first_[size_ - 1] : more_.back(); }

  void push(const T& element) {
    if (size_ < usual) {
      first_[size_] = element;
    } else {
      more_.push_back(element);
    }
    ++size_;
  }

  void pop() {
    if (size_ > usual) more_.pop_back();
    --size_;
  }

 private:
  std::array<T, usual> first_{};
  std::vector<T> more_;
  std::size_t size_ = 0;
};

}  // namespace usmp

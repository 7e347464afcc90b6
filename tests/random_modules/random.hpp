// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Draws for the generators, the same on every machine.
//
// Draws must stand in statements of their own: C++ leaves open in which order a call's arguments are evaluated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "usmp/support/random.hpp"

namespace usmp::random_modules {

class Random {
 public:
  explicit Random(std::uint64_t seed) : random_(seed) {}

  std::uint64_t next() { return random_.next(); }
  // In [0, n); n > 0.
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_.below(static_cast<std::size_t>(n))); }
  // In [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  bool chance(std::int64_t percent) { return below(100) < percent; }
  std::size_t index(std::size_t n) { return static_cast<std::size_t>(below(static_cast<std::int64_t>(n))); }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[index(list.size())];
  }

 private:
  usmp::Random random_;
};

}  // namespace usmp::random_modules

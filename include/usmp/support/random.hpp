// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Pseudo-random numbers for searches and random inputs. The standard library's distributions differ between
// implementations, but plans and inputs must not.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

namespace usmp {

// splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

  // In [0, n), n >= 1. The bias of the remainder is negligible for n far below 2^64.
  std::size_t below(std::size_t n) {
    assert(n >= 1);
    return static_cast<std::size_t>(next() % n);
  }

 private:
  std::uint64_t state_;
};

}  // namespace usmp

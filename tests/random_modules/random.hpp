// Random numbers that are the same on every machine: splitmix64, and no distribution of the standard library.
//
// Draws must stand in statements of their own: C++ leaves open in which order a call's arguments are evaluated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace usmp::random_modules {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  // In [0, n); n > 0.
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(n)); }
  // In [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  bool chance(std::int64_t percent) { return below(100) < percent; }
  std::size_t index(std::size_t n) { return static_cast<std::size_t>(below(static_cast<std::int64_t>(n))); }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[index(list.size())];
  }

 private:
  std::uint64_t state_;
};

}  // namespace usmp::random_modules

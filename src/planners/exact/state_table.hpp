// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The states of one layer of a dynamic programme: for each key the cheapest way to reach it. Flat arrays; the order is
// that of insertion, so it does not depend on the hash.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "usmp/support/checked.hpp"

namespace usmp::planners::exact {

class StateTable {
 public:
  using Word = std::uint64_t;

  StateTable(std::size_t key_words, std::size_t cost_words) : key_words_(key_words), cost_words_(cost_words) {}

  [[nodiscard]] std::size_t size() const { return trails_.size(); }
  [[nodiscard]] std::span<const Word> key(std::size_t i) const {
    return std::span(keys_).subspan(i * key_words_, key_words_);
  }
  [[nodiscard]] std::span<const Bytes> cost(std::size_t i) const {
    return std::span(costs_).subspan(i * cost_words_, cost_words_);
  }
  [[nodiscard]] std::uint32_t trail(std::size_t i) const { return trails_[i]; }
  void set_trail(std::size_t i, std::uint32_t trail) { trails_[i] = trail; }

  static constexpr std::size_t worse = SIZE_MAX;

  // The place of the state if it is new or cheaper than the one known under its key, else `worse`. The first of equals
  // stays. The caller sets its trail.
  std::size_t insert(std::span<const Word> key, std::span<const Bytes> cost) {
    if (2 * (size() + 1) > buckets_.size()) grow();
    std::size_t bucket = hash(key) & (buckets_.size() - 1);
    for (; buckets_[bucket] != 0; bucket = (bucket + 1) & (buckets_.size() - 1)) {
      const std::size_t i = buckets_[bucket] - 1;
      if (!std::equal(key.begin(), key.end(), keys_.begin() + offset(i * key_words_))) continue;
      const auto known = costs_.begin() + offset(i * cost_words_);
      if (!std::lexicographical_compare(cost.begin(), cost.end(), known, known + offset(cost_words_))) return worse;
      std::copy(cost.begin(), cost.end(), known);
      return i;
    }
    keys_.insert(keys_.end(), key.begin(), key.end());
    costs_.insert(costs_.end(), cost.begin(), cost.end());
    trails_.push_back(0);
    buckets_[bucket] = static_cast<std::uint32_t>(size());
    return size() - 1;
  }

 private:
  static std::ptrdiff_t offset(std::size_t n) { return static_cast<std::ptrdiff_t>(n); }

  // The finalizer of splitmix64 over the words.
  static std::size_t hash(std::span<const Word> key) {
    Word h = 0;
    for (const Word word : key) {
      h = (h ^ word) * 0xbf58476d1ce4e5b9U;
      h = (h ^ (h >> 27U)) * 0x94d049bb133111ebU;
      h ^= h >> 31U;
    }
    return static_cast<std::size_t>(h);
  }

  void grow() {
    buckets_.assign(std::max<std::size_t>(64, buckets_.size() * 2), 0);
    for (std::size_t i = 0; i < size(); ++i) {
      std::size_t bucket = hash(key(i)) & (buckets_.size() - 1);
      while (buckets_[bucket] != 0) bucket = (bucket + 1) & (buckets_.size() - 1);
      buckets_[bucket] = static_cast<std::uint32_t>(i + 1);
    }
  }

  std::size_t key_words_;
  std::size_t cost_words_;
  std::vector<Word> keys_;
  std::vector<Bytes> costs_;
  std::vector<std::uint32_t> trails_;
  std::vector<std::uint32_t> buckets_;  // index + 1; 0: empty
};

}  // namespace usmp::planners::exact

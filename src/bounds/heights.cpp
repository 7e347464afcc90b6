// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which heights a pool can have: sums of sizes, see bounds.hpp.
// Tests: tests/bounds/heights_test.cpp, against exhaustive search.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include "usmp/bounds/bounds.hpp"

namespace usmp::bounds {
namespace {

constexpr std::size_t most_steps = 100'000;  // words of the bit set that may be touched

// Adds to each number of a bit set the same number plus `shift`; what becomes too large is dropped.
void add_shifted(std::vector<std::uint64_t>& words, std::size_t shift) {
  const std::size_t whole = shift / 64;
  const std::size_t rest = shift % 64;
  for (std::size_t i = words.size(); i-- > whole;) {
    std::uint64_t word = words[i - whole] << rest;
    if (rest > 0 && i > whole) word |= words[i - whole - 1] >> (64 - rest);
    words[i] |= word;
  }
}

}  // namespace

Heights::Heights(const Problem& problem, std::span<const BufferId> buffers, const Pool& pool) {
  Bytes unit = 0;
  Bytes alignment = 0;
  bool same_alignment = true;
  std::vector<Bytes> sizes;
  std::vector<Bytes> feet;  // offsets that piles stand on, and ends of pins
  for (const BufferId id : buffers) {
    const Buffer& buffer = problem.buffer(id);
    if (buffer.pinned) {
      feet.push_back(*buffer.pinned + buffer.size);
      unit = std::gcd(unit, feet.back());
    }
    if (buffer.size == 0) continue;
    const Bytes own = alignment_in(buffer, pool);
    unit = std::gcd(unit, std::gcd(own, buffer.size));
    same_alignment = same_alignment && (alignment == 0 || alignment == own);
    alignment = own;
    if (!buffer.pinned) sizes.push_back(buffer.size);
  }
  unit_ = std::max<Bytes>(unit, 1);
  if (sizes.empty() || !same_alignment || !problem.distances.empty()) return;
  ends_ = feet;
  feet.push_back(pool.reserved);
  Bytes top = *std::max_element(feet.begin(), feet.end()) + alignment;
  for (const Bytes size : sizes) top += align_up(size, alignment);
  const auto words = static_cast<std::size_t>(top / alignment / 64) + 1;
  if (words > most_steps / sizes.size()) return;
  alignment_ = alignment;
  sums_.assign(words, 0);
  for (const Bytes foot : feet) {
    const auto step = static_cast<std::size_t>(align_up(foot, alignment) / alignment);
    sums_[step / 64] |= std::uint64_t{1} << (step % 64);
  }
  for (const Bytes size : sizes) add_shifted(sums_, static_cast<std::size_t>(align_up(size, alignment) / alignment));
  // The topmost may be in the sum already: that allows too much, never too little.
  const bool rounds = std::any_of(sizes.begin(), sizes.end(), [&](Bytes size) { return size % alignment != 0; });
  topmost_ = rounds ? sizes : std::vector<Bytes>{0};
  std::sort(topmost_.begin(), topmost_.end());
  topmost_.erase(std::unique(topmost_.begin(), topmost_.end()), topmost_.end());
}

bool Heights::has(Bytes step) const {
  const auto bit = static_cast<std::size_t>(step);
  return ((sums_[bit / 64] >> (bit % 64)) & 1U) != 0;
}

Bytes Heights::at_least(Bytes height) const {
  if (height <= 0) return 0;
  std::optional<Bytes> best;
  const auto offer = [&](Bytes found) {
    if (found >= height && (!best || found < *best)) best = found;
  };
  for (const Bytes end : ends_) offer(end);
  const Bytes steps = 64 * static_cast<Bytes>(sums_.size());
  for (const Bytes size : topmost_) {
    Bytes step = (std::max<Bytes>(0, height - size) + alignment_ - 1) / alignment_;
    while (step < steps && !has(step) && !(best && step * alignment_ + size >= *best)) ++step;
    if (step < steps && has(step)) offer(step * alignment_ + size);
  }
  return best.value_or(align_up(height, unit_));
}

Bytes Heights::at_most(Bytes height) const {
  if (alignment_ == 0) return height < 0 ? 0 : height - height % unit_;
  Bytes best = 0;
  const auto offer = [&](Bytes found) {
    if (found <= height) best = std::max(best, found);
  };
  for (const Bytes end : ends_) offer(end);
  const Bytes steps = 64 * static_cast<Bytes>(sums_.size());
  for (const Bytes size : topmost_) {
    if (size > height) continue;
    Bytes step = std::min((height - size) / alignment_, steps - 1);
    while (step >= 0 && !has(step) && step * alignment_ + size > best) --step;
    if (step >= 0 && has(step)) offer(step * alignment_ + size);
  }
  return best;
}

}  // namespace usmp::bounds

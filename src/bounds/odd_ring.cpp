// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A bound from pairs: buffers of which no three can stand on top of each other are either low or high.
// Tests: tests/bounds/odd_ring_test.cpp, against exhaustive search.
#include <algorithm>
#include <numeric>
#include <utility>

#include "usmp/bounds/bounds.hpp"

namespace usmp::bounds {
namespace {

constexpr std::size_t most_buffers = 256;

// Whether a graph that grows is bipartite: a union-find that knows on which side of its set each member is.
class Sides {
 public:
  explicit Sides(std::size_t count) : parent_(count), flipped_(count, false) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }

  // Puts both on different sides; false if they are known to be on one.
  bool part(std::size_t a, std::size_t b) {
    const auto [root_a, flip_a] = find(a);
    const auto [root_b, flip_b] = find(b);
    if (root_a == root_b) return flip_a != flip_b;
    parent_[root_a] = root_b;
    flipped_[root_a] = flip_a == flip_b;
    return true;
  }

 private:
  [[nodiscard]] std::pair<std::size_t, bool> find(std::size_t i) const {
    bool flip = false;
    for (; parent_[i] != i; i = parent_[i]) flip = flip != flipped_[i];
    return {i, flip};
  }

  std::vector<std::size_t> parent_;
  std::vector<bool> flipped_;  // against the parent
};

}  // namespace

Bytes odd_ring_bound(const Problem& problem, std::span<const BufferId> buffers, const Pool& pool) {
  std::vector<BufferId> large;
  bool several_ranges = false;
  for (const BufferId id : buffers) {
    const Buffer& buffer = problem.buffer(id);
    if (buffer.size == 0 || buffer.live.empty()) continue;
    large.push_back(id);
    several_ranges = several_ranges || buffer.live.size() > 1;
  }
  if (!several_ranges) return 0;
  const Bytes granule = common_alignment(problem, large, pool);
  std::sort(large.begin(), large.end(), [&](BufferId a, BufferId b) {
    const Bytes size_a = problem.buffer(a).size;
    const Bytes size_b = problem.buffer(b).size;
    return size_a != size_b ? size_a > size_b : a < b;
  });
  large.resize(std::min(large.size(), most_buffers));
  Sides sides(large.size());
  Bytes rounding = 0;  // the largest so far
  for (std::size_t i = 0; i < large.size(); ++i) {
    const Buffer& buffer = problem.buffer(large[i]);
    const Bytes rounded = align_up(buffer.size, granule);
    rounding = std::max(rounding, rounded - buffer.size);
    for (std::size_t j = 0; j < i; ++j) {
      const BufferId other = large[j];
      const bool may_share = distance(problem, large[i], other) < buffer.size ||
                             distance(problem, other, large[i]) < problem.buffer(other).size;
      if (may_share || !overlap(buffer.live, problem.buffer(other).live) || sides.part(i, j)) continue;
      // With rounded sizes the same holds of a pool that is larger by what the topmost one is rounded up.
      return align_up(pool.reserved, granule) + std::max(3 * buffer.size, 3 * rounded - rounding);
    }
  }
  return 0;
}

}  // namespace usmp::bounds

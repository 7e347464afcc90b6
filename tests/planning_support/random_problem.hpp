// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Seeded random problems for property tests: several live ranges, alignments that need not be powers of two, pools
// with and without capacity, empty buffers, buffers that are never live.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "usmp/problem/problem.hpp"

namespace usmp::test {

struct Shape {
  std::size_t buffers = 6;
  std::size_t pools = 1;
  bool bounded = false;         // some pools have a capacity
  bool sharing = false;         // some pairs may share bytes
  bool pins = false;            // some pools reserve bytes, some buffers are pinned
  std::size_t most_ranges = 3;  // live ranges a buffer
  Tick horizon = 12;
  Bytes largest = 40;
  bool charged = false;  // buffers cost something in their pools, some nothing, some the same in all
};

class ProblemMaker {
 public:
  // The raw output of mt19937_64 is the same everywhere; the standard distributions are not.
  explicit ProblemMaker(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

  Problem make(const Shape& shape) {
    Problem problem;
    problem.horizon = shape.horizon;
    for (std::size_t i = 0; i < shape.pools; ++i) problem.pools.push_back(make_pool(shape, i));
    for (std::size_t i = 0; i < shape.buffers; ++i) problem.buffers.push_back(make_buffer(shape, i));
    if (shape.sharing) add_distances(problem);
    if (shape.pins) add_pins(problem, shape);
    if (shape.charged) add_charges(problem);
    return problem;
  }

 private:
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }

  Bytes bytes_below(Bytes n) { return static_cast<Bytes>(below(static_cast<std::size_t>(n))); }

  Pool make_pool(const Shape& shape, std::size_t index) {
    Pool pool{.name = "pool" + std::to_string(index), .kind = PoolKind::workspace, .capacity = {}, .alignment = 1};
    pool.alignment = one_of<Bytes>({1, 1, 1, 8, 6});
    if (shape.bounded && below(3) != 0) pool.capacity = bytes_below(shape.largest * 3);
    return pool;
  }

  Buffer make_buffer(const Shape& shape, std::size_t index) {
    Buffer buffer;
    buffer.name = "b" + std::to_string(index);
    buffer.size = below(12) == 0 ? 0 : 1 + bytes_below(shape.largest);
    buffer.alignment = one_of<Bytes>({1, 1, 1, 4, 4, 16, 3, 10});
    buffer.candidates = make_candidates(shape.pools);
    buffer.live = make_live(shape);
    if (below(10) == 0) {
      buffer.kind = BufferKind::constant;
      buffer.live = {{0, shape.horizon}};
    }
    return buffer;
  }

  void add_distances(Problem& problem) {
    for (std::size_t lower = 0; lower < problem.buffers.size(); ++lower) {
      for (std::size_t above = 0; above < problem.buffers.size(); ++above) {
        const Bytes size = problem.buffers[lower].size;
        if (lower == above || size == 0 || below(3) != 0) continue;
        problem.distances.push_back({BufferId(lower), BufferId(above), bytes_below(size)});
      }
    }
  }

  // Only pins that contradict nothing stay.
  void add_pins(Problem& problem, const Shape& shape) {
    for (Pool& pool : problem.pools) {
      if (below(3) == 0) pool.reserved = bytes_below(shape.largest);
    }
    for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
      if (below(3) != 0) continue;
      Problem pinned = problem;
      Buffer& buffer = pinned.buffers[i];
      buffer.candidates.resize(1);
      const Bytes step = alignment_in(buffer, pinned.pool(buffer.candidates.front()));
      buffer.pinned = bytes_below(shape.largest * 3) / step * step;
      if (!invalid_reason(pinned)) problem = std::move(pinned);
    }
  }

  void add_charges(Problem& problem) {
    problem.charged = true;
    for (Buffer& buffer : problem.buffers) {
      const bool is_idle = below(4) == 0;
      Bytes charge = below(3) == 0 ? bytes_below(50) : 0;
      for (std::size_t rank = 0; rank < buffer.candidates.size(); ++rank) {
        buffer.charges.push_back(charge);
        charge += is_idle ? 0 : bytes_below(30);
      }
    }
  }

  std::vector<PoolId> make_candidates(std::size_t pools) {
    std::vector<PoolId> all;
    for (std::size_t i = 0; i < pools; ++i) all.emplace_back(i);
    for (std::size_t i = pools; i > 1; --i) std::swap(all[i - 1], all[below(i)]);
    all.resize(1 + below(pools));
    return all;
  }

  std::vector<LiveRange> make_live(const Shape& shape) {
    std::vector<bool> live(static_cast<std::size_t>(shape.horizon), false);
    for (std::size_t ranges = below(20) == 0 ? 0 : 1 + below(shape.most_ranges); ranges > 0; --ranges) {
      const std::size_t begin = below(live.size());
      const std::size_t length = 1 + below(live.size() / 3);
      for (std::size_t t = begin; t < std::min(live.size(), begin + length); ++t) live[t] = true;
    }
    std::vector<LiveRange> result;
    for (std::size_t t = 0; t < live.size(); ++t) {
      if (!live[t]) continue;
      const auto tick = static_cast<Tick>(t);
      if (!result.empty() && result.back().end == tick) {
        ++result.back().end;
      } else {
        result.push_back({tick, tick + 1});
      }
    }
    return result;
  }

  std::mt19937_64 random_;
};

}  // namespace usmp::test

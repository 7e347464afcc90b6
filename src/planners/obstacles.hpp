// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Places that are taken at known times, whenever these are: a sweep over time asks it whether what it sees free now
// stays free.
//
// A segment tree over the ticks at which something begins or ends. Each obstacle stands at the O(log n) nodes that
// make up its life; a node knows the bytes taken throughout its time, and those taken at some moment of it, as
// disjoint intervals, of which the touching ones are merged.
// Tests: tests/planners/fast_test.cpp.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "usmp/problem/problem.hpp"

namespace usmp::planners {

class Obstacles {
 public:
  // Only between these ticks can obstacles begin and end; in any order.
  explicit Obstacles(std::vector<Tick> ticks);

  // O(log² n) on average over all obstacles. It may overlap others.
  void add(const LiveRange& life, Bytes begin, Bytes end);

  // The offset itself if no obstacle takes one of the `size` bytes (>= 1) from there on at one of the times. Otherwise
  // a higher one, and none between them is free. O(log² n) a live range.
  [[nodiscard]] Bytes raised(std::span<const LiveRange> times, Bytes offset, Bytes size) const;

  [[nodiscard]] bool empty() const { return top_ == 0; }
  [[nodiscard]] Bytes top() const { return top_; }  // no obstacle ends above it

 private:
  using Intervals = std::map<Bytes, Bytes>;  // begin → end
  struct Node {
    Intervals throughout;
    Intervals sometime;
  };

  static void take(Intervals& intervals, Bytes begin, Bytes end);
  static void raise(const Intervals& intervals, Bytes size, Bytes& offset);
  void add(std::size_t node, std::size_t left, std::size_t right, std::size_t from, std::size_t to, Bytes begin,
           Bytes end);
  void raise(std::size_t node, std::size_t left, std::size_t right, std::size_t from, std::size_t to, Bytes size,
             Bytes& offset) const;

  std::vector<Tick> ticks_;  // ascending; slot i is the time from ticks_[i] to the next one
  std::vector<Node> nodes_;  // of a binary tree, the root is 1
  Bytes top_ = 0;
};

}  // namespace usmp::planners

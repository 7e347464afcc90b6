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
#include <optional>
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

  // The end of an obstacle that takes one of the bytes [begin, end) at one of the times; nothing if there is none.
  // O(log² n) a live range.
  [[nodiscard]] std::optional<Bytes> conflict(std::span<const LiveRange> times, Bytes begin, Bytes end) const;

  [[nodiscard]] bool empty() const { return empty_; }

 private:
  using Intervals = std::map<Bytes, Bytes>;  // begin → end
  struct Node {
    Intervals throughout;
    Intervals sometime;
  };

  static void take(Intervals& intervals, Bytes begin, Bytes end);
  static void look(const Intervals& intervals, Bytes begin, Bytes end, std::optional<Bytes>& result);
  void add(std::size_t node, std::size_t left, std::size_t right, std::size_t from, std::size_t to, Bytes begin,
           Bytes end);
  void look(std::size_t node, std::size_t left, std::size_t right, std::size_t from, std::size_t to, Bytes begin,
            Bytes end, std::optional<Bytes>& result) const;

  std::vector<Tick> ticks_;  // ascending; slot i is the time from ticks_[i] to the next one
  std::vector<Node> nodes_;  // of a binary tree, the root is 1
  bool empty_ = true;
};

}  // namespace usmp::planners

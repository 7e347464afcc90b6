// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Adds obstacles to the nodes of a segment tree, and raises an offset above those that it meets there.
#include "planners/obstacles.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

namespace usmp::planners {
namespace {

constexpr int most_steps = 64;

}  // namespace

Obstacles::Obstacles(std::vector<Tick> ticks) : ticks_(std::move(ticks)) {
  std::sort(ticks_.begin(), ticks_.end());
  ticks_.erase(std::unique(ticks_.begin(), ticks_.end()), ticks_.end());
  nodes_.resize(ticks_.empty() ? 0 : 2 * std::bit_ceil(ticks_.size()));
}

void Obstacles::take(Intervals& intervals, Bytes begin, Bytes end) {
  auto next = intervals.upper_bound(begin);
  if (next != intervals.begin() && std::prev(next)->second >= begin) --next;
  while (next != intervals.end() && next->first <= end) {
    begin = std::min(begin, next->first);
    end = std::max(end, next->second);
    next = intervals.erase(next);
  }
  intervals.emplace_hint(next, begin, end);
}

void Obstacles::raise(const Intervals& intervals, Bytes size, Bytes& offset) {
  auto next = intervals.lower_bound(offset + size);
  if (next == intervals.begin() || std::prev(next)->second <= offset) return;
  offset = std::prev(next)->second;
  // Holes that are too small for it are passed at once.
  for (int steps = 0; steps < most_steps && next != intervals.end() && next->first < offset + size; ++steps, ++next) {
    offset = next->second;
  }
}

void Obstacles::add(const LiveRange& life, Bytes begin, Bytes end) {
  const auto from = std::lower_bound(ticks_.begin(), ticks_.end(), life.begin) - ticks_.begin();
  const auto to = std::lower_bound(ticks_.begin(), ticks_.end(), life.end) - ticks_.begin();
  add(1, 0, nodes_.size() / 2, static_cast<std::size_t>(from), static_cast<std::size_t>(to), begin, end);
  top_ = std::max(top_, end);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the logarithm of the number of ticks.
void Obstacles::add(std::size_t node, std::size_t left, std::size_t right, std::size_t from, std::size_t to,
                    Bytes begin, Bytes end) {
  if (to <= left || right <= from) return;
  take(nodes_[node].sometime, begin, end);
  if (from <= left && right <= to) return take(nodes_[node].throughout, begin, end);
  const std::size_t middle = (left + right) / 2;
  add(2 * node, left, middle, from, to, begin, end);
  add(2 * node + 1, middle, right, from, to, begin, end);
}

Bytes Obstacles::raised(std::span<const LiveRange> times, Bytes offset, Bytes size) const {
  if (empty()) return offset;
  for (const LiveRange& time : times) {
    // The slots that share a moment with the time.
    auto from = std::upper_bound(ticks_.begin(), ticks_.end(), time.begin) - ticks_.begin();
    const auto to = std::lower_bound(ticks_.begin(), ticks_.end(), time.end) - ticks_.begin();
    from = std::max<std::ptrdiff_t>(from, 1) - 1;
    if (from >= to) continue;
    raise(1, 0, nodes_.size() / 2, static_cast<std::size_t>(from), static_cast<std::size_t>(to), size, offset);
  }
  return offset;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the logarithm of the number of ticks.
void Obstacles::raise(std::size_t node, std::size_t left, std::size_t right, std::size_t from, std::size_t to,
                      Bytes size, Bytes& offset) const {
  if (to <= left || right <= from || nodes_[node].sometime.empty()) return;
  if (from <= left && right <= to) return raise(nodes_[node].sometime, size, offset);
  raise(nodes_[node].throughout, size, offset);
  const std::size_t middle = (left + right) / 2;
  raise(2 * node, left, middle, from, to, size, offset);
  raise(2 * node + 1, middle, right, from, to, size, offset);
}

}  // namespace usmp::planners

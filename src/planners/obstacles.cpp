#include "planners/obstacles.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

namespace usmp::planners {

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

void Obstacles::look(const Intervals& intervals, Bytes begin, Bytes end, std::optional<Bytes>& result) {
  const auto next = intervals.lower_bound(end);
  if (next == intervals.begin() || std::prev(next)->second <= begin) return;
  result = std::max(result.value_or(0), std::prev(next)->second);
}

void Obstacles::add(const LiveRange& life, Bytes begin, Bytes end) {
  const auto from = std::lower_bound(ticks_.begin(), ticks_.end(), life.begin) - ticks_.begin();
  const auto to = std::lower_bound(ticks_.begin(), ticks_.end(), life.end) - ticks_.begin();
  add(1, 0, nodes_.size() / 2, static_cast<std::size_t>(from), static_cast<std::size_t>(to), begin, end);
  empty_ = false;
}

void Obstacles::add(std::size_t node, std::size_t left, std::size_t right, std::size_t from, std::size_t to,
                    Bytes begin, Bytes end) {
  if (to <= left || right <= from) return;
  take(nodes_[node].sometime, begin, end);
  if (from <= left && right <= to) return take(nodes_[node].throughout, begin, end);
  const std::size_t middle = (left + right) / 2;
  add(2 * node, left, middle, from, to, begin, end);
  add(2 * node + 1, middle, right, from, to, begin, end);
}

std::optional<Bytes> Obstacles::conflict(std::span<const LiveRange> times, Bytes begin, Bytes end) const {
  std::optional<Bytes> result;
  if (empty_) return result;
  for (const LiveRange& time : times) {
    // The slots that share a moment with the time.
    auto from = std::upper_bound(ticks_.begin(), ticks_.end(), time.begin) - ticks_.begin();
    const auto to = std::lower_bound(ticks_.begin(), ticks_.end(), time.end) - ticks_.begin();
    from = std::max<std::ptrdiff_t>(from, 1) - 1;
    if (from >= to) continue;
    look(1, 0, nodes_.size() / 2, static_cast<std::size_t>(from), static_cast<std::size_t>(to), begin, end, result);
  }
  return result;
}

void Obstacles::look(std::size_t node, std::size_t left, std::size_t right, std::size_t from, std::size_t to,
                     Bytes begin, Bytes end, std::optional<Bytes>& result) const {
  if (to <= left || right <= from || nodes_[node].sometime.empty()) return;
  if (from <= left && right <= to) return look(nodes_[node].sometime, begin, end, result);
  look(nodes_[node].throughout, begin, end, result);
  const std::size_t middle = (left + right) / 2;
  look(2 * node, left, middle, from, to, begin, end, result);
  look(2 * node + 1, middle, right, from, to, begin, end, result);
}

}  // namespace usmp::planners

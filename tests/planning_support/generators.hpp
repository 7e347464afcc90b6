// SPDX-License-Identifier: Apache-2.0
// Instances of one unbounded pool for benchmarks and tests, the same on every machine. All have the ids of their
// buffers in a random order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "usmp/problem/problem.hpp"

namespace usmp::test {

inline Problem one_pool(Tick horizon) {
  Problem problem;
  problem.pools.push_back({.name = "pool", .kind = PoolKind::workspace, .capacity = {}, .alignment = 1});
  problem.horizon = horizon;
  return problem;
}

inline void add_buffer(Problem& problem, Bytes size, LiveRange live) {
  Buffer buffer;
  buffer.name = std::to_string(problem.buffers.size());
  buffer.size = size;
  buffer.candidates = {PoolId(0)};
  buffer.live = {live};
  problem.buffers.push_back(std::move(buffer));
}

// Raw outputs of mt19937_64: the standard library's distributions may differ between implementations.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }
  // In [from, to).
  std::int64_t between(std::int64_t from, std::int64_t to) { return from + below(to - from); }

 private:
  std::mt19937_64 random_;
};

// Sizes uniform up to 10^6 bytes; lives between two different uniform ticks of 2n.
inline Problem random_lives(std::size_t n, std::uint64_t seed) {
  Draw draw(seed);
  const auto horizon = static_cast<Tick>(2 * n);
  Problem problem = one_pool(horizon);
  while (problem.buffers.size() < n) {
    const Bytes size = draw.between(1, 1'000'001);
    const Tick a = draw.below(horizon);
    const Tick b = draw.below(horizon);
    if (a != b) add_buffer(problem, size, {std::min(a, b), std::max(a, b)});
  }
  return problem;
}

// The same, but each lives for a uniform share of a twentieth of the time: the load is nearly level.
inline Problem short_lives(std::size_t n, std::uint64_t seed) {
  Draw draw(seed);
  const auto horizon = static_cast<Tick>(2 * n);
  Problem problem = one_pool(horizon);
  while (problem.buffers.size() < n) {
    const Bytes size = draw.between(1, 1'000'001);
    const Tick begin = draw.below(horizon);
    const Tick life = draw.between(1, std::max<Tick>(2, horizon / 20));
    add_buffer(problem, size, {begin, std::min(horizon, begin + life)});
  }
  return problem;
}

// Perfect packings: buffers that fill a square of time and bytes without a hole, so that the best plan is the load.
constexpr Bytes square = 1048576;

struct Tile {
  Tick left, right;
  Bytes bottom, top;
};

inline Problem problem_of(std::vector<Tile> tiles, Draw& draw) {
  for (std::size_t i = tiles.size(); i > 1; --i) {
    std::swap(tiles[i - 1], tiles[static_cast<std::size_t>(draw.below(static_cast<std::int64_t>(i)))]);
  }
  Problem problem = one_pool(square);
  for (const Tile& tile : tiles) add_buffer(problem, tile.top - tile.bottom, {tile.left, tile.right});
  return problem;
}

// Cut from side to side again and again, until there are n tiles.
inline Problem guillotine(std::size_t n, std::uint64_t seed) {
  Draw draw(seed);
  std::vector<Tile> tiles;
  std::vector<std::pair<Tile, std::int64_t>> uncut = {{{0, square, 0, square}, static_cast<std::int64_t>(n)}};
  while (!uncut.empty()) {
    const auto [tile, parts] = uncut.back();
    uncut.pop_back();
    if (parts == 1) {
      tiles.push_back(tile);
      continue;
    }
    const std::int64_t first = draw.between(1, parts);
    const Tick width = tile.right - tile.left;
    const Bytes height = tile.top - tile.bottom;
    Tile low = tile;
    Tile high = tile;
    // The longer side is cut more often, in the ratio of the parts: no tile becomes too thin to be cut.
    if (draw.below(width + height) < width) {
      low.right = high.left = tile.left + std::clamp<Tick>(width / parts * first, 1, width - 1);
    } else {
      low.top = high.bottom = tile.bottom + std::clamp<Bytes>(height / parts * first, 1, height - 1);
    }
    uncut.emplace_back(low, first);
    uncut.emplace_back(high, parts - first);
  }
  return problem_of(std::move(tiles), draw);
}

// The largest tile is replaced by five that turn around the middle one, until there are n (4k + 1). No cut from side
// to side takes these apart.
inline Problem pinwheel(std::size_t n, std::uint64_t seed) {
  Draw draw(seed);
  const auto area = [](const Tile& t) { return (t.right - t.left) * (t.top - t.bottom); };
  const auto smaller = [&](const Tile& a, const Tile& b) {
    return std::pair(area(a), b.left) < std::pair(area(b), a.left);
  };
  std::priority_queue<Tile, std::vector<Tile>, decltype(smaller)> queue(smaller);
  queue.push({0, square, 0, square});
  while (queue.size() + 4 <= n) {
    const Tile t = queue.top();
    queue.pop();
    const auto cuts = [&](std::int64_t from, std::int64_t to) {
      const std::int64_t length = to - from;
      return std::pair(from + draw.between(length / 6, length * 2 / 5),
                       from + draw.between(length * 3 / 5, length * 5 / 6));
    };
    const auto [x1, x2] = cuts(t.left, t.right);
    const auto [y1, y2] = cuts(t.bottom, t.top);
    queue.push({t.left, x2, t.bottom, y1});
    queue.push({x2, t.right, t.bottom, y2});
    queue.push({x1, t.right, y2, t.top});
    queue.push({t.left, x1, y1, t.top});
    queue.push({x1, x2, y1, y2});
  }
  std::vector<Tile> tiles;
  for (; !queue.empty(); queue.pop()) tiles.push_back(queue.top());
  return problem_of(std::move(tiles), draw);
}

}  // namespace usmp::test

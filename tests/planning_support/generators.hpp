// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Instances of one unbounded pool for benchmarks and tests, the same on every machine. All have the ids of their
// buffers in a random order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

// A step of training: of each block of a network, tensors that the forward pass keeps for the backward pass, which goes
// through the blocks in the other order; temporaries of both; gradients of weights, kept to the end. Later blocks have
// smaller tensors, fragments are of a few equal sizes, and some buffers are larger than all others by far.
// `giant`: a fifth of the size of the largest possible one of these. About n buffers.
inline Problem training(std::size_t n, std::uint64_t seed, Bytes giant = 8'388'608) {
  Draw draw(seed);
  const std::vector<Bytes> fragments = {4096, 16384, 65536, 147456, 589824};
  const auto turn = static_cast<Tick>(std::max<std::size_t>(1, n / 21) * 6);
  Problem problem = one_pool(2 * turn + 6);
  const auto fragment = [&] { return fragments[static_cast<std::size_t>(draw.below(5))]; };
  const auto any = [&](Bytes unit) { return draw.below(2) == 0 ? fragment() : unit * draw.between(1, 5); };
  for (Tick at = 0; at < turn; at += 6) {
    const Tick back = 2 * turn - at - 6;
    const Bytes unit = Bytes{65536} << (3 - 4 * at / turn);
    add_buffer(problem, unit * draw.between(2, 5), {at, back + 5});
    for (Tick k = 0; k < 3; ++k) add_buffer(problem, fragment(), {at + k, back + 5 - k});
    if (draw.below(3) == 0) add_buffer(problem, unit * 4, {at + 2, back + 3});
    for (int k = 0; k < 6; ++k) {
      const Bytes size = any(unit);
      const Tick begin = at + draw.below(5);
      add_buffer(problem, size, {begin, at + 5 + draw.below(4)});
    }
    for (int k = 0; k < 8; ++k) {
      const Bytes size = any(unit);
      const Tick begin = back + draw.below(5);
      add_buffer(problem, size, {begin, begin + 1 + draw.below(5)});
    }
    if (draw.below(2) == 0) add_buffer(problem, 4 * fragment(), {back + 3, 2 * turn + 6});
  }
  for (int k = 0; k < 5; ++k) {
    const Bytes size = draw.between(1, 5) * giant;
    const Tick begin = draw.below(2 * turn * 3 / 4);
    add_buffer(problem, size, {begin, begin + turn / 16 + draw.below(turn / 4)});
  }
  for (std::size_t i = problem.buffers.size(); i > 1; --i) {
    std::swap(problem.buffers[i - 1], problem.buffers[static_cast<std::size_t>(draw.below(static_cast<Tick>(i)))]);
  }
  return problem;
}

// The same with an eighth of the sizes, in any number of bytes; three of four buffers are aligned to 512.
inline Problem training_aligned(std::size_t n, std::uint64_t seed) {
  Problem problem = training(n, seed);
  Draw draw(seed);
  for (Buffer& buffer : problem.buffers) {
    buffer.size = buffer.size / 8 + draw.below(512);
    buffer.alignment = draw.below(4) == 0 ? 1 : 512;
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

// A tile is replaced by five that turn around the middle one, until there are n (4k + 1). No cut from side to side
// takes these apart. `nested`: the oldest tile, so that all are pinwheels in pinwheels of any size, which turn either
// way by chance; else the largest.
inline Problem pinwheels(std::size_t n, std::uint64_t seed, bool nested) {
  Draw draw(seed);
  const auto area = [](const Tile& t) { return (t.right - t.left) * (t.top - t.bottom); };
  std::vector<Tile> tiles = {{0, square, 0, square}};
  const auto smaller = [&](const Tile& a, const Tile& b) {
    return std::pair(area(a), b.left) < std::pair(area(b), a.left);
  };
  std::size_t oldest = 0;
  while (tiles.size() + 4 <= n) {
    Tile t;
    if (nested) {
      const auto is_wide = [](const Tile& one) { return one.right - one.left >= 8 && one.top - one.bottom >= 8; };
      while (!is_wide(tiles[oldest])) ++oldest;
      t = tiles[oldest];
      tiles.erase(tiles.begin() + static_cast<std::ptrdiff_t>(oldest));
    } else {
      std::pop_heap(tiles.begin(), tiles.end(), smaller);
      t = tiles.back();
      tiles.pop_back();
    }
    const auto cuts = [&](std::int64_t from, std::int64_t to) {
      const std::int64_t length = to - from;
      const std::int64_t first =
          nested ? from + draw.between(length / 8, length / 2 - 1) : from + draw.between(length / 6, length * 2 / 5);
      return std::pair(first, nested ? from + draw.between(length / 2 + 1, length * 7 / 8)
                                     : from + draw.between(length * 3 / 5, length * 5 / 6));
    };
    const auto [x1, x2] = cuts(t.left, t.right);
    const auto [y1, y2] = cuts(t.bottom, t.top);
    const bool turns_left = nested && draw.below(2) == 0;
    const Tile left_turn[] = {{t.left, x1, t.bottom, y2},
                              {t.left, x2, y2, t.top},
                              {x2, t.right, y1, t.top},
                              {x1, t.right, t.bottom, y1},
                              {x1, x2, y1, y2}};
    const Tile right_turn[] = {{t.left, x2, t.bottom, y1},
                               {x2, t.right, t.bottom, y2},
                               {x1, t.right, y2, t.top},
                               {t.left, x1, y1, t.top},
                               {x1, x2, y1, y2}};
    for (const Tile& one : turns_left ? left_turn : right_turn) {
      tiles.push_back(one);
      if (!nested) std::push_heap(tiles.begin(), tiles.end(), smaller);
    }
  }
  return problem_of(std::move(tiles), draw);
}

inline Problem pinwheel(std::size_t n, std::uint64_t seed) { return pinwheels(n, seed, false); }
inline Problem nested_pinwheels(std::size_t n, std::uint64_t seed) { return pinwheels(n, seed, true); }

// The same buffers in another order: by size from the largest, by their first or last tick, backwards, or shuffled by
// the seed. Of problems without distances.
enum class BufferOrder : std::uint8_t { by_size, by_begin, by_end, backwards, shuffled };

inline Problem reordered(Problem problem, BufferOrder order, std::uint64_t seed = 0) {
  std::vector<Buffer>& buffers = problem.buffers;
  const auto sort_by = [&](const auto& key) {
    std::stable_sort(buffers.begin(), buffers.end(), [&](const Buffer& a, const Buffer& b) { return key(a) < key(b); });
  };
  switch (order) {
    case BufferOrder::by_size:
      sort_by([](const Buffer& one) { return -one.size; });
      break;
    case BufferOrder::by_begin:
      sort_by([](const Buffer& one) { return one.live.front().begin; });
      break;
    case BufferOrder::by_end:
      sort_by([](const Buffer& one) { return one.live.back().end; });
      break;
    case BufferOrder::backwards:
      std::reverse(buffers.begin(), buffers.end());
      break;
    case BufferOrder::shuffled: {
      Draw draw(seed);
      for (std::size_t i = buffers.size(); i > 1; --i) {
        std::swap(buffers[i - 1], buffers[static_cast<std::size_t>(draw.below(static_cast<std::int64_t>(i)))]);
      }
      break;
    }
  }
  return problem;
}

}  // namespace usmp::test

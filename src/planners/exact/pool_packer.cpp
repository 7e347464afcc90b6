// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Tries two first-fit orders, then the exact search, and keeps each set's bounds and best packing.
#include "planners/exact/pool_packer.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "usmp/bounds/load.hpp"

namespace usmp::planners::exact {
namespace {

// The lowest free offset of item i above and between those that are placed (>= 0).
Bytes lowest_offset(const Packing& packing, const std::vector<Bytes>& offsets, std::size_t i) {
  const Item& item = packing.items[i];
  std::vector<std::pair<Bytes, Bytes>> taken;
  for (std::size_t j = 0; j < offsets.size(); ++j) {
    const Item& other = packing.items[j];
    if (offsets[j] >= 0 && overlap(item.live, other.live)) taken.emplace_back(offsets[j], offsets[j] + other.size);
  }
  std::sort(taken.begin(), taken.end());
  Bytes offset = align_up(packing.reserved, item.alignment);
  for (const auto& [begin, end] : taken) {
    if (begin >= offset + item.size) break;
    offset = std::max(offset, align_up(end, item.alignment));
  }
  return offset;
}

// Each at the lowest place, in this order: often good enough, and always a packing.
std::vector<Bytes> first_fit(const Packing& packing, const std::vector<std::size_t>& order) {
  std::vector<Bytes> offsets(packing.items.size(), -1);
  for (std::size_t i = 0; i < packing.items.size(); ++i) {
    if (packing.items[i].pinned) offsets[i] = *packing.items[i].pinned;
  }
  for (const std::size_t i : order) {
    if (offsets[i] < 0) offsets[i] = lowest_offset(packing, offsets, i);
  }
  return offsets;
}

// The better of two orders: large ones first; and what needs no rounding up first, since the topmost is not rounded.
std::vector<Bytes> quick_packing(const Packing& packing) {
  std::vector<std::size_t> order(packing.items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return packing.items[a].size > packing.items[b].size; });
  std::vector<Bytes> best = first_fit(packing, order);
  const auto rounding = [&](std::size_t i) {
    const Item& item = packing.items[i];
    return align_up(item.size, item.alignment) - item.size;
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rounding(a) < rounding(b); });
  std::vector<Bytes> other = first_fit(packing, order);
  return peak_of(packing, other) < peak_of(packing, best) ? other : best;
}

}  // namespace

PoolPacker::Known& PoolPacker::known(PoolId pool, const std::vector<BufferId>& buffers) {
  const auto [at, is_new] = known_.try_emplace({pool, buffers});
  Known& known = at->second;
  if (is_new) {
    // First fit looks at all pairs: thousands of them for what a node of a search costs.
    (void)budget_.spend(buffers.size() * buffers.size() / 4096);
    const Packing packing = packing_of(problem_, buffers, pool);
    known.height.lower = bounds::packing_bound(problem_, buffers, problem_.pool(pool)).bytes;
    known.height.offsets = quick_packing(packing);
    known.height.upper = peak_of(packing, known.height.offsets);
  }
  return known;
}

Verdict PoolPacker::fit(const Packing& packing, const std::vector<Spacing>& spacings, Bytes height, Minimum& minimum,
                        Budget& share) {
  if (!spacings.empty()) {
    minimum = minimise_spaced(packing, spacings, minimum.lower, std::move(minimum.offsets),
                              {.enough = height, .hopeless = height}, share);
    if (minimum.upper <= height) return Verdict::found;
    return minimum.lower > height ? Verdict::impossible : Verdict::gave_up;
  }
  std::vector<Bytes> found;
  const Verdict verdict = exact::fit(packing, height, share, found);
  if (verdict == Verdict::impossible) minimum.lower = height + 1;
  if (verdict == Verdict::found) {
    minimum.upper = peak_of(packing, found);
    minimum.offsets = std::move(found);
  }
  return verdict;
}

Verdict PoolPacker::fit(PoolId pool, const std::vector<BufferId>& buffers, Bytes height, std::vector<Bytes>& offsets) {
  if (budget_.exhausted()) return Verdict::gave_up;
  Known& known = this->known(pool, buffers);
  Minimum& minimum = known.height;
  if (minimum.upper > height && minimum.lower <= height) {
    Budget share = budget_.share(share_);
    const std::vector<Spacing> spacings = spacings_among(problem_, buffers);
    if (!spacings.empty()) share.spend_work(spacings.size() + buffers.size() * buffers.size());  // to set it up
    const Verdict verdict = fit(packing_of(problem_, buffers, pool), spacings, height, minimum, share);
    budget_.charge(share);
    if (verdict == Verdict::gave_up) return verdict;
  }
  if (minimum.lower > height) return Verdict::impossible;
  offsets = minimum.offsets;
  return Verdict::found;
}

const Minimum& PoolPacker::minimise(PoolId pool, const std::vector<BufferId>& buffers) {
  Known& known = this->known(pool, buffers);
  Minimum& minimum = known.height;
  if (minimum.lower == minimum.upper || known.tried_with >= share_) return minimum;
  known.tried_with = share_;
  const Packing packing = packing_of(problem_, buffers, pool);
  Budget share = budget_.share(share_);
  const std::vector<Spacing> spacings = spacings_among(problem_, buffers);
  minimum = spacings.empty() ? exact::minimise(packing, minimum.lower, minimum.offsets, {}, share)
                             : minimise_spaced(packing, spacings, minimum.lower, minimum.offsets, {}, share);
  budget_.charge(share);
  return minimum;
}

}  // namespace usmp::planners::exact

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Makes packings of a pool's buffers, counts nodes, time and stops of a budget, and minimises the peak from both ends.
#include "planners/exact/packing.hpp"

#include <algorithm>

#include "planners/exact/search.hpp"

namespace usmp::planners::exact {
namespace {

// Where an item stands that meets nobody.
Bytes lonely_offset(const Packing& packing, const Item& item) {
  return item.pinned.value_or(item.size == 0 ? 0 : align_up(packing.reserved, item.alignment));
}

// The largest end of the items that the search leaves out.
Bytes lonely_peak(const Packing& packing) {
  Bytes peak = 0;
  for (const Item& item : packing.items) {
    if (item.size == 0 || item.live.empty()) peak = std::max(peak, lonely_offset(packing, item) + item.size);
  }
  return peak;
}

}  // namespace

Packing packing_of(const Problem& problem, const std::vector<BufferId>& buffers, PoolId pool) {
  Packing packing;
  packing.reserved = problem.pool(pool).reserved;
  for (const BufferId id : buffers) {
    const Buffer& buffer = problem.buffer(id);
    packing.items.push_back({buffer.size, alignment_in(buffer, problem.pool(pool)), buffer.live, buffer.pinned});
  }
  return packing;
}

std::vector<Bytes> stacked(const Packing& packing) {
  Bytes top = packing.reserved;
  for (const Item& item : packing.items) {
    if (item.pinned) top = std::max(top, *item.pinned + item.size);
  }
  std::vector<Bytes> offsets;
  for (const Item& item : packing.items) {
    offsets.push_back(item.pinned.value_or(item.size == 0 ? 0 : align_up(top, item.alignment)));
    if (!item.pinned) top = std::max(top, offsets.back() + item.size);
  }
  return offsets;
}

Bytes peak_of(const Packing& packing, const std::vector<Bytes>& offsets) {
  Bytes peak = 0;
  for (std::size_t i = 0; i < offsets.size(); ++i) peak = std::max(peak, offsets[i] + packing.items[i].size);
  return peak;
}

Budget::Budget(std::uint64_t nodes, std::optional<std::chrono::milliseconds> time_limit,
               const std::atomic<bool>* interrupted)
    : left_(nodes), interrupted_(interrupted) {
  if (time_limit) deadline_ = std::chrono::steady_clock::now() + *time_limit;
}

bool Budget::spend() {
  if (exhausted()) return false;
  if (left_ == 0) {
    reason_ = StopReason::node_limit;
    return false;
  }
  --left_;
  ++spent_;
  if (spent_ % 256 == 0) look_around();
  return !exhausted();
}

bool Budget::spend(std::uint64_t nodes) {
  if (exhausted()) return false;
  const std::uint64_t taken = std::min(left_, nodes);
  left_ -= taken;
  spent_ += taken;
  if (taken < nodes) reason_ = StopReason::node_limit;
  look_around();
  return !exhausted();
}

void Budget::spend_work(std::uint64_t units) {
  work_left_ -= std::min(work_left_, units);
  if (work_left_ == 0 && !exhausted()) reason_ = StopReason::node_limit;
  unseen_work_ += units;
  if (unseen_work_ > 2'000'000) look_around();
}

void Budget::give_up() {
  if (!exhausted()) reason_ = StopReason::node_limit;
}

bool Budget::is_over() {
  look_around();
  return exhausted();
}

void Budget::look_around() {
  unseen_work_ = 0;
  if (interrupted_ != nullptr && interrupted_->load(std::memory_order_relaxed)) reason_ = StopReason::interrupted;
  if (deadline_ && std::chrono::steady_clock::now() >= *deadline_) reason_ = StopReason::time_limit;
}

Budget Budget::share(std::uint64_t nodes) const {
  Budget part = *this;
  part.left_ = std::min(left_, nodes);
  part.spent_ = 0;
  return part;
}

void Budget::charge(const Budget& share) {
  left_ -= std::min(left_, share.spent_);
  work_left_ = share.work_left_;
  if (work_left_ == 0 && !exhausted()) reason_ = StopReason::node_limit;
  spent_ += share.spent_;
  if (share.reason_ != StopReason::node_limit && share.reason_ != StopReason::finished) reason_ = share.reason_;
}

Verdict fit(const Packing& packing, Bytes capacity, Budget& budget, std::vector<Bytes>& offsets, const Rules& rules) {
  if (lonely_peak(packing) > capacity) return Verdict::impossible;
  const Model model(packing);
  Search search(model, rules);
  search.engine().require_peak_at_most(capacity);
  const Verdict verdict = search.run(capacity, Budget::unlimited, budget);
  if (verdict == Verdict::found) offsets = model.offsets(packing, search.offsets());
  return verdict;
}

Minimum minimise(const Packing& packing, Bytes lower, std::vector<Bytes> start, const Goal& goal, Budget& budget,
                 const std::function<void(const Minimum&)>& progress, const Rules& rules) {
  Minimum best{.lower = std::max(lower, lonely_peak(packing)), .upper = peak_of(packing, start), .offsets = {}};
  best.offsets = std::move(start);
  const auto done = [&] {
    return best.lower >= best.upper || best.upper <= goal.enough || best.lower > goal.hopeless || budget.exhausted();
  };
  if (done()) return best;
  const Model model(packing);
  Search search(model, rules);
  Engine& engine = search.engine();
  // Both ends are attacked in turn and with the same effort, each as far from its bound as attempts succeed. The lower
  // bound can often be reached, and plans in between help little with that: it comes first, in one long attempt.
  Bytes rise = 0;
  Bytes fall = 1;
  bool from_below = true;
  std::uint64_t conflicts = std::max<std::uint64_t>(1000, 4 * model.size());  // of a turn
  std::uint64_t turn_ends = conflicts;
  while (!done()) {
    engine.restart();
    engine.require_peak_at_least(best.lower);
    engine.require_peak_at_most(best.upper - 1);
    const Bytes gap = best.upper - 1 - best.lower;
    const Bytes wanted =
        from_below ? best.lower + std::min(rise, gap) : best.upper - std::clamp<Bytes>(fall, 1, gap + 1);
    const Bytes target = std::max(wanted, goal.enough);
    search.use_best_plan(!from_below);
    const Verdict verdict = search.run(target, from_below ? conflicts : conflicts / 4, budget);
    if (verdict == Verdict::found) {
      best.offsets = model.offsets(packing, search.offsets());
      best.upper = peak_of(packing, best.offsets);
      fall = (best.upper - best.lower) / 2;
    } else if (verdict == Verdict::impossible) {
      best.lower = engine.contradictory() ? best.upper : std::max(target + 1, engine.peak_low());
      rise = 2 * rise + model.unit;
    } else if (from_below) {
      rise /= 4;
    } else {
      fall /= 2;
    }
    if (progress) progress(best);
    if (engine.conflicts() < turn_ends && (verdict != Verdict::gave_up || !from_below)) continue;
    from_below = !from_below;
    if (from_below) conflicts *= 2;
    turn_ends = engine.conflicts() + conflicts;
  }
  return best;
}

}  // namespace usmp::planners::exact

#include "planners/exact/packing.hpp"

#include <algorithm>

#include "planners/exact/search.hpp"

namespace usmp::planners::exact {
namespace {

constexpr std::uint64_t unlimited = std::uint64_t{1} << 62;

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
  if (spent_ % 256 != 0) return true;
  if (interrupted_ != nullptr && interrupted_->load(std::memory_order_relaxed)) reason_ = StopReason::interrupted;
  if (deadline_ && std::chrono::steady_clock::now() >= *deadline_) reason_ = StopReason::time_limit;
  return !exhausted();
}

Verdict fit(const Packing& packing, Bytes capacity, Budget& budget, std::vector<Bytes>& offsets, const Rules& rules) {
  if (lonely_peak(packing) > capacity) return Verdict::impossible;
  const Model model(packing);
  Search search(model, rules);
  search.engine().require_peak_at_most(capacity);
  const Verdict verdict = search.run(capacity, unlimited, budget);
  if (verdict == Verdict::found) offsets = model.offsets(packing, search.offsets());
  return verdict;
}

Minimum minimise(const Packing& packing, Bytes lower, std::vector<Bytes> start, Budget& budget,
                 const std::function<void(const Minimum&)>& progress, const Rules& rules) {
  Minimum best{
      .lower = std::max(lower, lonely_peak(packing)), .upper = peak_of(packing, start), .offsets = std::move(start)};
  const auto told = [&] {
    if (progress) progress(best);
  };
  if (best.lower >= best.upper) return best;
  const Model model(packing);
  Search search(model, rules);
  Engine& engine = search.engine();
  Bytes step = 0;      // how far above the lower bound the next attempt to raise it is
  Bytes from_top = 1;  // and how far below the upper one the next attempt to lower that is
  std::uint64_t slice = 200;
  bool low_turn = true;
  while (best.lower < best.upper) {
    engine.restart();
    engine.require_peak_at_least(best.lower);
    engine.require_peak_at_most(best.upper - 1);
    const Bytes gap = best.upper - 1 - best.lower;
    const Bytes target =
        low_turn ? best.lower + std::min(step, gap) : best.upper - std::clamp<Bytes>(from_top, 1, gap + 1);
    const Verdict verdict = search.run(target, slice, budget);
    if (verdict == Verdict::found) {
      best.offsets = model.offsets(packing, search.offsets());
      best.upper = peak_of(packing, best.offsets);
      from_top = (best.upper - best.lower) / 2;
      told();
    } else if (verdict == Verdict::impossible) {
      best.lower = engine.contradictory() ? best.upper : std::max(target + 1, engine.peak_low());
      step = 2 * step + model.unit;
      told();
    } else {
      if (budget.exhausted()) break;
      if (low_turn) {
        step /= 4;
      } else {
        from_top /= 2;
        slice += slice / 4;
      }
      low_turn = !low_turn;
    }
  }
  return best;
}

}  // namespace usmp::planners::exact

// SPDX-License-Identifier: Apache-2.0
#include "planners/exact/disjunctive.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace usmp::planners::exact {
namespace {

// Two items that meet.
struct Pair {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  Bytes a_below = 0;  // how far above the start of a that of b is at least, if a is the one below
  Bytes b_below = 0;
};

enum class Order : std::uint8_t { open, a_below, b_below };

// A pair as one of its items sees it.
struct Meeting {
  std::uint32_t pair = 0;
  std::uint32_t other = 0;
  Order is_below;        // the order in which the item is the one below
  Bytes to_other = 0;    // if it is
  Bytes from_other = 0;  // if it is not
};

// Failures after which the search begins anew, the first time; half as many more each time.
constexpr std::uint64_t first_run = 100;
constexpr std::uint64_t nodes_untold = 256;
// At pairs, before the budget is asked again.
constexpr std::uint64_t most_looks_unpaid = 1'000'000;

class PairSearch {
 public:
  // `guide`: a placement that is not far from good ones.
  PairSearch(const Packing& packing, std::span<const Spacing> spacings, std::vector<Bytes> guide)
      : packing_(packing), meetings_of_(packing.items.size()), guide_(std::move(guide)) {
    std::map<std::pair<std::size_t, std::size_t>, Bytes> distances;
    for (const Spacing& spacing : spacings) distances[{spacing.below, spacing.above}] = spacing.bytes;
    const auto distance = [&](std::size_t below, std::size_t above) {
      const auto found = distances.find({below, above});
      return found == distances.end() ? packing.items[below].size : found->second;
    };
    for (std::size_t b = 0; b < packing.items.size(); ++b) {
      for (std::size_t a = 0; a < b; ++a) {
        if (is_empty(a) || is_empty(b) || !overlap(packing.items[a].live, packing.items[b].live)) continue;
        const auto pair = static_cast<std::uint32_t>(pairs_.size());
        const Pair one{static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b), distance(a, b), distance(b, a)};
        meetings_of_[a].push_back({pair, one.b, Order::a_below, one.a_below, one.b_below});
        meetings_of_[b].push_back({pair, one.a, Order::b_below, one.b_below, one.a_below});
        pairs_.push_back(one);
      }
    }
    orders_.assign(pairs_.size(), Order::open);
    weights_.assign(pairs_.size(), 1);
    is_queued_.assign(packing.items.size(), false);
  }

  // Is called now and then.
  void set_progress(std::function<void()> tell) { tell_ = std::move(tell); }

  // Offsets with a peak of at most `capacity`, or nothing: then none are left to find, or the budget is exhausted.
  // Called again with a lower capacity, it goes on where it stopped.
  std::optional<std::vector<Bytes>> next(Bytes capacity, Budget& budget) {
    if (!capacity_) begin();
    capacity_ = capacity;
    budget_ = &budget;
    // What was decided stays; what contradicts the new capacity is taken back below.
    bool is_consistent = lower_highest_to_capacity() && propagate();
    while (true) {
      if (budget.exhausted()) return std::nullopt;
      if (!is_consistent) {
        if (++failures_ > failures_of_run_ ? !restart(is_consistent) : !step_back(is_consistent)) return std::nullopt;
        continue;
      }
      const std::optional<std::size_t> pair = choose();
      if (!pair) {
        guide_ = lowest_;
        return lowest_;
      }
      if (!budget.spend()) return std::nullopt;
      if (tell_ && ++nodes_ % nodes_untold == 0) tell_();
      decide(*pair, is_consistent);
      budget.spend_work(std::exchange(looks_, 0) + pairs_.size());
    }
  }

 private:
  struct Change {
    enum class Kind : std::uint8_t { lowest, highest, order };
    Kind kind;
    std::size_t index;
    Bytes before;
  };
  struct Decision {
    std::size_t pair;
    Order second;       // the other way, not tried yet; open: tried
    std::size_t trail;  // length before
  };

  [[nodiscard]] bool is_empty(std::size_t i) const {
    return packing_.items[i].size == 0 || packing_.items[i].live.empty();
  }

  void begin() {
    for (const Item& item : packing_.items) {
      is_aligned_.push_back(item.pinned ? 0 : 1);
      lowest_.push_back(item.pinned.value_or(item.size == 0 ? 0 : align_up(packing_.reserved, item.alignment)));
      highest_.push_back(item.pinned.value_or(Problem::max_total_bytes));
    }
    for (std::size_t i = 0; i < packing_.items.size(); ++i) queue(i);
  }

  // The capacity holds for all that is tried from here on, also after decisions are taken back: it is applied anew.
  bool lower_highest_to_capacity() {
    for (std::size_t i = 0; i < packing_.items.size(); ++i) {
      const Item& item = packing_.items[i];
      if (item.pinned) {
        if (*item.pinned + item.size > *capacity_) return false;
        continue;
      }
      const Bytes last = *capacity_ - item.size;
      if (last < 0 || !lower_highest(i, last)) return false;
    }
    return true;
  }

  bool raise_lowest(std::size_t i, Bytes to) {
    if (is_aligned_[i] != 0 && to <= lowest_[i]) return true;
    to = align_up(to, packing_.items[i].alignment);
    if (to <= lowest_[i]) return true;
    if (to > highest_[i]) return false;
    trail_.push_back({Change::Kind::lowest, i, lowest_[i]});
    lowest_[i] = to;
    queue(i);
    return true;
  }

  bool lower_highest(std::size_t i, Bytes to) {
    if (to < 0) return false;
    if (is_aligned_[i] != 0 && to >= highest_[i]) return true;
    to -= to % packing_.items[i].alignment;
    if (to >= highest_[i]) return true;
    if (to < lowest_[i]) return false;
    trail_.push_back({Change::Kind::highest, i, highest_[i]});
    highest_[i] = to;
    queue(i);
    return true;
  }

  bool set_order(std::size_t pair, Order order) {
    if (orders_[pair] == Order::open) {
      trail_.push_back({Change::Kind::order, pair, 0});
      orders_[pair] = order;
    }
    const Pair& one = pairs_[pair];
    return order == Order::a_below ? push_apart(one.a, one.b, one.a_below) : push_apart(one.b, one.a, one.b_below);
  }

  bool push_apart(std::size_t below, std::size_t above, Bytes distance) {
    return raise_lowest(above, lowest_[below] + distance) && lower_highest(below, highest_[above] - distance);
  }

  void queue(std::size_t i) {
    if (is_queued_[i]) return;
    is_queued_[i] = true;
    queue_.push_back(i);
  }

  bool propagate() {
    bool is_consistent = true;
    while (!queue_.empty()) {
      const std::size_t item = queue_.back();
      queue_.pop_back();
      is_queued_[item] = false;
      if (looks_ > most_looks_unpaid && !charge()) return false;
      const std::vector<Meeting>& meetings = meetings_of_[item];
      for (std::size_t k = 0; k < meetings.size() && is_consistent; ++k) {
        is_consistent = look_at(item, meetings[k]);
        if (!is_consistent) ++weights_[meetings[k].pair];
      }
    }
    return is_consistent;
  }

  // Bounds that push each other up byte by byte could take for ever: what is long for a node counts as another one.
  bool charge() {
    budget_->spend_work(std::exchange(looks_, 0));
    return budget_->spend();
  }

  bool look_at(std::size_t item, const Meeting& meeting) {
    ++looks_;
    const Order order = orders_[meeting.pair];
    if (order != Order::open) {
      return order == meeting.is_below ? push_apart(item, meeting.other, meeting.to_other)
                                       : push_apart(meeting.other, item, meeting.from_other);
    }
    const bool may_below = lowest_[item] + meeting.to_other <= highest_[meeting.other];
    const bool may_above = lowest_[meeting.other] + meeting.from_other <= highest_[item];
    if (may_below && may_above) return true;
    if (!may_below && !may_above) return false;
    return set_order(meeting.pair, may_below == (meeting.is_below == Order::a_below) ? Order::a_below : Order::b_below);
  }

  // The open pair that is violated with both at their lowest offsets and has least room for the failures that it had
  // part in, or nothing.
  [[nodiscard]] std::optional<std::size_t> choose() const {
    std::optional<std::size_t> best;
    double least = 0;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      if (orders_[i] != Order::open) continue;
      const Pair& pair = pairs_[i];
      const Bytes rise = lowest_[pair.b] - lowest_[pair.a];
      if (rise >= pair.a_below || -rise >= pair.b_below) continue;
      const double room = static_cast<double>(std::min(room_a(pair), room_b(pair))) / static_cast<double>(weights_[i]);
      if (best && room >= least) continue;
      best = i;
      least = room;
    }
    return best;
  }

  [[nodiscard]] Bytes room_a(const Pair& pair) const { return highest_[pair.b] - lowest_[pair.a] - pair.a_below; }
  [[nodiscard]] Bytes room_b(const Pair& pair) const { return highest_[pair.a] - lowest_[pair.b] - pair.b_below; }

  void decide(std::size_t pair, bool& is_consistent) {
    const Pair& one = pairs_[pair];
    const bool a_first = follows_guide_ ? guide_[one.a] <= guide_[one.b] : room_a(one) >= room_b(one);
    decisions_.push_back({pair, a_first ? Order::b_below : Order::a_below, trail_.size()});
    is_consistent = set_order(pair, a_first ? Order::a_below : Order::b_below) && propagate();
  }

  // From the beginning, with what failures have taught of the pairs, and more of them allowed. False if nothing is
  // left.
  bool restart(bool& is_consistent) {
    forget_queue();
    take_back(0);
    decisions_.clear();
    failures_ = 0;
    failures_of_run_ += failures_of_run_ / 2;
    follows_guide_ = !follows_guide_;
    for (std::size_t i = 0; i < packing_.items.size(); ++i) queue(i);
    is_consistent = lower_highest_to_capacity() && propagate();
    return is_consistent;
  }

  void forget_queue() {
    for (const std::size_t item : queue_) is_queued_[item] = false;
    queue_.clear();
  }

  // To the last decision that has another way, and there. False if there is none.
  bool step_back(bool& is_consistent) {
    forget_queue();
    while (!decisions_.empty() && decisions_.back().second == Order::open) {
      take_back(decisions_.back().trail);
      decisions_.pop_back();
    }
    if (decisions_.empty()) return false;
    Decision& decision = decisions_.back();
    take_back(decision.trail);
    const Order second = std::exchange(decision.second, Order::open);
    is_consistent = lower_highest_to_capacity() && set_order(decision.pair, second) && propagate();
    return true;
  }

  void take_back(std::size_t length) {
    for (; trail_.size() > length; trail_.pop_back()) {
      const Change& change = trail_.back();
      if (change.kind == Change::Kind::lowest) lowest_[change.index] = change.before;
      if (change.kind == Change::Kind::highest) highest_[change.index] = change.before;
      if (change.kind == Change::Kind::order) orders_[change.index] = Order::open;
    }
  }

  const Packing& packing_;
  std::vector<Pair> pairs_;
  std::vector<std::vector<Meeting>> meetings_of_;  // by item
  std::optional<Bytes> capacity_;
  std::vector<Bytes> lowest_;             // by item
  std::vector<Bytes> highest_;            // by item
  std::vector<std::uint8_t> is_aligned_;  // by item, 0 or 1: its bounds are, so that most others need not be divided
  std::vector<Order> orders_;             // by pair
  std::vector<std::uint64_t> weights_;    // by pair: failures it had part in
  std::vector<Bytes> guide_;              // the best placement so far
  bool follows_guide_ = false;            // every second run
  std::uint64_t failures_ = 0;            // of this run
  std::uint64_t failures_of_run_ = first_run;
  std::vector<Change> trail_;
  std::vector<Decision> decisions_;
  std::vector<std::size_t> queue_;  // items whose bounds have moved
  std::vector<bool> is_queued_;
  std::uint64_t looks_ = 0;   // at pairs, not told to the budget yet
  Budget* budget_ = nullptr;  // of the call of `next`
  std::function<void()> tell_;
  std::uint64_t nodes_ = 0;
};

}  // namespace

std::vector<Spacing> spacings_among(const Problem& problem, std::span<const BufferId> buffers) {
  std::vector<Spacing> spacings;
  const auto place_of = [&](BufferId id) -> std::optional<std::size_t> {
    const auto found = std::ranges::lower_bound(buffers, id);
    if (found == buffers.end() || *found != id) return std::nullopt;
    return static_cast<std::size_t>(found - buffers.begin());
  };
  for (std::size_t below = 0; below < buffers.size(); ++below) {
    const Distance first{buffers[below], BufferId(0), 0};
    for (auto at = std::ranges::lower_bound(problem.distances, first);
         at != problem.distances.end() && at->below == buffers[below]; ++at) {
      if (const auto above = place_of(at->above)) spacings.push_back({below, *above, at->bytes});
    }
  }
  return spacings;
}

Minimum minimise_spaced(const Packing& packing, std::span<const Spacing> spacings, Bytes lower,
                        std::vector<Bytes> start, const Goal& goal, Budget& budget,
                        const std::function<void(const Minimum&)>& progress) {
  const Bytes peak = peak_of(packing, start);
  Minimum minimum{.lower = lower, .upper = peak, .offsets = std::move(start)};
  PairSearch search(packing, spacings, minimum.offsets);
  if (progress) search.set_progress([&] { progress(minimum); });
  while (minimum.lower < minimum.upper && minimum.upper > goal.enough) {
    const Bytes capacity = std::min(minimum.upper - 1, goal.hopeless);
    std::optional<std::vector<Bytes>> found = search.next(capacity, budget);
    if (found) {
      minimum.offsets = std::move(*found);
      minimum.upper = peak_of(packing, minimum.offsets);
    } else {
      if (!budget.exhausted()) minimum.lower = std::max(minimum.lower, capacity + 1);
      break;
    }
  }
  return minimum;
}

}  // namespace usmp::planners::exact

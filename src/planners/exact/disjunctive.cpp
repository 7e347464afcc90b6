// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
#include "planners/exact/disjunctive.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace usmp::planners::exact {
namespace {

// Two items that conflict.
struct Pair {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  Bytes a_below = 0;  // how far above the start of a that of b is at least, if a is the one below
  Bytes b_below = 0;
};

enum class Order : std::uint8_t { open, a_below, b_below };

// The same as one of its items sees it.
struct Conflict {
  std::uint32_t pair = 0;
  std::uint32_t other = 0;
  Order is_below;        // the order in which the item is the one below
  Bytes to_other = 0;    // if it is
  Bytes from_other = 0;  // if it is not
};

// Failures after which the search begins anew, the first time; a fifth more each time.
constexpr std::uint64_t first_run = 100;
constexpr std::uint64_t nodes_untold = 256;
// At the most: what is learned in a run is kept in it.
constexpr std::uint64_t longest_run = 100'000;
// Of which the longer half is forgotten at the next beginning.
constexpr std::size_t most_clauses = 4'000;
// At pairs, before the budget is asked again.
constexpr std::uint64_t most_looks_unpaid = 1'000'000;

class PairSearch {
 public:
  // `guide`: a placement that is not far from good ones.
  PairSearch(const Packing& packing, std::span<const Spacing> spacings, std::vector<Bytes> guide)
      : packing_(packing), conflicts_of_(packing.items.size()), guide_(std::move(guide)) {
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
        conflicts_of_[a].push_back({pair, one.b, Order::a_below, one.a_below, one.b_below});
        conflicts_of_[b].push_back({pair, one.a, Order::b_below, one.b_below, one.a_below});
        pairs_.push_back(one);
      }
    }
    orders_.assign(pairs_.size(), Order::open);
    weights_.assign(pairs_.size(), 1);
    ordered_at_.assign(pairs_.size(), nothing);
    watching_.resize(2 * pairs_.size());
    lowest_at_.assign(packing.items.size(), nothing);
    highest_at_.assign(packing.items.size(), nothing);
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
        if (decisions_.empty()) return std::nullopt;
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
  using Index = std::uint32_t;
  static constexpr Index nothing = ~Index{0};

  // A pair and one of its orders.
  struct Literal {
    Index pair = 0;
    Order order = Order::open;
  };
  // Orders that do not go together.
  using Clause = std::vector<Literal>;

  // Changes that another one follows from, or a clause all of whose other orders hold. Neither: nothing is needed.
  struct Reason {
    Index first = nothing;
    Index second = nothing;
    Index clause = nothing;
  };

  struct Change {
    enum class Kind : std::uint8_t { lowest, highest, order };
    Kind kind;
    Index index;
    Index level;  // decisions before, itself included
    Bytes before;
    Index changed_before;  // the change that made it so; order: nothing
    Reason reason;
  };
  struct Decision {
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
        if (*item.pinned + item.size > *capacity_) return fails_for({}, nothing);
        continue;
      }
      const Bytes last = *capacity_ - item.size;
      if (!lower_highest(i, last, {})) return false;
    }
    return true;
  }

  bool fails_for(const Reason& reason, Index other) {
    failed_.clear();
    for (const Index change : {reason.first, reason.second, other}) {
      if (change != nothing) failed_.push_back(change);
    }
    return false;
  }

  void note(Change::Kind kind, std::size_t index, Bytes before, Index& changed_at, const Reason& reason) {
    trail_.push_back(
        {kind, static_cast<Index>(index), static_cast<Index>(decisions_.size()), before, changed_at, reason});
    changed_at = static_cast<Index>(trail_.size() - 1);
  }

  bool raise_lowest(std::size_t i, Bytes to, const Reason& reason) {
    if (is_aligned_[i] != 0 && to <= lowest_[i]) return true;
    to = align_up(to, packing_.items[i].alignment);
    if (to <= lowest_[i]) return true;
    if (to > highest_[i]) return fails_for(reason, highest_at_[i]);
    note(Change::Kind::lowest, i, lowest_[i], lowest_at_[i], reason);
    lowest_[i] = to;
    queue(i);
    return true;
  }

  bool lower_highest(std::size_t i, Bytes to, const Reason& reason) {
    if (to < 0) return fails_for(reason, nothing);
    if (is_aligned_[i] != 0 && to >= highest_[i]) return true;
    to -= to % packing_.items[i].alignment;
    if (to >= highest_[i]) return true;
    if (to < lowest_[i]) return fails_for(reason, lowest_at_[i]);
    note(Change::Kind::highest, i, highest_[i], highest_at_[i], reason);
    highest_[i] = to;
    queue(i);
    return true;
  }

  bool set_order(std::size_t pair, Order order, const Reason& reason) {
    if (orders_[pair] == Order::open) {
      note(Change::Kind::order, pair, 0, ordered_at_[pair], reason);
      orders_[pair] = order;
      set_.push_back({static_cast<Index>(pair), order});
    }
    const Pair& one = pairs_[pair];
    return order == Order::a_below ? push_apart(one.a, one.b, one.a_below, pair)
                                   : push_apart(one.b, one.a, one.b_below, pair);
  }

  bool push_apart(std::size_t below, std::size_t above, Bytes distance, std::size_t pair) {
    return raise_lowest(above, lowest_[below] + distance, {ordered_at_[pair], lowest_at_[below]}) &&
           lower_highest(below, highest_[above] - distance, {ordered_at_[pair], highest_at_[above]});
  }

  void queue(std::size_t i) {
    if (is_queued_[i]) return;
    is_queued_[i] = true;
    queue_.push_back(i);
  }

  static std::size_t number_of(const Literal& literal) {
    return 2 * std::size_t{literal.pair} + (literal.order == Order::a_below ? 0 : 1);
  }
  static Order opposite(Order order) { return order == Order::a_below ? Order::b_below : Order::a_below; }
  [[nodiscard]] bool holds(const Literal& literal) const { return orders_[literal.pair] == literal.order; }

  bool propagate() {
    do {
      while (!set_.empty()) {
        const Literal literal = set_.back();
        set_.pop_back();
        if (!propagate_clauses(literal)) return false;
      }
      if (!propagate_pairs()) return false;
    } while (!set_.empty());
    return true;
  }

  // Of clauses that watch the order, which holds now: each watches two that do not.
  bool propagate_clauses(const Literal& literal) {
    std::vector<Index>& watching = watching_[number_of(literal)];
    std::size_t kept = 0;
    bool is_consistent = true;
    for (std::size_t k = 0; k < watching.size(); ++k) {
      const Index number = watching[k];
      if (!is_consistent) {
        watching[kept++] = number;
        continue;
      }
      Clause& clause = clauses_[number];
      looks_ += 2;
      if (clause[0].pair == literal.pair && clause[0].order == literal.order) std::swap(clause[0], clause[1]);
      if (orders_[clause[0].pair] == opposite(clause[0].order)) {
        watching[kept++] = number;
        continue;
      }
      const auto other =
          std::find_if(clause.begin() + 2, clause.end(), [&](const Literal& one) { return !holds(one); });
      if (other != clause.end()) {
        std::swap(clause[1], *other);
        watching_[number_of(clause[1])].push_back(number);
        continue;
      }
      watching[kept++] = number;
      if (holds(clause[0])) {
        failed_.clear();
        for (const Literal& one : clause) failed_.push_back(ordered_at_[one.pair]);
        is_consistent = false;
      } else {
        is_consistent = set_order(clause[0].pair, opposite(clause[0].order), {nothing, nothing, number});
      }
    }
    watching.resize(kept);
    return is_consistent;
  }

  bool propagate_pairs() {
    bool is_consistent = true;
    while (!queue_.empty()) {
      const std::size_t item = queue_.back();
      queue_.pop_back();
      is_queued_[item] = false;
      if (looks_ > most_looks_unpaid && !charge()) return false;
      const std::vector<Conflict>& conflicts = conflicts_of_[item];
      for (std::size_t k = 0; k < conflicts.size() && is_consistent; ++k) {
        is_consistent = look_at(item, conflicts[k]);
        if (!is_consistent) weights_[conflicts[k].pair] += weight_;
      }
    }
    return is_consistent;
  }

  // Bounds that push each other up byte by byte could take for ever: what is long for a node counts as another one.
  bool charge() {
    budget_->spend_work(std::exchange(looks_, 0));
    return budget_->spend();
  }

  bool look_at(std::size_t item, const Conflict& conflict) {
    ++looks_;
    const Order order = orders_[conflict.pair];
    if (order != Order::open) {
      return order == conflict.is_below ? push_apart(item, conflict.other, conflict.to_other, conflict.pair)
                                        : push_apart(conflict.other, item, conflict.from_other, conflict.pair);
    }
    const bool may_below = lowest_[item] + conflict.to_other <= highest_[conflict.other];
    const bool may_above = lowest_[conflict.other] + conflict.from_other <= highest_[item];
    if (may_below && may_above) return true;
    if (!may_below && !may_above) {
      failed_.clear();
      for (const Index change :
           {lowest_at_[item], highest_at_[item], lowest_at_[conflict.other], highest_at_[conflict.other]}) {
        if (change != nothing) failed_.push_back(change);
      }
      return false;
    }
    const Reason reason = may_below ? Reason{lowest_at_[conflict.other], highest_at_[item]}
                                    : Reason{lowest_at_[item], highest_at_[conflict.other]};
    return set_order(conflict.pair,
                     may_below == (conflict.is_below == Order::a_below) ? Order::a_below : Order::b_below, reason);
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
      const double room = static_cast<double>(std::min(room_a(pair), room_b(pair))) / weights_[i];
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
    decisions_.push_back({trail_.size()});
    is_consistent = set_order(pair, a_first ? Order::a_below : Order::b_below, {}) && propagate();
  }

  // From the beginning, with what failures have taught of the pairs, and more of them allowed. False if nothing is
  // left.
  bool restart(bool& is_consistent) {
    forget_queue();
    if (!decisions_.empty()) take_back(decisions_.front().trail);
    decisions_.clear();
    forget_clauses();
    failures_ = 0;
    failures_of_run_ = std::min(failures_of_run_ + failures_of_run_ / 5, longest_run);
    follows_guide_ = !follows_guide_;
    for (std::size_t i = 0; i < packing_.items.size(); ++i) queue(i);
    is_consistent = lower_highest_to_capacity() && propagate();
    return is_consistent;
  }

  // Without decisions, and with all that follows from none: no clause has less than two orders that are open. Forgets
  // the longer half, if there are many.
  void forget_clauses() {
    std::erase_if(clauses_, [&](const Clause& clause) {
      return std::ranges::any_of(clause, [&](const Literal& one) { return orders_[one.pair] == opposite(one.order); });
    });
    for (Clause& clause : clauses_) {
      std::erase_if(clause, [&](const Literal& one) { return holds(one); });
    }
    if (clauses_.size() > most_clauses) {
      std::ranges::stable_sort(clauses_, {}, &Clause::size);
      clauses_.resize(most_clauses / 2);
    }
    for (auto& watching : watching_) watching.clear();
    for (std::size_t i = 0; i < clauses_.size(); ++i) watch(static_cast<Index>(i));
  }

  // By its first two orders.
  void watch(Index clause) {
    watching_[number_of(clauses_[clause][0])].push_back(clause);
    watching_[number_of(clauses_[clause][1])].push_back(clause);
  }

  void forget_queue() {
    set_.clear();
    for (const std::size_t item : queue_) is_queued_[item] = false;
    queue_.clear();
  }

  // Later failures count more.
  void raise_weight() {
    constexpr double growth = 1.02;
    constexpr double most = 1e100;
    weight_ *= growth;
    if (weight_ < most) return;
    for (double& weight : weights_) weight = std::max(weight / most, 1 / most);
    weight_ /= most;
  }

  // Learns from a failure what orders do not go together, and takes decisions back until one of these follows from the
  // others. False: the failure follows from nothing.
  bool step_back(bool& is_consistent) {
    forget_queue();
    std::size_t at = trail_.size();
    is_marked_.resize(trail_.size(), 0);
    marked_of_level_.assign(decisions_.size() + 1, 0);
    std::size_t marked = 0;
    const auto mark = [&](Index change) {
      if (change == nothing || is_marked_[change] != 0 || trail_[change].level == 0) return;
      is_marked_[change] = 1;
      ++marked_of_level_[trail_[change].level];
      ++marked;
    };
    for (const Index change : failed_) mark(change);
    Clause clause;
    std::size_t level = 0;
    std::size_t back_to = 0;
    while (marked > 0) {
      --at;
      if (is_marked_[at] == 0) continue;
      is_marked_[at] = 0;
      --marked;
      const Change& change = trail_[at];
      --marked_of_level_[change.level];
      ++looks_;
      if (change.kind == Change::Kind::order) {
        weights_[change.index] += weight_;
        if (level == 0) level = change.level;
        const bool is_last = change.level < level || marked_of_level_[level] == 0 || at == decisions_[level - 1].trail;
        if (is_last) {
          if (change.level < level) back_to = std::max<std::size_t>(back_to, change.level);
          clause.push_back({change.index, orders_[change.index]});
          continue;
        }
      }
      mark(change.reason.first);
      mark(change.reason.second);
      if (change.reason.clause == nothing) continue;
      for (const Literal& one : clauses_[change.reason.clause]) {
        if (one.pair != change.index) mark(ordered_at_[one.pair]);
      }
    }
    if (clause.empty()) return false;
    raise_weight();
    take_back(decisions_[back_to].trail);
    decisions_.resize(back_to);
    Reason reason;
    if (clause.size() > 1) {
      reason.clause = static_cast<Index>(clauses_.size());
      clauses_.push_back(clause);
      watch(reason.clause);
    }
    is_consistent =
        lower_highest_to_capacity() && set_order(clause[0].pair, opposite(clause[0].order), reason) && propagate();
    return true;
  }

  void take_back(std::size_t length) {
    for (; trail_.size() > length; trail_.pop_back()) {
      const Change& change = trail_.back();
      if (change.kind == Change::Kind::lowest) {
        lowest_[change.index] = change.before;
        lowest_at_[change.index] = change.changed_before;
      }
      if (change.kind == Change::Kind::highest) {
        highest_[change.index] = change.before;
        highest_at_[change.index] = change.changed_before;
      }
      if (change.kind == Change::Kind::order) {
        orders_[change.index] = Order::open;
        ordered_at_[change.index] = nothing;
      }
    }
  }

  const Packing& packing_;
  std::vector<Pair> pairs_;
  std::vector<std::vector<Conflict>> conflicts_of_;  // by item
  std::optional<Bytes> capacity_;
  std::vector<Bytes> lowest_;             // by item
  std::vector<Bytes> highest_;            // by item
  std::vector<std::uint8_t> is_aligned_;  // by item, 0 or 1: its bounds are, so that most others need not be divided
  std::vector<Order> orders_;             // by pair
  std::vector<Index> lowest_at_;          // by item, the change that made it so
  std::vector<Index> highest_at_;         // by item
  std::vector<Index> ordered_at_;         // by pair
  std::vector<Index> failed_;             // changes that do not go together
  std::vector<Clause> clauses_;
  std::vector<std::vector<Index>> watching_;  // clauses, by number_of
  std::vector<Literal> set_;                  // orders whose clauses have not been looked at
  std::vector<std::uint8_t> is_marked_;       // by change, for step_back
  std::vector<std::size_t> marked_of_level_;
  std::vector<double> weights_;  // by pair: failures it had part in, the later the more
  double weight_ = 1;            // of the next failure
  std::vector<Bytes> guide_;     // the best placement so far
  bool follows_guide_ = false;   // every second run
  std::uint64_t failures_ = 0;   // of this run
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
  while (minimum.lower < minimum.upper && minimum.upper > goal.enough && minimum.lower <= goal.hopeless) {
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

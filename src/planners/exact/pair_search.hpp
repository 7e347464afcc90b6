// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The state of the search by pairs: orders of pairs, bounds of offsets, what follows from what, and what failures
// teach.
//
// Idea: memory planning as job shop scheduling, by pairs: of two items that meet, one is below the other, by at least a
// distance that depends on which. Every item has a lowest and a highest offset; a pair that cannot stand one way has to
// stand the other way, which moves these bounds, and so on. A pair that is violated with all items at their lowest
// offsets is decided; if there is none, these offsets are a plan, and the search goes on for a lower one.
// A failure is traced back to orders that do not go together, whatever else is decided. Such a clause is kept, until
// there are thousands, and holds for all lower capacities, too. The search begins anew after some failures, with what
// they have taught: pairs that had part in many, the later ones above all, are decided first, and every second run
// orders pairs as the best placement so far does.
// Cost: exponential in the worst case, bounded by the budget, a node a decision; a node costs up to the number of pairs
// times the bounds that move, and the clauses that watch an order.
// Source: Carlier and Pinson, An algorithm for solving the job-shop problem, 1989, without its edge finding: sizes do
// not add up where items share bytes. Clauses of orders alone: Siala, Artigues and Hebrard, Two clause learning
// approaches for disjunctive scheduling, 2015. Weights, restarts and the guide: Grimes and Hebrard, Solving variants of
// the job shop scheduling problem through conflict-directed search, 2015.
// Tests: tests/planners/disjunctive_test.cpp, against exhaustive search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "planners/exact/disjunctive.hpp"
#include "planners/exact/packing.hpp"
#include "usmp/bounds/certificate.hpp"

namespace usmp::planners::exact {

class PairSearch {
 public:
  // `guide`: a placement that is not far from good ones.
  PairSearch(const Packing& packing, std::span<const Spacing> spacings, std::vector<Bytes> guide);

  // Is called now and then.
  void set_progress(std::function<void()> tell) { tell_ = std::move(tell); }

  // Offsets with a peak of at most `capacity`, or nothing: then none are left to find, or the budget is exhausted.
  // Called again with a lower capacity, it goes on where it stopped.
  std::optional<std::vector<Bytes>> next(Bytes capacity, Budget& budget);

  // Before the only call of `next`: what it learns is noted. Exhausts the budget beyond `most` places in stacks and
  // lessons.
  void record(std::size_t most);
  // Behind it, if it found nothing and the budget is not exhausted: why there is nothing to find, without what does not
  // matter for that.
  [[nodiscard]] bounds::Refutation refutation() const;

 private:
  using Index = std::uint32_t;
  static constexpr Index nothing = ~Index{0};
  static constexpr std::uint8_t moved_up = 1;    // the lowest offset
  static constexpr std::uint8_t moved_down = 2;  // the highest one
  // Failures after which the search begins anew, the first time; a fifth more each time.
  static constexpr std::uint64_t first_run = 100;

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

  // A pair and one of its orders.
  struct Literal {
    Index pair = 0;
    Order order = Order::open;
  };
  // Orders that do not go together.
  using Orders = std::vector<Literal>;
  struct Clause {
    Orders orders;  // without those that hold whatever is decided
    Index lesson = nothing;
  };

  // What the search has learned, and of what.
  struct Record {
    bounds::Refutation all;
    std::map<bounds::Refutation::Stack, Index> stacks;  // their numbers
    std::vector<Orders> orders;                         // by lesson
    std::vector<Index> lesson_of_root;  // by pair: of its order that holds whatever is decided, if it is noted
    std::size_t roots_noted = 0;        // of the trail
    bounds::Refutation::Lesson steps;   // of the next lesson
    std::set<Index> roots;              // that these need: changes
    std::size_t places = 0;
    std::size_t most = 0;
  };

  // What a change follows from. A bound: an order, and the bound of the other item, or nothing if that is where it
  // begins. An order: a clause all of whose other orders hold; or that the pair cannot stand the other way, as the
  // lower one would be at this lowest offset, and the upper one at this highest. Neither for what is decided, or
  // learned alone.
  struct Reason {
    Index first = nothing;
    Index second = nothing;
    Index clause = nothing;
  };

  // What went wrong.
  struct Failure {
    enum class Kind : std::uint8_t {
      pair,    // it has no room in its order
      both,    // nor in any
      clause,  // all of its orders hold
      item,    // it ends above the capacity
    };
    Kind kind = Kind::item;
    Index index = nothing;
  };

  struct Change {
    enum class Kind : std::uint8_t { lowest, highest, order };
    Kind kind;
    Index index;
    Index level;  // decisions before, itself included
    Bytes before;
    Bytes after;
    Index changed_before;  // the change that made it so; order: nothing
    Reason reason;
  };
  struct Decision {
    std::size_t trail;  // length before
  };
  [[nodiscard]] bool is_empty(std::size_t i) const;
  void begin();

  // The capacity holds for all that is tried from here on, also after decisions are taken back: it is applied anew.
  bool lower_highest_to_capacity();
  bool fails(Failure::Kind kind, std::size_t index);
  void note(Change::Kind kind, std::size_t index, Bytes before, Bytes after, Index& changed_at, const Reason& reason);
  bool raise_lowest(std::size_t i, Bytes to, const Reason& reason);
  bool lower_highest(std::size_t i, Bytes to, const Reason& reason);
  bool set_order(std::size_t pair, Order order, const Reason& reason);
  bool push_apart(std::size_t below, std::size_t above, Bytes distance, std::size_t pair);
  void queue(std::size_t i, std::uint8_t moved);
  static std::size_t number_of(const Literal& literal);
  static Order opposite(Order order) { return order == Order::a_below ? Order::b_below : Order::a_below; }
  [[nodiscard]] bool holds(const Literal& literal) const { return orders_[literal.pair] == literal.order; }

  bool propagate();

  // Goes through clauses that watch the order, which holds now: each watches two that do not.
  bool propagate_clauses(const Literal& literal);
  bool propagate_pairs();

  // Bounds that push each other up byte by byte could take for ever: what is long for a node counts as another one.
  bool charge();
  // What follows from the lowest offset of the item, and from the highest.
  bool look_up(std::size_t item, const Conflict& conflict);
  bool look_down(std::size_t item, const Conflict& conflict);

  // The open pair that is violated with both at their lowest offsets and has least room, both ways together, for the
  // failures that it had part in, or nothing.
  [[nodiscard]] std::optional<std::size_t> choose() const;
  [[nodiscard]] Bytes room_a(const Pair& pair) const { return highest_[pair.b] - lowest_[pair.a] - pair.a_below; }
  [[nodiscard]] Bytes room_b(const Pair& pair) const { return highest_[pair.a] - lowest_[pair.b] - pair.b_below; }

  void decide(std::size_t pair, bool& is_consistent);

  // From the beginning, with what failures have taught of the pairs, and more of them allowed. False if nothing is
  // left.
  bool restart(bool& is_consistent);

  // Without decisions, and with all that follows from none: no clause has less than two orders that are open. Forgets
  // the longer half, if there are many.
  void forget_clauses();

  // By its first two orders.
  void watch(Index clause);
  void forget_queue();

  // Later failures count more.
  void raise_weight();

  // The orders of which the failure, or an order that was not decided, follows: appended to because_.
  void explain_failure();
  void explain_order(Index change);
  // That the pair has no room in this order, with the bounds that these changes made (nothing: with the first ones).
  void explain_pair(Index pair, Order order, Index lowest_at, Index highest_at);
  // Why the item is at `needed` or above (below). Of what pushed it there, the earliest that is enough. Returns the
  // bound that follows from it, which may be more (less).
  Bytes explain_lowest(Index item, Index change, Bytes needed);
  Bytes explain_highest(Index item, Index change, Bytes needed);
  [[nodiscard]] Bytes base_highest(Index item) const;
  [[nodiscard]] Bytes distance(Index pair, Order order) const {
    return order == Order::a_below ? pairs_[pair].a_below : pairs_[pair].b_below;
  }
  [[nodiscard]] Index below(Index pair, Order order) const {
    return order == Order::a_below ? pairs_[pair].a : pairs_[pair].b;
  }

  // What was explained, for the record.
  void note_stack();
  void note_lesson_of(Index clause, Index pair);
  Index note_lesson(const Orders& orders);
  void note_roots();
  void note_contradiction();

  // Takes orders out of the clause that follow from the others.
  void minimise(Orders& clause);

  // Learns from a failure what orders do not go together, and takes decisions back until one of these follows from the
  // others. False: the failure follows from nothing.
  bool step_back(bool& is_consistent);
  void take_back(std::size_t length);

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
  std::vector<Bytes> base_lowest_;        // by item, before anything is decided
  Failure failure_;                       // the last one
  std::vector<Index> because_;            // changes of orders
  std::vector<std::pair<Index, Bytes>> pushed_;  // of explain_lowest and explain_highest: items, each by so much
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
  std::vector<std::size_t> queue_;   // items whose bounds have moved
  std::vector<std::uint8_t> moved_;  // by item: which; 0: it is not in the queue
  std::uint64_t looks_ = 0;          // at pairs, not told to the budget yet
  Budget* budget_ = nullptr;         // of the call of `next`
  std::function<void()> tell_;
  std::uint64_t nodes_ = 0;
  std::unique_ptr<Record> record_;  // nothing: it is not asked for
  bounds::Refutation::Stack stack_;
};

}  // namespace usmp::planners::exact

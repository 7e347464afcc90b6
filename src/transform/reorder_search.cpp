// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The order of the least peak.
//
// Idea: a state is the set of the tasks that are done; orders are paths from the empty set to the full one, and the
// peak of an order is the worst of its steps. Best-first search over states, the least peak first (Dijkstra's algorithm
// with the maximum in place of the sum), those with most tasks done first among equals: the first full state that comes
// up is proved to be best, and when the effort is spent the peak of the next state is a bound. The search begins with
// the bound of reorder_bound.hpp as its peak.
//
// Forced steps: let the peak so far be p. If from a state S a chain of tasks, each made ready by the one before, can
// run without exceeding p, holds more than S did until its last task, and then no more than S, it may as well run at
// once, and nothing else is tried. Proof: the load of a state is a cut, the sizes of the storages accessed on both
// sides of it, and so submodular: load(A ∪ B) ≤ load(A) + load(B) − load(A ∩ B). Take any way on from S, move the chain
// to its front, and let A be a state on that way (phases of a task being states, too) and B the one behind the chain. A
// ∩ B is S with a first part of the chain, which holds at least load(B). So load(A ∪ B) ≤ load(A): nothing on the way
// gets worse. Where networks do not branch, this leaves no choice at all.
//
// With shared bytes (TaskSharing) the same holds: what a task saves depends on what dies in it, which no chain in front
// can make less, and on what is born in it, which no task before it accesses in any order. (As far as bounds::load
// counts no less when more is held; where many buffers share with each other it may, and the order found may not be
// best.)
//
// For large networks a beam of states, as many a number of tasks done, gives an order first, and wider ones later
// if the search does not come to its end. What needs not change places goes back (reorder_settle.hpp).
//
// Cost: exponential at worst, therefore limited; a step of effort is a few nanoseconds.
//
// Tested by reorder_search_test.cpp against all orders of small problems.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "transform/reorder_bound.hpp"
#include "transform/reorder_problem.hpp"
#include "transform/reorder_settle.hpp"
#include "transform/reorder_state.hpp"

namespace usmp::transform {
namespace {

constexpr std::size_t root_node = 0;
constexpr std::size_t longest_chain = 64;
constexpr std::size_t chain_tries = 256;  // tasks that are run to find one chain

class Search {
 public:
  Search(const OrderProblem& problem, std::size_t effort)
      : problem_(problem), state_(problem), words_((problem.tasks.size() + 63) / 64), effort_(effort) {
    result_.order.resize(problem.tasks.size());
    std::iota(result_.order.begin(), result_.order.end(), std::size_t{0});
    result_.given_peak = peak_of(problem, result_.order);
    result_.peak = result_.given_peak;
    result_.bound = std::min(order_bound(problem), result_.peak);
  }

  OrderResult run() {
    if (!is_done()) beam(1, effort_);
    if (!is_done()) exact(effort_ / 2);
    for (std::size_t width = 4; !is_done() && spent_ < effort_; width *= 4) beam(width, effort_);
    result_.order = settled(problem_, std::move(result_.order), result_.peak, effort_);
    return std::move(result_);
  }

  [[nodiscard]] std::size_t spent() const { return spent_; }

 private:
  // A set of tasks that are done, and how it was come to.
  struct Node {
    std::size_t parent = root_node;
    std::size_t count = 0;  // of tasks done
    Bytes peak = 0;         // on the way
    Bytes load = 0;
    std::vector<std::uint32_t> tasks;  // run since the parent
  };

  using Key = std::vector<std::uint64_t>;  // a bit a task
  struct HashOfKey {
    std::size_t operator()(const Key& key) const {
      std::uint64_t hash = 0;
      for (const std::uint64_t word : key) hash = (hash ^ word ^ (hash >> 29U)) * 0x9e3779b97f4a7c15U;
      return static_cast<std::size_t>(hash ^ (hash >> 32U));
    }
  };

  [[nodiscard]] bool is_done() const { return result_.peak == result_.bound; }
  // Searches end between two nodes when their effort is spent, but where very many tasks are ready a single node takes
  // more than that.
  [[nodiscard]] bool is_overspent() const { return spent_ >= 2 * effort_; }

  // --- Walking -----------------------------------------------------------------------------------------------------

  void run_task(std::size_t task) {
    spent_ += state_.steps(task);
    state_.run(task);
    done_.push_back(task);
  }

  void undo_task(std::size_t task) {
    spent_ += state_.steps(task);
    state_.undo(task);
    done_.pop_back();
  }

  Bytes peak_of_task(std::size_t task) {
    spent_ += state_.steps(task);
    return state_.peak_of(task);
  }

  void undo_all(const std::vector<std::uint32_t>& tasks) {
    for (std::size_t i = tasks.size(); i-- > 0;) undo_task(tasks[i]);
  }

  void move_to(std::size_t target) {
    std::vector<std::size_t> forward;
    std::size_t common = target;
    while (common != at_) {
      if (nodes_[common].count >= nodes_[at_].count && common != root_node) {
        forward.push_back(common);
        common = nodes_[common].parent;
      } else {
        undo_all(nodes_[at_].tasks);
        at_ = nodes_[at_].parent;
      }
    }
    for (std::size_t i = forward.size(); i-- > 0;) {
      for (const std::uint32_t task : nodes_[forward[i]].tasks) run_task(task);
    }
    at_ = target;
  }

  // Runs what is forced as long as there is such, and notes it in `tasks`.
  void run_forced(Bytes peak, std::vector<std::uint32_t>& tasks) {
    for (bool again = true; again;) {
      again = false;
      const std::vector<std::size_t> ready = state_.ready();
      for (const std::size_t first : ready) {
        if (is_overspent()) return;
        if (!run_chain(first, peak, tasks)) continue;
        again = true;
        break;
      }
    }
  }

  bool run_chain(std::size_t first, Bytes peak, std::vector<std::uint32_t>& tasks) {
    struct Choice {
      std::vector<std::size_t> candidates;
      std::size_t next = 0;
    };
    const Bytes load = state_.load();
    const std::size_t old_size = tasks.size();
    std::size_t tries = chain_tries;
    std::vector<Choice> choices = {{{first}}};
    while (true) {
      Choice& choice = choices.back();
      if (choice.next == choice.candidates.size()) {
        choices.pop_back();
        if (choices.empty()) return false;
        undo_task(tasks.back());
        tasks.pop_back();
        continue;
      }
      const std::size_t task = choice.candidates[choice.next++];
      if (tries == 0 || peak_of_task(task) > peak) continue;
      --tries;
      run_task(task);
      tasks.push_back(static_cast<std::uint32_t>(task));
      if (state_.load() <= load) return true;
      const bool goes_on = tasks.size() - old_size < longest_chain;
      choices.push_back({goes_on ? state_.made_ready_by(task) : std::vector<std::size_t>()});
    }
  }

  // --- Nodes -------------------------------------------------------------------------------------------------------

  void start() {
    nodes_.assign(1, {});
    best_of_.clear();
    key_.clear();
    at_ = root_node;
    nodes_[root_node].peak = result_.bound;
    nodes_[root_node].load = state_.load();
  }

  void finish() {
    move_to(root_node);
    undo_all(nodes_[root_node].tasks);
  }

  // The start with what is forced there.
  void run_root() {
    run_forced(nodes_[root_node].peak, nodes_[root_node].tasks);
    nodes_[root_node].count = state_.count();
    nodes_[root_node].load = state_.load();
    if (state_.count() == problem_.tasks.size()) accept(nodes_[root_node].peak);
  }

  // Calls `add` for the nodes behind `parent` that are neither full, nor known, nor as bad as the best order; not for
  // all if is_cut_ then.
  template <class Add>
  void expand(std::size_t parent, const Add& add) {
    move_to(parent);
    const std::vector<std::size_t> ready = state_.ready();
    for (const std::size_t task : ready) {
      is_cut_ = is_cut_ || is_overspent();
      if (is_cut_) return;
      Node node;
      node.parent = parent;
      node.peak = std::max(nodes_[parent].peak, peak_of_task(task));
      if (node.peak >= result_.peak) continue;
      run_task(task);
      node.tasks.push_back(static_cast<std::uint32_t>(task));
      run_forced(node.peak, node.tasks);
      node.count = state_.count();
      node.load = state_.load();
      if (node.count == problem_.tasks.size()) {
        accept(node.peak);
      } else if (is_news(node)) {
        nodes_.push_back(node);
        add(nodes_.size() - 1);
      }
      undo_all(node.tasks);
    }
  }

  bool is_news(const Node& node) {
    Key key = key_of(node.parent);
    for (const std::uint32_t task : node.tasks) key[task / 64] |= std::uint64_t{1} << (task % 64);
    spent_ += 8 + 2 * words_;
    const auto [entry, is_new] = best_of_.try_emplace(std::move(key), node.peak);
    if (!is_new && entry->second <= node.peak) return false;
    entry->second = node.peak;
    return true;
  }

  Key key_of(std::size_t node) {
    if (key_node_ == node && !key_.empty()) return key_;
    key_.assign(words_, 0);
    for (std::size_t i = node;; i = nodes_[i].parent) {
      for (const std::uint32_t task : nodes_[i].tasks) key_[task / 64] |= std::uint64_t{1} << (task % 64);
      spent_ += nodes_[i].tasks.size();
      if (i == root_node) break;
    }
    key_node_ = node;
    return key_;
  }

  // All tasks are done, with that peak.
  void accept(Bytes peak) {
    if (peak >= result_.peak) return;
    result_.order = done_;
    result_.peak = peak;
  }

  // --- Searches ----------------------------------------------------------------------------------------------------

  void exact(std::size_t limit) {
    start();
    run_root();
    const auto is_worse = [this](std::size_t a, std::size_t b) {
      const Node& left = nodes_[a];
      const Node& right = nodes_[b];
      if (left.peak != right.peak) return left.peak > right.peak;
      if (left.count != right.count) return left.count < right.count;
      if (left.load != right.load) return left.load > right.load;
      return a > b;
    };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(is_worse)> open(is_worse);
    open.push(root_node);
    while (!open.empty() && !is_done() && spent_ < limit) {
      const std::size_t node = open.top();
      open.pop();
      result_.bound = std::min(nodes_[node].peak, result_.peak);
      if (!is_done()) expand(node, [&](std::size_t child) { open.push(child); });
    }
    // All that was left out is at least as bad as the best order.
    if (open.empty() && !is_cut_) result_.bound = result_.peak;
    finish();
  }

  void beam(std::size_t width, std::size_t limit) {
    start();
    run_root();
    std::vector<std::vector<std::size_t>> levels(problem_.tasks.size() + 1);
    levels[nodes_[root_node].count].push_back(root_node);
    for (std::size_t count = 0; count < levels.size() && spent_ < limit && !is_done(); ++count) {
      std::vector<std::size_t> level = std::move(levels[count]);
      std::sort(level.begin(), level.end(), [this](std::size_t a, std::size_t b) {
        return std::tuple(nodes_[a].peak, nodes_[a].load, a) < std::tuple(nodes_[b].peak, nodes_[b].load, b);
      });
      level.resize(std::min(level.size(), width));
      for (const std::size_t node : level)
        expand(node, [&](std::size_t child) { levels[nodes_[child].count].push_back(child); });
    }
    finish();
  }

  const OrderProblem& problem_;
  OrderState state_;
  std::size_t words_;
  std::size_t effort_;
  std::size_t spent_ = 0;
  bool is_cut_ = false;  // some node was not expanded to the end
  OrderResult result_;
  std::vector<Node> nodes_;
  std::size_t at_ = root_node;     // the node that state_ is at
  std::vector<std::size_t> done_;  // in the order in which state_ got there
  std::unordered_map<Key, Bytes, HashOfKey> best_of_;
  Key key_;  // of key_node_
  std::size_t key_node_ = root_node;
};

}  // namespace

Bytes peak_of(const OrderProblem& problem, const std::vector<std::size_t>& order) {
  OrderState state(problem);
  Bytes peak = 0;
  for (const std::size_t task : order) {
    peak = std::max(peak, state.peak_of(task));
    state.run(task);
  }
  return peak;
}

OrderResult best_order(const OrderProblem& problem, std::size_t effort, std::size_t* spent) {
  Search search(problem, effort);
  OrderResult result = search.run();
  if (spent != nullptr) *spent = search.spent();
  return result;
}

}  // namespace usmp::transform

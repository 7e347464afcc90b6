// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Allocates that may sink into a loop.
//
// Idea: a buffer allocated before a loop is normally live for the whole loop, because an iteration may read what an
// earlier one wrote. It need not be if each run of some block B inside the loop overwrites all of it first.
//
// Why it is sound: let v be allocated outside, let every use of v stand inside B, and let the first statement of B that
// uses v store to every element of v, without condition and without reading v. Then a read of v in some run of B sees a
// value stored earlier in the same run: the run began by overwriting whatever was there. So no value of v is ever
// carried from one run of B to another, or out of B; and a program in which v is allocated anew at the start of B
// computes the same. That program is what the walk then sees.
//
// "Stores to every element" is proved for one form: a nest of loops with constant bounds around a single store whose
// index is affine in the nest's variables and counts 0..n-1 in a mixed radix. Inside the innermost loop, later reads at
// exactly the stored index are fine as well (initialise, then accumulate): they see the element just stored.
//
// Cost: O(uses · depth) a function.
//
// Tested by sink_test.cpp (that it triggers, and each condition's absence) and by property_test.cpp.
#include "liveness/sink.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>

#include "usmp/arith/facts.hpp"
#include "usmp/loops/coverage.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::liveness {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Stmt;
using tir::VarId;

constexpr std::uint32_t no_node = UINT32_MAX;

// A statement and where it stands.
struct Node {
  const Stmt* stmt = nullptr;
  const tir::Block* block = nullptr;
  std::uint32_t parent = no_node;
  std::uint32_t depth = 0;
};

struct Use {
  std::uint32_t node = no_node;
  enum class Kind : std::uint8_t { store, load, other } kind = Kind::other;
  const Expr* load = nullptr;
};

struct Tracked {
  const tir::Allocate* allocate = nullptr;
  std::uint32_t node = no_node;
  bool declared_twice = false;
  std::vector<Use> uses;  // in program order
};

class Sinker {
 public:
  Sinker(const tir::Module& module, const tir::Block& body) : module_(module) { tir::walk(body, *this); }

  SunkAllocates run() const {
    SunkAllocates result;
    for (const Tracked& tracked : tracked_) {
      if (const tir::Block* block = home_of(tracked)) result[block].push_back(tracked.allocate);
    }
    return result;
  }

  // --- Collecting uses ---------------------------------------------------------------------------------------------

  // Called by tir::walk.
  void open(const tir::Block& block, const Stmt* owner) {
    const std::uint32_t parent = owner == nullptr ? no_node : last_.back();
    const auto depth = static_cast<std::uint32_t>(last_.size());
    place_.push_back({.stmt = nullptr, .block = &block, .parent = parent, .depth = depth});
    last_.push_back(no_node);
  }

  void statement(const Stmt& stmt) {
    const auto node = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back(place_.back());
    nodes_.back().stmt = &stmt;
    last_.back() = node;
    collect(stmt, node);
  }

  void close(const tir::Block& /*block*/, const Stmt* /*owner*/) {
    place_.pop_back();
    last_.pop_back();
  }

 private:
  void collect(const Stmt& stmt, std::uint32_t node) {
    const auto* const allocate = std::get_if<tir::Allocate>(&stmt.node);
    if (allocate != nullptr && !allocate->on_stack && !allocate->ring) track(*allocate, node);
    if (const auto* store = std::get_if<tir::Store>(&stmt.node)) {
      add_use(store->storage, {.node = node, .kind = Use::Kind::store, .load = nullptr});
    }
    if (const auto* let = std::get_if<tir::Let>(&stmt.node)) let_bound_.insert(let->var);
    tir::for_each_expr_of(stmt, [&](const tir::ExprRef& root) {
      tir::for_each_expr(*root, [&](const Expr& expr) {
        if (expr.kind == ExprKind::load) add_use(expr.var, {.node = node, .kind = Use::Kind::load, .load = &expr});
        if (expr.kind == ExprKind::var) add_use(expr.var, {.node = node, .kind = Use::Kind::other, .load = nullptr});
        if (expr.kind == ExprKind::let) let_bound_.insert(expr.var);
        if (expr.kind == ExprKind::call && expr.op == tir::Op::address_of) hide_loads(expr, node);
      });
    });
  }

  // The load below address_of is no read, but a pointer that may go anywhere.
  void hide_loads(const Expr& address, std::uint32_t node) {
    for (const tir::ExprRef& operand : address.operands) {
      if (operand->kind != ExprKind::load) continue;
      add_use(operand->var, {.node = node, .kind = Use::Kind::other, .load = nullptr});
    }
  }

  void track(const tir::Allocate& allocate, std::uint32_t node) {
    const auto [entry, is_new] = index_of_.try_emplace(allocate.var, tracked_.size());
    if (is_new) {
      tracked_.push_back({.allocate = &allocate, .node = node, .declared_twice = false, .uses = {}});
    } else {
      tracked_[entry->second].declared_twice = true;
    }
  }

  void add_use(VarId var, const Use& use) {
    const auto found = index_of_.find(var);
    if (found != index_of_.end()) tracked_[found->second].uses.push_back(use);
  }

  // --- Choosing the block ------------------------------------------------------------------------------------------

  // The innermost block that can take the allocate into a loop; null if there is none.
  const tir::Block* home_of(const Tracked& tracked) const {
    if (tracked.declared_twice || tracked.uses.empty() || tracked.uses[0].kind != Use::Kind::store) return nullptr;
    const std::uint32_t outermost = nodes_[tracked.node].depth;
    std::uint32_t common = common_depth(tracked);
    // A block at depth d holds nodes of depth d; the first use's ancestor there is where the overwriting must begin.
    for (; common > outermost; --common) {
      const std::uint32_t first = ancestor(tracked.uses[0].node, common);
      if (!overwrites(tracked, first)) continue;
      return in_loop(first, outermost) ? nodes_[first].block : nullptr;
    }
    return nullptr;
  }

  // Depth of the innermost block that holds all uses.
  std::uint32_t common_depth(const Tracked& tracked) const {
    const std::uint32_t first = tracked.uses[0].node;
    std::uint32_t depth = nodes_[first].depth;
    for (const Use& use : tracked.uses) {
      depth = std::min(depth, nodes_[use.node].depth);
      while (nodes_[ancestor(first, depth)].block != nodes_[ancestor(use.node, depth)].block) --depth;
    }
    return depth;
  }

  std::uint32_t ancestor(std::uint32_t node, std::uint32_t depth) const {
    while (nodes_[node].depth > depth) node = nodes_[node].parent;
    return node;
  }

  bool in_loop(std::uint32_t node, std::uint32_t outermost) const {
    for (node = nodes_[node].parent; node != no_node && nodes_[node].depth >= outermost; node = nodes_[node].parent) {
      const Stmt& stmt = *nodes_[node].stmt;
      if (std::holds_alternative<tir::For>(stmt.node) || std::holds_alternative<tir::While>(stmt.node)) return true;
    }
    return false;
  }

  // --- Proving the overwriting -------------------------------------------------------------------------------------

  // Whether the statement `top`, which holds the first use, stores to every element and reads none before that.
  bool overwrites(const Tracked& tracked, std::uint32_t top) const {
    const std::uint32_t store_node = tracked.uses[0].node;
    const auto& store = std::get<tir::Store>(nodes_[store_node].stmt->node);
    if (store.predicate) return false;
    std::map<VarId, const tir::For*> loops;
    for (std::uint32_t node = store_node; node != top;) {
      node = nodes_[node].parent;
      const Stmt& stmt = *nodes_[node].stmt;
      if (std::holds_alternative<tir::Scope>(stmt.node)) continue;
      const auto* loop = std::get_if<tir::For>(&stmt.node);
      if (loop == nullptr || let_bound_.contains(loop->var) || !loops.emplace(loop->var, loop).second) return false;
    }
    return indices_are_dense(*tracked.allocate, store, loops) && only_rereads(tracked, top, store, loops);
  }

  bool indices_are_dense(const tir::Allocate& allocate, const tir::Store& store,
                         const std::map<VarId, const tir::For*>& around) const {
    const auto size = tir::allocation_size(allocate);
    const Bytes element = store.value->type.element_bytes();
    if (!size.bytes || element == 0 || *size.bytes % element != 0) return false;
    loops::Digit lanes{.factor = 0, .extent = 1};
    const Expr* index = store.index.get();
    if (index->kind == ExprKind::ramp) {
      const auto stride = tir::as_int(*index->operands[1]);
      if (!stride) return false;
      lanes = {.factor = *stride, .extent = index->type.lanes};
      index = index->operands[0].get();
    }
    std::map<VarId, Interval> ranges;
    for (const auto& [var, loop] : around) {
      const auto range = loops::constant_range(*loop);
      if (!range) return false;
      ranges[var] = *range;
    }
    const auto form = arith::Facts(module_).affine(*index);
    auto numbers = form ? loops::mixed_radix(*form, ranges) : std::nullopt;
    if (!numbers) return false;
    numbers->digits.push_back(lanes);
    return loops::dense_values(*numbers) == Interval{0, *size.bytes / element - 1};
  }

  // Whether the other uses below `top` come after the store in its own block, and read only what it has just stored.
  bool only_rereads(const Tracked& tracked, std::uint32_t top, const tir::Store& store,
                    const std::map<VarId, const tir::For*>& loops) const {
    const Node& first = nodes_[tracked.uses[0].node];
    for (std::size_t i = 1; i < tracked.uses.size(); ++i) {
      const Use& use = tracked.uses[i];
      if (ancestor(use.node, nodes_[top].depth) != top) continue;
      if (nodes_[use.node].depth < first.depth || use.node == tracked.uses[0].node) return false;
      if (nodes_[ancestor(use.node, first.depth)].block != first.block) return false;
      if (use.kind == Use::Kind::store) continue;
      if (use.kind != Use::Kind::load || !tir::is_same(*use.load->operands[0], *store.index)) return false;
      if (use.load->type.element_bytes() != store.value->type.element_bytes()) return false;
      if (rebinds(use.node, first.depth, loops)) return false;
    }
    return true;
  }

  // Whether between the store's block and the use a variable of the nest gets another value.
  bool rebinds(std::uint32_t node, std::uint32_t depth, const std::map<VarId, const tir::For*>& loops) const {
    for (; nodes_[node].depth >= depth; node = nodes_[node].parent) {
      const Stmt& stmt = *nodes_[node].stmt;
      if (const auto* loop = std::get_if<tir::For>(&stmt.node); loop != nullptr && loops.contains(loop->var))
        return true;
      if (nodes_[node].parent == no_node) break;
    }
    return false;
  }

  const tir::Module& module_;
  std::vector<Node> nodes_;
  std::vector<Node> place_;          // by open block: a statement that stands in it
  std::vector<std::uint32_t> last_;  // by open block: its statement that was visited last
  std::vector<Tracked> tracked_;     // in program order
  std::unordered_map<VarId, std::size_t> index_of_;
  std::unordered_set<VarId> let_bound_;
};

// Whether the body has both allocates and loops.
bool may_sink(const tir::Block& body) {
  bool has_allocate = false;
  bool has_loop = false;
  tir::for_each_stmt(body, [&](const Stmt& stmt) {
    has_allocate = has_allocate || std::holds_alternative<tir::Allocate>(stmt.node);
    has_loop = has_loop || std::holds_alternative<tir::For>(stmt.node) || std::holds_alternative<tir::While>(stmt.node);
  });
  return has_allocate && has_loop;
}

}  // namespace

SunkAllocates sink_allocates(const tir::Module& module, const tir::Block& body) {
  return may_sink(body) ? Sinker(module, body).run() : SunkAllocates();
}

}  // namespace usmp::liveness

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds the bytes that a statement's loops surely write, and the loads that read none but these.
#include "storage/flow.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "usmp/loops/coverage.hpp"
#include "usmp/support/checked.hpp"

namespace usmp::storage {
namespace {

using arith::Affine;
using tir::Stmt;
using tir::VarId;

bool is_scope(const Stmt* stmt) { return std::holds_alternative<tir::Scope>(stmt->node); }

// The variables of the loops among the statements; nothing if one of them is no such loop, no scope, and no branch that
// only limits the access's index.
std::optional<std::map<VarId, Interval>> loops_among(std::span<const Stmt* const> statements,
                                                     const FunctionAccesses& function,
                                                     const Access* limited = nullptr) {
  std::map<VarId, Interval> ranges;
  for (const Stmt* stmt : statements) {
    if (is_scope(stmt)) continue;
    if (limited != nullptr && limited->is_limited_by(stmt)) continue;
    const auto* loop = std::get_if<tir::For>(&stmt->node);
    const auto found = loop == nullptr ? function.loops.end() : function.loops.find(loop->var);
    if (found == function.loops.end()) return std::nullopt;
    ranges.insert(*found);
  }
  return ranges;
}

// A sum of variables of known loops.
std::optional<Interval> interval_of(const Affine& value, const std::map<VarId, Interval>& loops) {
  Interval result{value.constant, value.constant};
  for (const auto& [atom, factor] : value.terms) {
    const auto range = atom.kind == arith::Atom::Kind::var ? loops.find(atom.var) : loops.end();
    if (range == loops.end()) return std::nullopt;
    const auto term = product(range->second, {factor, factor});
    const auto next = term ? sum(result, *term) : std::nullopt;
    if (!next) return std::nullopt;
    result = *next;
  }
  return result;
}

// The accesses to a storage in one statement of the block.
class StatementAccesses {
 public:
  StatementAccesses(const FunctionAccesses& function, std::size_t depth, std::span<const Access> accesses)
      : function_(function), depth_(depth), accesses_(accesses) {}

  StatementFlow run() const {
    StatementFlow result;
    result.statement = accesses_.front().chain[depth_];
    result.order = accesses_.front().order;
    result.loaded = type_of(false);
    result.stored = type_of(true);
    Flow& flow = result.flow;
    for (const Access& access : accesses_) {
      std::optional<Bytes>& end = access.is_store ? result.stores_end : result.loads_end;
      end = end && access.bytes ? std::optional(std::max(*end, access.bytes->end)) : std::nullopt;
      if (access.is_store) {
        if (const auto bytes = surely_written(access)) flow.written.add(*bytes);
      } else if (!is_covered(access)) {
        if (access.bytes) flow.exposed.add(*access.bytes);
        flow.exposes_all = flow.exposes_all || !access.bytes;
      }
    }
    add_written_together(flow.written);
    flow.end = result.loads_end && result.stores_end ? std::optional(std::max(*result.loads_end, *result.stores_end))
                                                     : std::nullopt;
    result.is_in_place = is_in_place();
    return result;
  }

 private:
  [[nodiscard]] std::optional<tir::DataType> type_of(bool stores) const {
    std::optional<tir::DataType> type;
    for (const Access& access : accesses_) {
      if (access.is_store != stores) continue;
      if (type && *type != access.type) return std::nullopt;
      type = access.type;
    }
    return type;
  }

  [[nodiscard]] std::span<const Stmt* const> around(const Access& access, std::size_t from) const {
    return std::span(access.chain).subspan(from, access.chain.size() - 1 - from);
  }

  [[nodiscard]] std::optional<ByteRange> surely_written(const Access& store) const {
    const auto ranges = loops_among(around(store, depth_), function_, &store);
    if (!ranges || !store.index) return std::nullopt;
    const auto numbers = limited_numbers(store, *ranges);
    auto elements = numbers ? loops::dense_values(*numbers) : std::nullopt;
    for (const Limit& limit : store.limits) {
      if (!limit.part && is_around(limit, store)) {
        elements = elements ? intersection(*elements, limit.interval) : std::nullopt;
      }
    }
    return in_bytes(elements, store.width());
  }

  [[nodiscard]] bool is_around(const Limit& limit, const Access& store) const {
    return std::ranges::find(around(store, depth_), limit.branch) != around(store, depth_).end();
  }

  // The store's index in loops of the ranges, with limits of its parts: a part whose values are an interval is a digit.
  [[nodiscard]] std::optional<loops::MixedRadix> limited_numbers(const Access& store,
                                                                 std::map<VarId, Interval> ranges) const {
    std::vector<std::pair<Affine, Interval>> parts;
    for (const Limit& limit : store.limits) {
      if (!limit.part || !is_around(limit, store)) continue;
      const auto same = std::ranges::find(parts, *limit.part, &std::pair<Affine, Interval>::first);
      if (same == parts.end()) {
        parts.emplace_back(*limit.part, limit.interval);
        continue;
      }
      const auto both = intersection(same->second, limit.interval);
      if (!both) return std::nullopt;
      same->second = *both;
    }
    Affine rest = *store.index;
    std::vector<loops::Digit> digits;
    for (const auto& [part, limit] : parts) {
      const arith::Terms::Term& first = *part.terms.begin();
      const std::int64_t factor = rest.factor(first.first.var) / first.second;
      const auto multiple = arith::scaled(part, factor);
      std::map<VarId, Interval> own;
      for (const auto& [atom, times] : part.terms) {
        const auto found = ranges.find(atom.var);  // not there: a loop further out, or another part has it
        if (found == ranges.end()) return std::nullopt;
        own.insert(*found);
        ranges.erase(found);
      }
      const auto numbers = loops::mixed_radix(part, own);
      const auto all = numbers ? loops::dense_values(*numbers) : std::nullopt;
      const auto values = all ? intersection(*all, limit) : std::nullopt;
      const auto begin = values ? checked_mul(values->low, factor) : std::nullopt;
      const auto without = multiple ? arith::difference(rest, *multiple) : std::nullopt;
      const auto constant = begin && without ? checked_add(without->constant, *begin) : std::nullopt;
      if (!constant) return std::nullopt;
      rest = *without;
      rest.constant = *constant;
      digits.push_back({.factor = factor, .extent = values->high - values->low + 1});
    }
    auto result = loops::mixed_radix(rest, ranges);  // none if the rest mentions a part's variable
    if (result) result->digits.insert(result->digits.end(), digits.begin(), digits.end());
    return result;
  }

  // What one store leaves out, others in loops of the same steps may write.
  void add_written_together(ByteSet& written) const {
    struct Group {
      std::vector<loops::Digit> digits;
      Bytes width = 0;
      std::vector<Interval> firsts;
    };
    std::vector<Group> groups;
    for (const Access& store : accesses_) {
      const auto ranges = store.is_store && store.index ? loops_among(around(store, depth_), function_) : std::nullopt;
      const auto numbers = ranges ? loops::mixed_radix(*store.index, *ranges) : std::nullopt;
      const auto copies = numbers ? loops::copies_of(*numbers) : std::nullopt;
      if (!copies) continue;
      auto same = std::ranges::find_if(
          groups, [&](const Group& group) { return group.width == store.width() && group.digits == copies->digits; });
      if (same == groups.end()) same = groups.insert(same, Group{copies->digits, store.width(), {}});
      same->firsts.push_back(copies->first);
    }
    for (Group& group : groups) {
      for (const Interval& elements : loops::covered_values(std::move(group.firsts), group.digits)) {
        if (const auto bytes = in_bytes(elements, group.width)) written.add(*bytes);
      }
    }
  }

  // Whether stores of the statement have written what is loaded whenever it is: in the same iteration of the loops
  // around both, without condition, before.
  [[nodiscard]] bool is_covered(const Access& load) const {
    if (!load.index) return false;
    std::vector<std::pair<Affine, ByteSet>> written;  // relative to what the loops around both say
    for (const Access& store : accesses_) {
      if (!store.is_store || !store.index || store.order >= load.order || store.width() != load.width()) continue;
      std::size_t common = 0;
      while (common + 1 < store.chain.size() && common + 1 < load.chain.size() &&
             store.chain[common] == load.chain[common]) {
        ++common;
      }
      if (!are_loops_and_scopes(std::span(store.chain).subspan(depth_, common - depth_))) continue;
      const auto own = loops_among(around(store, common), function_);
      if (!own) continue;
      Affine base = *store.index;
      base.constant = 0;
      Affine rest = *store.index;
      for (const auto& [atom, factor] : store.index->terms) {
        const bool is_own = atom.kind == arith::Atom::Kind::var && own->contains(atom.var);
        (is_own ? base : rest).terms.erase(atom);
      }
      base.measure();
      rest.measure();
      if (std::ranges::any_of(*own, [&](const auto& range) { return base.mentions(range.first); })) continue;
      const auto numbers = loops::mixed_radix(rest, *own);
      const auto copies = numbers ? loops::copies_of(*numbers) : std::nullopt;
      if (!copies) continue;
      auto same = std::ranges::find(written, base, &std::pair<Affine, ByteSet>::first);
      if (same == written.end()) same = written.insert(written.end(), {base, ByteSet()});
      for (const Interval& elements : loops::covered_values({copies->first}, copies->digits)) {
        if (const auto bytes = in_bytes(elements, store.width())) same->second.add(*bytes);
      }
      const auto distance = arith::difference(*load.index, base);
      const auto reach = distance ? in_bytes(interval_of(*distance, function_.loops), load.width()) : std::nullopt;
      if (reach && same->second.contains(*reach)) return true;
    }
    return false;
  }

  // Whether iterations of all of them are the same for what stands inside: a branch has two sides.
  static bool are_loops_and_scopes(std::span<const Stmt* const> statements) {
    return std::ranges::all_of(
        statements, [](const Stmt* stmt) { return is_scope(stmt) || std::holds_alternative<tir::For>(stmt->node); });
  }

  [[nodiscard]] bool is_in_place() const {
    const auto store = std::ranges::find_if(accesses_, &Access::is_store);
    if (store == accesses_.end() || std::ranges::count_if(accesses_, &Access::is_store) != 1) return false;
    const auto ranges = loops_among(around(*store, depth_), function_);
    const auto numbers = ranges && store->index ? loops::mixed_radix(*store->index, *ranges) : std::nullopt;
    if (!numbers || !loops::is_injective(*numbers)) return false;
    return std::ranges::all_of(accesses_, [&](const Access& load) {
      return load.is_store || (load.order <= store->order && load.width() == store->width() &&
                               load.index == store->index && std::ranges::equal(around(load, 0), around(*store, 0)));
    });
  }

  const FunctionAccesses& function_;
  std::size_t depth_;
  std::span<const Access> accesses_;
};

StatementFlow flow_of(const Passed& passed, std::size_t depth, const Flows& callees) {
  StatementFlow result;
  result.statement = passed.chain[depth];
  result.order = passed.order;
  result.flow.exposes_all = true;
  result.flow.end = std::nullopt;
  if (passed.callee) result.flow = callees[*passed.callee][passed.param];
  result.loads_end = result.flow.end;
  result.stores_end = result.flow.end;
  return result;
}

// One call to which the storage is passed as several parameters. What one of them reads is of the call's own making at
// most where it or another has written it, so nothing is left out of what either exposes.
void join(StatementFlow& call, const StatementFlow& other) {
  call.flow.exposed.add(other.flow.exposed);
  call.flow.exposes_all = call.flow.exposes_all || other.flow.exposes_all;
  call.flow.written.add(other.flow.written);
  const auto later = [](const std::optional<Bytes>& a, const std::optional<Bytes>& b) {
    return a && b ? std::optional(std::max(*a, *b)) : std::nullopt;
  };
  call.flow.end = later(call.flow.end, other.flow.end);
  call.loads_end = later(call.loads_end, other.loads_end);
  call.stores_end = later(call.stores_end, other.stores_end);
}

}  // namespace

std::optional<std::vector<StatementFlow>> statement_flows(const FunctionAccesses& function,
                                                          const StorageAccesses& storage, std::size_t depth,
                                                          const Flows& callees, std::size_t& pairs_left) {
  if (!storage.is_known) return std::nullopt;
  std::vector<StatementFlow> flows;
  const std::span<const Access> all(storage.accesses);
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    const Stmt* statement = all[begin].chain[depth];
    while (end < all.size() && all[end].chain[depth] == statement) ++end;
    const std::size_t pairs = (end - begin) * (end - begin);
    if (pairs > pairs_left) return std::nullopt;
    pairs_left -= pairs;
    flows.push_back(StatementAccesses(function, depth, all.subspan(begin, end - begin)).run());
  }
  // A call that stands in a loop, or beside other accesses, is not told apart from them.
  for (const Passed& passed : storage.passed) {
    if (passed.chain.size() != depth + 1) return std::nullopt;
    StatementFlow flow = flow_of(passed, depth, callees);
    if (!flows.empty() && &passed != &storage.passed.front() && flows.back().statement == flow.statement) {
      join(flows.back(), flow);
    } else {
      flows.push_back(std::move(flow));
    }
  }
  std::ranges::sort(flows, {}, &StatementFlow::order);
  const auto twice = std::ranges::adjacent_find(flows, {}, &StatementFlow::statement);
  if (twice != flows.end()) return std::nullopt;
  return flows;
}

Flow together(std::span<const StatementFlow> statements) {
  Flow all;
  for (const StatementFlow& one : statements) {
    ByteSet exposed = one.flow.exposed;
    exposed.remove(all.written);
    all.exposed.add(exposed);
    all.exposes_all = all.exposes_all || one.flow.exposes_all;
    all.written.add(one.flow.written);
    all.end = all.end && one.flow.end ? std::optional(std::max(*all.end, *one.flow.end)) : std::nullopt;
  }
  return all;
}

}  // namespace usmp::storage

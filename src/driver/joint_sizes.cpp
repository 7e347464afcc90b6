// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Enlarges the pools that some module lacks, and plans all modules again, until they fit.
#include "joint_sizes.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "search.hpp"
#include "usmp/compare/shared_pools.hpp"
#include "usmp/report/shared_pools.hpp"
#include "usmp/support/error.hpp"

namespace usmp::driver {
namespace {

bool is_among(const std::vector<config::PoolSpec>& pools, const std::string& name) {
  return std::ranges::find(pools, name, &config::PoolSpec::name) != pools.end();
}

// With the larger of two sizes that are enough, since both are needed.
void raise(Enlargement& sizes, const NeededSize& size) {
  const auto known = std::ranges::find(sizes, size.pool, &NeededSize::pool);
  if (known == sizes.end()) return sizes.push_back(size);
  known->enough = std::max(*known->enough, *size.enough);
  known->at_least = std::max(known->at_least, size.at_least);
}

bool has_sizes(const Enlargement& choice) {
  return std::ranges::all_of(choice, [](const NeededSize& size) { return size.enough.has_value(); });
}

// Pools that are enough alone for each of these; if there are none, together what each names first.
std::vector<Enlargement> choices_of(const std::vector<const Shortfall*>& shortfalls) {
  std::vector<Enlargement> choices;
  for (const Enlargement& candidate : shortfalls.front()->choices) {
    if (candidate.size() > 1) continue;
    Enlargement alone;
    for (const Shortfall* shortfall : shortfalls) {
      const auto same = std::ranges::find_if(shortfall->choices, [&](const Enlargement& choice) {
        return choice.size() == 1 && choice.front().pool == candidate.front().pool && has_sizes(choice);
      });
      if (same == shortfall->choices.end()) break;
      raise(alone, same->front());
      if (shortfall == shortfalls.back()) choices.push_back(alone);
    }
  }
  if (!choices.empty()) return choices;
  Enlargement together;
  for (const Shortfall* shortfall : shortfalls) {
    for (const Enlargement& choice : shortfall->choices) {
      if (!has_sizes(choice)) continue;
      for (const NeededSize& size : choice) raise(together, size);
      break;
    }
  }
  for (NeededSize& size : together) size.at_least = 0;  // proved beside other sizes
  if (!together.empty()) choices.push_back(std::move(together));
  return choices;
}

// Their plans in pools of these sizes; nothing if one has none.
class Trial {
 public:
  Trial(const Planning& planning, const pipeline::Capacities& capacities, const pipeline::Search& how)
      : own_arrays_(planning.own_arrays) {
    try {
      plan(planning, capacities, how);
    } catch (const Error&) {  // of pins that another program has no place for, or of a program of the user's
      modules_.clear();
    }
  }

  [[nodiscard]] bool has_plans() const { return !modules_.empty(); }
  [[nodiscard]] std::vector<compare::SharedPool> pools() const {
    std::vector<const plan_file::PlanDocument*> documents;
    for (const auto& planned : modules_) documents.push_back(&planned->document);
    return compare::shared_pools(documents, {}, own_arrays_);
  }
  [[nodiscard]] bool sums_have_room() const {
    return std::ranges::none_of(pools(),
                                [](const compare::SharedPool& pool) { return report::without_room(pool).has_value(); });
  }

 private:
  void plan(const Planning& planning, const pipeline::Capacities& capacities, const pipeline::Search& how) {
    for (const auto& planned : planning.modules) {
      pipeline::Request request = planning.settings.request;
      request.capacities = capacities;
      request.watch.interrupted = how.interrupted;
      auto& other = *modules_.emplace_back(std::make_unique<pipeline::PlannedProgram>());
      static_cast<pipeline::AssembledModule&>(other) =
          pipeline::assemble_module(planned->source, planning.model_of(*planned).transformations, request);
      other.minimized = planned->minimized;
      pipeline::plan(other, planning.settings.algorithm, how, origin_of(*planned, planning, how.seed), 0);
      if (!other.result.has_plan()) return modules_.clear();
    }
  }

  bool own_arrays_ = false;
  PlannedPrograms modules_;
};

// Raises pools in which each module has an array of its own to the sum; returns whether there is one.
bool raise_to_sums(const Trial& trial, Enlargement& choice) {
  bool is_raised = false;
  for (const compare::SharedPool& shared : trial.pools()) {
    const auto size = std::ranges::find(choice, shared.name, &NeededSize::pool);
    if (shared.kind != PoolKind::workspace || size == choice.end() || !report::without_room(shared)) continue;
    *size = {.pool = size->pool, .available = size->available, .at_least = 0, .enough = shared.all.used};
    is_raised = true;
  }
  return is_raised;
}

// The parameter pool, if it is too small for the constants of all: with a byte less the modules would be planned as
// they are, each having room.
std::optional<compare::SharedPool> pool_without_room(const Trial& trial, const config::PoolSpec& pool) {
  for (compare::SharedPool& shared : trial.pools()) {
    shared.capacity = pool.size_hint;
    if (shared.name == pool.name && report::without_room(shared)) return shared;
  }
  return std::nullopt;
}

}  // namespace

JointSizes joint_sizes(const Planning& planning, const PlanningOptions& options, const Interrupt& interrupt,
                       std::ostream* terminal, std::chrono::milliseconds spent) {
  const config::PoolsConfig& pools = planning.settings.request.pools;
  if (planning.modules.size() < 2 || !pools.concurrent.empty()) return {};
  std::vector<const Shortfall*> shortfalls;  // of workspace pools
  std::size_t failed = 0;
  for (const auto& planned : planning.modules) {
    if (planned->result.has_plan()) continue;
    ++failed;
    if (planned->needed.shortfalls.empty()) return {};
    for (const Shortfall& shortfall : planned->needed.shortfalls) {
      if (!is_among(pools.parameter_pools, shortfall.choices.front().front().pool)) shortfalls.push_back(&shortfall);
    }
  }
  std::vector<Enlargement> choices(1);  // none: constants alone are short of room
  if (!shortfalls.empty()) choices = choices_of(shortfalls);
  const bool is_only = pools.parameter_pools.size() == 1;
  JointSizes needed;
  Shortfall workspace;
  std::optional<compare::SharedPool> constants;
  const WatchedSearch search(what_is_left(options.search, spent), interrupt, terminal);
  bool has_sums = false;
  for (Enlargement& choice : choices) {
    const auto tried = [&] {
      pipeline::Capacities capacities;
      for (const NeededSize& size : choice) capacities[size.pool] = size.enough;
      if (is_only) capacities[pools.parameter_pools.front().name] = std::nullopt;
      return Trial(planning, capacities, search.limits());
    };
    Trial trial = tried();
    if (raise_to_sums(trial, choice)) {
      has_sums = true;
      trial = tried();
    }
    if (!trial.has_plans() || !trial.sums_have_room()) continue;
    if (!choice.empty()) workspace.choices.push_back(std::move(choice));
    if (is_only) constants = pool_without_room(trial, pools.parameter_pools.front());
  }
  if (interrupt.flag() || (failed == 1 && !constants && !has_sums)) return {};
  if (!workspace.choices.empty()) needed.sizes.shortfalls.push_back(std::move(workspace));
  if (constants) {
    const Bytes bytes = constants->all.used;
    needed.sizes.shortfalls.push_back(
        {{{{.pool = constants->name, .available = *constants->capacity, .at_least = bytes, .enough = bytes}}}});
    needed.constants = report::summands_text(*constants);
  }
  return needed;
}

}  // namespace usmp::driver

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which steps a module is planned with: none that is of no use, and none left out that is.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "random_modules/networks.hpp"
#include "transform/image_network.hpp"
#include "usmp/assemble/assemble.hpp"
#include "usmp/pipeline/program.hpp"
#include "usmp/planners/planner.hpp"
#include "usmp/support/error.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::pipeline::step_selection_test {
namespace {

using transform::Step;

struct Planned {
  Program program;
  Bytes used = 0;
  bool proved = false;
};

Request unbounded() {
  Request request;
  request.pools = config::default_pools();
  return request;
}

// A network as read from an archive, with nothing of the interface that only emission needs.
struct Network {
  explicit Network(std::uint64_t seed) {
    source.info.name = "default";
    source.module = random_modules::generate_network(seed).module;
  }

  explicit Network(tir::Module module) {
    source.info.name = "default";
    source.module = std::move(module);
  }

  [[nodiscard]] static Planned planned(Program program) {
    const assemble::Assembly assembly = assemble::assemble(program.module, program.analysis, config::default_pools());
    const PlanResult result = planners::optimal(assembly.problem, {});
    REQUIRE(result.has_plan());
    return {std::move(program), used_bytes(assembly.problem, result.plan).front(),
            result.status == PlanStatus::optimal};
  }

  [[nodiscard]] Planned with(const std::vector<Step>& steps) const {
    return planned(transformed(source, {steps, 0}, false));
  }

  [[nodiscard]] Planned with_useful(const std::vector<Step>& asked, std::int64_t recompute_percent = 0) const {
    return planned(with_useful_steps(source, {asked, recompute_percent}, unbounded()));
  }

  SourceModule source;
};

const std::vector<Step> all(std::begin(transform::all_steps), std::end(transform::all_steps));

std::vector<Step> steps_of(const Program& program, bool left_out) {
  std::vector<Step> steps;
  for (const transform::StepResult& row : program.transformed) {
    if (left_out ? row.left_out : !row.changes.empty()) steps.push_back(row.step);
  }
  return steps;
}

// Gives every tensor of the entry that the transformed program has not got a pool that C cannot name; how many.
int spoil_what_goes(tir::Module& original, const Program& program) {
  std::set<tir::VarId> kept;
  for (const liveness::Site& site : program.analysis.sites) kept.insert(site.var);
  int spoiled = 0;
  std::vector<tir::Block*> pending = {&original.functions[original.entry].body};
  while (!pending.empty()) {
    tir::Block& block = *pending.back();
    pending.pop_back();
    for (tir::Stmt& stmt : block) {
      for (tir::Block* inner : tir::blocks_of(stmt)) pending.push_back(inner);
      auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      if (allocate == nullptr || kept.contains(allocate->var)) continue;
      allocate->candidate_pools = {"my-pool"};
      ++spoiled;
    }
  }
  if (spoiled > 0) original.annotated_pools.emplace_back().name = "my-pool";
  return spoiled;
}

std::vector<Step> without(std::vector<Step> steps, Step step) {
  std::erase(steps, step);
  return steps;
}

// Plans in two pools.
struct InTwo {
  Bytes outside = 0;  // bytes of buffers that are not in the first pool
  Bytes used = 0;     // of both
};

Request two_pools(Bytes first, std::optional<Bytes> second) {
  Request request;
  request.pools.workspace_pools.resize(2);
  request.pools.workspace_pools[0].name = "fast";
  request.pools.workspace_pools[0].size_hint = first;
  request.pools.workspace_pools[1].name = "slow";
  request.pools.workspace_pools[1].size_hint = second;
  return request;
}

std::optional<InTwo> in_two(const Program& program, const Request& request) {
  const assemble::Assembly assembly = assemble::assemble(program.module, program.analysis, request.pools);
  const PlanResult result = planners::optimal(assembly.problem, {});
  if (!result.has_plan()) return std::nullopt;
  const Cost cost = cost_of(assembly.problem, result.plan);
  return InTwo{cost.spilled.empty() ? 0 : cost.spilled[0], cost.used[0] + cost.used[1]};
}

// in → a → c and in → b → d, one call of either branch after one of the other; the turns of c and d are added up.
tir::Module two_branches() {
  using transform::image_network::Image;
  const Image wide{.height = 6, .width = 12, .channels = 8};
  const Image small{.height = 3, .width = 6, .channels = 4};
  const Image in_shape{.height = 6, .width = 12, .channels = 4};
  transform::image_network::Network n;
  const tir::VarId in = n.add_tensor("in", in_shape, true);
  const tir::VarId a = n.add_tensor("a", wide);
  const tir::VarId b = n.add_tensor("b", wide);
  const tir::VarId c = n.add_tensor("c", small);
  const tir::VarId d = n.add_tensor("d", small);
  const tir::VarId e = n.add_tensor("e", small);
  const tir::VarId f = n.add_tensor("f", small);
  const tir::VarId out = n.add_tensor("out", small, true);
  n.add_window(in, in_shape, a, wide, {}, true);
  n.add_window(in, in_shape, b, wide, {}, true);
  n.add_window(a, wide, c, small, {.stride = 2}, true);
  n.add_window(b, wide, d, small, {.stride = 2}, true);
  n.add_turn(c, e, small);
  n.add_turn(d, f, small);
  n.add_sum(e, f, out, small);
  return n.with_entry(in, out);
}

}  // namespace

TEST_CASE("steps: of a large program, all are kept") {
  const auto with_tensors = [](Network network, std::size_t more) {
    tir::Module& module = network.source.module;
    for (std::size_t i = 0; i < more; ++i) {
      tir::Var& var = module.vars.emplace_back();
      var.name = "unused" + std::to_string(i);
      var.type = tir::handle_type;
      tir::Allocate allocate;
      allocate.var = tir::VarId(module.vars.size() - 1);
      allocate.type = tir::int32_type;
      allocate.extents = {tir::make_int(1)};
      tir::Block& body = module.functions[module.entry].body;
      body.insert(body.begin(), {std::move(allocate)});
    }
    return steps_of(network.with_useful(all).program, true);
  };
  int left_out = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    if (steps_of(Network(seed).with_useful(all).program, true).empty()) continue;
    CAPTURE(seed);
    CHECK_FALSE(with_tensors(Network(seed), 7'900).empty());
    CHECK(with_tensors(Network(seed), 8'000).empty());
    if (++left_out == 2) break;
  }
  CHECK(left_out == 2);
}

TEST_CASE("steps: what is left out is not missed, what is kept is") {
  std::map<Step, int> times_left_out;
  std::map<Step, int> times_kept;
  for (std::uint64_t seed = 1; seed <= 190; ++seed) {
    CAPTURE(seed);
    const Network network(seed);
    const Planned everything = network.with(all);
    const Planned useful = network.with_useful(all);
    if (!everything.proved || !useful.proved) continue;
    CHECK(useful.used <= everything.used);
    const std::vector<Step> kept = steps_of(useful.program, false);
    for (const Step step : transform::all_steps) {
      if (!transform::is_for_memory_alone(step)) continue;
      if (std::ranges::count(kept, step) == 0) continue;
      ++times_kept[step];
      // Not tried again where a step tried later has gone, too.
      if (step == Step::inplace) CHECK(network.with(without(kept, step)).used > useful.used);
    }
    const std::vector<Step> left_out = steps_of(useful.program, true);
    for (const Step step : left_out) {
      ++times_left_out[step];
      CHECK(std::ranges::count(kept, step) == 0);
    }
    CHECK(std::ranges::count(left_out, Step::fuse) + std::ranges::count(left_out, Step::constants) == 0);
    std::vector<transform::StepResult> rows = useful.program.transformed;
    for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
      if (rows[i].step == Step::reorder && rows[i + 1].step == Step::rolling) std::swap(rows[i], rows[i + 1]);
    }
    CHECK(std::ranges::is_sorted(rows, {}, &transform::StepResult::step));
    CHECK(std::ranges::adjacent_find(rows, {}, &transform::StepResult::step) == rows.end());
  }
  for (const Step step : transform::all_steps) {
    if (!transform::is_for_memory_alone(step)) continue;
    CAPTURE(transform::name_of(step));
    CHECK(times_left_out[step] > 0);
    CHECK(times_kept[step] > 0);
  }
}

TEST_CASE("steps: strips where they make the plan smaller, with no more work than that takes") {
  const std::int64_t percent = 200;
  const auto extra_work = [](const Program& program) {
    std::int64_t sum = 0;
    for (const transform::StepResult& row : program.transformed) sum += row.extra_work_permille.value_or(0);
    return sum;
  };
  const transform::image_network::Image image{.height = 6, .width = 12, .channels = 4};
  const Network windows(transform::image_network::three_windows(image));
  const Planned rolled = windows.with_useful(all);
  const Planned in_strips = windows.with_useful(all, percent);
  CHECK(in_strips.used < rolled.used);
  CHECK(extra_work(rolled.program) == 0);
  CHECK(extra_work(in_strips.program) > 0);
  CHECK(extra_work(in_strips.program) <= 10 * percent);

  std::mt19937 random(31);
  for (int trial = 0; trial < 60; ++trial) {
    CAPTURE(trial);
    const Network network(transform::image_network::random_chain(random).module);
    const Planned useful = network.with_useful(all, percent);
    for (const std::int64_t strips : {percent, percent * 3 / 4, percent * 3 / 4 * 3 / 4}) {
      const Transformations less{all, percent, nullptr, strips};
      const Planned other = Network::planned(transformed(network.source, less, false));
      CHECK(useful.used <= other.used);
      if (useful.used == other.used) CHECK(extra_work(useful.program) <= extra_work(other.program));
    }
  }
}

TEST_CASE("steps: rings fit into a preferred pool where whole tensors do not") {
  int smaller_outside = 0;
  int larger_in_all = 0;
  int fits_at_last = 0;
  int smaller_by_part = 0;
  std::mt19937 random(53);
  for (int trial = 0; trial < 60; ++trial) {
    CAPTURE(trial);
    const Network network(transform::image_network::random_chain(random).module);
    const Bytes in_one = network.with_useful(all).used;
    for (const Bytes room : {in_one / 4, in_one / 2, in_one * 3 / 4}) {
      if (room == 0) continue;
      CAPTURE(room);
      for (const bool is_bounded : {false, true}) {
        const Request request =
            two_pools(room, is_bounded ? std::optional<Bytes>(std::max<Bytes>(in_one / 2, 1)) : std::nullopt);
        const auto useful = in_two(with_useful_steps(network.source, {all}, request), request);
        const auto by_peak = in_two(transformed(network.source, {all}, false), request);
        const auto by_room = in_two(transformed(network.source, {.steps = all, .rolling_room = room}, false), request);
        if (by_peak || by_room) REQUIRE(useful);
        if (by_peak) {
          CHECK(useful->outside <= by_peak->outside);
          CHECK(useful->used <= by_peak->used);
        }
        if (!by_peak && useful) ++fits_at_last;
        for (const Bytes quarters : {3, 2, 1, 0}) {
          const Transformations into_part{.steps = all, .rolling_room = room * quarters / 4};
          const auto by_part = in_two(transformed(network.source, into_part, false), request);
          if (!by_part || by_part->used > useful->used) continue;
          CHECK(useful->outside <= by_part->outside);
          if (by_peak && by_room && by_part->outside < std::min(by_peak->outside, by_room->outside)) ++smaller_by_part;
        }
        if (!by_room || !by_peak) continue;
        if (by_room->used > by_peak->used) {
          if (by_room->outside < by_peak->outside) ++larger_in_all;
          continue;
        }
        CHECK(useful->outside <= by_room->outside);
        if (by_room->outside < by_peak->outside) ++smaller_outside;
      }
    }
  }
  MESSAGE(smaller_outside << " with less outside, " << larger_in_all << " that need more in all, " << fits_at_last
                          << " that fit at last");
  CHECK(smaller_outside > 0);
  CHECK(larger_in_all > 0);
  CHECK(fits_at_last > 0);
  CHECK(smaller_by_part > 0);
}

TEST_CASE("steps: calls are reordered before they become chains where these need less then") {
  const Network network(two_branches());
  const Planned behind = network.with(all);
  const Planned first = Network::planned(transformed(network.source, {.steps = all, .reorder_first = true}, false));
  CHECK(first.used < behind.used);
  CHECK(behind.used < network.with(without(all, Step::rolling)).used);
  CHECK(network.with_useful(all).used == first.used);
}

TEST_CASE("steps: a program that cannot be planned, and that nobody asked for, is no error") {
  int spoiled = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    Network network(seed);
    const Planned everything = network.with(all);
    const int here = spoil_what_goes(network.source.module, everything.program);
    if (here == 0) continue;
    try {
      (void)network.with(all);
    } catch (const Error&) {
      continue;  // a copy that was gone, and is not where its pools are said
    }
    spoiled += here;
    CHECK(network.with_useful(all).used <= everything.used);
  }
  CHECK(spoiled > 0);
}

TEST_CASE("steps: interrupted, what has been found so far is planned") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    const Network network(seed);
    std::size_t all_told = 0;
    for (std::size_t after = 0; after == 0 || after <= all_told; ++after) {
      CAPTURE(after);
      std::atomic<bool> interrupted = false;
      std::size_t told = 0;
      Request request = unbounded();
      request.watch = {.interrupted = &interrupted, .tell = [&](const std::string& text) {
                         CHECK(text.starts_with("module default: transformations, "));
                         CHECK_FALSE(interrupted);
                         if (++told == after) interrupted = true;
                       }};
      const Planned found = Network::planned(with_useful_steps(network.source, {all, 0}, request));
      CHECK(found.program.cut_short.has_value() == interrupted);
      if (interrupted) {  // what the plan file says of it is enough to have it again
        const FirstPasses& made_with = *found.program.cut_short;
        plan_file::PlanDocument::CutShort cut{.steps = {},
                                              .passes = made_with.count,
                                              .recompute_percent = made_with.transformations.recompute_percent,
                                              .strip_percent = made_with.transformations.strip_percent,
                                              .rolling_room = made_with.transformations.rolling_room,
                                              .reorder_first = made_with.transformations.reorder_first};
        for (const Step step : made_with.transformations.steps) cut.steps.emplace_back(transform::name_of(step));
        const Program again = made_again(network.source, {all, 0}, cut, false);
        CHECK(tir::print(again.module) == tir::print(found.program.module));
      }
      if (after == 0) all_told = told;
      if (interrupted) CHECK(told == after);
    }
    REQUIRE(all_told >= all.size());
    std::atomic<bool> interrupted = true;
    Request request = unbounded();
    request.watch.interrupted = &interrupted;
    const Planned nothing = Network::planned(with_useful_steps(network.source, {all, 0}, request));
    CHECK(nothing.program.cut_short.has_value());
    CHECK(nothing.program.transformed.empty());
    CHECK(nothing.used == network.with({}).used);
  }
}

TEST_CASE("steps: the program does not speak of what was left out") {
  int left_out = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const Planned useful = Network(seed).with_useful(all);
    for (const Step step : steps_of(useful.program, true)) {
      ++left_out;
      if (step == Step::inplace) CHECK(useful.program.analysis.distances.empty());
      for (const tir::Function& function : useful.program.module.functions) {
        for (const std::string& note : function.notes) {
          CHECK_FALSE(note.starts_with(std::string(transform::name_of(step)) + ": "));
        }
      }
    }
  }
  CHECK(left_out > 0);
}

TEST_CASE("steps: rolling that is of no use does not keep elements from being computed more than once") {
  std::vector<Step> whole = all;
  std::erase(whole, Step::rolling);
  int left_out = 0;
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U, 52U, 247U, 551U, 858U}) {  // in the last four it would
    CAPTURE(seed);
    const Network network(seed);
    const Planned rolled = network.with_useful(all, 100);
    const Planned without = network.with_useful(whole, 100);
    const std::vector<Step> steps = steps_of(rolled.program, true);
    if (std::ranges::count(steps, Step::rolling) == 0 || !rolled.proved || !without.proved) continue;
    ++left_out;
    CHECK(rolled.used <= without.used);
    CHECK(std::ranges::count(steps, Step::rolling) == 1);
  }
  CHECK(left_out > 5);
}

TEST_CASE("steps: computing more than once has to pay") {
  int kept = 0;
  int left_out = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    CAPTURE(seed);
    const Network network(seed);
    const Planned before = network.with_useful(all);
    const Planned after = network.with_useful(all, 100);
    if (!before.proved || !after.proved) continue;
    const bool is_kept = std::ranges::count(steps_of(after.program, false), Step::recompute) > 0;
    CHECK((is_kept ? after.used < before.used : after.used == before.used));
    kept += is_kept ? 1 : 0;
    left_out += static_cast<int>(std::ranges::count(steps_of(after.program, true), Step::recompute));
  }
  CHECK(kept > 0);
  CHECK(left_out > 0);
}

TEST_CASE("steps: a step left out stands with the load that it would have met") {
  int seen = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const std::vector<transform::StepResult> rows = Network(seed).with_useful(all).program.transformed;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!rows[i].left_out) continue;
      ++seen;
      CHECK(rows[i].changes.empty());
      CHECK(rows[i].load_after == rows[i].load_before);
      if (i > 0) CHECK(rows[i].load_before == rows[i - 1].load_after);
      if (i + 1 < rows.size()) CHECK(rows[i].load_after == rows[i + 1].load_before);
    }
  }
  CHECK(seen > 0);
}

TEST_CASE("steps: the program is the one that the steps that are kept lead to") {
  int left_out = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const Network network(seed);
    const Planned useful = network.with_useful(all);
    const std::vector<Step> gone = steps_of(useful.program, true);
    if (std::ranges::count(gone, Step::inplace) > 0) continue;  // which orders of calls were looked for with it
    std::vector<Step> kept = all;
    for (const Step step : gone) std::erase(kept, step);
    left_out += static_cast<int>(gone.size());
    CHECK(tir::print(network.with(kept).program.module) == tir::print(useful.program.module));
  }
  CHECK(left_out > 0);
}

}  // namespace usmp::pipeline::step_selection_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Lays one buffer of a plan over another, and compares the findings of both replays.
#include "random_modules/product_replay.hpp"

#include <algorithm>
#include <vector>

#include "random_modules/random.hpp"
#include "random_modules/replay.hpp"
#include "usmp/assemble/placements.hpp"
#include "usmp/replay/replay.hpp"

namespace usmp::random_modules {
namespace {

// The interpreter gives up long before.
constexpr std::uint64_t steps = 100'000'000;
constexpr int alterations = 4;

// One buffer over another one that is live with it; nothing: it stays where it is.
std::optional<Plan> altered(const Problem& problem, const Conflicts& conflicts, const Plan& plan, Random& random) {
  if (problem.buffers.empty()) return std::nullopt;
  // Those that may share are the ones whose distances could be wrong.
  BufferId moved(random.index(problem.buffers.size()));
  BufferId other;
  if (!problem.distances.empty() && random.chance(50)) {
    const Distance& distance = random.pick(problem.distances);
    moved = distance.above;
    other = distance.below;
  } else if (!conflicts.of(moved).empty()) {
    other = random.pick(conflicts.of(moved));
  }
  const Buffer& buffer = problem.buffer(moved);
  // Both replays begin with the contents of inputs and constants, but not in the same order.
  const bool is_filled = buffer.kind == BufferKind::input || buffer.kind == BufferKind::constant;
  if (is_filled || buffer.size == 0 || !other.valid() || plan.of(moved).pool != plan.of(other).pool)
    return std::nullopt;
  const Bytes alignment = alignment_in(buffer, problem.pool(plan.of(moved).pool));
  const Bytes lowest = std::max<Bytes>(0, plan.of(other).offset - buffer.size + 1);
  const Bytes highest = plan.of(other).offset + problem.buffer(other).size;
  const Bytes first = align_up(lowest, alignment);
  if (first >= highest) return std::nullopt;
  const auto choices = static_cast<std::size_t>((highest - 1 - first) / alignment + 1);
  Plan result = plan;
  result.allocations[moved.index()].offset = first + static_cast<Bytes>(random.index(choices)) * alignment;
  if (result == plan) return std::nullopt;
  return result;
}

}  // namespace

std::optional<std::string> product_replay_fault(const tir::Module& module, const Outcome& outcome,
                                                const liveness::Analysis& analysis, const liveness::Options& options,
                                                const assemble::Assembly& assembly, const Plan& plan,
                                                std::uint64_t seed, ProductReplays& totals) {
  const replay::Options limits{.steps = steps, .inputs = options.inputs};
  const auto played = [&](const Plan& places) {
    return replay::replay(module, assemble::placements_of(analysis, assembly, places), limits);
  };
  const replay::Result right = played(plan);
  if (!right.violations.empty()) return "the product refuses a plan that is right: " + right.violations.front();
  totals.pairs += right.pairs;
  totals.replayed += right.replayed();
  const Conflicts conflicts(assembly.problem);
  Random random(seed ^ 0x5ea1U);
  for (int i = 0; i < alterations; ++i) {
    const std::optional<Plan> other = altered(assembly.problem, conflicts, plan, random);
    if (!other) continue;
    const std::optional<std::string> fault = random_modules::replay(module, outcome, analysis, assembly, *other);
    const replay::Result result = played(*other);
    if (!fault && !result.violations.empty()) {
      return "the product refuses an altered plan that is right: " + result.violations.front();
    }
    if (!fault || !result.left_out.empty()) continue;
    if (result.violations.empty()) return "the product does not see that an altered plan is wrong: " + *fault;
    ++totals.wrong;
  }
  return std::nullopt;
}

}  // namespace usmp::random_modules

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Small problems, planned by every algorithm: plans pass the verifier, claims are true, and no algorithm contradicts
// another.
#include <algorithm>
#include <optional>
#include <vector>

#include "byte_source.hpp"
#include "fuzz.hpp"
#include "usmp/bounds/bounds.hpp"
#include "usmp/planners/minimize_pool.hpp"
#include "usmp/planners/planner.hpp"
#include "usmp/verify/claims.hpp"
#include "usmp/verify/verify.hpp"

using namespace usmp;

namespace {

constexpr std::size_t most_buffers = 24;
constexpr std::size_t most_pools = 4;
constexpr Tick most_ticks = 32;

Pool pool_of(fuzz::ByteSource& input, std::size_t index) {
  Pool pool;
  pool.name = "p" + std::to_string(index);
  const unsigned shape = input.byte();
  if (shape % 2 == 1) pool.capacity = input.word() % 512;
  if (shape & 2U) pool.alignment = Bytes{1} << (shape >> 4U & 7U);
  if (shape & 4U) pool.reserved = input.byte();
  if (shape & 8U) pool.kind = PoolKind::constant;
  return pool;
}

// Sizes are small and repeat, now and then they are huge; so do alignments that are no power of two.
Buffer buffer_of(fuzz::ByteSource& input, std::size_t pools) {
  Buffer buffer;
  const unsigned shape = input.byte();
  buffer.size = input.byte();
  if (shape & 1U) buffer.size <<= input.byte() % 40;
  if (shape & 2U) buffer.alignment = 1 + input.byte() % 64;
  std::size_t first = input.byte() % pools;
  std::size_t count = 1 + (shape >> 2U & 3U);
  for (std::size_t i = 0; i < std::min(count, pools); ++i) buffer.candidates.emplace_back((first + i) % pools);
  Tick at = input.byte() % most_ticks;
  for (unsigned ranges = shape >> 4U & 3U; at < most_ticks - 1; --ranges) {
    const Tick end = std::min<Tick>(most_ticks, at + 1 + input.byte() % 8);
    buffer.live.push_back({at, end});
    at = end + 1 + input.byte() % 8;
    if (ranges == 0) break;
  }
  if ((shape & 0xC0U) == 0xC0U) {
    buffer.candidates.resize(1);
    buffer.pinned = Bytes{input.byte()} * buffer.alignment;
  }
  return buffer;
}

struct RawDistance {
  unsigned below, above, bytes;
};

std::vector<RawDistance> raw_distances(fuzz::ByteSource& input) {
  std::vector<RawDistance> raw(input.byte() % 32);
  for (RawDistance& distance : raw) distance = {input.byte(), input.byte(), input.byte()};
  return raw;
}

// Only between buffers that are not empty, each pair once a direction.
void add_distances(Problem& problem, const std::vector<RawDistance>& raw) {
  for (const auto& [below, above, bytes] : raw) {
    const std::size_t count = std::max<std::size_t>(1, problem.buffers.size());
    const BufferId a(below % count);
    const BufferId b(above % count);
    if (a == b || problem.buffer(a).size == 0) continue;
    problem.distances.push_back({a, b, bytes % problem.buffer(a).size});
  }
  std::sort(problem.distances.begin(), problem.distances.end());
  const auto same_pair = [](const Distance& x, const Distance& y) { return x.below == y.below && x.above == y.above; };
  problem.distances.erase(std::unique(problem.distances.begin(), problem.distances.end(), same_pair),
                          problem.distances.end());
}

// The highest bit of the first byte says whether buffers may share bytes.
Problem problem_of(fuzz::ByteSource& input) {
  Problem problem;
  problem.horizon = most_ticks;
  const unsigned head = input.byte();
  const std::size_t pools = 1 + head % most_pools;
  for (std::size_t i = 0; i < pools; ++i) problem.pools.push_back(pool_of(input, i));
  const std::vector<RawDistance> raw = (head & 0x80U) != 0 ? raw_distances(input) : std::vector<RawDistance>{};
  while (!input.empty() && problem.buffers.size() < most_buffers) problem.buffers.push_back(buffer_of(input, pools));
  add_distances(problem, raw);
  return problem;
}

PlanResult planned(const planners::Algorithm& algorithm, const Problem& problem, const planners::Options& options) {
  const PlanResult result = algorithm.plan(problem, options);
  if (result.has_plan()) {
    const auto violations = verify::check(problem, result.plan, verify::Method::pairs);
    if (!violations.empty()) fuzz::fail(std::string(algorithm.name) + ": " + violations.front().message);
  }
  const auto claims = verify::false_claims(problem, result);
  if (!claims.empty()) fuzz::fail(std::string(algorithm.name) + ": " + claims.front());
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::ByteSource input(data, size);
  const unsigned wish = input.byte();
  const Problem problem = problem_of(input);
  if (invalid_reason(problem)) return 0;
  planners::Options options;
  options.seed = wish;
  options.iterations = 50;
  options.node_limit = 2000;
  const auto bounds = bounds::pool_bounds(problem);
  std::optional<Cost> best;
  bool possible = false;
  bool impossible = false;
  for (const planners::Algorithm& algorithm : planners::algorithms()) {
    const PlanResult result = planned(algorithm, problem, options);
    impossible = impossible || result.status == PlanStatus::infeasible;
    possible = possible || result.has_plan();
    fuzz::require(!possible || !impossible, "a plan of a problem that has none");
    if (!result.has_plan()) continue;
    fuzz::require(planned(algorithm, problem, options).plan == result.plan, "two runs give two plans");
    const Cost cost = cost_of(problem, result.plan);
    for (std::size_t i = 0; i < bounds.size(); ++i) fuzz::require(bounds[i].bytes <= cost.used[i], "a bound is wrong");
    if (algorithm.name == "optimal" && result.status == PlanStatus::optimal) best = cost;
    fuzz::require(!best || *best <= cost, "a plan is better than the optimal one");
  }
  const planners::Algorithm& least = planners::algorithms()[wish % planners::algorithms().size()];
  const PoolId pool(wish / 16U % problem.pools.size());
  const PlanResult minimized = planners::minimize_pool(
      problem, pool,
      [&](const Problem& asked, const planners::Options& wanted) { return planned(least, asked, wanted); }, options);
  if (minimized.has_plan()) fuzz::require(verify::check(problem, minimized.plan).empty(), "a wrong plan of least size");
  return 0;
}

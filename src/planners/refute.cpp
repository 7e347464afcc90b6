// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The search by pairs at one capacity, with its record.
// Tests: tests/planners/refute_test.cpp; tests/e2e/proofs.py, which checks what is made of it.
#include "usmp/planners/refute.hpp"

#include <utility>
#include <vector>

#include "planners/exact/disjunctive.hpp"
#include "planners/exact/pair_search.hpp"

namespace usmp::planners {
namespace {

// In stacks and lessons: 120 megabytes.
constexpr std::size_t most_places = 30'000'000;

}  // namespace

RefuteResult refute(const Problem& problem, PoolId pool, Bytes capacity, std::uint64_t nodes) {
  const std::vector<BufferId> buffers = bounds::certified_buffers(problem, pool);
  const exact::Packing packing = exact::packing_of(problem, buffers, pool);
  exact::PairSearch search(packing, exact::spacings_among(problem, buffers), exact::stacked(packing));
  search.record(most_places);
  exact::Budget budget(nodes);
  if (search.next(capacity, budget)) return {.refutation = std::nullopt, .fits = true};
  if (budget.exhausted()) return {};
  bounds::Refutation refutation = search.refutation();
  if (refutation.stacks.size() + refutation.lessons.size() > bounds::most_proof_lines) return {};
  return {.refutation = std::move(refutation), .fits = false};
}

}  // namespace usmp::planners

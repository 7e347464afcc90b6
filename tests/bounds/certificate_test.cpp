// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The texts; that they are true, and proofs proofs, is tests/e2e/proofs.py's to check, which shares no code with them.
#include "usmp/bounds/certificate.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "planning_support/oracle.hpp"
#include "planning_support/random_problem.hpp"
#include "usmp/bounds/bounds.hpp"
#include "usmp/support/error.hpp"

namespace usmp::bounds::certificate_test {
namespace {

Buffer buffer(std::string name, Bytes size, LiveRange live, Bytes alignment = 1) {
  Buffer made;
  made.name = std::move(name);
  made.size = size;
  made.alignment = alignment;
  made.candidates = {PoolId(0)};
  made.live = {live};
  return made;
}

Problem problem_of(std::vector<Buffer> buffers) {
  Problem problem;
  problem.pools.push_back({.name = "sram"});
  problem.buffers = std::move(buffers);
  problem.horizon = 10;
  return problem;
}

std::string refusal(const Problem& problem, Bytes bound, const std::string& reason = "load") {
  try {
    static_cast<void>(certificate(problem, PoolId(0), bound, reason));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    return error.message();
  }
  return {};
}

}  // namespace

TEST_CASE("certificate: what is live at one step, as constraints and one sum") {
  const Problem problem = problem_of({buffer("a", 3, {0, 2}), buffer("b", 4, {1, 3}, 4), buffer("c", 5, {4, 5})});
  const Certificate made = certificate(problem, PoolId(0), 7, "load");
  CHECK(made.constraints ==
        "* #variable= 8 #constraint= 12\n"
        "* pool sram: a plan of at most 6 bytes\n"
        "* buffer 0, a: 3 bytes, offset in units of 1: x1 (1) to x3\n"
        "+1 x1 +2 x2 +4 x3 >= 0 ;\n"
        "-1 x1 -2 x2 -4 x3 >= -3 ;\n"
        "* buffer 1, b: 4 bytes, offset in units of 4: x4 (1) to x4\n"
        "+4 x4 >= 0 ;\n"
        "-4 x4 >= -2 ;\n"
        "* buffer 2, c: 5 bytes, offset in units of 1: x5 (1) to x7\n"
        "+1 x5 +2 x6 +4 x7 >= 0 ;\n"
        "-1 x5 -2 x6 -4 x7 >= -1 ;\n"
        "* 0 is below 1: x8\n"
        "+4 x4 -1 x1 -2 x2 -4 x3 -10 x8 >= -7 ;\n"
        "+1 x1 +2 x2 +4 x3 -4 x4 +8 x8 >= 4 ;\n"
        "* live at one step: 0 1\n"
        "+1 x1 +2 x2 +4 x3 +4 x8 >= 4 ;\n"
        "-1 x1 -2 x2 -4 x3 -4 x8 >= -3 ;\n"
        "+4 x4 -3 x8 >= 0 ;\n"
        "-4 x4 +3 x8 >= 1 ;\n");
  CHECK(made.proof ==
        "pseudo-Boolean proof version 3.0\n"
        "% sram: no plan of less than 7 bytes\n"
        "f 12 ;\n"
        "pol 9 10 + ;\n"
        "output NONE ;\n"
        "conclusion UNSAT : 13 ;\n"
        "end pseudo-Boolean proof ;\n");
}

TEST_CASE("certificate: a pinned buffer needs no others") {
  Problem problem = problem_of({buffer("a", 3, {0, 2}), buffer("b", 4, {1, 3})});
  problem.buffers[1].pinned = 20;
  const Certificate made = certificate(problem, PoolId(0), 24, "end of a pinned buffer");
  CHECK(made.constraints.find("live at one step") == std::string::npos);
  CHECK(made.proof.find("pol 3 5 + ;") != std::string::npos);
  CHECK(refusal(problem, 25).find("reason 'load'") != std::string::npos);
}

TEST_CASE("certificate: buffers that share much are left out where the others need more without them") {
  Problem problem = problem_of({buffer("a", 30, {0, 2}), buffer("b", 5, {0, 2}), buffer("c", 10, {0, 2})});
  problem.distances = {{BufferId(0), BufferId(1), 0}};
  const Certificate made = certificate(problem, PoolId(0), 40, "load");
  CHECK(made.constraints.find("live at one step: 0 2\n") != std::string::npos);
}

TEST_CASE("certificate: refusals name the bound and its reason") {
  const Problem problem = problem_of({buffer("a", 3, {0, 2}), buffer("b", 4, {1, 3})});
  CHECK(refusal(problem, 7).empty());
  CHECK(refusal(problem, 8, "sums of sizes") ==
        "the bound of pool 'sram', 8 bytes, has the reason 'sums of sizes'; proofs are written of what is live at one "
        "step and of the end of one buffer");
  CHECK(refusal(problem, 0) == "the bound of pool 'sram' is 0: there is nothing to prove");
  CHECK(refusal(problem_of(std::vector<Buffer>(most_certified, buffer("a", 1, {0, 1}))), 500).empty());
  CHECK(refusal(problem_of(std::vector<Buffer>(most_certified + 1, buffer("a", 1, {0, 1}))), 501) ==
        "the bound of pool 'sram' is one of 501 buffers; proofs are written of at most 500");
}

TEST_CASE("certificate: never of more than the best plan uses") {
  std::size_t written = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Problem problem = test::ProblemMaker(seed).make(
        {.buffers = 5, .pools = 2, .bounded = seed % 2 == 0, .sharing = seed % 3 == 0, .pins = seed % 5 == 0});
    if (invalid_reason(problem)) continue;
    const test::Truth truth = test::truth_of(problem);
    for (std::size_t i = 0; i < problem.pools.size(); ++i) {
      const PoolBound bound = pool_bounds(problem)[i];
      if (truth.best) {
        try {
          static_cast<void>(certificate(problem, PoolId(i), truth.least_used[i] + 1, ""));
          FAIL("a proof of ", truth.least_used[i] + 1, " with seed ", seed);
        } catch (const Error&) {
        }
      }
      if (bound.bytes == 0) continue;
      try {
        static_cast<void>(certificate(problem, PoolId(i), bound.bytes, bound.reason));
        ++written;
      } catch (const Error&) {
        INFO(seed, " ", bound.reason, " ", bound.bytes);
        const bool ends_with_an_empty_one = std::ranges::any_of(
            problem.buffers, [&](const Buffer& one) { return one.size == 0 && one.pinned == bound.bytes; });
        CHECK((ends_with_an_empty_one || !problem.distances.empty() || bound.reason == "sums of sizes" ||
               bound.reason == "odd ring of buffers" || bound.reason == "live bytes beyond the bounded pools"));
      }
    }
  }
  CHECK(written > 200);
}

}  // namespace usmp::bounds::certificate_test

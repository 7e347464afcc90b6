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

std::string refusal(const Problem& problem) {
  try {
    static_cast<void>(certificate(problem, PoolId(0), 1));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    return error.message();
  }
  return {};
}

}  // namespace

TEST_CASE("certificate: what is live at one step, as constraints and one sum") {
  const Problem problem = problem_of({buffer("a", 3, {0, 2}), buffer("b", 4, {1, 3}, 4), buffer("c", 5, {4, 5})});
  const Certificate made = certificate(problem, PoolId(0), 7).value();
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
  const Certificate made = certificate(problem, PoolId(0), 24).value();
  CHECK(made.constraints.find("live at one step") == std::string::npos);
  CHECK(made.proof.find("pol 3 5 + ;") != std::string::npos);
  CHECK(!certificate(problem, PoolId(0), 25));
}

TEST_CASE("certificate: buffers that share much are left out where the others need more without them") {
  Problem problem = problem_of({buffer("a", 30, {0, 2}), buffer("b", 5, {0, 2}), buffer("c", 10, {0, 2})});
  problem.distances = {{BufferId(0), BufferId(1), 0}};
  const Certificate made = certificate(problem, PoolId(0), 40).value();
  CHECK(made.constraints.find("live at one step: 0 2\n") != std::string::npos);
}

TEST_CASE("certificate: of so many buffers, and of no more") {
  const Problem problem = problem_of({buffer("a", 3, {0, 2}), buffer("b", 4, {1, 3})});
  CHECK(certificate(problem, PoolId(0), 7));
  CHECK(!certificate(problem, PoolId(0), 8));
  CHECK(certificate(problem_of(std::vector<Buffer>(most_certified, buffer("a", 1, {0, 1}))), PoolId(0), 500));
  CHECK(refusal(problem_of(std::vector<Buffer>(most_certified + 1, buffer("a", 1, {0, 1})))) ==
        "the bound of pool 'sram' is one of 501 buffers; proofs are written of at most 500");
}

TEST_CASE("certificate: of a search, stacks as sums that are rounded where the alignment pushes, and resolution") {
  Problem problem = problem_of({buffer("a", 3, {0, 2}), buffer("b", 4, {0, 2}, 4), buffer("c", 5, {1, 3}, 6)});
  Refutation refutation{.stacks = {{0, 1, 2}, {1, 2}, {2, 1}}, .lessons = {{{false, 1}}, {{true, 0}, {false, 2}}}};
  const Certificate made = certificate(problem, PoolId(0), 8, refutation);
  CHECK(made.constraints.find("live at one step") == std::string::npos);
  CHECK(made.proof ==
        "pseudo-Boolean proof version 3.0\n"
        "% sram: no plan of less than 8 bytes\n"
        "f 12 ;\n"
        "pol 1 7 + 4 d 4 * 11 + 6 d 6 * 6 + s 10 d ;\n"
        "pol 3 11 + 6 d 6 * 6 + s 4 d ;\n"
        "pol 5 12 + 4 d 4 * 4 + s 5 d ;\n"
        "pol 14 15 + s ;\n"
        "output NONE ;\n"
        "conclusion UNSAT : 16 ;\n"
        "end pseudo-Boolean proof ;\n");
  // A stack that ends at a pinned buffer contradicts the pin, not the capacity.
  problem.buffers[1].pinned = 0;
  refutation = {.stacks = {{2, 1}}, .lessons = {{{false, 0}}}};
  CHECK(certificate(problem, PoolId(0), 100, refutation).proof.find("pol 6 13 + 4 d 4 * 4 + s 8 d ;") !=
        std::string::npos);
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
      if (truth.best) CHECK(!certificate(problem, PoolId(i), truth.least_used[i] + 1));
      if (bound.bytes == 0) continue;
      if (certificate(problem, PoolId(i), bound.bytes)) {
        ++written;
        continue;
      }
      INFO(seed, " ", bound.reason, " ", bound.bytes);
      const bool ends_with_an_empty_one = std::ranges::any_of(
          problem.buffers, [&](const Buffer& one) { return one.size == 0 && one.pinned == bound.bytes; });
      CHECK((ends_with_an_empty_one || !problem.distances.empty() || bound.reason == "sums of sizes" ||
             bound.reason == "odd ring of buffers" || bound.reason == "live bytes beyond the bounded pools"));
    }
  }
  CHECK(written > 200);
}

}  // namespace usmp::bounds::certificate_test

// What must not get out: plans that a planner has wrong, claims that are false, C that computes something else.
#include <doctest/doctest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "driver/algorithm.hpp"
#include "files.hpp"
#include "usmp/driver/driver.hpp"

namespace usmp::driver::trust_test {
namespace {

Problem two_live_together() {
  Problem problem;
  problem.pools.push_back({"sram", PoolKind::workspace, {}, 1});
  problem.horizon = 2;
  for (const char* name : {"a", "b"}) {
    Buffer& buffer = problem.buffers.emplace_back();
    buffer.name = name;
    buffer.size = 16;
    buffer.candidates = {PoolId(0)};
    buffer.live = {{0, 2}};
  }
  return problem;
}

// A planner that gives this answer.
std::string refusal_of(const PlanResult& answer) {
  const Algorithm algorithm{
      .name = "broken", .program = {}, .plan = [&](const Problem&, const planners::Options&) { return answer; }};
  const Interrupt interrupt;
  try {
    (void)plan_and_verify(algorithm, two_live_together(), {}, {}, interrupt, nullptr);
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "";
}

PlanResult placed_at(Bytes first, Bytes second, PlanStatus status) {
  PlanResult result;
  result.status = status;
  result.plan.allocations = {{PoolId(0), first}, {PoolId(0), second}};
  return result;
}

// gcc, but where a program's sources lie below "planned" the exponential is a cosine.
std::string forging_compiler(const TemporaryDirectory& temporary) {
  const std::string path = temporary.file("cc");
  write(path, "#!/bin/sh\ncase \"$PWD $*\" in */planned*) exec gcc -Dexpf=cosf \"$@\" ;; *) exec gcc \"$@\" ;; esac\n");
  fs::permissions(path, fs::perms::owner_all);
  return path;
}

}  // namespace

TEST_CASE("trust: a wrong plan of our own is a bug, and goes nowhere") {
  CHECK(refusal_of(placed_at(0, 16, PlanStatus::feasible)).empty());
  const std::string refusal = refusal_of(placed_at(0, 15, PlanStatus::feasible));
  CHECK(contains(refusal, "the plan failed verification, nothing was written, this is a bug of usmp-plan:\n"));
  CHECK(contains(refusal, "'a' and 'b' overlap"));
}

TEST_CASE("trust: so is a false claim about a right plan") {
  CHECK(refusal_of(placed_at(0, 16, PlanStatus::optimal)).empty());
  const std::string refusal = refusal_of(placed_at(0, 32, PlanStatus::optimal));
  CHECK(contains(refusal, "a claim about the plan is false, nothing was written, this is a bug of usmp-plan: "));
}

TEST_CASE("trust: code that computes something else is told with what differs") {
  const TemporaryDirectory temporary;
  VerifyOptions options;
  options.model.model = testdata + "/repeated_op.tar";
  options.execute = true;
  options.rounds = 2;
  options.compiler = forging_compiler(temporary);
  const Outcome removed = outcome_of(verify, options);
  CHECK(removed.code == exit_internal);
  CHECK(contains(removed.err, "module 'default': the emitted code does not do what the unshared code does:\n  "));
  CHECK(contains(removed.err, "this is a bug of usmp-plan or of the compiler"));
  CHECK(contains(removed.err, "--keep DIR keeps both programs\n"));
  CHECK_FALSE(contains(removed.out, "executed:"));
  options.keep = temporary.file("kept");
  const Outcome kept = outcome_of(verify, options);
  CHECK(kept.code == exit_internal);
  CHECK(contains(kept.err, "both programs are in " + fs::canonical(temporary.path / "kept").string()));
}

}  // namespace usmp::driver::trust_test

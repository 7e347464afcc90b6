// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What stands between the command line and a search: limits, Ctrl-C, the progress line.
#include "driver/search.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <sstream>
#include <string>

#include "driver/interrupt.hpp"
#include "driver/progress.hpp"

namespace usmp::driver::search_test {
namespace {

using std::chrono::milliseconds;
using usmp::PlanResult;
using usmp::PoolId;
using usmp::Problem;
using usmp::driver::Interrupt;
using usmp::driver::progress_text;
using usmp::driver::ProgressLine;
using usmp::driver::SearchOptions;
using usmp::planners::Options;
using usmp::planners::Planner;
using usmp::planners::Progress;

PlanResult search(const Problem& problem, const Planner& planner, const usmp::pipeline::Goal& goal,
                  const SearchOptions& options, const Interrupt& interrupt, std::ostream* terminal) {
  const WatchedSearch watched(options, interrupt, terminal);
  return usmp::pipeline::search(problem, planner, goal, watched.limits());
}

Problem two_pools() {
  Problem problem;
  problem.pools.resize(2);
  problem.pools[0].name = "dtcm";
  problem.pools[1].name = "sram";
  return problem;
}

// What stands on the line of a terminal that got the text.
std::string visible(const std::string& text) {
  std::string shown;
  std::size_t column = 0;
  for (const char c : text) {
    REQUIRE(c != '\n');
    if (c == '\r') {
      column = 0;
      continue;
    }
    shown.resize(std::max(shown.size(), column + 1), ' ');
    shown[column++] = c;
  }
  shown.erase(shown.find_last_not_of(' ') + 1);
  return shown;
}

SearchOptions steps(std::uint64_t limit) {
  SearchOptions options;
  options.node_limit = limit;
  return options;
}

// A clock that the test moves, and what a line wrote.
struct Terminal {
  ProgressLine::Clock::time_point now;
  std::ostringstream text;
  ProgressLine line{text, [this] { return now; }};

  void show(milliseconds after, const Progress& progress, const std::string& pool = "sram") {
    now += after;
    line.show(pool, progress, steps(300000));
  }

  [[nodiscard]] std::string shown() const { return visible(text.str()); }
};

enum class Handling { usual, ignored, own };

Handling handling_of_sigint() {
  struct sigaction action = {};
  REQUIRE(sigaction(SIGINT, nullptr, &action) == 0);
  if (action.sa_handler == SIG_DFL) return Handling::usual;
  return action.sa_handler == SIG_IGN ? Handling::ignored : Handling::own;
}

}  // namespace

TEST_CASE("limits reach the algorithm, absent ones as its defaults") {
  Options seen;
  const Planner planner = [&seen](const Problem& /*problem*/, const Options& options) {
    seen = options;
    return PlanResult{};
  };
  const Problem problem = two_pools();
  const Interrupt interrupt;
  (void)search(problem, planner, {}, {}, interrupt, nullptr);
  CHECK(seen.node_limit == 0);
  CHECK_FALSE(seen.time_limit.has_value());
  CHECK(seen.seed == 0);
  CHECK(seen.interrupted == &interrupt.flag());
  CHECK_FALSE(seen.progress);
  CHECK_FALSE(seen.feasibility_only);
  const SearchOptions options{.node_limit = 5, .time_limit = milliseconds(250), .seed = 9};
  std::ostringstream terminal;
  (void)search(problem, planner, {.feasibility_only = true}, options, interrupt, &terminal);
  CHECK(seen.feasibility_only);
  CHECK(seen.node_limit == 5);
  CHECK(seen.time_limit == milliseconds(250));
  CHECK(seen.seed == 9);
  CHECK(seen.progress);
}

TEST_CASE("Ctrl-C during a search keeps the best plan, and ends those of further modules") {
  const Problem problem = two_pools();
  // A search without end, which somebody interrupts.
  const Planner endless = [](const Problem& /*problem*/, const Options& options) {
    for (int step = 0; !*options.interrupted; ++step) {
      REQUIRE(step < 1000);
      if (step == 100) std::raise(SIGINT);
    }
    PlanResult result;
    result.status = usmp::PlanStatus::feasible;
    result.stopped = usmp::StopReason::interrupted;
    return result;
  };
  const Interrupt interrupt;
  CHECK(search(problem, endless, {}, {}, interrupt, nullptr).stopped == usmp::StopReason::interrupted);
  CHECK(search(problem, endless, {}, {}, interrupt, nullptr).has_plan());
}

TEST_CASE("one pool made small, if asked for") {
  Problem problem = two_pools();
  problem.horizon = 1;
  problem.buffers.resize(1);
  problem.buffers[0].size = 8;
  problem.buffers[0].candidates = {PoolId(0), PoolId(1)};
  problem.buffers[0].live = {{0, 1}};
  const Interrupt interrupt;
  const Planner planner = usmp::planners::hill_climb;
  CHECK(search(problem, planner, {}, {}, interrupt, nullptr).plan.allocations[0].pool == PoolId(0));
  CHECK(search(problem, planner, {.minimize = PoolId(0)}, {}, interrupt, nullptr).plan.allocations[0].pool ==
        PoolId(1));
}

TEST_CASE("the first SIGINT sets the flag, the next would end the program") {
  std::signal(SIGINT, SIG_DFL);  // doctest has one of its own
  {
    const Interrupt interrupt;
    CHECK_FALSE(interrupt.flag());
    REQUIRE(handling_of_sigint() == Handling::own);
    REQUIRE(std::raise(SIGINT) == 0);
    CHECK(interrupt.flag());
    CHECK(handling_of_sigint() == Handling::usual);
  }
  const Interrupt again;
  CHECK_FALSE(again.flag());
}

TEST_CASE("a program that ignores SIGINT goes on ignoring it") {
  std::signal(SIGINT, SIG_IGN);
  {
    const Interrupt interrupt;
    REQUIRE(std::raise(SIGINT) == 0);
    CHECK_FALSE(interrupt.flag());
  }
  CHECK(handling_of_sigint() == Handling::ignored);
  std::signal(SIGINT, SIG_DFL);
}

TEST_CASE("SIGINT is as before when the search is over") {
  std::signal(SIGINT, SIG_DFL);
  { const Interrupt interrupt; }
  CHECK(handling_of_sigint() == Handling::usual);
}

TEST_CASE("nothing is shown in the first second, then the line is rewritten in place and erased") {
  Terminal terminal;
  terminal.show(milliseconds(999), {PoolId(1), 100, 200, 1});
  CHECK(terminal.text.str().empty());
  terminal.show(milliseconds(1), {PoolId(1), 100, 200, 123456});
  const std::string first = "sram: 200 bytes, gap 100.00%, 123456 of 300000 steps; Ctrl-C keeps this plan";
  CHECK(terminal.shown() == first);
  terminal.show(milliseconds(199), {PoolId(1), 150, 160, 200000});
  CHECK(terminal.shown() == first);
  terminal.show(milliseconds(1), {PoolId(1), 160, 160, 7});
  CHECK(terminal.shown() == "sram: 160 bytes, proved minimal, 7 of 300000 steps; Ctrl-C keeps this plan");
  terminal.line.erase();
  CHECK(terminal.shown() == "");
  CHECK(terminal.text.str().ends_with('\r'));
  const std::size_t length = terminal.text.str().size();
  terminal.line.erase();
  CHECK(terminal.text.str().size() == length);
}

TEST_CASE("a line that was never shown leaves nothing behind") {
  Terminal terminal;
  terminal.show(milliseconds(500), {PoolId(0), 1, 2, 3});
  terminal.line.erase();
  CHECK(terminal.text.str().empty());
}

TEST_CASE("a search that takes longer shows its pool, and leaves nothing on the terminal") {
  const Problem problem = two_pools();
  const Interrupt interrupt;
  std::ostringstream terminal;
  std::string during;
  const Planner slow = [&](const Problem& /*problem*/, const Options& options) {
    const auto start = ProgressLine::Clock::now();
    while (terminal.str().empty() && ProgressLine::Clock::now() - start < std::chrono::seconds(30)) {
      options.progress({PoolId(0), 0, 64, 10});
    }
    during = visible(terminal.str());
    return PlanResult{};
  };
  (void)search(problem, slow, {}, {}, interrupt, &terminal);
  CHECK(during == "dtcm: 64 bytes, gap of 64, 10 steps, limit about 10 s; Ctrl-C keeps this plan");
  CHECK(visible(terminal.str()) == "");
}

TEST_CASE("what is left of a time limit") {
  SearchOptions options;
  CHECK_FALSE(what_is_left(options, milliseconds(7)).time_limit.has_value());
  options.time_limit = milliseconds(10);
  CHECK(what_is_left(options, milliseconds(7)).time_limit == milliseconds(3));
  CHECK(what_is_left(options, milliseconds(70)).time_limit == milliseconds(1));
}

TEST_CASE(
    "progress has the words and figures of the result, the limit, and what Ctrl-C does, as far as 79 letters go") {
  SearchOptions seconds;
  seconds.time_limit = milliseconds(2500);
  const std::string keeps = "; Ctrl-C keeps this plan";
  const auto text = [](Bytes lower, Bytes upper, std::uint64_t steps, const SearchOptions& limits) {
    return progress_text("p", {PoolId(0), lower, upper, steps}, limits);
  };
  CHECK(text(8, 9, 1, {}) == "p: 9 bytes, gap 12.50%, 1 steps, limit about 10 s" + keeps);
  CHECK(text(8, 9, 1, steps(5)) == "p: 9 bytes, gap of 1 (12.50%), 1 of 5 steps" + keeps);
  CHECK(text(896, 960, 1234, seconds) == "p: 960 bytes, gap 7.14%, 1234 steps, limit 2.5 s" + keeps);
  CHECK(text(9, 9, 1, steps(5)) == "p: 9 bytes, proved minimal, 1 of 5 steps" + keeps);
  CHECK(text(986112, 1041408, 1, seconds) == "p: 1041408 bytes, gap 5.61%, 1 steps, limit 2.5 s" + keeps);
  CHECK(text(986112, 1041408, 123456789, seconds) == "p: 1041408 bytes, gap 5.61%, 123456789 steps" + keeps);
  CHECK(progress_text("p", {PoolId(0), 8, 9, 1, false}, {}) ==
        "p: 9 bytes, gap of 1 (12.50%), 1 steps, limit about 10 s; no plan yet");
  CHECK(progress_text(std::string(100, 'p'), {PoolId(0), 1, 2, 1}, {}).size() == 79);
}

}  // namespace usmp::driver::search_test

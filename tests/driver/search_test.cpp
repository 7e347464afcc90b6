// What stands between the command line and a search: limits, Ctrl-C, the progress line.
#include "driver/search.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <sstream>
#include <string>

#include "driver/interrupt.hpp"
#include "driver/progress.hpp"

namespace {

using std::chrono::milliseconds;
using usmp::PoolId;
using usmp::driver::Interrupt;
using usmp::driver::planner_options;
using usmp::driver::progress_text;
using usmp::driver::ProgressLine;
using usmp::driver::SearchOptions;
using usmp::planners::Options;
using usmp::planners::Progress;

usmp::Problem two_pools() {
  usmp::Problem problem;
  problem.pools.resize(2);
  problem.pools[0].name = "dtcm";
  problem.pools[1].name = "sram";
  return problem;
}

// A clock that the test moves, and what a line wrote.
struct Terminal {
  ProgressLine::Clock::time_point now;
  std::ostringstream text;
  ProgressLine line{text, [this] { return now; }};

  void show(milliseconds after, const Progress& progress, const std::string& pool = "sram") {
    now += after;
    line.show(pool, progress);
  }

  // What stands on the line of a terminal that got the text.
  [[nodiscard]] std::string visible() const {
    std::string shown;
    std::size_t column = 0;
    for (const char c : text.str()) {
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
  const usmp::Problem problem = two_pools();
  const std::atomic<bool> interrupted = false;
  const Options none = planner_options({}, problem, interrupted, nullptr);
  CHECK(none.node_limit == 0);
  CHECK_FALSE(none.time_limit.has_value());
  CHECK(none.seed == 0);
  CHECK(none.interrupted == &interrupted);
  CHECK_FALSE(none.progress);
  const Options all =
      planner_options({.node_limit = 5, .time_limit = milliseconds(250), .seed = 9}, problem, interrupted, nullptr);
  CHECK(all.node_limit == 5);
  CHECK(all.time_limit == milliseconds(250));
  CHECK(all.seed == 9);
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
  CHECK(terminal.visible() == "sram: 100 to 200 bytes (gap 100.01%), 123456 nodes");
  terminal.show(milliseconds(199), {PoolId(1), 150, 160, 200000});
  CHECK(terminal.visible() == "sram: 100 to 200 bytes (gap 100.01%), 123456 nodes");
  terminal.show(milliseconds(1), {PoolId(1), 160, 160, 7});
  CHECK(terminal.visible() == "sram: 160 bytes, 7 nodes");
  terminal.line.erase();
  CHECK(terminal.visible() == "");
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

TEST_CASE("the algorithm's progress comes with the pool's name") {
  const usmp::Problem problem = two_pools();
  const std::atomic<bool> interrupted = false;
  Terminal terminal;
  const Options options = planner_options({}, problem, interrupted, &terminal.line);
  terminal.now += milliseconds(1500);
  options.progress({PoolId(0), 0, 64, 10});
  CHECK(terminal.visible() == "dtcm: 0 to 64 bytes, 10 nodes");
}

TEST_CASE("a gap is never rounded to none, and a long line is cut") {
  CHECK(progress_text("p", {PoolId(0), 1041408, 1041409, 1}) == "p: 1041408 to 1041409 bytes (gap 0.01%), 1 nodes");
  CHECK(progress_text("p", {PoolId(0), 986112, 1041408, 1}) == "p: 986112 to 1041408 bytes (gap 5.61%), 1 nodes");
  CHECK(progress_text(std::string(100, 'p'), {PoolId(0), 1, 2, 1}).size() == 79);
}

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Planners that are shell scripts: right and wrong answers, limits, signals and pipes that are full.
#include "usmp/external/external.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "usmp/support/error.hpp"

namespace usmp::external::external_test {

namespace fs = std::filesystem;

namespace {

// A shell script of the given lines, removed afterwards.
class Script {
 public:
  explicit Script(const std::string& lines) {
    std::string pattern = (fs::temp_directory_path() / "usmp-external-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    directory_ = pattern;
    path_ = pattern + "/planner with blanks; exit 9";
    std::ofstream(path_) << "#!/bin/sh\n" << lines << '\n';
    fs::permissions(path_, fs::perms::owner_all);
  }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;
  ~Script() {
    std::error_code error;
    fs::remove_all(directory_, error);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string directory_;
  std::string path_;
};

Problem problem_of(std::size_t buffers) {
  Problem problem;
  problem.horizon = 2;
  problem.pools = {{.name = "sram"}};
  for (std::size_t i = 0; i < buffers; ++i) {
    problem.buffers.push_back({.name = "buffer " + std::to_string(i),
                               .function = {},
                               .size = 8,
                               .candidates = {PoolId(0)},
                               .live = {{0, 2}}});
  }
  return problem;
}

const std::string two_places =
    R"(echo '{"allocations":[{"buffer":0,"pool":"sram","offset":0},{"buffer":1,"pool":"sram","offset":8}]}')";

PlanResult plan_with(const std::string& lines, std::size_t buffers = 2, const planners::Options& options = {}) {
  const Script script(lines);
  return external::plan(script.path(), problem_of(buffers), options);
}

// The message without the program in front.
std::string fault_of(const std::string& lines) {
  const Script script(lines);
  try {
    static_cast<void>(external::plan(script.path(), problem_of(2), {}));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    CHECK(error.where().file == script.path());
    return std::string(error.what()).substr(script.path().size() + 2);
  }
  return "no error";
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("the problem goes in, the plan comes out") {
  const PlanResult result = plan_with("grep -c '\"name\":\"buffer' | grep -qx 2 || exit 1\n" + two_places);
  CHECK(result.status == PlanStatus::feasible);
  CHECK(result.plan == Plan{{{PoolId(0), 0}, {PoolId(0), 8}}});
}

TEST_CASE("claims that nobody can check are not believed") {
  CHECK(plan_with(R"(echo '{"status":"infeasible"}')").status == PlanStatus::not_found);
  CHECK(plan_with(R"(echo '{"status":"not_found"}')").status == PlanStatus::not_found);
  CHECK(plan_with(R"(echo '{"status":"optimal","allocations":[]}')").status == PlanStatus::feasible);
}

TEST_CASE("whatever goes wrong with the program is one message") {
  CHECK(fault_of("exit 3") == "ended with exit code 3, expected 0");
  CHECK(fault_of(two_places + "\nexit 3") == "ended with exit code 3, expected 0");
  CHECK(fault_of("kill -9 $$") == "ended by signal 9");
  CHECK(fault_of("exec >&-; exit 4") == "ended with exit code 4, expected 0");
  CHECK(fault_of("echo Traceback") ==
        "answer: line 1, column 1: malformed JSON: syntax error while parsing value - invalid literal");
  CHECK(fault_of("true") == "answer: the program printed nothing, expected an answer in JSON");
  CHECK(fault_of(R"(echo '{"allocations":[{"buffer":0,"pool":"ram","offset":0}]}')") ==
        "answer: allocations[0].pool: no pool 'ram' (did you mean 'sram'?)");
}

TEST_CASE("a program that cannot be started") {
  const auto fault = [](const std::string& program) -> std::string {
    try {
      static_cast<void>(external::plan(program, problem_of(1), {}));
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::usage);
      return error.what();
    }
    return "no error";
  };
  CHECK(fault("./no-such-planner") == "./no-such-planner: the algorithm cannot be started: No such file or directory");
  CHECK(fault("no-such-planner") == "no-such-planner: the algorithm cannot be started: No such file or directory");
  CHECK(fault("/") == "/: the algorithm cannot be started: Permission denied");
  CHECK(fault("./no such --planner") ==
        "./no such --planner: the algorithm cannot be started: No such file or directory");
}

TEST_CASE("a program may print much before it reads") {
  // Prints far more than a pipe holds before it reads anything.
  CHECK(plan_with("head -c 3000000 /dev/zero | tr '\\0' ' '\ncat >/dev/null\necho '{\"status\":\"not_found\"}'", 20000)
            .status == PlanStatus::not_found);
}

TEST_CASE("a program need not read the problem, and going early raises no signal") {
  CHECK(plan_with("exec <&-\necho '{\"status\":\"not_found\"}'", 50000).status == PlanStatus::not_found);
  sigset_t pending;
  sigpending(&pending);
  CHECK(sigismember(&pending, SIGPIPE) == 0);
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  CHECK(sigismember(&mask, SIGPIPE) == 0);
}

TEST_CASE("the program itself gets SIGPIPE as programs do") {
  // `yes` ends by the signal when `head` has gone; with the signal blocked it would complain about the pipe.
  CHECK(plan_with("yes | head -n 1 >/dev/null\necho '{\"status\":\"not_found\"}'").status == PlanStatus::not_found);
  CHECK(fault_of("kill -PIPE $$") == "ended by signal 13");
}

TEST_CASE("limits end the program") {
  const auto start = std::chrono::steady_clock::now();
  const PlanResult late = plan_with("exec sleep 30", 2, {.time_limit = std::chrono::milliseconds(100)});
  CHECK(late.status == PlanStatus::not_found);
  CHECK(late.stopped == StopReason::time_limit);
  const PlanResult late_without_output =
      plan_with("exec >&-\nexec sleep 30", 2, {.time_limit = std::chrono::milliseconds(100)});
  CHECK(late_without_output.stopped == StopReason::time_limit);
  std::atomic<bool> interrupted = false;
  std::jthread interrupts([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    interrupted = true;
  });
  CHECK(plan_with("exec sleep 30", 2, {.interrupted = &interrupted}).stopped == StopReason::interrupted);
  CHECK(seconds_since(start) < 20);
}

TEST_CASE("what is over already starts no program") {
  // A program that begins ends with 3, which is an error.
  const PlanResult late = plan_with("exit 3", 2, {.time_limit = std::chrono::milliseconds(0)});
  CHECK(late.status == PlanStatus::not_found);
  CHECK(late.stopped == StopReason::time_limit);
  const std::atomic<bool> interrupted = true;
  CHECK(plan_with("exit 3", 2, {.interrupted = &interrupted}).stopped == StopReason::interrupted);
}

}  // namespace usmp::external::external_test

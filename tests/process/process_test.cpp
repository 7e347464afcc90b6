// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Lines of shell as child processes: pipes, environment, endings and limits.
#include "usmp/process/process.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "usmp/support/error.hpp"

namespace usmp::process::process_test {

using process::End;
namespace fs = std::filesystem;

namespace {

// A line of shell, so that the tests need no programs of their own.
process::Command shell(const std::string& line) { return {.program = "sh", .arguments = {"-c", line}}; }

constexpr std::size_t plenty = 1 << 20;

}  // namespace

TEST_CASE("much text in both directions at once") {
  const std::string text(std::size_t{5} << 20, 'x');
  const process::Result echoed = process::run({.program = "cat"}, text, {.output = text.size()});
  CHECK(echoed.succeeded());
  CHECK(echoed.output == text);
}

TEST_CASE("arguments are handed over as they are") {
  const process::Result done =
      process::run({.program = "printf", .arguments = {"[%s]", "a b", "$(exit 9)", "; exit 9", "*", "'\"", ""}}, "",
                   {.output = plenty});
  CHECK(done.output == "[a b][$(exit 9)][; exit 9][*]['\"][]");
}

TEST_CASE("variables are added to the environment or replace what is there") {
  process::Command command = shell("printf '%s,%s,' \"$USMP_TEST_VALUE\" \"$HOME\"; test -n \"$PATH\" && printf path");
  command.environment = {"USMP_TEST_VALUE=a=b", "HOME=/nowhere"};
  CHECK(process::run(command, "", {.output = plenty}).output == "a=b,/nowhere,path");
}

TEST_CASE("the directory to start in") {
  process::Command command = shell("pwd");
  command.directory = "/";
  CHECK(process::run(command, "", {.output = plenty}).output == "/\n");
  command.directory = "/no/such/directory";
  CHECK_THROWS_AS(static_cast<void>(process::run(command, "", {.output = plenty})), Error);
}

TEST_CASE("variables that the program does not get") {
  ::setenv("USMP_TEST_HIDDEN", "1", 1);
  process::Command command = shell("echo \"[$USMP_TEST_HIDDEN][$USMP_TEST_KEPT][$HOME]\"");
  command.environment = {"USMP_TEST_KEPT=2", "HOME=/"};
  command.without = "USMP_TEST_";
  CHECK(process::run(command, "", {.output = plenty}).output == "[][2][/]\n");
  ::unsetenv("USMP_TEST_HIDDEN");
}

TEST_CASE("a limit ends children in sessions and groups of their own, and theirs") {
  if (::system("command -v setsid > /dev/null") != 0) return;
  process::Command command = shell(
      "echo $$; setsid sh -c 'echo $$; setsid sh -c \"echo \\$\\$; exec sleep 1000\" & sleep 1000' & while true; do "
      "sleep 1; done");
  command.leads_group = true;
  const fs::path file = fs::temp_directory_path() / ("usmp-process-" + std::to_string(::getpid()));
  command.arguments[1] = "{ " + command.arguments[1] + "; } > " + file.string();
  const auto pids = [&] {
    std::ifstream text(file);
    std::vector<long> all;
    for (long pid = 0; text >> pid;) all.push_back(pid);
    return all;
  };
  CHECK(process::run(command, "", {.output = plenty, .time = std::chrono::seconds(2)}).end == End::time_limit);
  REQUIRE(pids().size() == 3);
  for (const long pid : pids()) CHECK_MESSAGE(::kill(static_cast<pid_t>(pid), 0) != 0, pid);
  fs::remove(file);
}

TEST_CASE("standard error joins the output if asked") {
  process::Command command = shell("echo out; echo error >&2");
  command.joins_error = true;
  CHECK(process::run(command, "", {.output = plenty}).output == "out\nerror\n");
}

TEST_CASE("how programs end") {
  const auto status = [](const std::string& line) { return process::run(shell(line), "", {.output = plenty}).status; };
  CHECK(process::status_text(status("exit 0")) == "exit code 0");
  CHECK(process::status_text(status("exit 3")) == "exit code 3");
  CHECK(process::status_text(status("kill -11 $$")) == "signal 11");
  CHECK_FALSE(process::run(shell("exit 3"), "", {.output = plenty}).succeeded());
  CHECK(process::run({.program = "yes"}, "", {.output = 100000}).end == End::too_much_output);
  CHECK_THROWS_AS(static_cast<void>(process::run({.program = "no-such-program"}, "", {.output = plenty})), Error);
}

TEST_CASE("limits end the program") {
  const auto start = std::chrono::steady_clock::now();
  const std::atomic<bool> interrupted = true;
  CHECK(process::run(shell("exec sleep 30"), "", {.output = plenty, .interrupted = &interrupted}).end ==
        End::interrupted);
  CHECK(process::run(shell("exec sleep 30"), "", {.output = plenty, .time = std::chrono::milliseconds(100)}).end ==
        End::time_limit);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
}

TEST_CASE("a limit ends the children of a group's leader too") {
  std::string directory = (fs::temp_directory_path() / "usmp-process-XXXXXX").string();
  REQUIRE(::mkdtemp(directory.data()) != nullptr);
  process::Command command = shell("(echo > started; sleep 1; echo > late) & wait");
  command.directory = directory;
  command.leads_group = true;
  const process::Result done = process::run(command, "", {.output = plenty, .time = std::chrono::milliseconds(500)});
  CHECK(done.end == End::time_limit);
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  CHECK(fs::exists(directory + "/started"));
  CHECK_FALSE(fs::exists(directory + "/late"));
  fs::remove_all(directory);
}

}  // namespace usmp::process::process_test

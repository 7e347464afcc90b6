// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Modules planned by hand, right and wrong: what the comparison finds.
#include "usmp/execute/execute.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "codegen/planned_module.hpp"
#include "execute/tensors.hpp"
#include "usmp/support/error.hpp"

namespace usmp::execute::execute_test {

using codegen::testing::info_of;
using codegen::testing::Planned;
using namespace tir::testing;  // NOLINT(google-build-using-namespace)
namespace fs = std::filesystem;

namespace {

class Directory {
 public:
  Directory() : path_((fs::temp_directory_path() / "usmp-execute-XXXXXX").string()) {
    REQUIRE(::mkdtemp(path_.data()) != nullptr);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() {
    std::error_code error;
    fs::remove_all(path_, error);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

config::PoolsConfig one_pool() {
  config::PoolsConfig pools;
  pools.workspace_pools = {codegen::testing::pool("sram", PoolKind::workspace)};
  return pools;
}

// An entry from the 8 bytes of x to those of out; its body may use two buffers of 8 bytes.
class Example {
 public:
  ModuleBuilder b;
  tir::VarId x = b.pointer("x");
  tir::VarId out = b.pointer("out");
  tir::VarId one = b.pointer("one");
  tir::VarId two = b.pointer("two");
  tir::VarId i = b.integer("i");
  tir::Block body = {b.allocate(one, 8), b.allocate(two, 8)};
  std::vector<OutputFile> foreign;
  std::vector<std::string> undefined;

  // to[i] = value for all i.
  void fill(tir::VarId to, tir::ExprRef value) {
    body.push_back(ModuleBuilder::loop(i, 8, {ModuleBuilder::store(to, b.var(i), std::move(value))}));
  }
  [[nodiscard]] tir::ExprRef at(tir::VarId storage) const { return b.load(storage, b.var(i)); }

  // Places of `one` and `two` in the planned program; in the unshared one they are 64 bytes apart.
  execute::Findings compare(Bytes place_of_one, Bytes place_of_two, execute::Options options = {}) {
    const Directory directory;
    b.entry({x, out}, body);
    const auto planned_with = [&](Bytes first, Bytes second) {
      return Planned(info_of("m", {{"x", "int8", 8}}, {{"out", "int8", 8}}), b, one_pool(),
                     {{"one", {PoolId(0), first}}, {"two", {PoolId(0), second}}});
    };
    const Planned planned = planned_with(place_of_one, place_of_two);
    const Planned unshared = planned_with(0, 64);
    const execute::Compiler compiler = execute::find_compiler(options, directory.path());
    return execute::compare({planned.view(), unshared.view(), foreign, undefined}, compiler, options, directory.path());
  }

  // The same for what is thrown.
  std::string error(const execute::Options& options = {}) {
    try {
      const execute::Findings findings = compare(0, 8, options);
      return findings.faults.empty() ? "no error" : "fault: " + findings.faults.front();
    } catch (const Error& error) {
      kind = error.kind();
      return error.what();
    }
  }
  ErrorKind kind = ErrorKind::output;
};

// out = x + (x + 1), by way of both buffers.
Example doubling() {
  Example e;
  e.fill(e.one, e.at(e.x));
  e.fill(e.two, add(e.at(e.one), imm(1, i8)));
  e.fill(e.out, add(e.at(e.one), e.at(e.two)));
  return e;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a right plan computes what the unshared code computes") {
  Example e = doubling();
  const execute::Findings findings = e.compare(8, 0, {.rounds = 4});
  CHECK(findings.faults.empty());
  CHECK(findings.elements == 4 * 8);
}

TEST_CASE("what is called between the steps may stop at each of them") {
  struct Stopped {};
  int steps = 0;
  Example whole = doubling();
  execute::Options options;
  options.between = [&] { ++steps; };
  CHECK(whole.compare(8, 0, options).faults.empty());
  // Two compilations and a link of each program, three runs, and the files in front of them.
  CHECK(steps > 2 * 3 + 3 + 2 * 3);
  for (const int last : {1, steps / 2, steps}) {
    Example e = doubling();
    int seen = 0;
    options.between = [&] {
      if (++seen == last) throw Stopped();
    };
    CHECK_THROWS_AS((void)e.compare(8, 0, options), Stopped);
    CHECK(seen == last);
  }
}

TEST_CASE("two live buffers that overlap are found, with output, element, round and values") {
  Example e = doubling();
  const execute::Findings findings = e.compare(0, 0, {.seed = 5, .rounds = 2});
  const auto x =
      static_cast<std::int8_t>(execute::random_inputs({{"x", "x", tir::testing::int8_type, 8}}, 1, 5).front());
  const auto text = [](int value) { return std::to_string(static_cast<std::int8_t>(value)); };
  REQUIRE(findings.faults.size() == 2);
  CHECK(findings.faults[0] == "round 0, output 'out': 8 of 8 elements differ, first element 0: planned " +
                                  text(2 * (x + 1)) + ", reference " + text(2 * x + 1));
  CHECK(findings.faults[1].starts_with("round 1, output 'out': 8 of 8 elements differ"));
  Example partly = doubling();
  const execute::Findings some = partly.compare(0, 6, {.rounds = 1});
  REQUIRE(some.faults.size() == 1);
  CHECK(contains(some.faults[0], "2 of 8 elements differ, first element 6"));
}

TEST_CASE("buffers that overlap where neither is read any more are none the worse for it") {
  Example e;
  e.fill(e.one, e.at(e.x));
  e.fill(e.out, e.at(e.one));
  e.fill(e.two, e.at(e.x));
  CHECK(e.compare(0, 0).faults.empty());
}

TEST_CASE("bytes that are nobody's stay as they are") {
  const auto with_store = [](tir::VarId Example::*to, std::int64_t index) {
    Example e = doubling();
    e.body.push_back(ModuleBuilder::store(e.*to, index, imm(77, i8)));
    e.fill(e.two, imm(1, i8));  // keeps both buffers alive to the end
    return e;
  };
  Example gap = with_store(&Example::one, 9);
  CHECK(gap.compare(0, 32, {.rounds = 1}).faults ==
        std::vector<std::string>{

            "round 0, reference program: byte 9 of pool 'sram', which belongs to no buffer, was written to",
            "round 0, planned program: byte 9 of pool 'sram', which belongs to no buffer, was written to"});
  Example front = with_store(&Example::one, -3);
  CHECK(contains(front.compare(0, 8, {.rounds = 1}).faults.back(), "3 bytes in front of pool 'sram' was written to"));
  Example behind = with_store(&Example::two, 10);
  CHECK(contains(behind.compare(0, 8, {.rounds = 1}).faults.back(), "byte 2 beyond the end of pool 'sram'"));
  Example input = with_store(&Example::x, 4);
  CHECK(contains(input.compare(0, 8, {.rounds = 1}).faults.back(), "byte 4 of input 'x', which is read-only"));
  Example output = with_store(&Example::out, 8);
  CHECK(contains(output.compare(0, 8, {.rounds = 1}).faults.back(), "byte 0 beyond the end of output 'out'"));
}

TEST_CASE("outputs made of memory that was never written are the model's own fault") {
  Example e;
  e.fill(e.two, e.at(e.x));
  e.fill(e.out, add(e.at(e.one), e.at(e.two)));
  CHECK(contains(e.error(), "output 'out' depends on memory that the model never wrote: element 0 is "));
  CHECK(e.kind == ErrorKind::archive);
}

TEST_CASE("sanitizers see reads too") {
  Example plain = doubling();
  plain.body.push_back(ModuleBuilder::store(plain.one, 0, plain.b.load(plain.x, 8)));
  CHECK(plain.error() == "no error");
  Example sanitized = doubling();
  sanitized.body.push_back(ModuleBuilder::store(sanitized.one, 0, sanitized.b.load(sanitized.x, 8)));
  const std::string message = sanitized.error({.sanitize = true});
  CHECK(contains(message, "the reference program ended with exit code 1 in round 0"));
  CHECK(contains(message, "AddressSanitizer"));
  Example right = doubling();
  CHECK(right.compare(0, 8, {.sanitize = true}).faults.empty());
}

TEST_CASE("a planned program that ends early with exit code 0 is no success") {
  Example e = doubling();
  e.body.push_back(e.b.call("leave", std::vector{e.one}));
  e.foreign = {{"codegen/host/src/leave.c", [](TextSink& sink) {
                  sink.write(
                      "#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\nint32_t leave(void* p);\n"
                      "int32_t leave(void* p) { (void)p; if (strstr(__FILE__, \"/planned/\")) exit(0); return 0; }\n");
                }}};
  CHECK(e.compare(0, 8, {.rounds = 2}).faults ==
        std::vector<std::string>{"the planned program ended with exit code 0 in round 0 of 2"});
}

TEST_CASE("code that is not here") {
  Example e = doubling();
  e.body.push_back(e.b.call("accelerator_go", std::vector{e.one}));
  e.undefined = {"accelerator_go"};
  const std::string message = e.error();
  CHECK(contains(message, "the module needs code that is not TVM's own (accelerator_go) and cannot be executed"));
  CHECK(contains(message, "the program cannot be linked\n  "));
  CHECK(e.kind == ErrorKind::usage);
}

TEST_CASE("compilers") {
  Example none = doubling();
  CHECK(none.error({.compiler = "no-such-compiler"}) ==
        "no-such-compiler: cannot be started: No such file or directory");
  CHECK(none.kind == ErrorKind::usage);
  Example flag = doubling();
  CHECK(
      contains(flag.error({.compiler = "gcc", .flags = {"-fno-such-flag"}}), "gcc: does not compile an empty program"));
  Example shell = doubling();
  CHECK(contains(shell.error({.compiler = "gcc; exit 0"}), "gcc; exit 0: cannot be started"));
}

TEST_CASE("programs that go on and on") {
  Example e = doubling();
  const tir::VarId k = e.b.integer("k");
  tir::Block inner = {ModuleBuilder::store(e.one, 0, e.b.load(e.x, 0))};
  for (int depth = 0; depth < 3; ++depth) inner = {ModuleBuilder::loop(e.b.integer("n"), 1'000'000, std::move(inner))};
  e.body.push_back(ModuleBuilder::loop(k, 1'000'000, std::move(inner)));
  const std::string message = e.error({.flags = {"-O0"}, .time_limit = std::chrono::seconds(6)});
  CHECK(message == "the reference program did not end within 6 seconds (--timeout sets another limit)");
  Example slow = doubling();
  const Directory scripts;
  const std::string never = scripts.path() + "/never";
  std::ofstream(never) << "#!/bin/sh\nexec sleep 600\n";
  fs::permissions(never, fs::perms::owner_all);
  CHECK(contains(slow.error({.compiler = never, .time_limit = std::chrono::milliseconds(200)}),
                 "never: did not, within the time limit, compile an empty program"));
}

TEST_CASE("a signal that the caller holds back ends what runs") {
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &term, &before);
  ::raise(SIGTERM);
  Example stopped = doubling();
  CHECK(stopped.error({}) == "interrupted before all programs had run");
  const timespec at_once{};
  CHECK(sigtimedwait(&term, nullptr, &at_once) == SIGTERM);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace usmp::execute::execute_test

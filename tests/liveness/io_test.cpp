// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Inputs and outputs inside the workspace.
#include <doctest/doctest.h>

#include "liveness/result.hpp"

namespace usmp::liveness::testing::io_test {
namespace {

TEST_CASE("without workspace_io the entry's parameters are not planned") {
  ModuleBuilder b;
  const auto in = b.pointer("in");
  const auto out = b.pointer("out");
  b.entry({in, out}, block(b.copy(out, in)));
  CHECK(run(b).analysis.sites.empty());
}

TEST_CASE("an input is live from the entry to its last read, an output from its first write to the end") {
  ModuleBuilder b;
  const auto in = b.pointer("in");
  const auto out = b.pointer("out");
  const auto x = b.pointer("x");
  b.entry({out, in}, block(b.allocate(x, 8), b.set(x), b.copy(x, in), b.copy(out, x), b.set(x), b.set(x)));
  const Result r = run(b, with_io());
  CHECK(r.names() == std::vector<std::string>{"in", "out", "x"});
  CHECK(r.site("in").kind == BufferKind::input);
  CHECK(r.site("out").kind == BufferKind::output);
  CHECK(r.site("in").size == 8);
  CHECK(r.live("in") == "0-2");
  CHECK(r.live("out") == "2-5");
}

// TVM starts an input's life at its first read and ends an output's at its last access, so that it may put `early` over
// the input that is read later, and `late` over the finished output.
TEST_CASE("an input that is read late conflicts with all that is live before, an output with all that follows") {
  ModuleBuilder b;
  const auto p = b.pointer("p");
  const auto q = b.pointer("q");
  b.function("op", {p, q}, block(b.copy(q, p)));
  const auto in1 = b.pointer("in1");
  const auto in2 = b.pointer("in2");
  const auto out1 = b.pointer("out1");
  const auto out2 = b.pointer("out2");
  const auto early = b.pointer("early");
  const auto late = b.pointer("late");
  b.entry({in1, in2, out1, out2},
          block(b.allocate(early, 8), b.allocate(late, 8), b.call("op", {in1, early}), b.call("op", {early, out1}),
                b.call("op", {in2, late}), b.call("op", {late, out2})));
  const Result r = run(b, with_io());
  CHECK(r.live("in2") == "0-3");
  CHECK(r.conflict("in2", "early"));
  CHECK(r.conflict("in2", "in1"));
  CHECK(r.conflict("in2", "out1"));
  CHECK(r.live("out1") == "1-4");
  CHECK(r.conflict("out1", "late"));
  CHECK(r.conflict("out1", "out2"));
  CHECK_FALSE(r.conflict("in1", "late"));
  CHECK_FALSE(r.conflict("early", "late"));
}

TEST_CASE("an output that is read later stays an output, live to the end") {
  ModuleBuilder b;
  const auto in = b.pointer("in");
  const auto out1 = b.pointer("out1");
  const auto out2 = b.pointer("out2");
  const auto x = b.pointer("x");
  b.entry({in, out1, out2}, block(b.allocate(x, 8), b.copy(out1, in), b.copy(out2, out1), b.set(x)));
  const Result r = run(b, with_io());
  CHECK(r.site("out1").kind == BufferKind::output);
  CHECK(r.live("out1") == "0-3");
  CHECK(r.live("out2") == "1-3");
}

TEST_CASE("an input read in a loop is live to the loop's end, an output written there from its start") {
  ModuleBuilder b;
  const auto in = b.pointer("in");
  const auto out = b.pointer("out");
  const auto x = b.pointer("x");
  const auto i = b.integer("i");
  b.entry({in, out}, block(b.allocate(x, 8), b.set(x),
                           b.loop(i, 4, block(b.set(x), b.copy(x, in), b.copy(out, x), b.set(x))), b.set(x)));
  const Result r = run(b, with_io());
  CHECK(r.live("in") == "0-6");
  CHECK(r.live("out") == "1-7");
}

TEST_CASE("parameters that nobody accesses keep their place at the entry or at the end") {
  ModuleBuilder b;
  const auto in = b.pointer("in");
  const auto out = b.pointer("out");
  const auto x = b.pointer("x");
  b.entry({in, out}, block(b.allocate(x, 8), b.set(x), b.set(x)));
  Options options = with_io();
  options.inputs = {in};
  options.outputs = {out};
  const Result r = run(b, options);
  CHECK(r.live("in") == "0-1");
  CHECK(r.live("out") == "1-2");
}

TEST_CASE("the options name inputs and outputs; a parameter in both is live throughout") {
  ModuleBuilder b;
  const auto in = b.pointer("in");
  const auto state = b.pointer("state");
  const auto other = b.pointer("other");
  const auto x = b.pointer("x");
  b.entry({state, in, other}, block(b.allocate(x, 8), b.copy(x, in), b.copy(state, state), b.copy(other, x)));
  Options options = with_io();
  options.inputs = {in, state};
  options.outputs = {state};
  const Result r = run(b, options);
  CHECK(r.names() == std::vector<std::string>{"state", "in", "x"});
  CHECK(r.live("state") == "0-3");
  CHECK(r.site("state").kind == BufferKind::output);
  CHECK(r.live("in") == "0-1");
}

TEST_CASE("an input of unknown shape cannot live in the workspace") {
  ModuleBuilder b;
  const auto in = b.pointer("in");
  b.entry({in}, block(b.copy(in, in)));
  b.module().functions.back().params[0].shape.reset();
  CHECK(error_of(b, with_io()) == "main: the shape of parameter 'in' is not known at compile time");
  CHECK(error_of(b) == "no error");
}

}  // namespace
}  // namespace usmp::liveness::testing::io_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The step that finds what may share bytes: what it says of it, and what it is worth.
#include "transform/inplace.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "liveness/program_of_nests.hpp"
#include "transform/peak.hpp"
#include "usmp/liveness/distances.hpp"
#include "usmp/tir/printer.hpp"

namespace usmp::transform::inplace_test {
namespace {

using liveness::testing::Program;
using tir::int32_type;
using tir::VarId;
using tir::testing::block;
using tir::testing::int8_type;

// out[i] = in[i]
tir::Stmt copy(Program& p, VarId out, VarId in, std::int64_t elements) {
  const tir::DataType type = p.module().var(out).element;
  return p.for_i(elements, block(p.store(out, p.i(), tir::make_cast(type, p.load(in, p.i())))));
}

StepResult result_of(const tir::Module& module, const liveness::Options& options = {}) {
  return describe_shared_bytes(module, liveness::analyse(module), liveness::find_distances(module, options),
                               peak_of(module).load);
}

TEST_CASE("a change for each direction in which two buffers may share bytes, with the function where they meet") {
  Program p;
  const VarId from = p.pointer("from");
  const VarId to = p.pointer("to");
  p.function("shift", {from, to},
             block(p.for_i(13, block(p.store(to, tir::testing::add(p.i(), 3), p.load(from, p.i()))))));
  const VarId in = p.buffer("in", 16);
  const VarId out = p.buffer("out", 16);
  const StepResult result = result_of(p.module_of({p.call("shift", {in, out})}));
  CHECK(result.step == Step::inplace);
  REQUIRE(result.changes.size() == 2);
  for (const Change& change : result.changes) {
    CHECK(change.step == Step::inplace);
    CHECK(change.function == "shift");
  }
  CHECK(result.changes[0].text == "'out' may start 10 bytes above 'in'");
  CHECK(result.changes[1].text == "'in' may start 3 bytes above 'out'");
  CHECK(result.load_before == 32);
  CHECK(result.load_after == 19);
}

TEST_CASE("nothing to share, no change") {
  Program p;
  const VarId in = p.buffer("in", 16);
  const VarId out = p.buffer("out", 16);
  p.is_kept(in);
  const StepResult result = result_of(p.module_of({copy(p, out, in, 16)}));
  CHECK(result.changes.empty());
  CHECK(result.load_before == 32);
  CHECK(result.load_after == 32);
}

TEST_CASE("what it is worth: the load where it is highest, with buffers as close as they may be") {
  Program p;
  const VarId in = p.buffer("in", 16);
  SUBCASE("one inside the other") {
    const VarId out = p.buffer("out", 16, int32_type);
    const StepResult result = result_of(p.module_of({copy(p, out, in, 16)}));
    CHECK(result.changes.size() == 1);
    CHECK(result.load_before == 80);
    CHECK(result.load_after == 64);
  }
  SUBCASE("a third one stands beside them") {
    const VarId out = p.buffer("out", 16);
    const VarId other = p.buffer("other", 5);
    p.is_kept(other);
    const StepResult result = result_of(p.module_of({copy(p, out, in, 16)}));
    CHECK(result.load_before == 37);
    CHECK(result.load_after == 21);
  }
  SUBCASE("the load is as high at another time") {
    const VarId out = p.buffer("out", 16);
    const VarId a = p.temporary("a", 14);
    const VarId b = p.temporary("b", 14);
    const StepResult result = result_of(p.module_of({copy(p, out, in, 16), p.call("both", {a, b})}));
    CHECK(result.changes.size() == 1);
    CHECK(result.load_before == 44);  // with `out`
    CHECK(result.load_after == 44);
  }
}

TEST_CASE("inputs and outputs may share bytes, but the load is without them") {
  Program p;
  const VarId in = p.pointer("in");
  const VarId out = p.pointer("out");
  const VarId made = p.pointer("made");
  p.entry({in, out}, block(p.allocate(made, 8), copy(p, made, in, 8), copy(p, out, made, 8)));
  const tir::Module module = p.build();
  CHECK(result_of(module).changes.empty());
  const StepResult result = result_of(module, {.workspace_io = true, .inputs = {in}, .outputs = {out}});
  CHECK(result.changes.size() == 2);
  CHECK(result.load_before == 8);
  CHECK(result.load_after == 8);
}

TEST_CASE("as a step: the program stays, and its functions say what may share bytes") {
  Program p;
  const VarId in = p.buffer("in", 16);
  const VarId out = p.buffer("out", 16);
  const tir::Module module = p.module_of({copy(p, out, in, 16)});
  const Result result = transform(module, {.steps = {Step::inplace}});
  REQUIRE(result.steps.size() == 1);
  CHECK(result.steps[0].load_before == 32);
  CHECK(result.steps[0].load_after == 16);
  const tir::Function& entry = result.module().functions[result.module().entry];
  CHECK(entry.notes == std::vector<std::string>{"inplace: 'in' may start 0 bytes above 'out'"});
  tir::Module without_notes = result.module();
  without_notes.functions[without_notes.entry].notes.clear();
  CHECK(tir::print(without_notes) == tir::print(module));
}

}  // namespace
}  // namespace usmp::transform::inplace_test

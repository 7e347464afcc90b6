// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Whose bytes they are: what counts as lost, and what does not.
#include <doctest/doctest.h>

#include "replay/played.hpp"

namespace usmp::replay::testing::bytes_test {
namespace {

TEST_CASE("an element that is overwritten before it is read is lost") {
  Program p;
  const VarId in = p.buffer("in", 4);
  const VarId out = p.buffer("out", 4);
  const std::vector<tir::Stmt> copied = {p.fill(in, 4), p.copy_all(out, in, 4), p.drain(out, 4)};
  SUBCASE("not at one place: all parts of a statement are read before it stores") {
    CHECK(p.said({{"in", 0}, {"out", 0}}, copied) == "1 of 1, 16 accesses");
  }
  SUBCASE("not by what stays behind") { CHECK(p.said({{"in", 1}, {"out", 0}}, copied) == "1 of 1, 16 accesses"); }
  SUBCASE("by what runs ahead") {
    CHECK(p.said({{"in", 8}, {"out", 9}}, copied) ==
          "1 of 1, 16 accesses\nelement of 'in' at byte 9 of pool 'global_workspace' is read after 'out' has "
          "overwritten it, in function 'main', iteration i = 1");
  }
  SUBCASE("not if they share no byte, which nothing has to be replayed for") {
    CHECK(p.said({{"in", 0}, {"out", 4}}, copied) == "0 of 0, 0 accesses");
    CHECK(p.said({{"in", 4}, {"out", 0}}, copied) == "0 of 0, 0 accesses");
  }
}

TEST_CASE("of larger elements every byte counts") {
  Program p;
  const VarId in = p.buffer("in", 4, int32_type);
  const VarId out = p.buffer("out", 4, int32_type);
  const std::vector<tir::Stmt> copied = {p.fill(in, 4), p.copy_all(out, in, 4)};
  CHECK(p.play({{"in", 0}, {"out", 0}}, copied).violations.empty());
  CHECK(p.play({{"in", 4}, {"out", 0}}, copied).violations.empty());
  CHECK(p.play({{"in", 0}, {"out", 15}}, copied).violations.size() == 1);
  CHECK(p.play({{"in", 0}, {"out", 4}}, copied).violations.size() == 1);
  CHECK(p.play({{"in", 3}, {"out", 0}}, copied).violations.empty());
  CHECK(p.play({{"in", 0}, {"out", 3}}, copied).violations.size() == 1);
}

TEST_CASE("buffers that are not live together share what they like, in one pool or in two") {
  Program p;
  const VarId one = p.buffer("one", 4);
  const VarId other = p.buffer("other", 4);
  CHECK(p.said({{"one", 0}, {"other", 0}}, {p.fill(one, 4), p.drain(one, 4), p.fill(other, 4), p.drain(other, 4)}) ==
        "0 of 0, 0 accesses");
}

TEST_CASE("what was never written has no value to be lost") {
  Program p;
  const VarId in = p.buffer("in", 4);
  const VarId out = p.buffer("out", 4);
  SUBCASE("nothing was") {
    CHECK(p.said({{"in", 0}, {"out", 0}}, {p.read(in, 0), p.fill(out, 4), p.read(in, 0)}) == "1 of 1, 6 accesses");
  }
  SUBCASE("another byte was") {
    CHECK(p.said({{"in", 0}, {"out", 0}}, {p.set(in, 3), p.set(out, 0), p.read(in, 0), p.read(in, 3)}) ==
          "1 of 1, 4 accesses");
  }
  SUBCASE("it was, after the other one") {
    CHECK(p.said({{"in", 0}, {"out", 0}}, {p.set(in, 3), p.set(out, 3), p.set(in, 3), p.read(in, 3)}) ==
          "1 of 1, 4 accesses");
  }
  SUBCASE("it was") {
    CHECK(p.play({{"in", 0}, {"out", 0}}, {p.set(in, 3), p.set(out, 3), p.read(in, 3)}).violations.size() == 1);
  }
}

TEST_CASE("each time it is allocated, a buffer begins a new life") {
  Program p;
  const VarId out = p.buffer("out", 1);
  const VarId inner = p.pointer("inner");
  const auto again = [&](std::int64_t reading) {
    return p.for_i(2, block(p.allocate(inner, 1), p.when(binary(ExprKind::eq, p.i(), 0), block(p.set(inner, 0))),
                            p.set(out, 0), p.when(binary(ExprKind::eq, p.i(), reading), block(p.read(inner, 0)))));
  };
  CHECK(p.said({{"inner", 0}, {"out", 0}}, {again(1)}) == "1 of 1, 4 accesses");
  CHECK(p.play({{"inner", 0}, {"out", 0}}, {again(0)}).violations.size() == 1);
}

TEST_CASE("each pair is told once in a direction") {
  Program p;
  const VarId a = p.buffer("a", 4);
  const VarId b = p.buffer("b", 4);
  const VarId c = p.buffer("c", 4);
  const Result result = p.play({{"a", 0}, {"b", 0}, {"c", 2}}, {p.fill(a, 4), p.fill(b, 4), p.fill(c, 2), p.drain(a, 4),
                                                                p.drain(a, 4), p.drain(b, 4), p.drain(c, 2)});
  CHECK(result.pairs == 3);
  REQUIRE(result.violations.size() == 3);
  CHECK(result.violations[0].starts_with("element of 'a' at byte 0 of pool 'global_workspace' is read after 'b'"));
  CHECK(result.violations[1].starts_with("element of 'a' at byte 2 of pool 'global_workspace' is read after 'c'"));
  CHECK(result.violations[2].starts_with("element of 'b' at byte 2 of pool 'global_workspace' is read after 'c'"));
}

TEST_CASE("the application writes inputs before the run and reads outputs after it") {
  Program p;
  p.liveness.workspace_io = true;
  const VarId input = p.pointer("input");  // of 8 elements
  const VarId output = p.pointer("output");
  p.liveness.inputs = {input};
  p.liveness.outputs = {output};
  const VarId inner = p.buffer("inner", 8);
  const std::vector<VarId> params = {input, output};
  SUBCASE("inputs") {
    const std::vector<tir::Stmt> reads = {p.fill(inner, 8), p.read(input, 7), p.read(inner, 0)};
    CHECK(p.said({{"input", 0}, {"inner", 8}}, reads, params) == "0 of 0, 0 accesses");
    CHECK(p.said({{"input", 0}, {"inner", 7}}, reads, params) ==
          "1 of 1, 10 accesses\nelement of 'input' at byte 7 of "
          "pool 'global_workspace' is read after 'inner' has "
          "overwritten it, in function 'main'");
  }
  SUBCASE("outputs") {
    const std::vector<tir::Stmt> writes = {p.fill(output, 8), p.fill(inner, 8), p.read(inner, 0)};
    CHECK(p.said({{"output", 0}, {"inner", 7}}, writes, params) ==
          "1 of 1, 17 accesses\nelement of 'output' at byte 7 of pool 'global_workspace' is read after 'inner' has "
          "overwritten it, by the application");
    const std::vector<tir::Stmt> last = {p.fill(inner, 8), p.set(output, 3), p.read(inner, 0)};
    CHECK(p.said({{"output", 0}, {"inner", 7}}, last, params) == "1 of 1, 10 accesses");
  }
  SUBCASE("a tensor that is both") {
    p.liveness.outputs = {output, input};
    const std::vector<tir::Stmt> uses = {p.fill(inner, 8), p.read(inner, 0)};
    CHECK(p.play({{"input", 0}, {"inner", 7}}, uses, params).violations.size() == 1);
    CHECK(p.play({{"output", 0}, {"inner", 7}}, uses, params).violations.empty());
  }
}

}  // namespace
}  // namespace usmp::replay::testing::bytes_test

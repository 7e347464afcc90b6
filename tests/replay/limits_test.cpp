// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What is not followed: it is taken for right, the pairs that it touches do not count, and nothing is said of bytes
// that it may have changed.
#include <doctest/doctest.h>

#include "replay/played.hpp"

namespace usmp::replay::testing::limits_test {
namespace {

// `in` is overwritten by `out` where it lies, so that reading it is wrong, unless it was written again.
struct Overwritten : Program {
  Overwritten() : in(buffer("in", 4)), out(buffer("out", 4)), data(buffer("data", 4)), p(pointer("p")) {}

  // in[0 .. 4) is written, overwritten, then come the statements, then it is read. "in" shares with "out" only.
  [[nodiscard]] std::string said_with(const std::vector<tir::Stmt>& statements) {
    std::vector<tir::Stmt> all = {fill(data, 4), fill(in, 4), fill(out, 4)};
    all.insert(all.end(), statements.begin(), statements.end());
    all.push_back(drain(in, 4));
    all.push_back(drain(out, 4));
    const Result result = play({{"in", 0}, {"out", 0}}, all);
    REQUIRE(result.pairs == 1);
    std::string text = result.left_out.empty() ? "replayed" : to_string(result.left_out.front().reason);
    if (!result.violations.empty()) text += ", wrong";
    return text;
  }
  [[nodiscard]] ExprRef loaded() const { return tir::make_cast(int32_type, load(data, 0)); }

  VarId in;
  VarId out;
  VarId data;
  VarId p;
};

TEST_CASE("nothing is left out") {
  Overwritten p;
  CHECK(p.said_with({}) == "replayed, wrong");
  CHECK(p.said_with({p.fill(p.in, 4), p.drain(p.in, 4), p.fill(p.out, 4), p.fill(p.in, 4)}) == "replayed, wrong");
}

TEST_CASE("an address that depends on data may be any byte") {
  Overwritten p;
  CHECK(p.said_with({p.store(p.in, p.loaded(), number(1))}) == "an address depends on data");
  CHECK(p.said_with({p.read(p.in, p.loaded())}) == "an address depends on data");
  // What is written afterwards is known again.
  CHECK(p.said_with({p.store(p.in, p.loaded(), number(1)), p.fill(p.in, 4), p.fill(p.out, 4)}) ==
        "an address depends on data, wrong");
  // The other one is followed on.
  CHECK(p.said_with({p.fill(p.out, 4), p.fill(p.in, 4), p.read(p.out, 0), p.store(p.in, p.loaded(), number(1))}) ==
        "an address depends on data, wrong");
}

TEST_CASE("a condition that depends on data may hold") {
  Overwritten p;
  const ExprRef holds = binary(ExprKind::gt, p.loaded(), 0);
  const char* const condition = "a condition or a loop depends on data";
  CHECK(p.said_with({p.when(holds, block(p.fill(p.in, 4)))}) == condition);
  CHECK(p.said_with({p.when(holds, block(p.drain(p.data, 4)), block(p.fill(p.in, 4)))}) == condition);
  CHECK(p.said_with({p.for_j(3, block(p.when(holds, block(p.fill(p.in, 4)))))}) == condition);
  CHECK(p.said_with({{tir::While{holds, block(p.fill(p.in, 4))}}}) == condition);
  CHECK(p.said_with({{tir::For{p.j_var(), make_int(0), p.loaded(), block(p.fill(p.in, 4))}}}) == condition);
  CHECK(p.said_with({{tir::For{p.j_var(), p.loaded(), make_int(4), block(p.fill(p.in, 4))}}}) == condition);
  tir::Stmt predicated = p.set(p.in, 0);
  std::get<tir::Store>(predicated.node).predicate = holds;
  CHECK(p.said_with({predicated}) == condition);
  const ExprRef choice = tir::make_call(int8_type, "tir.if_then_else", {holds, p.load(p.in, 0), number(1)});
  CHECK(p.said_with({p.store(p.sink, 0, choice)}) == condition);
  // Which lanes of a shuffle are evaluated is left open.
  const ExprRef lane = make_operator(ExprKind::shuffle, int8_type, {p.load(p.in, 0), p.load(p.data, 0), make_int(1)});
  tir::Expr shuffle = *lane;
  shuffle.int_value = 2;
  CHECK(p.said_with({p.store(p.sink, 0, tir::make_expr(shuffle))}) == condition);
  // What does not touch them may be as it likes.
  CHECK(p.said_with({p.when(holds, block(p.fill(p.data, 4)))}) == "replayed, wrong");
}

// It leaves its type when j is 8.
TEST_CASE("so does a number that turns out not to be known on the way") {
  Overwritten p;
  const ExprRef narrow = tir::make_cast(int32_type, tir::make_cast(int8_type, add(p.j(), 120)));
  const auto loop = [&](const ExprRef& min, const ExprRef& extent) {
    return tir::Stmt{tir::For{p.i_var(), min, extent, block(p.set(p.in, 0))}};
  };
  const auto said_of = [&](std::int64_t times, const tir::Stmt& statement) {
    return p.said_with({p.fill(p.in, 4), p.for_j(times, block(statement)), p.fill(p.out, 4)});
  };
  const char* const condition = "a condition or a loop depends on data";
  CHECK(said_of(8, loop(narrow, make_int(1))) == "replayed, wrong");
  CHECK(said_of(9, loop(narrow, make_int(1))) == condition);
  CHECK(said_of(9, loop(make_int(0), narrow)) == condition);
  CHECK(said_of(9, p.when(larger(narrow, 0), block(p.set(p.in, 0)))) == condition);
  // The loop's own variable.
  const std::int64_t most = std::numeric_limits<std::int32_t>::max();
  CHECK(said_of(1, loop(make_int(most - 1), make_int(1))) == "replayed, wrong");
  CHECK(said_of(1, loop(make_int(most - 1), make_int(3))) == condition);
}

TEST_CASE("a buffer that may have been allocated anew holds nothing that is known") {
  Overwritten p;
  const VarId inner = p.pointer("inner");
  const ExprRef holds = binary(ExprKind::gt, p.loaded(), 0);
  const Result result =
      p.play({{"inner", 0}, {"out", 0}, {"in", 50}},
             {p.fill(p.data, 4), p.for_i(2, block(p.when(holds, block(p.allocate(inner, 1), p.set(inner, 0),
                                                                      p.set(p.out, 0), p.read(inner, 0)))))});
  CHECK(Program::text(result) == "0 of 1, 0 accesses; a condition or a loop depends on data");
}

TEST_CASE("functions that are not followed do what they like with what they are handed") {
  Overwritten p;
  const char* const call = "they are passed to a function that is not followed";
  SUBCASE("of others") {
    CHECK(p.said_with({p.call("foreign", {p.in})}) == call);
    CHECK(p.said_with({p.call("foreign", {p.data})}) == "replayed, wrong");
    CHECK(p.said_with({p.evaluate(tir::make_call(int32_type, "tir.tvm_call_packed",
                                                 {tir::make_string("foreign"), p.address_of(p.in, 2)}))}) == call);
    p.function("opaque", {p.p}, block(p.set(p.p, 0)), "other");
    CHECK(p.said_with({p.call("opaque", {p.in})}) == call);
  }
  SUBCASE("that may not run to their end") {
    const tir::Stmt give_up = p.evaluate(tir::make_call(int32_type, "tir.ret", {make_int(0)}));
    const ExprRef holds = binary(ExprKind::eq, make_int(1), 2);
    p.function("early", {p.p}, block(p.when(holds, block(give_up)), p.fill(p.p, 4)));
    CHECK(p.said_with({p.call("early", {p.in})}) == call);
    p.function("whole", {p.p}, block(p.fill(p.p, 4), give_up));
    CHECK(p.said_with({p.call("whole", {p.in}), p.fill(p.out, 4)}) == "replayed, wrong");
    // The caller does not go on.
    p.function("fails", {p.p}, block(p.fill(p.p, 4), p.evaluate(tir::make_call(int32_type, "tir.ret", {make_int(1)}))));
    CHECK(p.said_with({p.call("fails", {p.in})}) == call);
    const ExprRef last = tir::make_call(int32_type, "tir.likely", {make_int(0)});
    p.function("goes_on", {p.p}, block(p.when(holds, block(give_up)), p.fill(p.p, 4), p.evaluate(last)));
    CHECK(p.said_with({p.call("goes_on", {p.in})}) == call);
  }
  SUBCASE("in the middle of an expression") {
    p.function("fine", {p.p}, block(p.fill(p.p, 4)));
    CHECK(p.said_with({p.store(p.sink, 0, tir::make_cast(int8_type, p.call_expr("fine", {p.var(p.in)})))}) ==
          "a pointer escapes");
    const VarId own = p.pointer("own");
    p.function("allocates", {p.p}, block(p.allocate(own, 4), p.fill(own, 4), p.copy_all(p.p, own, 4)));
    const ExprRef value = tir::make_cast(int8_type, p.call_expr("allocates", {p.var(p.data)}));
    const Result result = p.play({{"in", 0}, {"out", 100}, {"data", 200}, {"own", 0}},
                                 {p.fill(p.in, 4), p.store(p.sink, 0, value), p.drain(p.in, 4)});
    CHECK(Program::text(result) == "0 of 1, 8 accesses; " + std::string(call));
  }
  SUBCASE("for a pointer") {
    const ExprRef found =
        tir::make_call(tir::handle_type, "tir.call_extern", {tir::make_string("foreign"), p.var(p.in)});
    CHECK(p.said_with({p.let(p.p, found)}) == call);
  }
}

TEST_CASE("pointers that may go to several buffers, and such as get out of sight") {
  Overwritten p;
  const auto either = [&](VarId a, VarId b) {
    return make_operator(ExprKind::select, tir::handle_type, {binary(ExprKind::gt, p.loaded(), 0), p.var(a), p.var(b)});
  };
  CHECK(p.said_with({p.let(p.p, either(p.in, p.data)), p.fill(p.p, 4)}) == "an address depends on data");
  CHECK(p.said_with({p.let(p.p, either(p.in, p.data)), p.fill(p.out, 4)}) == "replayed, wrong");
  const VarId behind = p.pointer("behind");
  CHECK(p.said_with({p.let(p.p, either(p.in, p.data)), p.let(behind, p.address_of(p.p, 1)), p.fill(behind, 2)}) ==
        "an address depends on data");
  const VarId table = p.buffer("table", 1, tir::handle_type);
  CHECK(p.said_with({p.store(table, 0, p.var(p.in))}) == "a pointer escapes");
  CHECK(p.said_with({p.store(p.sink, 0, tir::make_cast(int8_type, p.var(p.in)))}) == "a pointer escapes");
  CHECK(p.said_with({p.store(p.sink, 0,
                             tir::make_cast(int8_type, tir::make_binary(ExprKind::eq, p.var(p.in), p.var(p.data))))}) ==
        "replayed, wrong");
}

TEST_CASE("numbers that leave their type are not followed") {
  Overwritten p;
  const auto in_int8 = [](std::int64_t a, std::int64_t b) {
    return tir::make_cast(int32_type, add(number(a), number(b)));
  };
  CHECK(p.said_with({p.store(p.in, in_int8(1, 2), number(1)), p.fill(p.out, 4)}) == "replayed, wrong");
  CHECK(p.said_with({p.store(p.in, add(in_int8(127, 1), -126), number(1))}) == "an address depends on data");
  // 200 is -56 where it is compared.
  const ExprRef sum = add(number(100), number(100));
  CHECK(p.said_with({p.store(p.in, add(tir::make_cast(int32_type, larger(sum, number(1))), 0), number(1))}) ==
        "an address depends on data");
  const VarId narrow = p.integer("narrow");
  p.module().vars[narrow.index()].type = int8_type;
  CHECK(p.said_with({p.let(narrow, tir::make_cast(int8_type, make_int(258))),
                     p.store(p.in, add(tir::make_cast(int32_type, p.var(narrow)), -256), number(1))}) ==
        "an address depends on data");
  CHECK(p.said_with({p.store(p.in, quotient(make_int(1), make_int(0)), number(1))}) == "an address depends on data");
  const VarId vector = p.integer("vector");  // of 0, 1, 2, 3; not followed
  p.module().vars[vector.index()].type = int32_type.with_lanes(4);
  const ExprRef lanes = make_operator(ExprKind::ramp, int32_type.with_lanes(4), {make_int(0), make_int(1)});
  const ExprRef ones = make_operator(ExprKind::broadcast, int8_type.with_lanes(4), {number(1)});
  CHECK(p.said_with({p.let(vector, lanes), p.store(p.in, lanes, ones)}) == "replayed, wrong");
  CHECK(p.said_with({p.let(vector, lanes), p.store(p.in, p.var(vector), ones)}) == "an address depends on data");
  const auto shifted = [](std::int64_t a, std::int64_t b) {
    return tir::make_call(int32_type, "tir.shift_right", {make_int(a), make_int(b)});
  };
  CHECK(p.said_with({p.store(p.in, shifted(8, 31), number(1)), p.fill(p.out, 4)}) == "replayed, wrong");
  CHECK(p.said_with({p.store(p.in, shifted(8, 32), number(1))}) == "an address depends on data");
  CHECK(p.said_with({p.store(p.in, shifted(8, -30), number(1))}) == "an address depends on data");
  CHECK(p.said_with({p.store(p.in, add(shifted(-1, 1), 1), number(1))}) == "an address depends on data");
  const ExprRef holds = binary(ExprKind::gt, p.loaded(), 0);
  const ExprRef chosen = make_operator(ExprKind::select, int32_type, {holds, make_int(1), make_int(2)});
  CHECK(p.said_with({p.store(p.in, chosen, number(1))}) == "an address depends on data");
  // And what is outside of its buffer is no access that is known.
  CHECK(p.said_with({p.store(p.in, 4, number(1))}) == "an address depends on data");
  CHECK(p.said_with({p.store(p.in, -1, number(1))}) == "an address depends on data");
  const auto drained = [&](std::int64_t from, std::int64_t count) {  // all at once
    return p.said_with({p.fill(p.in, 4), p.for_i(count, block(p.read(p.in, add(p.i(), from)))), p.fill(p.out, 4)});
  };
  CHECK(drained(0, 4) == "replayed, wrong");
  CHECK(drained(0, 5) == "an address depends on data");
  CHECK(drained(-1, 4) == "an address depends on data");
}

TEST_CASE("loops that take too long are not played, what follows them is") {
  Overwritten p;
  const tir::Stmt long_loop = p.for_j(1'000'000, block(p.set(p.in, 0)));
  p.steps = 1'000'000;
  CHECK(p.said_with({}) == "replayed, wrong");
  CHECK(p.said_with({long_loop}) == "too many accesses");
  CHECK(p.said_with({long_loop, p.fill(p.in, 4), p.fill(p.out, 4)}) == "too many accesses, wrong");
  p.steps = 10'000'000;
  CHECK(p.said_with({p.fill(p.in, 4), long_loop, p.fill(p.out, 4)}) == "replayed, wrong");
  SUBCASE("also if that turns out on the way") {
    p.steps = 1'000'000;
    const tir::Stmt inner{tir::For{p.i_var(), make_int(0), p.j(), block(p.set(p.in, 0))}};
    CHECK(p.said_with({p.fill(p.in, 4), p.for_j(100, block(inner)), p.fill(p.out, 4)}) == "replayed, wrong");
    CHECK(p.said_with({p.for_j(2000, block(inner))}) == "too many accesses");
  }
  SUBCASE("and the limit is one for all loops together") {
    p.steps = 10'000'000;
    CHECK(p.said_with({long_loop, long_loop}) == "too many accesses, wrong");
  }
}

TEST_CASE("programs and buffers that are too large are not played") {
  Overwritten p;
  p.steps = 10;
  CHECK(p.said_with({}) == "too many accesses");
  Program large;
  const VarId a = large.buffer("a", max_bytes);
  const VarId b = large.buffer("b", max_bytes);
  large.steps = std::numeric_limits<std::uint64_t>::max();
  CHECK(large.said({{"a", 0}, {"b", 0}, {"sink", max_bytes}},
                   {large.set(a, 0), large.set(b, 0), large.read(a, 0), large.read(b, 0)}) ==
        "0 of 1, 0 accesses; too many accesses");
}

TEST_CASE("deep programs take no stack") {
  Overwritten p;
  constexpr int depth = 100'000;
  p.steps = 10'000'000;
  ExprRef index = make_int(0);
  ExprRef pointer = p.var(p.in);
  for (int i = 0; i < depth; ++i) index = add(index, i % 2 == 0 ? 1 : -1);
  for (int i = 0; i < depth; ++i) pointer = tir::make_cast(tir::handle_type, pointer);
  CHECK(p.said_with({p.let(p.p, pointer), p.store(p.p, index, number(1)), p.fill(p.out, 4)}) == "replayed, wrong");
}

}  // namespace
}  // namespace usmp::replay::testing::limits_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What the replay follows: calls, pointers, loops, conditions, vectors. Each case has a plan that is right and one that
// is wrong by a byte.
#include <doctest/doctest.h>

#include "replay/played.hpp"

namespace usmp::replay::testing::following_test {
namespace {

struct Copies : Program {
  Copies() : in(buffer("in", 8)), out(buffer("out", 8)), from(pointer("from")), to(pointer("to")) {
    function("copy", {from, to}, block(copy_all(to, from, 4)));
  }

  [[nodiscard]] std::size_t violations(const Places& places, const std::vector<tir::Stmt>& statements) {
    const Result result = play(places, statements);
    CHECK(result.pairs == 1);
    CHECK(result.replayed() == 1);
    return result.violations.size();
  }
  // `in` is written in full, then come the statements, which read it and write `out` so far ahead of that that the plan
  // is right if `out` starts `least` bytes below, and wrong if it starts a byte higher.
  void check(Bytes least, const std::vector<tir::Stmt>& statements) {
    std::vector<tir::Stmt> all = {fill(in, 8)};
    all.insert(all.end(), statements.begin(), statements.end());
    CHECK(violations({{"in", 100}, {"out", 100 - least}}, all) == 0);
    CHECK(violations({{"in", 100}, {"out", 100 - least + 1}}, all) == 1);
  }

  VarId in;
  VarId out;
  VarId from;
  VarId to;
};

// --- Calls and pointers ----------------------------------------------------------------------------------------------

TEST_CASE("a call is played with its arguments, each time anew") {
  Copies p;
  SUBCASE("whole tensors") {
    p.check(0, {p.call("copy", {p.in, p.out})});
    const Result wrong = p.play({{"in", 0}, {"out", 1}}, {p.fill(p.in, 8), p.call("copy", {p.in, p.out})});
    REQUIRE(wrong.violations.size() == 1);
    CHECK(wrong.violations.front() ==
          "element of 'in' at byte 1 of pool 'global_workspace' is read after 'out' has overwritten it, in function "
          "'copy', iteration i = 1");
  }
  SUBCASE("parts of tensors") {
    p.check(2, {p.call("copy", {p.var(p.in), p.address_of(p.out, 2)})});
    p.check(2, {p.call("copy", {p.access_ptr(p.in, 1, 4), p.access_ptr(p.out, 3, 4)})});
    const auto moved = tir::make_call(tir::handle_type, "tir.handle_add_byte_offset", {p.var(p.out), make_int(2)});
    p.check(2, {p.call("copy", {p.var(p.in), moved})});
  }
  SUBCASE("through another function, and in a loop") {
    const VarId a = p.pointer("a");
    const VarId b = p.pointer("b");
    p.function("twice", {a, b},
               block(p.call("copy", {a, b}), p.call("copy", {p.address_of(a, 4), p.address_of(b, 4)})));
    p.check(0, {p.call("twice", {p.in, p.out})});
    const auto at_j = [&](VarId buffer) {
      return tir::make_call(tir::handle_type, "tir.address_of", {p.load(buffer, mul(p.j(), 4))});
    };
    p.check(0, {p.for_j(2, block(p.call("copy", {at_j(p.in), at_j(p.out)})))});
  }
  SUBCASE("with numbers") {
    const VarId a = p.pointer("a");
    const VarId b = p.pointer("b");
    const VarId n = p.integer("n");
    p.function("ahead", {a, b, n}, block(p.for_i(4, block(p.store(b, add(p.i(), p.var(n)), p.load(a, p.i()))))));
    p.check(3, {p.call("ahead", {p.var(p.in), p.var(p.out), make_int(3)})});
    p.check(3, {p.call("ahead", {p.var(p.in), p.var(p.out), make_int(1)}), p.fill(p.in, 8),
                p.call("ahead", {p.var(p.in), p.var(p.out), make_int(3)})});
  }
  SUBCASE("by other names") {
    const VarId alias = p.pointer("alias");
    p.check(1, {p.let(alias, p.address_of(p.out, 1)), p.copy_all(alias, p.in, 4)});
    p.check(1, {p.let(alias, tir::make_cast(tir::handle_type, p.address_of(p.out, 1))), p.copy_all(alias, p.in, 4)});
  }
}

TEST_CASE("what a pointer is computed from is read") {
  Copies p;
  const VarId alias = p.pointer("alias");
  const auto offset_from = [&](std::int64_t index) {
    const ExprRef loaded = tir::make_cast(int32_type, p.load(p.in, index));
    const ExprRef moved = tir::make_call(tir::handle_type, "tir.handle_add_byte_offset", {p.var(p.sink), loaded});
    return p.violations({{"in", 0}, {"out", 0}}, {p.fill(p.in, 8), p.set(p.out, 0), p.let(alias, moved)});
  };
  CHECK(offset_from(0) == 1);
  CHECK(offset_from(1) == 0);
}

TEST_CASE("functions may bind each other's variables") {
  Copies p;
  const VarId n = p.integer("n");
  const VarId a = p.pointer("a");
  p.function("other", {a}, block(p.let(n, make_int(0)), p.let(p.to, p.var(a)), p.set(a, 7)));
  const ExprRef index = add(p.i(), p.var(n));
  p.check(3, {p.let(n, make_int(3)), p.let(p.to, p.var(p.out)), p.call("other", {p.in}),
              p.for_i(4, block(p.store(p.to, index, p.load(p.in, p.i()))))});
}

TEST_CASE("one tensor that is passed twice keeps what it is") {
  Copies p;
  // What is stored through one parameter is not lost when it is read through the other.
  CHECK(p.violations({{"in", 0}, {"out", 0}},
                     {p.fill(p.in, 8), p.call("copy", {p.address_of(p.in, 0), p.address_of(p.in, 4)}),
                      p.call("copy", {p.address_of(p.in, 4), p.address_of(p.in, 0)}), p.copy_all(p.out, p.in, 8)}) ==
        0);
}

TEST_CASE("what an operator allocates is its own in each call") {
  Copies p;
  const VarId a = p.pointer("a");
  const VarId scratch = p.pointer("scratch");
  p.function(
      "sum", {a},
      block(p.allocate(scratch, 1), p.set(scratch, 0), p.for_i(4, block(p.store(scratch, 0, p.load(a, p.i()))))));
  const auto placed = [&](Bytes offset) {
    return p.play({{"in", 0}, {"out", 50}, {"scratch", offset}},
                  {p.fill(p.in, 8), p.call("sum", {p.in}), p.call("sum", {p.address_of(p.in, 4)})});
  };
  CHECK(Program::text(placed(4)) ==
        "1 of 1, 26 accesses\nelement of 'in' at byte 4 of pool 'global_workspace' is read after 'scratch' has "
        "overwritten it, in function 'sum', iteration i = 0");
  CHECK(placed(8).pairs == 0);
}

TEST_CASE("functions that are handed nothing use what they allocate") {
  Program p;
  const VarId a = p.pointer("a");
  const VarId b = p.pointer("b");
  const std::vector<VarId> nothing;
  p.function("own", {}, block(p.allocate(a, 4), p.allocate(b, 4), p.fill(a, 4), p.copy_all(b, a, 4)));
  p.function("outer", {}, block(p.call("own", nothing)));
  for (const char* callee : {"own", "outer"}) {
    CAPTURE(callee);
    CHECK(p.play({{"a", 0}, {"b", 0}}, {p.call(callee, nothing)}).violations.empty());
    CHECK(p.play({{"a", 0}, {"b", 1}}, {p.call(callee, nothing)}).violations.size() == 1);
  }
}

// --- Loops and conditions --------------------------------------------------------------------------------------------

TEST_CASE("loops start anywhere, and inner ones depend on outer ones") {
  Copies p;
  SUBCASE("a start") {
    p.check(2, {{tir::For{.var = p.i_var(),
                          .min = make_int(2),
                          .extent = make_int(4),
                          .body = block(p.store(p.out, add(p.i(), 2), p.load(p.in, p.i())))}}});
  }
  SUBCASE("a triangle") {
    const tir::Stmt inner{tir::For{
        .var = p.i_var(), .min = p.j(), .extent = sub(make_int(4), p.j()), .body = block(p.read(p.in, add(p.i(), 2)))}};
    p.check(-2, {p.for_j(4, block(inner, p.store(p.out, p.j(), number(1))))});
  }
  SUBCASE("none at all") { p.check(0, {p.for_j(0, block(p.fill(p.out, 8))), p.copy_all(p.out, p.in, 8)}); }
}

// Such loops are played all at once if no byte is lost.
TEST_CASE("loops that only load read what their iterations read") {
  Program p;
  const VarId in = p.buffer("in", 8);
  const VarId out = p.buffer("out", 1);
  // What is said if `out` has overwritten this byte of `in`.
  const auto lost = [&](Bytes byte, const tir::Stmt& loop) {
    const Result result =
        p.play({{"in", 100}, {"out", 100 + byte}}, {p.fill(in, 8), p.set(out, 0), loop, p.read(out, 0)});
    CHECK(result.replayed() == 1);
    const std::string text = result.violations.empty() ? "" : result.violations.front();
    const std::size_t place = text.find("iteration");
    return std::to_string(result.accesses - 10) +
           (text.empty() ? "" : ", " + text.substr(std::min(place, text.size())));
  };
  const auto times = [&](std::int64_t by) { return mul(p.i(), make_int(by)); };
  SUBCASE("at even distances") {
    CHECK(lost(5, p.drain(in, 8)) == "8, iteration i = 5");
    CHECK(lost(4, p.for_i(4, block(p.read(in, times(2))))) == "4, iteration i = 2");
    CHECK(lost(5, p.for_i(4, block(p.read(in, times(2))))) == "4");
    const ExprRef back = sub(make_int(7), p.i());
    CHECK(lost(2, p.for_i(8, block(p.read(in, 0), p.read(in, back)))) == "16, iteration i = 5");
    CHECK(lost(7, p.for_i(1, block(p.read(in, 7)))) == "1, iteration i = 0");
  }
  SUBCASE("at others") {
    const ExprRef around = remainder(times(3), make_int(4));
    CHECK(lost(2, p.for_i(4, block(p.read(in, around)))) == "4, iteration i = 2");
    CHECK(lost(4, p.for_i(4, block(p.read(in, around)))) == "4");
    CHECK(lost(4, p.for_i(3, block(p.read(in, mul(p.i(), p.i()))))) == "3, iteration i = 2");
    CHECK(lost(2, p.for_i(3, block(p.read(in, mul(p.i(), p.i()))))) == "3");
    CHECK(lost(1, p.for_i(3, block(p.read(in, mul(p.i(), p.i()))))) == "3, iteration i = 1");
    CHECK(lost(4, p.for_i(4, block(p.read(in, add(around, p.i()))))) == "4, iteration i = 1");
    CHECK(lost(4, p.for_i(4, block(p.read(in, add(p.i(), around))))) == "4, iteration i = 1");
    CHECK(lost(6, p.for_i(4, block(p.read(in, mul(make_int(2), around))))) == "4, iteration i = 1");
  }
  SUBCASE("at the same") {
    CHECK(lost(2, p.for_j(4, block(p.for_i(5, block(p.read(in, p.j())))))) == "20, iteration j = 2");
    CHECK(lost(4, p.for_j(4, block(p.for_i(5, block(p.read(in, p.j())))))) == "20");
    const tir::Stmt inner = p.for_i(5, block(p.read(in, 3)));
    CHECK(lost(4, p.for_j(4, block(inner, p.read(in, 1), inner))) == "44");
  }
}

TEST_CASE("what an iteration stores is there in the next one, though both are alike") {
  Copies p;
  const auto lost = [&](std::int64_t times) {
    const tir::Stmt loop = p.for_j(1, block(p.for_i(times, block(p.read(p.in, 3), p.set(p.out, 0)))));
    return p.play({{"in", 0}, {"out", 3}}, {p.fill(p.in, 8), loop, p.read(p.out, 0)}).violations.size();
  };
  CHECK(lost(1) == 0);
  CHECK(lost(2) == 1);
}

TEST_CASE("conditions on loop variables are followed") {
  Copies p;
  const ExprRef early = less(p.i(), 2);
  const ExprRef never = binary(ExprKind::eq, make_int(1), 2);
  const ExprRef always = binary(ExprKind::eq, make_int(1), 1);
  const tir::Stmt store_ahead = p.store(p.out, add(p.i(), 3), p.load(p.in, p.i()));
  const tir::Stmt store_here = p.store(p.out, p.i(), p.load(p.in, p.i()));
  SUBCASE("of statements") {
    p.check(0, {p.for_i(4, block(p.when(at_least(p.i(), 4), block(store_ahead), block(store_here))))});
    p.check(3, {p.for_i(4, block(p.when(early, block(store_here), block(store_ahead))))});
    p.check(0, {p.when(never, block(p.fill(p.out, 8)), block(p.copy_all(p.out, p.in, 8)))});
    p.check(0, {p.when(always, block(p.copy_all(p.out, p.in, 8)), block(p.fill(p.out, 8)))});
  }
  SUBCASE("of loads") {
    const ExprRef guarded = tir::make_call(int8_type, "tir.if_then_else", {early, p.load(p.in, p.i()), number(0)});
    const ExprRef chosen = make_operator(ExprKind::select, int8_type, {early, p.load(p.in, p.i()), number(0)});
    const auto reading = [&](const ExprRef& value) {
      return std::vector<tir::Stmt>{p.fill(p.in, 8), p.set(p.out, 0), p.for_i(8, block(p.store(p.sink, 0, value)))};
    };
    CHECK(p.violations({{"in", 0}, {"out", 2}}, reading(guarded)) == 0);
    CHECK(p.violations({{"in", 0}, {"out", 1}}, reading(guarded)) == 1);
    CHECK(p.violations({{"in", 0}, {"out", 2}}, reading(chosen)) == 1);  // both sides are evaluated
    for (const auto& [condition, lost] : {std::pair(always, 1U), std::pair(never, 0U)}) {
      const ExprRef known = tir::make_call(int8_type, "tir.if_then_else", {condition, p.load(p.in, p.i()), number(0)});
      CHECK(p.violations({{"in", 0}, {"out", 2}}, reading(known)) == lost);
    }
  }
  SUBCASE("of predicates") {
    tir::Store late = std::get<tir::Store>(store_ahead.node);
    late.predicate = at_least(p.i(), 3);
    p.check(2, {p.for_i(4, block(tir::Stmt{late})), p.read(p.in, 5)});
    late.predicate = always;
    p.check(3, {p.for_i(4, block(tir::Stmt{late}))});
    late.predicate = never;
    CHECK(p.violations({{"in", 0}, {"out", 0}}, {p.fill(p.in, 8), p.for_i(4, block(tir::Stmt{late}))}) == 0);
    tir::Expr load = *p.load(p.in, p.i());
    load.operands.push_back(early);
    const std::vector<tir::Stmt> reading = {p.fill(p.in, 8), p.set(p.out, 0),
                                            p.for_i(8, block(p.store(p.sink, 0, tir::make_expr(load))))};
    CHECK(p.violations({{"in", 0}, {"out", 2}}, reading) == 0);
    CHECK(p.violations({{"in", 0}, {"out", 1}}, reading) == 1);
  }
}

TEST_CASE("indices are computed as C does") {
  Copies p;
  // out[f(i)] = in[i] for an f with f(i) <= i + 2 for all i of 0 .. 3, and f(i) = i + 2 for one of them.
  const auto index = [&](const ExprRef& expr) {
    p.check(2, {p.for_i(4, block(p.store(p.out, expr, p.load(p.in, p.i()))))});
  };
  const auto binary = [&](ExprKind kind, const ExprRef& a, std::int64_t b) {
    return tir::make_binary(kind, a, make_int(b));
  };
  const auto bits = [&](const char* name, const ExprRef& a, std::int64_t b) {
    return tir::make_call(int32_type, name, {a, make_int(b)});
  };
  const ExprRef i = p.i();
  index(add(i, 2));
  index(sub(add(i, 5), 3));
  index(smaller(add(i, 2), 4));
  index(larger(add(i, 2), 1));
  index(add(quotient(mul(i, 2), 2), 2));
  index(add(binary(ExprKind::div, mul(i, 3), 3), 2));
  index(add(remainder(add(i, 8), 8), 2));
  index(add(binary(ExprKind::mod, add(i, 8), 8), 2));
  // -1 / 4 is 0 where it truncates and -1 where it does not.
  index(add(quotient(add(i, -3), 4), 3));
  index(add(binary(ExprKind::div, add(i, -3), 4), 2));
  index(add(quotient(add(i, -4), 2), 4));  // exact at 0: no lower than -2
  index(remainder(add(i, -2), 4));
  index(smaller(bits("tir.shift_left", i, 1), add(i, 2)));
  index(add(bits("tir.shift_right", mul(i, 4), 2), 2));
  index(add(bits("tir.bitwise_and", add(i, 16), 15), 2));
  index(make_operator(ExprKind::select, int32_type, {binary(ExprKind::gt, i, 2), add(i, 1), add(i, 2)}));
  index(make_operator(ExprKind::select, int32_type, {binary(ExprKind::gt, i, 3), add(i, 3), add(i, 2)}));
  index(make_operator(ExprKind::select, int32_type, {binary(ExprKind::eq, make_int(1), 1), add(i, 2), add(i, 3)}));
  index(make_operator(ExprKind::select, int32_type, {binary(ExprKind::eq, make_int(1), 2), add(i, 3), add(i, 2)}));
  index(make_operator(ExprKind::select, int32_type, {binary(ExprKind::ne, i, 3), add(i, 2), add(i, 1)}));
  index(add(tir::make_cast(int32_type, at_least(i, 0)), 1));
  index(tir::make_cast(int32_type, tir::make_cast(int8_type, add(i, 2))));
}

TEST_CASE("variables stand for numbers") {
  Copies p;
  const VarId n = p.integer("n");
  p.check(2, {p.for_i(4, block(p.let(n, add(p.i(), 2)), p.store(p.out, p.var(n), p.load(p.in, p.i()))))});
  // One variable twice, and one expression of it in both places.
  const ExprRef shared = add(p.var(n), 1);
  p.check(4, {p.for_i(2, block(p.scope(block(p.let(n, p.i()), p.store(p.out, shared, p.load(p.in, p.i())))),
                               p.scope(block(p.let(n, add(p.i(), 3)), p.store(p.out, shared, p.load(p.in, p.i()))))))});
}

TEST_CASE("lanes of vectors are accesses") {
  Copies p;
  const tir::DataType four = int32_type.with_lanes(4);
  const auto ramp = [&](const ExprRef& base, std::int64_t stride) {
    return make_operator(ExprKind::ramp, four, {base, make_int(stride)});
  };
  const auto load = [&](VarId buffer, const ExprRef& index) {
    return tir::make_load(int8_type.with_lanes(4), buffer, index);
  };
  p.check(0, {p.for_i(2, block(p.store(p.out, ramp(mul(p.i(), 4), 1), load(p.in, ramp(mul(p.i(), 4), 1)))))});
  p.check(5, {p.store(p.out, ramp(make_int(0), 2), load(p.in, ramp(make_int(0), 1))), p.read(p.in, 2)});
  const ExprRef moved = add(ramp(make_int(0), 1), make_operator(ExprKind::broadcast, four, {make_int(3)}));
  p.check(5, {p.store(p.out, moved, load(p.in, ramp(make_int(0), 1))), p.read(p.in, 2)});
  // The last two of lanes 0 to 3.
  const auto of_all = [&](ExprRef value) { return make_operator(ExprKind::broadcast, four, {std::move(value)}); };
  tir::Store late = std::get<tir::Store>(
      p.store(p.out, ramp(make_int(0), 1), make_operator(ExprKind::broadcast, int8_type.with_lanes(4), {number(1)}))
          .node);
  late.predicate =
      make_operator(ExprKind::le, tir::bool_type.with_lanes(4), {of_all(make_int(2)), ramp(make_int(0), 1)});
  CHECK(p.violations({{"in", 0}, {"out", 4}}, {p.fill(p.in, 8), tir::Stmt{late}, p.drain(p.in, 6)}) == 0);
  CHECK(p.violations({{"in", 0}, {"out", 4}}, {p.fill(p.in, 8), tir::Stmt{late}, p.drain(p.in, 7)}) == 1);
}

}  // namespace
}  // namespace usmp::replay::testing::following_test

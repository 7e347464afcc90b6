// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Accesses outside of their storage that are found, and accesses under conditions that keep them inside.
#include "usmp/program/outside.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tir_support/expressions.hpp"
#include "tir_support/module_builder.hpp"
#include "usmp/support/error.hpp"

namespace usmp::program::outside_test {
namespace {

using tir::ExprKind;
using tir::ExprRef;
using tir::VarId;
using tir::testing::block;
using tir::testing::ModuleBuilder;

// An entry with a tensor `x` of eight bytes, a buffer `a` of four and a constant `k` of three.
struct One : ModuleBuilder {
  VarId x = pointer("x");
  VarId a = pointer("a");
  VarId k = pointer("k");
  VarId i = integer("i");
  VarId j = integer("j");

  static ExprRef binary(ExprKind kind, ExprRef p, ExprRef q) {
    return tir::make_binary(kind, std::move(p), std::move(q));
  }
  [[nodiscard]] ExprRef plus(VarId v, std::int64_t n) const { return binary(ExprKind::add, var(v), tir::make_int(n)); }
  [[nodiscard]] ExprRef below(VarId v, std::int64_t n) const { return binary(ExprKind::lt, var(v), tir::make_int(n)); }

  // "loads element 3 of 'k', which has 3"; empty: nothing was found.
  std::string found(tir::Block body) {
    tir::Block all = block(allocate(a, 4), constant(k, "abc"));
    for (tir::Stmt& stmt : body) all.push_back(std::move(stmt));
    std::erase_if(module().functions, [](const tir::Function& function) { return function.name == "main"; });
    entry({x}, std::move(all));
    const auto outside = find_outside_access(build());
    if (!outside) return {};
    return build().functions[outside->function].name + " " + outside->place + ": " + outside->message;
  }
};

}  // namespace

TEST_CASE_FIXTURE(One, "outside: an index that is a number") {
  SUBCASE("inside") { CHECK(found(block(evaluate(load(k, 2)), set(a), store(a, 3, load(x, 7)))).empty()); }
  SUBCASE("a constant") {
    CHECK(found(block(evaluate(load(k, 8)))) == "main body[2]: loads element 8 of 'k', which has 3");
  }
  SUBCASE("at its end") {
    CHECK(found(block(evaluate(load(k, 3)))) == "main body[2]: loads element 3 of 'k', which has 3");
  }
  SUBCASE("in front") {
    CHECK(found(block(evaluate(load(k, -1)))) == "main body[2]: loads element -1 of 'k', which has 3");
  }
  SUBCASE("a buffer") {
    CHECK(found(block(store(a, 4, tir::make_int(1, tir::testing::int8_type)))) ==
          "main body[2]: stores element 4 of 'a', which has 4");
  }
  SUBCASE("a tensor of the entry") {
    CHECK(found(block(evaluate(load(x, 8)))) == "main body[2]: loads element 8 of 'x', which has 8");
  }
  SUBCASE("of wider elements") {
    const auto wide = tir::make_load(tir::int32_type, x, tir::make_int(1));
    CHECK(found(block(evaluate(wide))).empty());
    const auto beyond = tir::make_load(tir::int32_type, x, tir::make_int(2));
    CHECK(found(block(evaluate(beyond))) == "main body[2]: loads element 2 of 'x', which has 2");
  }
}

TEST_CASE_FIXTURE(One, "outside: indices of loops") {
  SUBCASE("to the end") { CHECK(found(block(loop(i, 4, block(store(a, var(i), load(x, plus(i, 4))))))).empty()); }
  SUBCASE("beyond it") {
    CHECK(found(block(loop(i, 5, block(store(a, var(i), load(x, var(i))))))) ==
          "main body[2].body[0]: stores element 4 of 'a', which has 4");
  }
  SUBCASE("two of them, only together") {
    const auto sum = binary(ExprKind::add, var(i), var(j));
    CHECK(found(block(loop(i, 3, block(loop(j, 3, block(evaluate(load(a, sum)))))))) ==
          "main body[2].body[0].body[0]: loads element 4 of 'a', which has 4");
  }
  SUBCASE("a loop that never runs") { CHECK(found(block(loop(i, 0, block(evaluate(load(k, 8)))))).empty()); }
  SUBCASE("a loop that runs as often as data say") {
    const auto count = tir::make_cast(tir::int32_type, load(x, 0));
    tir::Stmt some = loop(i, 1, block(evaluate(load(k, 8))));
    std::get<tir::For>(some.node).extent = count;
    CHECK(found(block(std::move(some))).empty());
  }
  SUBCASE("more iterations than are tried one by one") {
    const auto last = binary(ExprKind::sub, var(i), tir::make_int(999996));
    CHECK(found(block(loop(i, 1000000, block(when(below(i, 999996), {}, block(evaluate(load(a, last)))))))).empty());
    CHECK(found(block(loop(j, 1000000, block(evaluate(load(a, var(j)))))))
              .starts_with("main body[2].body[0]: loads element 999999 of 'a'"));
  }
  SUBCASE("quotients and remainders") {
    const auto folded = binary(ExprKind::floor_mod, plus(i, 1), tir::make_int(4));
    CHECK(found(block(loop(i, 100, block(evaluate(load(a, folded)))))).empty());
    const auto halves = binary(ExprKind::floor_div, var(i), tir::make_int(2));
    CHECK(found(block(loop(j, 1, block(loop(i, 9, block(evaluate(load(a, halves)))))))) ==
          "main body[2].body[0].body[0]: loads element 4 of 'a', which has 4");
  }
  SUBCASE("of several lanes") {
    const auto lanes = [&](std::int64_t first) {
      const auto type = tir::int32_type.with_lanes(3);
      const ExprRef ramp = tir::testing::make_operator(ExprKind::ramp, type, {plus(i, first), tir::make_int(1)});
      return evaluate(tir::make_load(tir::testing::int8_type.with_lanes(3), a, ramp));
    };
    CHECK(found(block(loop(i, 2, block(lanes(0))))).empty());
    CHECK(found(block(loop(i, 2, block(lanes(1))))) == "main body[2].body[0]: loads element 4 of 'a', which has 4");
  }
  SUBCASE("through a let") {
    const VarId n = integer("n");
    CHECK(found(block(loop(i, 4, block(let(n, plus(i, 1)), evaluate(load(a, var(n))))))) ==
          "main body[2].body[1]: loads element 4 of 'a', which has 4");
  }
}

TEST_CASE_FIXTURE(One, "outside: only where conditions hold") {
  const auto choice = [&](ExprRef condition, ExprRef yes, ExprRef no) {
    return tir::make_call(tir::testing::int8_type, "tir.if_then_else",
                          {std::move(condition), std::move(yes), std::move(no)});
  };
  SUBCASE("a branch that keeps it inside") {
    CHECK(found(block(loop(i, 8, block(when(below(i, 4), block(set(a), store(a, var(i), load(x, 0)))))))).empty());
  }
  SUBCASE("one that does not") {
    CHECK(found(block(loop(i, 8, block(when(below(i, 5), block(store(a, var(i), load(x, 0)))))))) ==
          "main body[2].body[0].then[0]: stores element 4 of 'a', which has 4");
  }
  SUBCASE("the other branch") {
    CHECK(found(block(loop(i, 8, block(when(below(i, 7), {}, block(evaluate(load(a, var(i)))))))))
              .starts_with("main body[2].body[0].else[0]: loads element 7 of 'a'"));
    CHECK(found(block(loop(i, 8, block(when(below(i, 4), {}, block(evaluate(load(a, var(i)))))))))
              .starts_with("main body[2].body[0].else[0]: loads element 4 of 'a'"));
  }
  SUBCASE("behind the branch") {
    CHECK(found(block(loop(i, 8,
                           block(when(below(i, 4), block(store(a, var(i), load(x, 0)))), evaluate(load(a, var(i)))))))
              .starts_with("main body[2].body[1]: loads element 4 of 'a'"));
  }
  SUBCASE("padding") {
    const auto inside = choice(below(i, 4), load(a, var(i)), tir::make_int(0, tir::testing::int8_type));
    CHECK(found(block(loop(i, 8, block(evaluate(inside))))).empty());
    const auto wrong = choice(below(i, 5), load(a, var(i)), tir::make_int(0, tir::testing::int8_type));
    CHECK(found(block(loop(j, 1, block(loop(i, 8, block(evaluate(wrong)))))))
              .ends_with("loads element 4 of 'a', which has 4"));
  }
  SUBCASE("the second half of a conjunction") {
    const auto guarded = binary(ExprKind::and_, below(i, 4),
                                binary(ExprKind::lt, load(a, var(i)), tir::make_int(3, tir::testing::int8_type)));
    CHECK(found(block(loop(i, 8, block(evaluate(guarded))))).empty());
  }
  SUBCASE("data decide") {
    const auto some = binary(ExprKind::lt, load(x, 0), tir::make_int(3, tir::testing::int8_type));
    CHECK(found(block(when(some, block(evaluate(load(k, 8)))))).empty());
    const auto anywhere = tir::make_cast(tir::int32_type, load(x, 0));
    CHECK(found(block(evaluate(load(k, anywhere)))).empty());
  }
  SUBCASE("behind an assertion") {
    CHECK(found(block(tir::Stmt{tir::Assert{below(i, 4), "no"}}, evaluate(load(k, 8)))).empty());
  }
}

TEST_CASE_FIXTURE(One, "outside: storage that is passed") {
  const VarId p = pointer("p");
  const VarId q = pointer("q");
  const auto copies = [&](std::int64_t count) {
    function("copies", {p, q}, block(loop(i, count, block(store(q, var(i), load(p, var(i)))))));
  };
  SUBCASE("fits") {
    copies(4);
    CHECK(found(block(call("copies", {x, a}), call("copies", {a, x}))).empty());
  }
  SUBCASE("in one of the calls it does not") {
    copies(5);
    CHECK(found(block(call("copies", {x, x}), call("copies", {x, a}))) ==
          "copies body[0].body[0]: stores element 4 of 'q', which has 4 in this call");
  }
  SUBCASE("from an offset") {
    copies(4);
    CHECK(found(block(call("copies", std::vector{address_of(x, 4), var(a)}))).empty());
    CHECK(found(block(call("copies", std::vector{address_of(x, 5), var(a)}))) ==
          "copies body[0].body[0]: loads element 3 of 'p', which has 3 in this call");
  }
  SUBCASE("nobody calls it") {
    copies(9);
    CHECK(found(block(set(a))).empty());
  }
  SUBCASE("called only if data say so") {
    copies(9);
    const auto some = binary(ExprKind::lt, load(x, 0), tir::make_int(3, tir::testing::int8_type));
    CHECK(found(block(when(some, block(call("copies", {x, a}))))).empty());
  }
  SUBCASE("the error names function and place") {
    copies(9);
    entry({x}, block(allocate(a, 4), call("copies", {x, a})));
    try {
      require_accesses_inside(build());
      FAIL("nothing was thrown");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::archive);
      CHECK(std::string(error.what()) ==
            "function 'copies', body[0].body[0]: loads element 8 of 'p', which has 8 in this call: expected accesses "
            "inside of the storage");
    }
  }
}

}  // namespace usmp::program::outside_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reductions before and after the interchange: results, rows of sums, near misses.
#include "transform/interchange_reductions.hpp"

#include <doctest/doctest.h>

#include "transform/program.hpp"

namespace usmp::transform::testing::interchange_reductions_test {
namespace {

// for c { s = 0; for r { s = s + x[r] * w[r * 8 + c]; } y[c] = s; }, with parts exchanged by the tests.
struct Fixture : Program {
  static constexpr std::int64_t width = 8;
  VarId x = input("x", 16);
  VarId w = input("w", 64);
  VarId y = output("y", 64);
  VarId s = buffer("s");
  VarId c = number("c");
  VarId r = number("r");

  [[nodiscard]] tir::Stmt add_up(const ExprRef& what) const { return store(s, 0, add(load(s, 0), halved(what))); }
  [[nodiscard]] static ExprRef halved(const ExprRef& what) { return quotient(what, 2); }
  [[nodiscard]] tir::Stmt sums() const { return loop(r, 4, block(add_up(x_of_row()))); }
  [[nodiscard]] ExprRef x_of_row() const { return load(w, add(mul(var(r), width), var(c))); }
  [[nodiscard]] tir::Stmt result() const { return store(y, var(c), load(s, 0)); }
  [[nodiscard]] tir::Block parts() const { return block(allocate(s, 1), store(s, 0, var(c)), sums(), result()); }

  std::string made(tir::Stmt all) {
    body(block(std::move(all)));
    return made();
  }
  std::string made() {
    REQUIRE(simple());
    const auto rows = interchange_reductions(changed(), op(), aliases());
    check_same();
    if (rows.empty()) CHECK(is_unchanged());
    return names(rows);
  }
};

TEST_CASE_FIXTURE(Fixture, "interchange: sums over neighbours are made a row at a time") {
  CHECK(made(loop(c, width, parts())) == "s");
  CHECK(text() == R"(
  allocate s: int32[8]
  for c in [0, 8) {
    s[c] = c
  }
  for r in [0, 4) {
    for c_1 in [0, 8) {
      s[c_1] = s[c_1] + floordiv(w[r * 8 + c_1], 2)
    }
  }
  for c_2 in [0, 8) {
    y[c_2] = s[c_2]
  }
)");
}

TEST_CASE_FIXTURE(Fixture, "interchange: lets of indices go along") {
  const VarId t = number("t");
  const VarId u = number("u");
  CHECK(made(loop(c, width,
                  block(let(t, add(var(c), 1)), allocate(s, 1), store(s, 0, var(t)),
                        loop(r, 4, block(let(u, mul(var(r), width)), add_up(load(w, add(var(u), sub(var(t), 1)))))),
                        store(y, sub(var(t), 1), load(s, 0))))) == "s");
}

TEST_CASE_FIXTURE(Fixture, "interchange: a sum that was a variable is workspace again") {
  tir::Block all = parts();
  std::get<tir::Allocate>(all[0].node).on_stack = true;
  CHECK(made(loop(c, width, std::move(all))) == "s");
  CHECK(text().find("on stack") == std::string::npos);
}

// As in depthwise convolutions with several outputs a channel.
TEST_CASE_FIXTURE(Fixture, "interchange: neighbours, each for several sums") {
  const auto with = [&](const ExprRef& place) {
    const ExprRef term = mul(load(x, add(mul(var(r), 4), place)), x_of_row());
    return made(loop(c, width, block(allocate(s, 1), store(s, 0, var(c)), loop(r, 3, block(add_up(term))), result())));
  };
  SUBCASE("two each") { CHECK(with(quotient(var(c), 2)) == "s"); }
  SUBCASE("every other one") { CHECK(with(mul(quotient(var(c), 4), 2)).empty()); }
  SUBCASE("of neighbours of neighbours") { CHECK(with(quotient(mul(var(c), 3), 8)).empty()); }
  SUBCASE("in turn") { CHECK(with(remainder(var(c), imm(4))).empty()); }
}

// --- Near misses: nothing is done ------------------------------------------------------------------------------------

TEST_CASE_FIXTURE(Fixture, "interchange: only of 4 to 256 elements") {
  const VarId wide = input("wide", 2000);
  const auto row = [&](std::int64_t count) {
    const VarId out = output("out", count);
    return loop(
        c, count,
        block(allocate(s, 1), store(s, 0, tir::make_int(0)),
              loop(r, 2, block(add_up(load(wide, add(mul(var(r), 1000), var(c)))))), store(out, var(c), load(s, 0))));
  };
  SUBCASE("3") { CHECK(made(row(3)).empty()); }
  SUBCASE("4") { CHECK(made(row(4)) == "s"); }
  SUBCASE("256") { CHECK(made(row(256)) == "s"); }
  SUBCASE("257") { CHECK(made(row(257)).empty()); }
}

TEST_CASE_FIXTURE(Fixture, "interchange: not of sums of a single term") {
  const VarId k = number("k");
  const auto sums_of = [&](std::int64_t outer, std::int64_t inner) {
    const tir::Stmt terms = loop(r, outer, block(loop(k, inner, block(add_up(x_of_row())))));
    return loop(c, width, block(allocate(s, 1), store(s, 0, var(c)), terms, result()));
  };
  SUBCASE("one") { CHECK(made(sums_of(1, 1)).empty()); }
  SUBCASE("two of the outer loop") { CHECK(made(sums_of(2, 1)) == "s"); }
  SUBCASE("two of the inner loop") { CHECK(made(sums_of(1, 2)) == "s"); }
}

TEST_CASE_FIXTURE(Fixture, "interchange: not if the loop begins elsewhere") {
  CHECK(made(loop_from(c, 1, width - 1, parts())).empty());
}

TEST_CASE_FIXTURE(Fixture, "interchange: not if the sum has several elements") {
  tir::Block all = parts();
  std::get<tir::Allocate>(all[0].node).extents = {tir::make_int(2)};
  CHECK(made(loop(c, width, std::move(all))).empty());
}

TEST_CASE_FIXTURE(Fixture, "interchange: not if the sum is carried from one element to the next") {
  body(block(allocate(s, 1), store(s, 0, tir::make_int(0)), loop(c, width, block(sums(), result()))));
  CHECK(made().empty());
}

TEST_CASE_FIXTURE(Fixture, "interchange: not if the sum begins with what memory holds") {
  CHECK(made(loop(c, width, block(allocate(s, 1), store(s, 0, load(x, var(c))), sums(), result()))).empty());
}

TEST_CASE_FIXTURE(Fixture, "interchange: not if a let reads memory") {
  const VarId t = number("t");
  SUBCASE("around the sum") {
    CHECK(made(loop(c, width, block(let(t, load(x, var(c))), allocate(s, 1), store(s, 0, var(t)), sums(), result())))
              .empty());
  }
  SUBCASE("inside of it") {
    CHECK(made(loop(c, width,
                    block(allocate(s, 1), store(s, 0, var(c)), loop(r, 4, block(let(t, x_of_row()), add_up(var(t)))),
                          result())))
              .empty());
  }
  SUBCASE("inside of it, beside elements side by side") {
    const tir::Stmt term = add_up(add(x_of_row(), var(t)));
    CHECK(made(loop(c, width,
                    block(allocate(s, 1), store(s, 0, var(c)), loop(r, 4, block(let(t, x_of_row()), term)), result())))
              .empty());
  }
}

TEST_CASE_FIXTURE(Fixture, "interchange: not if bounds or conditions depend on the element") {
  const auto with = [&](const tir::Stmt& terms) {
    return loop(c, width, block(allocate(s, 1), store(s, 0, var(c)), terms, result()));
  };
  const VarId t = number("t");
  const VarId u = number("u");
  SUBCASE("extent") { CHECK(made(with(loop_to(r, remainder(var(c), 4), block(add_up(x_of_row()))))).empty()); }
  SUBCASE("condition") {
    CHECK(made(with(loop(r, 4, block(when(less(var(r), var(c)), block(add_up(x_of_row()))))))).empty());
  }
  SUBCASE("extent in memory") {
    const ExprRef many = remainder(load(x, 0), 4);
    CHECK(made(with(loop_to(r, many, block(add_up(x_of_row()))))).empty());
  }
  SUBCASE("extent, by a let that is no sum") {
    CHECK(made(loop(c, width,
                    block(let(t, smaller(var(c), 3)), allocate(s, 1), store(s, 0, var(c)),
                          loop_to(r, var(t), block(add_up(x_of_row()))), result())))
              .empty());
  }
  SUBCASE("extent, by a let of such a let") {
    CHECK(made(loop(c, width,
                    block(let(t, smaller(var(c), 3)), let(u, add(var(t), 1)), allocate(s, 1), store(s, 0, var(c)),
                          loop_to(r, var(u), block(add_up(x_of_row()))), result())))
              .empty());
  }
  SUBCASE("extent, by a let that is always the same") {
    CHECK(made(loop(c, width,
                    block(let(t, quotient(var(c), 8)), allocate(s, 1), store(s, 0, var(c)),
                          loop_to(r, add(var(t), 4), block(add_up(x_of_row()))), result())))
              .empty());
  }
  SUBCASE("condition, by a let inside") {
    CHECK(
        made(with(loop(r, 4, block(let(t, smaller(var(c), 2)), when(less(var(t), var(r)), block(add_up(x_of_row())))))))
            .empty());
  }
}

TEST_CASE_FIXTURE(Fixture, "interchange: not if what is added up is the sum, or no sum") {
  const auto with = [&](const tir::Stmt& term) {
    return loop(c, width, block(allocate(s, 1), store(s, 0, var(c)), loop(r, 4, block(term)), result()));
  };
  SUBCASE("doubled") { CHECK(made(with(store(s, 0, add(load(s, 0), sub(load(s, 0), halved(x_of_row())))))).empty()); }
  SUBCASE("subtracted") { CHECK(made(with(store(s, 0, sub(load(s, 0), halved(x_of_row()))))).empty()); }
  SUBCASE("to something else") { CHECK(made(with(store(y, var(c), add(load(s, 0), halved(x_of_row()))))).empty()); }
  SUBCASE("not of itself") { CHECK(made(with(store(s, 0, add(load(x, 0), halved(x_of_row()))))).empty()); }
  SUBCASE("lazily") { CHECK(made(with(add_up(choice(less(var(c), 4), x_of_row(), tir::make_int(0))))).empty()); }
}

TEST_CASE_FIXTURE(Fixture, "interchange: not if the loop has another buffer, or another branch") {
  const VarId u = buffer("u");
  SUBCASE("a buffer in front") {
    CHECK(made(loop(c, width,
                    block(allocate(u, 1), allocate(s, 1), store(s, 0, var(c)), sums(), store(u, 0, load(s, 0)),
                          store(y, var(c), load(u, 0)))))
              .empty());
  }
  SUBCASE("a branch") {
    const tir::Stmt otherwise = when(less(var(r), 2), block(add_up(x_of_row())), block(store(s, 0, tir::make_int(3))));
    CHECK(made(loop(c, width, block(allocate(s, 1), store(s, 0, var(c)), loop(r, 4, block(otherwise)), result())))
              .empty());
  }
}

TEST_CASE_FIXTURE(Fixture, "interchange: not if another element of the sum is written or read") {
  const auto with = [&](const tir::Stmt& term, const tir::Stmt& last) {
    return loop(c, width, block(allocate(s, 1), store(s, 0, var(c)), loop(r, 4, block(term)), last));
  };
  // Where the index is zero, but not said to be.
  const ExprRef zero = quotient(var(c), 8);
  SUBCASE("written") { CHECK(made(with(store(s, zero, add(load(s, 0), halved(x_of_row()))), result())).empty()); }
  SUBCASE("read") { CHECK(made(with(add_up(x_of_row()), store(y, var(c), load(s, zero)))).empty()); }
}

TEST_CASE_FIXTURE(Fixture, "interchange: not if no elements stand side by side") {
  const auto with = [&](const ExprRef& term) {
    return loop(c, width, block(allocate(s, 1), store(s, 0, var(c)), loop(r, 4, block(add_up(term))), result()));
  };
  SUBCASE("apart") { CHECK(made(with(load(w, add(mul(var(c), 4), var(r))))).empty()); }
  SUBCASE("backwards") { CHECK(made(with(load(w, sub(add(var(r), 10), var(c))))).empty()); }
  SUBCASE("the same") { CHECK(made(with(load(x, var(r)))).empty()); }
  SUBCASE("apart now and then") { CHECK(made(with(load(w, add(var(c), quotient(var(c), 4))))).empty()); }
  SUBCASE("anywhere") { CHECK(made(with(load(w, remainder(add(var(c), var(r)), 5)))).empty()); }
}

TEST_CASE_FIXTURE(Fixture, "interchange: not if what follows the sum writes what the sums read") {
  const VarId same = same_storage("same", w);
  const auto with = [&](const tir::Stmt& last) {
    return loop(c, width, block(allocate(s, 1), store(s, 0, var(c)), sums(), result(), last));
  };
  SUBCASE("by its name") { CHECK(made(with(store(w, add(var(c), 1), load(s, 0)))).empty()); }
  SUBCASE("by another") { CHECK(made(with(store(same, add(var(c), 1), load(s, 0)))).empty()); }
  SUBCASE("something else") { CHECK(made(with(store(x, add(var(c), 1), load(s, 0)))) == "s"); }
}

TEST_CASE_FIXTURE(Fixture, "interchange: not if the sum goes on changing") {
  CHECK(made(loop(c, width,
                  block(allocate(s, 1), store(s, 0, var(c)), sums(), store(s, 0, sub(load(s, 0), 1)), result())))
            .empty());
}

TEST_CASE_FIXTURE(Fixture, "interchange: lets that double each other are not written out") {
  tir::Block all;
  VarId before = c;
  for (int n = 0; n < 60; ++n) {
    const VarId next = number("t");
    all.push_back(let(next, smaller(var(before), var(before))));
    before = next;
  }
  for (tir::Stmt& part :
       block(allocate(s, 1), store(s, 0, var(c)), loop(r, 4, block(add_up(add(x_of_row(), var(before))))), result())) {
    all.push_back(std::move(part));
  }
  CHECK(made(loop(c, width, std::move(all))).empty());
}

TEST_CASE("interchange: a narrow let keeps its type") {
  Program p;
  const VarId w = p.input("w", 64);
  const VarId y = p.output("y", 8);
  const VarId s = p.buffer("s");
  const VarId c = p.number("c");
  const VarId r = p.number("r");
  const VarId t = p.number("t", int8_type);
  const ExprRef narrow = tir::make_cast(int8_type, p.var(c));
  const ExprRef shifted = add(add(narrow, 100), 27);
  const ExprRef term =
      add(quotient(p.load(w, add(mul(p.var(r), 8), p.var(c))), 2), tir::make_cast(int32_type, p.var(t)));
  p.body(block(
      p.loop(c, 8,
             block(p.let(t, shifted), p.allocate(s, 1), p.store(s, 0, tir::make_int(0)),
                   p.loop(r, 4, block(p.store(s, 0, add(p.load(s, 0), term)))), p.store(y, p.var(c), p.load(s, 0))))));
  CHECK(p.names(interchange_reductions(p.changed(), p.op(), p.aliases())) == "s");
  p.check_same();
}

}  // namespace
}  // namespace usmp::transform::testing::interchange_reductions_test

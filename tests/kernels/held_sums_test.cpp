// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sums held in registers: results of the interpreter before and after, and near misses.
#include "kernels/held_sums.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "transform/program.hpp"

namespace usmp::transform::testing::held_sums_test {
namespace {

constexpr tir::DataType float32 = tir::float32_type;

// for s: sum[s] = 0 …; for k: for x: { for s: sum[s] = sum[s] + term; for s: sum[4 + s] = sum[4 + s] + term; … }
struct HeldFixture : Program {
  explicit HeldFixture(tir::DataType of = float32) : type(of) {}

  tir::DataType type;
  VarId data = input("data", 256);
  VarId weight = input("weight", 256);
  VarId sum = output("sum", 64, type);
  VarId k = number("k");
  VarId x = number("x");
  std::int64_t updates = 9;
  std::int64_t lanes = 4;
  std::int64_t rows = 5;
  bool alone = true;
  // For update u in lane s.
  std::function<ExprRef(std::int64_t, ExprRef)> element = [this](std::int64_t u, const ExprRef& s) {
    return add(s, u * lanes);
  };
  std::function<ExprRef(std::int64_t, ExprRef)> term = [this](std::int64_t u, const ExprRef& s) {
    return product(add(add(mul(var(k), 16), var(x)), u * 3), s);
  };

  // Three factors, so that floats are rounded.
  [[nodiscard]] ExprRef product(const ExprRef& data_at, const ExprRef& s) const {
    const ExprRef weight_at = add(add(mul(var(k), 12), mul(var(x), 4)), s);
    const auto value = [&](VarId storage, const ExprRef& at) { return tir::make_cast(type, load(storage, at)); };
    return mul(mul(value(data, data_at), value(weight, weight_at)), value(data, add(weight_at, 1)));
  }
  tir::Stmt update(std::int64_t u) {
    const VarId s = number("s");
    const VarId c = number("c");
    const ExprRef at = var(c);
    return loop(s, lanes,
                block(tir::Stmt{tir::Let{c, element(u, var(s))}}, store(sum, at, add(load(sum, at), term(u, var(s))))));
  }
  [[nodiscard]] ExprRef number_of(std::int64_t value) const { return tir::make_cast(type, imm(value)); }
  tir::Stmt begins(std::int64_t u, const ExprRef& value) {
    const VarId s = number("begin");
    return loop(s, lanes, block(store(sum, element(u, var(s)), value)));
  }
  tir::Stmt nest() {
    tir::Block all;
    for (std::int64_t u = 0; u < updates; ++u) all.push_back(update(u));
    return loop(k, rows, block(loop(x, 3, std::move(all))));
  }
  ExprRef zero() const { return type.is_float() ? tir::make_float(0, type) : imm(0); }
  // All sums are set, then the nest.
  tir::Block whole() {
    tir::Block all = block(loop(number("n"), 64, {}));
    auto& filled = std::get<tir::For>(all[0].node);
    filled.body.push_back(store(sum, var(filled.var), number_of(7)));
    for (std::int64_t u = 0; u < updates; ++u) all.push_back(begins(u, zero()));
    all.push_back(nest());
    return all;
  }
  void program(tir::Block statements) {
    body(std::move(statements));
    for (tir::Param& param : op().params) param.no_alias = alone;
  }
  [[nodiscard]] bool has(const std::string& what) { return text().find(what) != std::string::npos; }
  bool held(std::int64_t ints = 4) {
    kernels::hold_sums(changed(), ints);
    check_same();
    return has("sum0[0] = sum0[0] + ");
  }
};

TEST_CASE_FIXTURE(HeldFixture, "held sums: sixteen floats at a time, groups in a loop") {
  program(whole());
  REQUIRE(held());
  CHECK(has("for group in [0, 2)"));
  CHECK(has("sum[15 + group * 16] = sum15[0]"));
  CHECK(has("sum[35] = sum3_1[0]"));  // the ninth update
  CHECK_FALSE(has("begin"));
}

TEST_CASE("held sums: every number of updates and lanes") {
  for (std::int64_t updates = 1; updates <= 7; ++updates) {
    for (std::int64_t lanes = 1; lanes <= 9; ++lanes) {
      for (const tir::DataType type : {float32, int32_type, int64_type}) {
        HeldFixture one(type);
        one.updates = updates;
        one.lanes = lanes;
        one.program(one.whole());
        const bool is_held = updates * lanes > 1 && (type.is_float() || lanes <= 4 || updates == 1);
        CHECK(one.held() == is_held);
      }
    }
  }
}

TEST_CASE_FIXTURE(HeldFixture, "held sums: more lanes than are held") {
  updates = 1;
  lanes = 41;
  rows = 4;
  program(whole());
  REQUIRE(held());
  CHECK(has("for s_block in [0, 2)"));
  CHECK(has("sum[40] = sum8_1[0]"));
}

TEST_CASE_FIXTURE(HeldFixture, "held sums: groups that differ in more than places stand alone") {
  SUBCASE("a term") {
    const auto usual = term;
    term = [this, usual](std::int64_t u, const ExprRef& s) {
      return u == 5 ? sub(usual(u, s), number_of(1)) : usual(u, s);
    };
  }
  SUBCASE("a place that follows another loop") {
    term = [this](std::int64_t u, const ExprRef& s) {
      return product(add(add(mul(var(k), 16), mul(var(x), u == 4 ? 2 : 1)), u * 3), s);
    };
  }
  SUBCASE("the place of a sum") {
    element = [](std::int64_t u, const ExprRef& s) { return add(s, u == 7 ? 60 : u * 4); };
  }
  SUBCASE("the distance of sums") {
    updates = 8;
    element = [](std::int64_t u, const ExprRef& s) { return add(u == 5 ? mul(s, 2) : s, u * 8); };
  }
  SUBCASE("two places that were one") {
    term = [this](std::int64_t u, const ExprRef& s) {
      const auto value = [&](std::int64_t at) { return tir::make_cast(type, load(data, add(var(x), at))); };
      return mul(mul(value(u), value(u < 4 ? u : 2 * u)), tir::make_cast(type, load(weight, s)));
    };
  }
  SUBCASE("a quotient toward zero in a place") {
    term = [this](std::int64_t u, const ExprRef& s) {
      return product(add(add(mul(var(k), 16), 9), binary(ExprKind::div, sub(var(k), u / 4), imm(2))), s);
    };
  }
  SUBCASE("a predicate") {
    term = [this](std::int64_t u, const ExprRef& s) {
      tir::Expr guarded = *load(data, s);
      guarded.operands.push_back(less(var(k), u < 4 ? 5 : 6));
      return tir::make_cast(type, tir::make_expr(std::move(guarded)));
    };
  }
  SUBCASE("another tensor") {
    term = [this](std::int64_t u, const ExprRef& s) {
      return u == 4 ? tir::make_cast(type, load(weight, s)) : tir::make_cast(type, load(data, s));
    };
  }
  program(whole());
  REQUIRE(held());
  CHECK_FALSE(has("for group"));
}

TEST_CASE_FIXTURE(HeldFixture, "held sums: groups that read a ring are a loop") {
  term = [this](std::int64_t u, const ExprRef& s) {
    return product(add(add(mul(binary(ExprKind::mod, add(var(k), 1), imm(3)), 64), var(x)), u * 3), s);
  };
  program(whole());
  REQUIRE(held());
  CHECK(has("for group in [0, 2)"));
}

TEST_CASE_FIXTURE(HeldFixture, "held sums: a third group that differs") {
  updates = 12;
  term = [this](std::int64_t u, const ExprRef& s) { return product(add(add(var(k), var(x)), u < 8 ? u : 2 * u), s); };
  program(whole());
  REQUIRE(held());
  CHECK(has("for group in [0, 2)"));
  CHECK(has("sum[47] = sum15_1[0]"));
}

TEST_CASE_FIXTURE(HeldFixture, "held sums: a third group whose sums stand elsewhere") {
  updates = 12;
  element = [](std::int64_t u, const ExprRef& s) { return add(s, u < 8 ? u * 4 : u * 4 + 8); };
  program(whole());
  REQUIRE(held());
  CHECK(has("for group in [0, 2)"));
  CHECK(has("sum[55] = sum15_1[0]"));
}

TEST_CASE_FIXTURE(HeldFixture, "held sums: they begin with what is there") {
  tir::Block all = whole();
  const VarId other = output("other", 64, type);
  SUBCASE("those of another tensor are set") {
    const VarId b = number("begin");
    all.push_back(loop(b, 64, block(store(other, var(b), number_of(1)))));
    std::swap(all.back(), all.front());
    const VarId n = number("n");
    all.insert(all.begin(), loop(n, 64, block(store(sum, var(n), number_of(7)))));
    all.pop_back();
    std::get<tir::Store>(std::get<tir::For>(all[6].node).body[0].node).storage = other;
  }
  SUBCASE("one is set by a predicate") {
    auto& begin = std::get<tir::For>(all[5].node);
    std::get<tir::Store>(begin.body[0].node).predicate = less(var(begin.var), 3);
  }
  SUBCASE("one is not set") { all.erase(all.begin() + 3); }
  SUBCASE("one is set to another number") { all[5] = begins(4, tir::make_cast(type, tir::make_float(2, type))); }
  SUBCASE("one is set twice, and one is not") { all[5] = begins(2, zero()); }
  SUBCASE("one is set to another literal") { all[5] = begins(4, tir::make_float(2, type)); }
  program(std::move(all));
  REQUIRE(held());
  CHECK(has("sum0[0] = sum[group * 16]"));
  CHECK(has("begin"));
}

TEST_CASE_FIXTURE(HeldFixture, "held sums: bounds and lets of the loops around stay") {
  const VarId y = number("y");
  const VarId row = number("row");
  term = [this, row](std::int64_t u, const ExprRef& s) { return product(add(add(var(row), var(x)), u * 3), s); };
  tir::Block all;
  for (std::int64_t u = 0; u < updates; ++u) all.push_back(update(u));
  tir::Block inner = block(tir::Stmt{tir::Let{row, add(mul(var(k), 5), var(y))}});
  inner.push_back(loop_from(x, 1, 2, std::move(all)));
  const ExprRef length = smaller(imm(3), sub(imm(6), var(y)));
  const VarId n = number("n");
  program(block(loop(n, 64, block(store(sum, var(n), number_of(7)))),
                loop(y, 5, block(loop_to(k, length, std::move(inner))))));
  REQUIRE(held());
  CHECK(has("for group in [0, 2)"));
}

TEST_CASE_FIXTURE(HeldFixture, "held sums: near misses") {
  SUBCASE("one element twice") {
    element = [this](std::int64_t u, const ExprRef& s) { return add(s, u == 5 ? 11 : u * lanes); };
  }
  SUBCASE("all lanes are one element") {
    element = [](std::int64_t u, const ExprRef& s) { return add(mul(s, 0), u); };
  }
  SUBCASE("an element of its own for each row") {
    updates = 2;
    element = [this](std::int64_t u, const ExprRef& s) { return add(add(mul(var(k), 8), s), u * 4); };
  }
  SUBCASE("terms that read sums") {
    term = [this](std::int64_t u, const ExprRef& s) { return u == 3 ? load(sum, imm(1)) : product(s, s); };
  }
  SUBCASE("sums that something else may reach") { alone = false; }
  const bool is_row_of_its_own = updates == 2;
  tir::Block all = block(loop(number("n"), 64, {}));
  auto& filled = std::get<tir::For>(all[0].node);
  filled.body.push_back(store(sum, var(filled.var), number_of(7)));
  all.push_back(nest());
  program(std::move(all));
  CHECK(held() == is_row_of_its_own);  // then inside of the loop over rows
  CHECK_FALSE(has("sum0[0] = sum[0]"));
}

// Each would be lost, or be read or added up at another time, if the sums were held.
TEST_CASE_FIXTURE(HeldFixture, "held sums: what else stands in the loops") {
  updates = 2;
  const VarId other = output("other", 64, type);
  const VarId y = number("y");
  const VarId n = number("n");
  const VarId m = number("m");
  const VarId row = number("row");
  const auto any = [&] { return product(var(x), imm(0)); };
  const auto innermost = [&](tir::Block statements) { return loop(k, rows, block(loop(x, 3, std::move(statements)))); };
  const auto sum_as_int = [&] {
    return tir::make_cast(int32_type, larger(smaller(load(sum, 1), number_of(3)), number_of(0)));
  };
  tir::Stmt all = nest();
  bool is_inside = false;  // of the outer loop they are
  SUBCASE("a store beside the sums of a lane") {
    tir::Stmt first = update(0);
    std::get<tir::For>(first.node).body.push_back(store(other, var(x), any()));
    all = innermost(block(first, update(1)));
  }
  SUBCASE("a store behind the loop over lanes") { all = innermost(block(update(0), store(other, var(x), any()))); }
  SUBCASE("a store behind the inner loop") {
    all = loop(k, rows, block(loop(x, 3, block(update(0), update(1))), store(other, var(k), load(sum, 2))));
    is_inside = true;
  }
  SUBCASE("sums of another tensor") {
    tir::Stmt second = update(1);
    auto& lanes_of = std::get<tir::For>(second.node);
    auto& added = std::get<tir::Store>(lanes_of.body[1].node);
    added.storage = other;
    added.value = add(load(other, added.index), any());
    all = innermost(block(update(0), second));
  }
  SUBCASE("a bound that reads sums") {
    all = loop(k, rows, block(loop_to(x, sum_as_int(), block(update(0), update(1)))));
  }
  SUBCASE("a begin that reads sums") {
    tir::For inner{x, sum_as_int(), imm(2), block(update(0), update(1))};
    all = loop(k, rows, block(tir::Stmt{std::move(inner)}));
  }
  SUBCASE("a let that reads sums") {
    term = [&](std::int64_t, const ExprRef& s) { return mul(product(s, s), tir::make_cast(type, var(row))); };
    all = innermost(block(let(row, sum_as_int()), update(0), update(1)));
  }
  SUBCASE("a let of a lane that reads sums") {
    term = [&](std::int64_t, const ExprRef& s) { return mul(product(s, s), tir::make_cast(type, var(row))); };
    tir::Stmt second = update(1);
    auto& body = std::get<tir::For>(second.node).body;
    body.insert(body.begin(), let(row, sum_as_int()));
    tir::Stmt first = loop(m, lanes, block(store(sum, var(m), add(load(sum, var(m)), any()))));
    all = innermost(block(first, second));
  }
  SUBCASE("a place by a let of the loop around") {
    element = [&](std::int64_t u, const ExprRef& s) { return add(add(s, u * 4), mul(var(row), 8)); };
    all = loop(k, rows, block(let(row, add(var(k), 1)), loop(x, 3, block(update(0), update(1)))));
    is_inside = true;
  }
  // Without lets, which hide what an index is made of.
  const auto added = [&](const char* name, const std::function<ExprRef(ExprRef)>& index) {
    const VarId s = number(name);
    return loop(s, lanes, block(store(sum, index(var(s)), add(load(sum, index(var(s))), any()))));
  };
  SUBCASE("sums at places from a loop around on") {
    const tir::Stmt first = added("s1", [](const ExprRef& s) { return add(s, 16); });
    const tir::Stmt second = added("s2", [&](const ExprRef& s) { return add(s, sub(imm(20), mul(var(y), 4))); });
    all = loop(y, 5, block(innermost(block(first, second))));
  }
  SUBCASE("lanes in steps") {  // 0, 3, 4, 7 and 1, 4, 5, 8
    const auto index = [](const ExprRef& s) { return sub(mul(s, 3), mul(quotient(s, 2), 2)); };
    all = innermost(block(added("s1", index), added("s2", [&](const ExprRef& s) { return add(index(s), 1); })));
  }
  SUBCASE("lanes that share a sum, by a quotient toward zero") {  // 1, 1, 2, 2
    const auto index = [](const ExprRef& s) { return add(s, binary(ExprKind::div, sub(imm(3), mul(s, 2)), imm(2))); };
    all = innermost(block(added("s1", index), added("s2", [&](const ExprRef& s) { return add(index(s), 8); })));
  }
  SUBCASE("sums at places that are read, in a quotient toward zero") {
    const auto index = [&](const ExprRef& s, std::int64_t u) {
      const ExprRef read = smaller(larger(load(data, 1 - u), imm(-5)), imm(5));
      return add(add(s, 8), add(binary(ExprKind::div, read, imm(2)), u * 4));
    };
    all = innermost(block(added("s1", [&](const ExprRef& s) { return index(s, 0); }),
                          added("s2", [&](const ExprRef& s) { return index(s, 1); })));
  }
  SUBCASE("lanes from the second on") {
    tir::Stmt first = update(0);
    std::get<tir::For>(first.node).min = imm(1);
    element = [](std::int64_t u, const ExprRef& s) { return add(s, u * 8); };
    all = innermost(block(first, update(1)));
  }
  program(block(loop(n, 64, block(store(sum, var(n), number_of(7)), store(other, var(n), number_of(2)))), all));
  CHECK(held() == is_inside);
  CHECK(has("sum7[0]") == is_inside);
}

// Floats, whose neighbours are vectors where they are read side by side.
struct VectorFixture : HeldFixture {
  VectorFixture() {
    data = input("floats", 256, float32);
    weight = input("weights", 256, float32);
    term = [this](std::int64_t u, const ExprRef& s) {
      return mul(load(data, data_at(u)), load(weight, add(add(mul(var(k), 12), mul(var(x), 4)), s)));
    };
  }
  [[nodiscard]] ExprRef data_at(std::int64_t u) const { return add(add(mul(var(k), 16), var(x)), u * 3); }

  bool vectors() {
    kernels::hold_sums(changed(), 4, true);
    check_same();
    return has("sum0[ramp(0, 1, 4)] = sum0[ramp(0, 1, 4)] + ");
  }
};

TEST_CASE_FIXTURE(VectorFixture, "vectors: four updates of four lanes, groups in a loop") {
  program(whole());
  REQUIRE(vectors());
  CHECK(has("for group in [0, 2)"));
  CHECK(has("sum0[ramp(0, 1, 4)] = broadcast("));
  CHECK(has("sum[ramp(12 + group * 16, 1, 4)] = sum3[ramp(0, 1, 4)]"));
  CHECK_FALSE(has("sum4"));
}

TEST_CASE_FIXTURE(VectorFixture, "vectors: one update of many lanes, and what is left over") {
  updates = 1;
  lanes = 44;
  rows = 4;
  SUBCASE("the same data for all") {}
  SUBCASE("data and weights side by side") {
    term = [this](std::int64_t u, const ExprRef& s) {
      return mul(load(weight, add(var(x), s)), load(data, add(data_at(u), s)));
    };
  }
  SUBCASE("one factor") {
    term = [this](std::int64_t u, const ExprRef& s) { return load(data, add(data_at(u), s)); };
  }
  SUBCASE("pixels of a ring") {
    term = [this](std::int64_t, const ExprRef& s) {
      return mul(load(data, add(mul(binary(ExprKind::mod, add(var(k), 1), imm(3)), 64), s)), load(weight, s));
    };
  }
  program(whole());
  REQUIRE(vectors());
  CHECK(has("for s_block in [0, 2)"));
  CHECK(has("sum[ramp(40, 1, 4)] = sum2_1[ramp(0, 1, 4)]"));
}

TEST_CASE_FIXTURE(VectorFixture, "vectors: near misses") {
  SUBCASE("lanes that fours do not divide") { lanes = 6; }
  SUBCASE("weights two apart") {
    term = [this](std::int64_t u, const ExprRef& s) { return mul(load(data, data_at(u)), load(weight, mul(s, 2))); };
  }
  SUBCASE("weights in the other direction") {
    term = [this](std::int64_t u, const ExprRef& s) {
      return mul(load(data, data_at(u)), load(weight, sub(imm(9), s)));
    };
  }
  SUBCASE("weights at a place that turns") {
    term = [this](std::int64_t u, const ExprRef& s) {
      return mul(load(data, data_at(u)), load(weight, binary(ExprKind::mod, add(s, 1), imm(3))));
    };
  }
  SUBCASE("three factors") {
    term = [this](std::int64_t u, const ExprRef& s) {
      return mul(mul(load(data, data_at(u)), load(weight, s)), load(weight, add(s, 1)));
    };
  }
  SUBCASE("a number of the lane") {
    term = [this](std::int64_t u, const ExprRef& s) { return mul(load(data, data_at(u)), tir::make_cast(float32, s)); };
  }
  SUBCASE("sums two apart") {
    element = [](std::int64_t u, const ExprRef& s) { return add(mul(s, 2), u % 2 + u / 2 * 8); };
    updates = 8;
  }
  SUBCASE("an update without lanes") { lanes = 1; }
  SUBCASE("one of the updates has another term") {
    const auto usual = term;
    updates = 4;
    term = [this, usual](std::int64_t u, const ExprRef& s) {
      return u == 3 ? mul(load(data, data_at(u)), load(weight, mul(s, 3))) : usual(u, s);
    };
  }
  program(whole());
  CHECK_FALSE(vectors());
  CHECK(has("sum0[0] = sum0[0] + "));
}

TEST_CASE("vectors: integers and doubles are none") {
  for (const tir::DataType type : {int32_type, tir::DataType{tir::TypeCode::float_, 64, 1}}) {
    HeldFixture one(type);
    one.program(one.whole());
    kernels::hold_sums(one.changed(), 4, true);
    one.check_same();
    CHECK_FALSE(one.has("ramp"));
  }
}

}  // namespace
}  // namespace usmp::transform::testing::held_sums_test

// SPDX-License-Identifier: Apache-2.0
#include "transform/transpose_constants.hpp"

#include <doctest/doctest.h>

#include "transform/program.hpp"

namespace usmp::transform::testing::transpose_constants_test {
namespace {

// for o { for c s[c] = 0; for k { for c s[c] = s[c] + x[k] * w[o * 128 + k * 8 + c]; } for c y[o * 8 + c] = s[c]; },
// with parts exchanged by the tests.
struct TransposeFixture : Program {
  static constexpr std::int64_t rows = 16;
  static constexpr std::int64_t columns = 8;
  static constexpr std::int64_t blocks = 2;
  VarId x = input("x", 64, int8_type);
  VarId y = output("y", 16);
  VarId s = buffer("s");
  VarId w = buffer("w", int8_type);
  VarId o = number("o");
  VarId k = number("k");
  VarId c = number("c");
  tir::DataType sum_type = int32_type;
  std::int64_t inner = columns;
  std::int64_t outer = rows;

  [[nodiscard]] static std::string weights() {
    std::string bytes;
    for (int i = 0; i < rows * columns * blocks; ++i) bytes += static_cast<char>(i * 37 + i / 8);
    return bytes;
  }
  [[nodiscard]] ExprRef wide(const ExprRef& value) const { return tir::make_cast(sum_type, value); }
  [[nodiscard]] ExprRef index() const { return add(add(mul(var(o), rows * columns), mul(var(k), columns)), var(c)); }
  [[nodiscard]] ExprRef product(const ExprRef& place, const ExprRef& weight) const {
    return mul(wide(load(x, place)), wide(load(w, weight)));
  }
  [[nodiscard]] tir::Stmt sum(const ExprRef& what, const ExprRef& place) const {
    return store(s, place, add(load(s, place), what));
  }
  [[nodiscard]] tir::Stmt sum() const { return sum(product(var(k), index()), var(c)); }
  tir::Stmt sums(tir::Block block_of_sum) { return loop(k, outer, block(loop(c, inner, std::move(block_of_sum)))); }
  tir::Stmt around(tir::Stmt nest) {
    const VarId first = number("first");
    const VarId last = number("last");
    return loop(o, blocks,
                block(loop(first, columns + 1, block(store(s, var(first), wide(tir::make_int(0))))), std::move(nest),
                      loop(last, columns,
                           block(store(y, add(mul(var(o), columns), var(last)),
                                       tir::make_cast(int32_type, load(s, var(last))))))));
  }
  void program(tir::Stmt nest) {
    body(block(constant(w, weights()), allocate(s, columns + 1), around(std::move(nest))));
  }

  std::size_t made() {
    const std::size_t changes = transpose_constants(changed()).size();
    check_same();
    CHECK(is_unchanged() == (changes == 0));
    return changes;
  }
};

TEST_CASE_FIXTURE(TransposeFixture, "transpose: short rows of bytes become columns, and each sum is added up at once") {
  program(sums(block(sum())));
  CHECK(made() == 1);
  CHECK(text().find(R"(
    for c in [0, 8) {
      for k in [0, 16) {
        s[c] = s[c] + int32(x[k]) * int32(w[o * 128 + c * 16 + k])
      }
    })") != std::string::npos);
  const auto& turned = std::get<tir::AllocateConst>(op().body[0].node).data->bytes;
  for (std::size_t i = 0; i < turned.size(); ++i) {
    CHECK(turned[i] == weights()[i / 128 * 128 + i % 16 * 8 + i / 16 % 8]);
  }
}

TEST_CASE_FIXTURE(TransposeFixture, "transpose: neither short columns nor long rows") {
  SUBCASE("few rows") { outer = 8; }
  SUBCASE("one column") { inner = 1; }
  SUBCASE("columns that vectors are made of") { inner = 16; }
  program(sums(block(sum())));
  CHECK(transpose_constants(changed()).empty());
}

TEST_CASE_FIXTURE(TransposeFixture, "transpose: only what is added up") {
  SUBCASE("a store that does not add") { program(sums(block(store(s, var(c), product(var(k), index()))))); }
  SUBCASE("another element") {
    program(sums(block(store(s, var(c), add(load(s, remainder(add(var(c), 1), 8)), product(var(k), index()))))));
  }
  SUBCASE("a second statement") { program(sums(block(sum(), sum(wide(load(x, var(k))), var(c))))); }
  SUBCASE("sums that meet") { program(sums(block(sum(product(var(k), index()), quotient(var(c), 2))))); }
  SUBCASE("sums that move with k") {
    program(sums(block(sum(product(var(k), index()), remainder(add(var(c), var(k)), 8)))));
  }
  SUBCASE("sums that move now and then") {
    program(sums(block(sum(product(var(k), index()), add(var(c), quotient(var(k), 8))))));
  }
  SUBCASE("a sum that the term reads") {
    program(sums(block(sum(add(product(var(k), index()), mul(load(s, tir::make_int(0)), 0)), var(c)))));
  }
  CHECK(made() == 0);
}

TEST_CASE_FIXTURE(TransposeFixture, "transpose: sums in a tensor, which another pointer may reach") {
  const ExprRef weight = add(mul(var(k), columns), var(c));
  const tir::Stmt to_tensor = store(y, var(c), add(load(y, var(c)), product(var(k), weight)));
  const VarId first = number("first");
  body(block(constant(w, weights()), loop(first, 16, block(store(y, var(first), var(first)))), sums(block(to_tensor))));
  CHECK(made() == 0);
}

TEST_CASE_FIXTURE(TransposeFixture, "transpose: a pointer to the sums that is a buffer elsewhere") {
  const VarId r = buffer("r");
  const VarId first = number("first");
  const ExprRef weight = add(mul(var(k), columns), var(c));
  const ExprRef term = mul(remainder(load(r, tir::make_int(1)), 5), wide(load(w, weight)));
  const ExprRef to_sums = tir::make_call(tir::handle_type, "tir.address_of", {load(s, tir::make_int(0))});
  const VarId last = number("last");
  body(block(constant(w, weights()), allocate(s, columns),
             loop(first, columns, block(store(s, var(first), var(first)))),
             tir::Stmt{tir::Scope{block(let(r, to_sums), sums(block(sum(term, var(c)))))}},
             tir::Stmt{tir::Scope{block(allocate(r, 1), store(r, 0, tir::make_int(1)))}},
             loop(last, columns, block(store(y, var(last), load(s, var(last)))))));
  CHECK(made() == 0);
}

TEST_CASE_FIXTURE(TransposeFixture, "transpose: floats stay in their order") {
  sum_type = float32_type;
  s = buffer("f", float32_type);
  program(sums(block(sum())));
  CHECK(made() == 0);
}

TEST_CASE_FIXTURE(TransposeFixture, "transpose: every element of the constant has to be where the nest reads it") {
  SUBCASE("a block that begins between two") {
    program(sums(block(sum(product(var(k), add(mul(var(o), 64), add(mul(var(k), 8), var(c)))), var(c)))));
  }
  SUBCASE("rows that overlap") {
    program(sums(block(sum(product(var(k), add(mul(var(o), 128), add(mul(var(k), 4), var(c)))), var(c)))));
  }
  SUBCASE("rows backwards") { program(sums(block(sum(product(var(k), sub(add(mul(var(k), 8), 7), var(c))), var(c))))); }
  SUBCASE("one column for all") { program(sums(block(sum(product(var(k), mul(var(k), 8)), var(c))))); }
  SUBCASE("an index in pieces") {
    program(sums(block(sum(product(var(k), add(mul(remainder(var(k), 4), 8), var(c))), var(c)))));
  }
  SUBCASE("a constant that is longer") {
    body(block(constant(w, weights() + "more"), allocate(s, columns + 1), around(sums(block(sum())))));
  }
  SUBCASE("a second reader") {
    program(sums(block(sum(add(product(var(k), index()), wide(load(w, tir::make_int(3)))), var(c)))));
  }
  SUBCASE("a reader elsewhere") {
    body(block(constant(w, weights()), allocate(s, columns + 1), around(sums(block(sum()))),
               store(y, 0, wide(load(w, tir::make_int(3))))));
  }
  CHECK(made() == 0);
}

TEST_CASE_FIXTURE(TransposeFixture, "transpose: constants of elements that are no bytes") {
  w = buffer("pairs", int16_type);
  const tir::Constant data{.type = int16_type, .shape = {128}, .bytes = weights()};
  const ExprRef place = add(mul(var(k), columns), var(c));
  body(block(tir::Stmt{tir::AllocateConst{w, int16_type, std::make_shared<const tir::Constant>(data), {}}},
             allocate(s, columns + 1), around(sums(block(sum(product(var(k), place), var(c)))))));
  CHECK(made() == 0);
}

TEST_CASE_FIXTURE(TransposeFixture, "transpose: constants that are read as something else, or declared twice") {
  SUBCASE("bytes that are read as others") {
    const ExprRef weight = tir::make_load({tir::TypeCode::uint, 8, 1}, w, index());
    program(sums(block(sum(mul(wide(load(x, var(k))), wide(weight)), var(c)))));
  }
  SUBCASE("two constants of one variable") {
    body(block(scope(block(constant(w, std::string(256, 1)))), constant(w, weights()), allocate(s, columns + 1),
               around(sums(block(sum())))));
  }
  CHECK(transpose_constants(changed()).empty());
}

TEST_CASE_FIXTURE(TransposeFixture, "transpose: what happens in another order must not be seen") {
  SUBCASE("calls of functions") {
    program(sums(block(sum(mul(product(var(k), index()), call_expr("external", {})), var(c)))));
  }
  SUBCASE("operators that may do more than compute") {
    const ExprRef bits = tir::make_call(int32_type, "tir.popcount", {wide(load(x, var(k)))});
    program(sums(block(sum(mul(product(var(k), index()), bits), var(c)))));
  }
  SUBCASE("functions of other targets") {
    program(sums(block(sum())));
    op().target = "cmsis-nn";
  }
  CHECK(transpose_constants(changed()).empty());
}

TEST_CASE_FIXTURE(TransposeFixture, "transpose: loops have to begin at zero") {
  const ExprRef place = add(mul(var(k), columns), var(c));
  const tir::Stmt add_up = sum(product(var(k), place), var(c));
  SUBCASE("rows") { program(loop_from(k, 1, rows, block(loop(c, columns, block(add_up))))); }
  SUBCASE("columns") { program(loop(k, rows, block(loop_from(c, 1, columns, block(add_up))))); }
  CHECK(made() == 0);
}

TEST_CASE_FIXTURE(TransposeFixture, "transpose: indices are not written so that they overflow") {
  // The factor is taken of a difference, which is zero wherever the constant is read.
  const VarId n = number("n");
  const ExprRef place = add(mul(sub(var(o), var(n)), std::int64_t{1} << 29), add(mul(var(k), columns), var(c)));
  const ExprRef same = tir::make_binary(ExprKind::eq, var(o), var(n));
  program(loop(n, blocks, block(when(same, block(sums(block(sum(product(var(k), place), var(c)))))))));
  CHECK(made() == 0);
}

TEST_CASE_FIXTURE(TransposeFixture, "transpose: data that are read out of order, by which nothing is won") {
  SUBCASE("strides") { program(sums(block(sum(product(mul(var(k), 2), index()), var(c))))); }
  SUBCASE("columns") { program(sums(block(sum(product(add(var(k), var(c)), index()), var(c))))); }
  SUBCASE("the column's number") { program(sums(block(sum(mul(product(var(k), index()), var(c)), var(c))))); }
  CHECK(made() == 0);
}

TEST_CASE_FIXTURE(TransposeFixture, "transpose: constants that share their data change together or not at all") {
  const VarId v = buffer("v", int8_type);
  const VarId k2 = number("k2");
  const VarId c2 = number("c2");
  std::int64_t stride = 8;
  std::int64_t width = columns;
  std::size_t expected = 2;
  SUBCASE("alike") {}
  SUBCASE("one in shorter rows") {
    stride = 4;
    width = 4;
    expected = 0;
  }
  SUBCASE("one by columns already") {
    stride = 1;
    expected = 0;
  }
  const ExprRef other = stride == 1 ? add(var(k2), mul(var(c2), 16)) : add(mul(var(k2), stride), var(c2));
  tir::Stmt second = constant(v, weights());
  tir::Stmt first = constant(w, weights());
  std::get<tir::AllocateConst>(second.node).data = std::get<tir::AllocateConst>(first.node).data;
  body(block(
      std::move(first), std::move(second), allocate(s, columns + 1), around(sums(block(sum()))),
      loop(k2, rows, block(loop(c2, width, block(sum(mul(wide(load(x, var(k2))), wide(load(v, other))), var(c2)))))),
      store(y, 0, load(s, 2))));
  CHECK(made() == expected);
  const auto data = [&](std::size_t i) { return std::get<tir::AllocateConst>(op().body[i].node).data; };
  CHECK(data(0) == data(1));
}

}  // namespace
}  // namespace usmp::transform::testing::transpose_constants_test

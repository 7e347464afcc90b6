// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Tiles of sums before and after widening: results, lanes, near misses.
#include "transform/wide_tiles.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "transform/program.hpp"

namespace usmp::transform::testing::wide_tiles_test {
namespace {

// for t in [0, 4) { s[4]; for l { s[l] = 0; } for r in [0, 3) { for m { s[m] += x[r * 16 + t * 4 + m] * w[t, r, m]; } }
//                   for n { y[t * 4 + n] = s[n] + b[t * 4 + n]; } }
// with parts exchanged by the tests.
struct Fixture : Program {
  VarId x = input("x", 64);
  VarId y = output("y", 64);
  VarId w = pointer("w", int8_type);
  VarId b = pointer("b", int8_type);
  VarId s = buffer("s");
  VarId t = number("t");
  VarId l = number("l");
  VarId m = number("m");
  VarId n = number("n");
  VarId r = number("r");
  std::int64_t tiles = 4;
  std::int64_t lanes = 4;
  std::int64_t bytes_of_w = 48;
  ExprRef place_of_w = add(add(mul(var(t), 12), mul(var(r), 4)), var(m));

  Fixture() { module().stack_arrays = 256; }

  [[nodiscard]] tir::Stmt weights(VarId id, std::int64_t bytes, int factor) const {
    std::string data;
    for (std::int64_t i = 0; i < bytes; ++i) data.push_back(static_cast<char>((i * factor) % 251 - 125));
    return constant(id, std::move(data));
  }
  [[nodiscard]] tir::Stmt array() const {
    tir::Stmt stmt = allocate(s, lanes);
    std::get<tir::Allocate>(stmt.node).was_on_stack = true;
    return stmt;
  }
  [[nodiscard]] ExprRef tile() const { return mul(var(t), lanes); }
  [[nodiscard]] ExprRef data() const { return load(x, add(add(mul(var(r), 16), tile()), var(m))); }
  [[nodiscard]] ExprRef term() const { return mul(data(), tir::make_cast(int32_type, load(w, place_of_w))); }
  [[nodiscard]] tir::Stmt begin() const { return loop(l, lanes, block(store(s, var(l), imm(0)))); }
  [[nodiscard]] tir::Stmt terms(const ExprRef& what) const {
    return loop(r, 3, block(loop(m, lanes, block(store(s, var(m), add(load(s, var(m)), what))))));
  }
  [[nodiscard]] tir::Stmt terms() const { return terms(term()); }
  [[nodiscard]] tir::Stmt end() const {
    const ExprRef at = add(tile(), var(n));
    return loop(n, lanes, block(store(y, at, add(load(s, var(n)), tir::make_cast(int32_type, load(b, at))))));
  }
  void with(tir::Block inside) {
    body(block(weights(w, bytes_of_w, 7), weights(b, 64, 11), loop(t, tiles, std::move(inside))));
  }
  std::string made() {
    REQUIRE(simple());
    const auto arrays = widen_tiles(changed(), index(), aliases());
    check_same();
    if (arrays.empty()) CHECK(is_unchanged());
    return names(arrays);
  }
  [[nodiscard]] bool has(const std::string& what) { return text().find(what) != std::string::npos; }
};

TEST_CASE_FIXTURE(Fixture, "wide tiles: all at once, and what tiles keep apart side by side") {
  with(block(array(), begin(), terms(), end()));
  CHECK(made() == "s");
  CHECK(text() == R"(
  constant w: int8[48] of 48 bytes
  constant b: int8[64] of 64 bytes
  allocate s: int32[16]
  for l in [0, 16) {
    s[l] = 0
  }
  for r in [0, 3) {
    for m in [0, 16) {
      s[m] = s[m] + x[r * 16 + m] * int32(w[r * 16 + m])
    }
  }
  for n in [0, 16) {
    y[n] = s[n] + int32(b[n])
  }
)");
}

TEST_CASE_FIXTURE(Fixture, "wide tiles: as many as most_lanes, and divide their number") {
  SUBCASE("eight of sixteen") {
    tiles = 16;
    bytes_of_w = 192;
    place_of_w = add(add(mul(var(t), 12), mul(var(r), 4)), var(m));
    x = input("x2", 128);
    with(block(array(), begin(), terms(), end()));
    CHECK(made() == "s");
    CHECK(has("for t in [0, 2)"));
    CHECK(has("s: int32[32]"));
    CHECK(has("x2[t * 32 + r * 16 + m]"));
    CHECK(has("w[r * 64 + t * 32 + m]"));
  }
  SUBCASE("seven of fourteen, not eight") {
    tiles = 14;
    bytes_of_w = 168;
    x = input("x2", 128);
    with(block(array(), begin(), terms(), end()));
    CHECK(made() == "s");
    CHECK(has("s: int32[28]"));
  }
  SUBCASE("eleven: none") {
    tiles = 11;
    bytes_of_w = 132;
    x = input("x2", 128);
    with(block(array(), begin(), terms(), end()));
    CHECK(made().empty());
  }
  SUBCASE("one") {
    tiles = 1;
    bytes_of_w = 12;
    with(block(array(), begin(), terms(), end()));
    CHECK(made().empty());
  }
}

TEST_CASE_FIXTURE(Fixture, "wide tiles: lets of indices") {
  const VarId first = number("first");
  const VarId place = number("place");
  with(block(let(first, tile()), array(), begin(), terms(),
             loop(n, lanes, block(let(place, add(var(first), var(n))), store(y, var(place), load(s, var(n)))))));
  CHECK(made() == "s");
  CHECK(has("y[n] = s[n]"));
}

TEST_CASE_FIXTURE(Fixture, "wide tiles: what is stored may stand anywhere in a larger tensor") {
  const VarId row = number("row");
  const ExprRef at = add(mul(var(row), 16), add(tile(), var(n)));
  body(block(
      weights(w, 48, 7),
      loop(row, 4,
           block(loop(t, 4, block(array(), begin(), terms(), loop(n, 4, block(store(y, at, load(s, var(n)))))))))));
  CHECK(made() == "s");
  CHECK(has("y[row * 16 + n] = s[n]"));
}

TEST_CASE_FIXTURE(Fixture, "wide tiles: constants that lie well stay") {
  place_of_w = add(add(mul(var(r), 16), mul(var(t), 4)), var(m));
  body(block(weights(w, 48, 7), weights(b, 64, 11), loop(t, 4, block(array(), begin(), terms(), end()))));
  const auto before = std::get<tir::AllocateConst>(op().body[0].node).data;
  CHECK(made() == "s");
  CHECK(std::get<tir::AllocateConst>(op().body[0].node).data == before);
}

// --- Near misses: nothing is done ------------------------------------------------------------------------------------

TEST_CASE_FIXTURE(Fixture, "wide tiles: not if the array is no small one on the stack") {
  tir::Stmt other = array();
  auto& allocate_s = std::get<tir::Allocate>(other.node);
  SUBCASE("workspace") { allocate_s.was_on_stack = false; }
  SUBCASE("a variable of one element") {
    lanes = 1;
    allocate_s.extents = {imm(1)};
    allocate_s.was_on_stack = false;
    allocate_s.on_stack = true;
    bytes_of_w = 12;
    place_of_w = add(mul(var(t), 3), var(r));
  }
  SUBCASE("too large then") { module().stack_arrays = 32; }
  SUBCASE("larger") {
    lanes = 4;
    allocate_s.extents = {imm(5)};
  }
  SUBCASE("of floats") {
    module().vars[s.index()].element = {tir::TypeCode::float_, 32, 1};
    allocate_s.type = {tir::TypeCode::float_, 32, 1};
    const ExprRef zero = tir::make_float(0, allocate_s.type);
    const auto real = [&](const ExprRef& value) {
      return tir::make_cast(tir::DataType{tir::TypeCode::float_, 32, 1}, value);
    };
    with(block(other, loop(l, 4, block(store(s, var(l), zero))), terms(real(term())),
               loop(n, 4, block(store(y, add(tile(), var(n)), tir::make_cast(int32_type, load(s, var(n))))))));
    CHECK(made().empty());
    return;
  }
  with(block(other, begin(), terms(), end()));
  CHECK(made().empty());
}

TEST_CASE_FIXTURE(Fixture, "wide tiles: not if sums share their data, or there are no sums") {
  SUBCASE("the same for all lanes") {
    with(block(array(), begin(), terms(mul(load(x, var(r)), tir::make_cast(int32_type, load(w, place_of_w)))), end()));
  }
  SUBCASE("the same weights for all tiles, which are pixels") { with(block(array(), begin(), terms(data()), end())); }
  SUBCASE("weights by lanes") {
    with(block(array(), begin(), terms(mul(data(), tir::make_cast(int32_type, load(w, add(mul(var(r), 4), var(m)))))),
               end()));
  }
  SUBCASE("no loop over terms") { with(block(array(), begin(), end())); }
  CHECK(made().empty());
}

TEST_CASE_FIXTURE(Fixture, "wide tiles: not if tiles meet in what they store") {
  const auto stores = [&](const ExprRef& at) { return loop(n, lanes, block(store(y, at, load(s, var(n))))); };
  SUBCASE("the same elements") { with(block(array(), begin(), terms(), stores(var(n)))); }
  SUBCASE("some") { with(block(array(), begin(), terms(), stores(add(mul(var(t), 3), var(n))))); }
  SUBCASE("backwards") { with(block(array(), begin(), terms(), stores(sub(imm(15), add(tile(), var(n)))))); }
  const VarId again = number("again");
  SUBCASE("in two places, other elements") {
    with(block(array(), begin(), terms(), stores(add(tile(), var(n))),
               loop(again, 4, block(store(y, add(add(tile(), 4), var(again)), imm(1))))));
  }
  SUBCASE("in two places, which move against each other") {
    const VarId row = number("row");
    body(block(weights(w, 48, 7),
               loop(row, 4,
                    block(loop(t, 4,
                               block(array(), begin(), terms(), stores(add(mul(var(row), 4), add(tile(), var(n)))),
                                     loop(again, 4, block(store(y, add(tile(), var(again)), imm(1))))))))));
  }
  SUBCASE("what the next one reads") {
    const ExprRef read =
        mul(load(y, add(add(mul(var(r), 16), tile()), var(m))), tir::make_cast(int32_type, load(w, place_of_w)));
    body(block(weights(w, 48, 7), loop(again, 64, block(store(y, var(again), imm(1)))),
               loop(t, 4, block(array(), begin(), terms(read), stores(add(tile(), var(n)))))));
  }
  CHECK(made().empty());
}

TEST_CASE_FIXTURE(Fixture, "wide tiles: not if the next one reads what is stored, under another name") {
  const VarId z = same_storage("z", x);
  with(block(array(), begin(), terms(), loop(n, lanes, block(store(z, add(tile(), var(n)), load(s, var(n)))))));
  CHECK(made().empty());
}

TEST_CASE_FIXTURE(Fixture, "wide tiles: not if the tile decides more than places") {
  SUBCASE("how many terms there are") {
    with(block(array(), begin(),
               loop_to(r, tir::make_binary(ExprKind::min, imm(3), add(var(t), 1)),
                       block(loop(m, 4, block(store(s, var(m), add(load(s, var(m)), term())))))),
               end()));
  }
  SUBCASE("a number") { with(block(array(), begin(), terms(mul(term(), var(t))), end())); }
  SUBCASE("a lane") { with(block(array(), begin(), terms(mul(term(), var(m))), end())); }
  SUBCASE("data at other distances") {
    const ExprRef apart = load(x, add(mul(var(t), 8), var(m)));
    with(block(array(), begin(), terms(mul(apart, tir::make_cast(int32_type, load(w, place_of_w)))), end()));
  }
  CHECK(made().empty());
}

TEST_CASE_FIXTURE(Fixture, "wide tiles: not if lanes are not alike in all statements") {
  SUBCASE("another element") {
    with(block(array(), begin(), terms(),
               loop(n, 4, block(store(y, add(tile(), var(n)), load(s, sub(imm(3), var(n))))))));
  }
  SUBCASE("some only") {
    with(block(array(), begin(), terms(), loop(n, 3, block(store(y, add(tile(), var(n)), load(s, var(n)))))));
  }
  SUBCASE("a statement without lanes") { with(block(array(), begin(), terms(), store(y, tile(), load(s, 0)))); }
  SUBCASE("a branch") { with(block(array(), begin(), terms(), when(less(var(t), 2), block(end())))); }
  SUBCASE("two stores") {
    with(block(
        array(), begin(), terms(),
        loop(n, 4, block(store(y, add(tile(), var(n)), imm(1)), store(y, add(tile(), var(n)), load(s, var(n)))))));
  }
  CHECK(made().empty());
}

TEST_CASE_FIXTURE(Fixture, "wide tiles: not if a constant has to stay as it is") {
  SUBCASE("read again") {
    with(block(
        array(), begin(), terms(),
        loop(n, 4,
             block(store(y, add(tile(), var(n)), add(load(s, var(n)), tir::make_cast(int32_type, load(w, 1))))))));
  }
  SUBCASE("of which a part is read") {
    bytes_of_w = 49;
    with(block(array(), begin(), terms(), end()));
  }
  SUBCASE("from an element on") {
    bytes_of_w = 49;
    place_of_w = add(place_of_w, 1);
    with(block(array(), begin(), terms(), end()));
  }
  SUBCASE("elements that are read more than once") {
    bytes_of_w = 16;
    place_of_w = add(mul(var(t), 3), var(m));
    with(block(array(), begin(), terms(), end()));
  }
  SUBCASE("equal to another, which is stored once for both") {
    body(block(weights(w, 48, 7), weights(b, 48, 7), loop(t, 4, block(array(), begin(), terms(), end()))));
  }
  SUBCASE("that is a parameter") {
    const VarId p = input("p", 48, int8_type);
    with(block(array(), begin(), terms(mul(data(), tir::make_cast(int32_type, load(p, place_of_w)))), end()));
  }
  CHECK(made().empty());
}

}  // namespace
}  // namespace usmp::transform::testing::wide_tiles_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Storage taken apart into tensors; byte sets against sets of numbers; what is not proved stays.
#include "usmp/storage/split.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "storage/byte_set.hpp"
#include "tir_support/module_builder.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tir/verify.hpp"

namespace usmp::storage::split_test {
namespace {

using tir::VarId;
using namespace tir::testing;  // NOLINT(google-build-using-namespace)

// Two operators with one tensor each pass through `t`: in → t → u → t → out.
struct Chain {
  ModuleBuilder b;
  VarId p = b.pointer("p");
  VarId q = b.pointer("q");
  VarId in = b.pointer("in");
  VarId out = b.pointer("out");
  VarId t = b.pointer("t");
  VarId u = b.pointer("u");

  // `body` of the operator that all calls call: reads p, writes q.
  tir::Module module(tir::Block body) {
    b.function("op", {p, q}, std::move(body));
    b.entry({in, out}, block(b.allocate(t, 8), b.allocate(u, 8), b.call("op", std::vector<VarId>{in, t}),
                             b.call("op", std::vector<VarId>{t, u}), b.call("op", std::vector<VarId>{u, t}),
                             b.call("op", std::vector<VarId>{t, out})));
    return b.build();
  }

  std::size_t parts(tir::Block body) {
    tir::Module made = module(std::move(body));
    const std::size_t added = split(made, Where::between_tensors);
    tir::verify(made);
    return added;
  }

  tir::Block copy_loop(std::int64_t extent, tir::ExprRef to, VarId i) {
    return block(b.loop(i, extent, block(b.store(q, std::move(to), b.load(p, b.var(i))))));
  }
};

TEST_CASE("a tensor ends where all that is read later is written anew") {
  Chain c;
  const VarId i = c.b.integer("i");
  tir::Module module = c.module(c.copy_loop(8, c.b.var(i), i));
  CHECK(split(module, Where::between_tensors) == 1);
  tir::verify(module);
  const std::string text = tir::print(module, module.functions[module.entry]);
  CHECK(text.find("\"op\", u, t_1") != std::string::npos);
  CHECK(text.find("\"op\", t_1, out") != std::string::npos);
  CHECK(text.find("\"op\", in, t)") != std::string::npos);
  CHECK(split(module, Where::between_tensors) == 0);  // nothing is left to do
}

TEST_CASE("what is not proved stays together") {
  SUBCASE("an element is left out") {
    Chain c;
    const VarId i = c.b.integer("i");
    // Reads 8, writes 0 to 6 and 8.
    auto body = c.copy_loop(7, c.b.var(i), i);
    const VarId j = c.b.integer("j");
    body.push_back(c.b.loop(j, 1, block(c.b.store(c.q, tir::make_int(8), c.b.load(c.p, tir::make_int(7))))));
    CHECK(c.parts(std::move(body)) == 0);
  }
  SUBCASE("every other element is written") {
    Chain c;
    const VarId i = c.b.integer("i");
    CHECK(c.parts(c.copy_loop(8, mul(c.b.var(i), tir::make_int(2)), i)) == 0);
  }
  SUBCASE("under a condition that says something else") {
    Chain c;
    const VarId i = c.b.integer("i");
    tir::Block store = block(c.b.store(c.q, c.b.var(i), c.b.load(c.p, c.b.var(i))));
    const auto condition = less(c.b.load(c.p, tir::make_int(0)), tir::make_int(3, tir::testing::int8_type));
    CHECK(c.parts(block(c.b.loop(i, 8, block(c.b.when(condition, std::move(store)))))) == 0);
  }
  SUBCASE("it is read before it is written") {
    Chain c;
    const VarId i = c.b.integer("i");
    auto body = c.copy_loop(8, c.b.var(i), i);
    body.insert(body.begin(), c.b.store(c.q, tir::make_int(0), c.b.load(c.q, tir::make_int(3))));
    CHECK(c.parts(std::move(body)) == 0);
  }
  SUBCASE("it is read one element ahead of the store") {
    Chain c;
    const VarId i = c.b.integer("i");
    CHECK(c.parts(block(c.b.loop(i, 8,
                                 block(c.b.store(c.q, c.b.var(i), c.b.load(c.p, c.b.var(i))),
                                       c.b.store(c.q, c.b.var(i), c.b.load(c.q, add(c.b.var(i), 1))))))) == 0);
  }
}

TEST_CASE("what may read anything keeps the storage together") {
  ModuleBuilder b;
  const VarId in = b.pointer("in");
  const VarId out = b.pointer("out");
  const VarId t = b.pointer("t");
  const VarId x = b.pointer("x");
  const VarId p = b.pointer("p");
  const VarId q = b.pointer("q");
  const VarId f = b.integer("f");
  const VarId m = b.integer("m");
  b.function("fill", {p, q}, block(b.loop(f, 8, block(b.store(p, b.var(f), b.load(q, b.var(f)))))));
  const tir::Stmt anew = b.call("fill", std::vector<VarId>{t, in});
  const auto copy = [&](const char* name, VarId to, VarId from, std::int64_t extent) {
    const VarId i = b.integer(name);
    return b.loop(i, extent, block(b.store(to, b.var(i), b.load(from, b.var(i)))));
  };
  // 16 bytes are written and read, then 8 of them are written anew, and read.
  tir::Block body = block(b.allocate(t, 16), copy("i", t, in, 16), copy("j", out, t, 16), anew, copy("k", out, t, 8));
  b.entry({in, out}, std::move(body));
  const auto parts = [&](const tir::Stmt& fourth, std::optional<tir::Stmt> last = std::nullopt) {
    tir::Module module = b.build();
    tir::Block& statements = module.functions[module.entry].body;
    statements[3] = fourth;
    if (last) statements.push_back(*last);
    return split(module, Where::between_tensors);
  };
  CHECK(parts(anew) == 1);
  CHECK(parts(anew, b.store(out, 0, b.load(t, 7))) == 1);
  CHECK(parts(anew, b.store(out, 0, b.load(t, 8))) == 0);
  // An index of which nothing is known.
  CHECK(parts(anew, b.loop(m, 4, block(b.store(out, b.var(m), b.load(t, mul(b.var(m), b.var(m))))))) == 0);
  CHECK(parts(anew, b.call("nobody_defines_it", std::vector<VarId>{t})) == 0);
  CHECK(parts(anew, b.call("keep", {b.address_of(t, 0)})) == 0);
  CHECK(parts(anew, b.let(x, b.var(t))) == 0);
  // The call that writes anew gets an old element, too.
  CHECK(parts(b.call("fill", {b.var(t), b.load(t, 12)})) == 0);
}

TEST_CASE("of two allocates with one name neither is taken apart") {
  ModuleBuilder b;
  const VarId in = b.pointer("in");
  const VarId out = b.pointer("out");
  const VarId t = b.pointer("t");
  const auto branch = [&] {
    const auto set = [&](std::int64_t from) { return b.store(t, 0, b.load(in, from)); };
    return block(b.allocate(t, 1), set(0), b.store(out, 0, b.load(t, 0)), set(1), b.store(out, 1, b.load(t, 0)));
  };
  const auto condition = less(b.load(in, 2), tir::make_int(3, tir::testing::int8_type));
  b.entry({in, out}, block(b.when(condition, branch(), branch())));
  tir::Module module = b.build();
  CHECK(split(module, Where::between_tensors) == 0);
  std::get<tir::IfThenElse>(module.functions[module.entry].body[0].node).else_body.clear();
  CHECK(split(module, Where::between_tensors) == 1);
}

TEST_CASE("a call under a condition may not have written") {
  Chain c;
  const VarId i = c.b.integer("i");
  tir::Module module = c.module(c.copy_loop(8, c.b.var(i), i));
  tir::Block& body = module.functions[module.entry].body;
  tir::Stmt& third = body[4];
  const auto condition = less(c.b.load(c.in, tir::make_int(0)), tir::make_int(3, tir::testing::int8_type));
  third = c.b.when(condition, block(tir::Stmt(third)));
  CHECK(split(module, Where::between_tensors) == 0);
}

TEST_CASE("stores that write all together") {
  // q[4i + k] for each k.
  const auto unrolled = [](std::initializer_list<std::int64_t> which) {
    Chain c;
    const VarId i = c.b.integer("i");
    const auto at = [&](std::int64_t k) { return add(mul(c.b.var(i), tir::make_int(4)), k); };
    tir::Block stores;
    for (const std::int64_t k : which) stores.push_back(c.b.store(c.q, at(k), c.b.load(c.p, at(k))));
    if (which.size() < 4) stores.push_back(c.b.store(c.q, at(0), c.b.load(c.p, at(3))));
    return c.parts(block(c.b.loop(i, 2, std::move(stores))));
  };
  CHECK(unrolled({0, 1, 2, 3}) == 1);
  CHECK(unrolled({3, 1, 0, 2}) == 1);
  CHECK(unrolled({0, 1, 2}) == 0);
  SUBCASE("in loops of their own, of parts of different sizes") {
    const auto concatenated = [](std::int64_t second) {
      Chain c;
      const VarId i = c.b.integer("i");
      const VarId j = c.b.integer("j");
      const VarId k = c.b.integer("k");
      const auto at = [&](VarId inner, std::int64_t first) {
        const auto row = mul(c.b.var(i), tir::make_int(4));
        return add(add(row, c.b.var(inner)), first);
      };
      const VarId last = c.b.integer("last");
      return c.parts(
          block(c.b.loop(i, 2,
                         block(c.b.loop(j, 3, block(c.b.store(c.q, at(j, 0), c.b.load(c.p, at(j, 0))))),
                               c.b.loop(k, 1, block(c.b.store(c.q, at(k, second), c.b.load(c.p, at(k, 3))))))),
                c.b.loop(last, 8, block(c.b.store(c.p, c.b.var(last), c.b.load(c.q, c.b.var(last)))))));
    };
    CHECK(concatenated(3) == 1);
    CHECK(concatenated(2) == 0);
  }
  SUBCASE("one of them under a condition") {
    Chain c;
    const VarId i = c.b.integer("i");
    const auto even = mul(c.b.var(i), tir::make_int(2));
    const auto condition = less(c.b.load(c.p, tir::make_int(0)), tir::make_int(3, tir::testing::int8_type));
    CHECK(c.parts(block(c.b.loop(
              i, 4,
              block(c.b.store(c.q, even, c.b.load(c.p, even)),
                    c.b.when(condition, block(c.b.store(c.q, add(even, 1), c.b.load(c.p, add(even, 1))))))))) == 0);
  }
}

TEST_CASE("a call that takes the storage twice") {
  // t is what op reads and writes; then it is filled anew.
  const auto parts = [](std::int64_t from) {
    ModuleBuilder b;
    const VarId p = b.pointer("p");
    const VarId q = b.pointer("q");
    const VarId r = b.pointer("r");
    const VarId i = b.integer("i");
    const auto sum = add(b.load(p, b.var(i)), b.load(q, b.var(i)));
    b.function("add", {p, q, r}, block(b.loop(i, 8, block(b.store(r, b.var(i), sum)))));
    const VarId x = b.pointer("x");
    const VarId y = b.pointer("y");
    const VarId j = b.integer("j");
    b.function("copy", {x, y}, block(b.loop(j, 8 - from, block(b.store(y, add(b.var(j), from), b.load(x, b.var(j)))))));
    const VarId in = b.pointer("in");
    const VarId out = b.pointer("out");
    const VarId t = b.pointer("t");
    b.entry({in, out}, block(b.allocate(t, 8), b.call("copy", std::vector<VarId>{in, t}),
                             b.call("add", std::vector<VarId>{t, t, out}), b.call("copy", std::vector<VarId>{out, t}),
                             b.call("add", std::vector<VarId>{t, in, out})));
    tir::Module module = b.build();
    const std::size_t added = split(module, Where::between_tensors);
    tir::verify(module);
    return added;
  };
  CHECK(parts(0) == 1);
  CHECK(parts(1) == 0);  // one byte is not written anew
}

TEST_CASE("a call that takes the storage twice reads what any of its parameters reads") {
  ModuleBuilder b;
  const VarId p = b.pointer("p");
  const VarId q = b.pointer("q");
  const VarId r = b.pointer("r");
  const VarId i = b.integer("i");
  const auto sum = add(b.load(p, 0), b.load(q, b.var(i)));
  b.function("mix", {p, q, r}, block(b.loop(i, 8, block(b.store(r, b.var(i), sum)))));
  const VarId x = b.pointer("x");
  const VarId y = b.pointer("y");
  const VarId j = b.integer("j");
  b.function("copy", {x, y}, block(b.loop(j, 8, block(b.store(y, b.var(j), b.load(x, b.var(j)))))));
  const VarId v = b.pointer("v");
  const VarId w = b.pointer("w");
  b.function("poke", {v, w}, block(b.store(w, tir::make_int(0), b.load(v, 1))));
  const VarId in = b.pointer("in");
  const VarId out = b.pointer("out");
  const VarId t = b.pointer("t");
  b.entry({in, out}, block(b.allocate(t, 8), b.call("copy", std::vector<VarId>{in, t}),
                           b.call("poke", std::vector<VarId>{in, t}), b.call("mix", std::vector<VarId>{t, t, out})));
  tir::Module module = b.build();
  CHECK(split(module, Where::between_tensors) == 0);
}

TEST_CASE("sets of bytes are what a set of numbers is") {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    ByteSet set;
    std::set<Bytes> numbers;
    for (int step = 0; step < 12; ++step) {
      ByteSet other;
      std::set<Bytes> more;
      for (auto i = random() % 6; i > 0; --i) {
        const auto begin = static_cast<Bytes>(random() % 40) - 5;
        const auto end = begin + static_cast<Bytes>(random() % 6);
        other.add({begin, end});
        for (Bytes at = begin; at < end; ++at) more.insert(at);
      }
      if (random() % 2 == 0) {
        set.add(other);
        numbers.insert(more.begin(), more.end());
      } else {
        set.remove(other);
        for (const Bytes at : more) numbers.erase(at);
      }
      const auto begin = static_cast<Bytes>(random() % 40) - 5;
      const auto end = begin + static_cast<Bytes>(random() % 6);
      bool is_inside = true;
      for (Bytes at = begin; at < end; ++at) is_inside = is_inside && numbers.contains(at);
      CHECK(set.contains({begin, end}) == is_inside);
      CHECK(set.empty() == numbers.empty());
      CHECK(set.end() == (numbers.empty() ? 0 : *numbers.rbegin() + 1));
    }
  }
}

TEST_CASE("what counts as written") {
  SUBCASE("under a condition that only ends the range") {
    Chain c;
    const VarId i = c.b.integer("i");
    tir::Block store = block(c.b.store(c.q, c.b.var(i), c.b.load(c.p, c.b.var(i))));
    const auto condition = less(c.b.var(i), tir::make_int(8));
    CHECK(c.parts(block(c.b.loop(i, 10, block(c.b.when(condition, std::move(store)))))) == 1);
  }
  SUBCASE("and one that ends it an element early") {
    Chain c;
    const VarId i = c.b.integer("i");
    tir::Block store = block(c.b.store(c.q, c.b.var(i), c.b.load(c.p, c.b.var(i))));
    store.push_back(c.b.store(c.q, tir::make_int(0), c.b.load(c.p, tir::make_int(7))));
    const auto condition = less(c.b.var(i), tir::make_int(7));
    CHECK(c.parts(block(c.b.loop(i, 10, block(c.b.when(condition, std::move(store)))))) == 0);
  }
  SUBCASE("by two loops, a part each") {
    Chain c;
    const VarId i = c.b.integer("i");
    const VarId j = c.b.integer("j");
    auto body = c.copy_loop(5, c.b.var(i), i);
    body.push_back(c.b.loop(j, 3, block(c.b.store(c.q, add(c.b.var(j), 5), c.b.load(c.p, add(c.b.var(j), 5))))));
    CHECK(c.parts(std::move(body)) == 1);
  }
  SUBCASE("set to zero, then added to, element by element") {
    Chain c;
    const VarId i = c.b.integer("i");
    const VarId k = c.b.integer("k");
    const auto at = [&] { return c.b.var(i); };
    tir::Block update = block(c.b.store(c.q, at(), add(c.b.load(c.q, at()), c.b.load(c.p, c.b.var(k)))));
    CHECK(c.parts(block(c.b.loop(i, 8,
                                 block(c.b.store(c.q, at(), tir::make_int(0, tir::testing::int8_type)),
                                       c.b.loop(k, 8, std::move(update)))))) == 1);
  }
}

// q[4 · row + in a row] = p[…], where blocks of so many elements in a row may go beyond its four: a condition says
// which are there.
struct Blocks {
  Chain c;
  VarId row = c.b.integer("row");
  VarId outer = c.b.integer("outer");
  VarId inner = c.b.integer("inner");

  [[nodiscard]] tir::ExprRef in_row(std::int64_t block = 3) const {
    return add(mul(c.b.var(outer), block), c.b.var(inner));
  }
  [[nodiscard]] tir::ExprRef place(std::int64_t block = 3) const { return add(mul(c.b.var(row), 4), in_row(block)); }

  // Two blocks in each row. All of p from the first element to `last` is read.
  std::size_t parts(tir::ExprRef at, tir::ExprRef condition, std::int64_t block = 3, std::int64_t rows = 2,
                    std::int64_t last = 7) {
    tir::Block store = tir::testing::block(c.b.store(c.q, std::move(at), c.b.load(c.p, mul(c.b.var(row), last))));
    tir::Block body = tir::testing::block(c.b.when(std::move(condition), std::move(store)));
    body = tir::testing::block(c.b.loop(inner, block, std::move(body)));
    body = tir::testing::block(c.b.loop(outer, 2, std::move(body)));
    return c.parts(tir::testing::block(c.b.loop(row, rows, std::move(body))));
  }
};

TEST_CASE("what counts as written in rows that do not fill their last block") {
  Blocks b;
  SUBCASE("all of each row") { CHECK(b.parts(b.place(), less(b.in_row(), 4)) == 1); }
  SUBCASE("not the last element of each row") { CHECK(b.parts(b.place(), less(b.in_row(), 3)) == 0); }
  SUBCASE("not the first one") {
    const auto is_behind = at_least(b.in_row(), tir::make_int(1));
    CHECK(b.parts(b.place(), both(is_behind, less(b.in_row(), 4))) == 0);
  }
  SUBCASE("all between two limits") {
    const auto is_behind = at_least(b.in_row(), tir::make_int(1));
    CHECK(b.parts(add(b.place(), -1), both(is_behind, less(b.in_row(), 5))) == 1);
  }
  SUBCASE("all, by a condition on halves") {
    const auto half = quotient(b.in_row(), tir::make_int(2));
    CHECK(b.parts(b.place(), less(half, 2)) == 1);
  }
  SUBCASE("not under another condition as well") {
    const auto is_small = less(b.c.b.load(b.c.p, tir::make_int(0)), tir::make_int(3, tir::testing::int8_type));
    CHECK(b.parts(b.place(), both(less(b.in_row(), 4), is_small)) == 0);
  }
  SUBCASE("not where the condition is on something else than a part of the index") {
    const auto diagonal = add(mul(b.c.b.var(b.row), 3), b.in_row());
    CHECK(b.parts(b.place(), less(diagonal, 6)) == 0);
  }
  SUBCASE("not where the rest of the index has the same variable") {
    const auto half = quotient(b.c.b.var(b.inner), tir::make_int(2));
    CHECK(b.parts(add(b.place(), half), less(b.in_row(), 4)) == 0);
  }
  SUBCASE("all, with a condition on each of two parts") {
    const auto is_row = less(b.c.b.var(b.row), 2);
    CHECK(b.parts(b.place(), both(is_row, less(b.in_row(), 4)), 3, 3) == 1);
  }
  SUBCASE("not where two parts share a variable") {
    // Element 3 is in no row, but the parts alone give every number from 0 to 5.
    const auto corner = add(mul(b.c.b.var(b.row), 2), b.c.b.var(b.outer));
    CHECK(b.parts(b.place(2), both(less(corner, 3), less(b.in_row(2), 3)), 2, 2, 5) == 0);
  }
}

TEST_CASE("a condition on a loop further out says nothing of what one iteration writes") {
  // In half of the iterations, t keeps what it has.
  const auto parts = [](const auto& condition_of, const auto& index_of) {
    ModuleBuilder b;
    const VarId p = b.pointer("p");
    const VarId q = b.pointer("q");
    const VarId t = b.pointer("t");
    const VarId i = b.integer("i");
    tir::Block fill = block(b.store(t, index_of(b.var(i)), b.load(p, tir::make_int(1))));
    b.function("op", {p, q},
               block(b.loop(i, 8,
                            block(b.allocate(t, 8), b.store(t, index_of(b.var(i)), b.load(p, tir::make_int(0))),
                                  b.store(q, tir::make_int(0), b.load(t, index_of(b.var(i)))),
                                  b.when(condition_of(b.var(i)), std::move(fill)),
                                  b.store(q, tir::make_int(1), b.load(t, index_of(b.var(i))))))));
    const VarId in = b.pointer("in");
    const VarId out = b.pointer("out");
    b.entry({in, out}, block(b.call("op", std::vector<VarId>{in, out})));
    tir::Module module = b.build();
    const std::size_t added = split(module, Where::between_tensors);
    tir::verify(module);
    return added;
  };
  const auto first_half = [](const tir::ExprRef& i) { return less(quotient(i, tir::make_int(4)), tir::make_int(1)); };
  const auto below_4 = [](const tir::ExprRef& i) { return less(i, tir::make_int(4)); };
  const auto zero = [](const tir::ExprRef&) { return tir::make_int(0); };
  const auto own = [](const tir::ExprRef& i) { return i; };
  CHECK(parts(first_half, zero) == 0);
  CHECK(parts(below_4, zero) == 0);
  CHECK(parts(first_half, own) == 0);
  CHECK(parts(below_4, own) == 0);
}

// t is filled, changed in place, read.
tir::Module in_place(const tir::ExprRef& read_at, const VarId i, ModuleBuilder b, VarId p, VarId q, VarId t) {
  const VarId j = b.integer("j");
  const VarId k = b.integer("k");
  tir::Block body = block(b.allocate(t, 8), b.loop(j, 8, block(b.store(t, b.var(j), b.load(p, b.var(j))))),
                          b.loop(i, 8, block(b.store(t, b.var(i), b.load(t, read_at)))),
                          b.loop(k, 8, block(b.store(q, b.var(k), b.load(t, b.var(k))))));
  b.function("op", {p, q}, std::move(body));
  const VarId in = b.pointer("in");
  const VarId out = b.pointer("out");
  b.entry({in, out}, block(b.call("op", std::vector<VarId>{in, out})));
  return b.build();
}

TEST_CASE("a tensor in the place of another is told apart only for fusing") {
  ModuleBuilder b;
  const VarId p = b.pointer("p");
  const VarId q = b.pointer("q");
  const VarId t = b.pointer("t");
  const VarId i = b.integer("i");
  tir::Module module = in_place(b.var(i), i, b, p, q, t);
  CHECK(split(module, Where::between_tensors) == 0);
  CHECK(split(module, Where::in_place) == 1);
  tir::verify(module);
  const std::string text = tir::print(module, module.functions[*module.find("op")]);
  CHECK(text.find("t_1[i] = t[i]") != std::string::npos);
  CHECK(text.find("q[k] = t_1[k]") != std::string::npos);

  tir::Module other = in_place(tir::make_int(0), i, b, p, q, t);  // reads what an earlier iteration has stored
  CHECK(split(other, Where::in_place) == 0);

  // The loop in the middle of a module that is told apart, changed.
  const auto parts = [&](const auto& change) {
    tir::Module changed = in_place(b.var(i), i, b, p, q, t);
    change(std::get<tir::For>(changed.functions[*changed.find("op")].body[2].node));
    return split(changed, Where::in_place);
  };
  CHECK(parts([](tir::For&) {}) == 1);
  // The last iteration reads what the first one has stored.
  CHECK(parts([&](tir::For& loop) { loop.body.push_back(b.store(t, 7, b.load(p, 0))); }) == 0);
  // What it leaves alone is read later.
  CHECK(parts([](tir::For& loop) { loop.extent = tir::make_int(4); }) == 0);
  // Two iterations change one element.
  const auto half = quotient(b.var(i), tir::make_int(2));
  CHECK(parts([&](tir::For& loop) {
          loop.extent = tir::make_int(16);
          loop.body = block(b.store(t, half, b.load(t, half)));
        }) == 0);
}

TEST_CASE("allocates are made as large as what is accessed") {
  ModuleBuilder b;
  const VarId t = b.pointer("t");
  const VarId out = b.pointer("out");
  const VarId i = b.integer("i");
  b.entry({out}, block(b.allocate(t, 100),
                       b.loop(i, 8,
                              block(b.store(t, add(b.var(i), 2), tir::make_int(1, tir::testing::int8_type)),
                                    b.store(out, b.var(i), b.load(t, add(b.var(i), 2)))))));
  tir::Module module = b.build();
  fit(module);
  CHECK(tir::print(module).find("allocate t: int8[10]") != std::string::npos);
  CHECK(extents(module)[module.entry].at(t).end == 10);

  // What is stored counts, too, whatever is loaded of it.
  b.module().functions.clear();
  b.entry({out}, block(b.allocate(t, 100),
                       b.loop(i, 8, block(b.store(t, b.var(i), tir::make_int(1, tir::testing::int8_type)))),
                       b.store(out, 0, b.load(t, 3))));
  module = b.build();
  fit(module);
  CHECK(tir::print(module).find("allocate t: int8[8]") != std::string::npos);
}

TEST_CASE("allocates are made as large as what is accessed of planes under a condition") {
  // Windows on 2 planes of 4 rows; TVM tells rows that are not there by the row's number in its plane.
  ModuleBuilder b;
  const VarId t = b.pointer("t");
  const VarId out = b.pointer("out");
  const VarId i = b.integer("i");
  const VarId k = b.integer("k");
  const tir::ExprRef together = add(b.var(i), b.var(k));
  const tir::ExprRef row = add(remainder(b.var(i), tir::make_int(4)), b.var(k));
  const tir::ExprRef is_there = both(at_least(row, tir::make_int(1)), less(row, tir::make_int(5)));
  b.entry(
      {out},
      block(b.allocate(t, 100), b.loop(i, 8, block(b.store(t, b.var(i), tir::make_int(1, tir::testing::int8_type)))),
            b.loop(i, 8,
                   block(b.loop(
                       k, 3, block(b.when(is_there, block(b.store(out, b.var(i), b.load(t, add(together, -1)))))))))));
  tir::Module module = b.build();
  fit(module);
  CHECK(tir::print(module).find("allocate t: int8[8]") != std::string::npos);
}

}  // namespace
}  // namespace usmp::storage::split_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The step as a whole: what its passes make of each other's results.
#include "transform/fuse.hpp"

#include <doctest/doctest.h>

#include "transform/program.hpp"

namespace usmp::transform::testing::fuse_test {
namespace {

struct Fixture : Program {
  VarId i = number("i");
  VarId j = number("j");
  VarId k = number("k");

  // What was done, a line each.
  std::string fused() {
    std::string lines;
    for (const Change& change : fuse_function(changed(), index(), aliases())) {
      CHECK(change.step == Step::fuse);
      CHECK(change.function == "f");
      lines += change.text + "\n";
    }
    check_same();
    if (lines.empty()) CHECK(is_unchanged());
    return lines;
  }
};

TEST_CASE_FIXTURE(Fixture, "fuse: a chain of buffers becomes one pass") {
  const VarId a = input("a", 8, int8_type);
  const VarId c = output("c", 8, int8_type);
  const VarId b = buffer("b");
  const VarId d = buffer("d", int8_type);
  const auto wide = tir::make_cast(int32_type, load(a, var(i)));
  const auto narrow = tir::make_cast(int8_type, add(load(b, var(j)), 1));
  body(block(allocate(b, 8), allocate(d, 8), loop(i, 8, block(store(b, var(i), wide))),
             loop(j, 8, block(store(d, var(j), narrow))), loop(k, 8, block(store(c, var(k), load(d, var(k)))))));
  CHECK(fused() == "b (32 bytes): computed where it is read\nd (8 bytes): computed where it is read\n");
  CHECK(text() == R"(
  for k in [0, 8) {
    c[k] = int8(int32(a[k]) + 1)
  }
)");
}

TEST_CASE_FIXTURE(Fixture, "fuse: a sum of one element is a variable, not workspace") {
  const VarId a = input("a", 9);
  const VarId c = output("c", 3);
  const VarId b = buffer("b");
  const VarId r = number("r");
  body(block(
      allocate(b, 3),
      loop(i, 3,
           block(store(b, var(i), tir::make_int(0)),
                 loop(r, 3, block(store(b, var(i), add(load(b, var(i)), load(a, add(mul(var(r), 3), var(i))))))))),
      loop(j, 3, block(store(c, var(j), load(b, var(j)))))));
  CHECK(fused() == "b: 12 -> 4 bytes, since loops were fused\nb (4 bytes): a variable instead of workspace\n");
  CHECK(text().find("allocate b: int32[1] on stack") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "fuse: single elements outside of loops stay workspace") {
  const VarId a = input("a", 8);
  const VarId c = output("c", 8);
  const VarId b = buffer("b");
  body(block(allocate(b, 1), store(b, 0, load(a, 0)), loop(i, 8, block(store(b, 0, sub(load(a, var(i)), load(b, 0))))),
             loop(j, 8, block(store(c, var(j), load(b, 0))))));
  CHECK(fused().empty());
}

TEST_CASE_FIXTURE(Fixture, "fuse: several elements inside of loops stay workspace") {
  const VarId a = input("a", 8);
  const VarId c = output("c", 8);
  const VarId b = buffer("b");
  body(block(loop(i, 8,
                  block(allocate(b, 2), store(b, 0, load(a, var(i))), store(b, 1, load(a, 0)),
                        store(c, var(i), sub(load(b, 0), load(b, 1)))))));
  CHECK(fused().empty());
}

// Scopes are taken apart to see what follows what; what is not changed keeps them.
TEST_CASE_FIXTURE(Fixture, "fuse: scopes do not stand between") {
  const VarId a = input("a", 8);
  const VarId c = output("c", 8);
  const VarId b = buffer("b");
  SUBCASE("buffers go") {
    body(block(scope(block(allocate(b, 8), scope(block(loop(i, 8, block(store(b, var(i), mul(load(a, var(i)), 3)))))),
                           loop(j, 8, block(store(c, var(j), load(b, var(j)))))))));
    CHECK(fused() == "b (32 bytes): computed where it is read\n");
    CHECK(text().find("scope") == std::string::npos);
  }
  SUBCASE("nothing to do") {
    body(block(scope(block(loop(i, 8, block(store(c, var(i), load(a, var(i)))))))));
    CHECK(fused().empty());
  }
}

// A convolution of a padded input.
struct Convolution : Fixture {
  VarId a = input("a", 8);
  VarId w = input("w", 3);
  VarId c = output("c", 8);
  VarId pad = buffer("pad");
  VarId sum = buffer("sum");

  void convolution(const ExprRef& border) {
    const ExprRef inside = both(at_least(var(i), 1), less(var(i), 9));
    const ExprRef term = mul(load(pad, add(var(j), var(k))), load(w, var(k)));
    body(block(allocate(pad, 10),
               loop(i, 10, block(store(pad, var(i), choice(inside, load(a, sub(var(i), 1)), border)))),
               loop(j, 8,
                    block(allocate(sum, 1), store(sum, 0, tir::make_int(0)),
                          loop(k, 3, block(store(sum, 0, add(load(sum, 0), term)))), store(c, var(j), load(sum, 0))))));
  }
};

TEST_CASE_FIXTURE(Convolution, "fuse: padding is skipped, not stored") {
  convolution(tir::make_int(0));
  CHECK(
      fused() ==
      "pad (40 bytes): read without padding, loops skip the border\nsum (4 bytes): a variable instead of workspace\n");
  CHECK(text().find("if") == std::string::npos);
}

TEST_CASE_FIXTURE(Convolution, "fuse: padding stays where loops would have to decide for each element") {
  convolution(tir::make_int(1));
  CHECK(fused() == "sum: 4 -> 32 bytes, a row of sums at a time\n");
}

// As TVM's StorageRewrite writes sums: one element in front of all loops, which iterations and stages have in common.
TEST_CASE("fuse: storage that iterations share is told apart") {
  tir::testing::ModuleBuilder p;
  const VarId a = p.pointer("a", int32_type);
  const VarId w = p.pointer("w", int32_type);
  const VarId c = p.pointer("c", int32_type);
  const VarId sum = p.pointer("sum", int32_type);
  // c[… + first] = a[r] · w[8r + …] for r in [0, 3), added up
  const auto stage = [&](VarId i, VarId r, std::int64_t first) {
    const ExprRef term = mul(p.load(a, p.var(r)), p.load(w, add(mul(p.var(r), 8), p.var(i))));
    return block(p.store(sum, 0, tir::make_int(0)), p.loop(r, 3, block(p.store(sum, 0, add(p.load(sum, 0), term)))),
                 p.store(c, add(p.var(i), first), p.load(sum, 0)));
  };
  const auto fused = [&](tir::Block body) {
    p.function("f", {a, w, c}, std::move(body));
    const VarId x = p.pointer("x", int32_type);
    const VarId y = p.pointer("y", int32_type);
    const VarId z = p.pointer("z", int32_type);
    p.entry({x, y, z}, block(p.call("f", std::vector<VarId>{x, y, z})));
    tir::Module module = p.build();
    std::string lines;
    for (const Change& change : fuse(module)) lines += change.text + "\n";
    return lines;
  };
  const VarId i = p.integer("i");
  const VarId j = p.integer("j");
  const VarId r = p.integer("r");
  const VarId s = p.integer("s");
  const std::string row = "sum: 4 -> 32 bytes, a row of sums at a time\n";
  SUBCASE("of one loop") { CHECK(fused(block(p.allocate(sum, 1), p.loop(i, 8, stage(i, r, 0)))) == row); }
  SUBCASE("of two loops") {
    CHECK(fused(block(p.allocate(sum, 1), p.loop(i, 8, stage(i, r, 0)), p.loop(j, 8, stage(j, s, 8)))) == row + row);
  }
  SUBCASE("of two stages of an iteration") {
    tir::Block both = stage(i, r, 0);
    for (tir::Stmt& stmt : stage(i, s, 8)) both.push_back(std::move(stmt));
    const std::string variable = "sum (4 bytes): a variable instead of workspace\n";
    CHECK(fused(block(p.allocate(sum, 1), p.loop(i, 8, std::move(both)))) == variable + variable);
  }
}

TEST_CASE("fuse: functions that somebody else provides, or that are passed parts of storage, are left alone") {
  const auto changes = [](bool is_foreign, bool passes_part) {
    tir::testing::ModuleBuilder p;
    const VarId a = p.pointer("a", int32_type);
    const VarId c = p.pointer("c", int32_type);
    const VarId b = p.pointer("b", int32_type);
    const VarId x = p.pointer("x", int32_type);
    const VarId y = p.pointer("y", int32_type);
    const VarId i = p.integer("i");
    const VarId j = p.integer("j");
    p.function("f", {a, c},
               block(p.allocate(b, 4), p.loop(i, 4, block(p.store(b, p.var(i), p.load(a, p.var(i))))),
                     p.loop(j, 4, block(p.store(c, p.var(j), p.load(b, p.var(j)))))),
               is_foreign ? "ethos-u" : "c");
    p.entry({x, y}, block(p.call("f", {passes_part ? p.address_of(x, 4) : p.var(x), p.var(y)})));
    tir::Module module = p.build();
    return fuse(module).size();
  };
  CHECK(changes(false, false) == 1);
  CHECK(changes(true, false) == 0);
  CHECK(changes(false, true) == 0);
}

}  // namespace
}  // namespace usmp::transform::testing::fuse_test

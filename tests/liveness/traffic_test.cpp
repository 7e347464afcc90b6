// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Loads and stores of small functions, against counts made by hand.
#include "usmp/liveness/traffic.hpp"

#include <doctest/doctest.h>

#include <string>

#include "result.hpp"

namespace usmp::liveness::traffic_test {
namespace {

using tir::make_int;
using tir::testing::ModuleBuilder;

tir::Block block(auto... stmts) {
  tir::Block result;
  (result.push_back(std::move(stmts)), ...);
  return result;
}

struct Counted {
  testing::Result result;
  std::vector<Traffic> traffic;

  [[nodiscard]] Traffic of(const std::string& name) const {
    for (std::size_t i = 0; i < traffic.size(); ++i) {
      if (result.analysis.sites[i].name == name) return traffic[i];
    }
    FAIL("no site ", name);
    return {};
  }
};

Counted count(ModuleBuilder& b, const Options& options = {}) {
  const tir::Module module = b.build();
  Counted counted{{analyse(module, options)}, {}};
  share_constants(counted.result.analysis, module);
  counted.traffic = traffic_of(module, counted.result.analysis);
  return counted;
}

}  // namespace

TEST_CASE("traffic: loads and stores times the extents around them, in every call") {
  ModuleBuilder b;
  const auto p = b.pointer("p", tir::int32_type);
  const auto q = b.pointer("q", tir::int32_type);
  const auto i = b.integer("i");
  const auto j = b.integer("j");
  // Twelve loads of p and stores of q in a call, and three more loads of p.
  b.function("op", {p, q},
             block(b.loop(i, 3,
                          block(b.loop(j, 4, block(b.store(q, b.var(j), b.load(p, b.var(i))))),
                                b.evaluate(b.load(p, b.var(i)))))));
  const auto x = b.pointer("x", tir::int32_type);
  const auto y = b.pointer("y", tir::int32_type);
  const auto k = b.integer("k");
  b.entry({}, block(b.allocate(x, 8), b.allocate(y, 8), b.set(x), b.loop(k, 5, block(b.call("op", {x, y}))),
                    b.call("op", {x, y})));
  const Counted counted = count(b);
  CHECK((counted.of("x") == Traffic{6 * 15, 1, 6 * 15 * 4, 4}));
  CHECK((counted.of("y") == Traffic{0, 6 * 12, 0, 6 * 12 * 4}));
}

TEST_CASE("traffic: through aliases, of what an operator allocates, and of both sides of a branch") {
  ModuleBuilder b;
  const auto p = b.pointer("p");
  const auto a = b.pointer("a");
  const auto s = b.pointer("s");
  b.function("op", {p},
             block(b.allocate(s, 8), b.let(a, b.address_of(p, 1)), b.set(s), b.copy(s, a),
                   b.when(tir::make_int(1, tir::bool_type), block(b.copy(p, s)), block(b.copy(s, a)))));
  const auto x = b.pointer("x");
  b.entry({}, block(b.allocate(x, 8), b.call("op", {x}), b.call("op", {x})));
  const Counted counted = count(b);
  CHECK((counted.of("s") == Traffic{2, 6, 2, 6}));
  CHECK((counted.of("x") == Traffic{4, 2, 4, 2}));
}

TEST_CASE("traffic: what is handed to unknown code counts once a byte, and constants are only read") {
  ModuleBuilder b;
  const auto x = b.pointer("x");
  const auto c = b.pointer("c");
  const auto call = ModuleBuilder::call_expr("library", {b.var(x), b.address_of(c, 2), b.var(x)});
  const auto i = b.integer("i");
  b.entry({}, block(b.allocate(x, 8), b.constant(c, "weights"), b.loop(i, 2, block(b.evaluate(call)))));
  const Counted counted = count(b);
  CHECK((counted.of("x") == Traffic{16, 16, 16, 16}));
  CHECK((counted.of("c") == Traffic{14, 0, 14, 0}));
}

TEST_CASE("traffic: equal constants that have one place count together") {
  ModuleBuilder b;
  const auto x = b.pointer("x");
  const auto c = b.pointer("c");
  const auto d = b.pointer("d");
  const tir::Stmt first = b.constant(c, "weights");
  tir::Stmt second = b.constant(d, "weights");
  std::get<tir::AllocateConst>(second.node).data = std::get<tir::AllocateConst>(first.node).data;
  b.entry({}, block(b.allocate(x, 8), first, second, b.copy(x, c), b.copy(x, d), b.copy(x, d)));
  const Counted counted = count(b);
  REQUIRE(counted.traffic.size() == 2);
  CHECK(counted.of("c").loads == 3);
}

}  // namespace usmp::liveness::traffic_test

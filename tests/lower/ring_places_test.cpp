// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Places of rows in rings against the definition, in runs of the interpreter.
#include "lower/ring_places.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "random_modules/interpreter.hpp"
#include "tir_support/module_builder.hpp"
#include "usmp/tir/printer.hpp"

namespace usmp::lower::ring_places_test {
namespace {

using random_modules::Argument;
using random_modules::Interpreter;
using random_modules::Outcome;
using tir::ExprKind;
using tir::ExprRef;
using tir::VarId;
using namespace tir::testing;  // NOLINT(google-build-using-namespace)

enum class Index : std::uint8_t {
  of_loops,  // plane, row and column are loop variables
  of_data,   // nothing is known
  flat,      // one variable counts elements
};

// Copies the input row by row; the output is made of the `read` newest rows.
struct Window {
  tir::Ring ring;
  std::int64_t planes = 1;
  std::int64_t read = 1;
  Index index = Index::of_loops;

  [[nodiscard]] std::int64_t elements() const { return planes * ring.extent * ring.stride; }

  [[nodiscard]] tir::Module module() const {
    ModuleBuilder b;
    const VarId in = b.pointer("in");
    const VarId out = b.pointer("out");
    const VarId conv = b.pointer("conv");
    const VarId plane = b.integer("plane");
    const VarId y = b.integer("y");
    const VarId x = b.integer("x");
    const VarId k = b.integer("k");
    const auto times = [](ExprRef a, std::int64_t by) { return mul(std::move(a), tir::make_int(by)); };
    const auto plus = [](ExprRef a, ExprRef c) { return add(std::move(a), std::move(c)); };
    const auto at = [&](const ExprRef& row, const ExprRef& column) {
      return plus(times(plus(times(b.var(plane), ring.extent), row), ring.stride), column);
    };
    const auto access = [&](ExprRef element) {
      if (index == Index::of_data) {  // in + 0 · in[0]
        return plus(std::move(element), times(make_cast(tir::int32_type, b.load(in, 0)), 0));
      }
      return element;
    };
    const auto store = [&](const ExprRef& element) { return b.store(conv, access(element), b.load(in, element)); };
    tir::Block fill = block(b.loop(x, ring.stride, block(store(at(b.var(y), b.var(x))))));
    if (index == Index::flat) {
      // One loop over the elements of the row, which divisions have to find.
      tir::Stmt loop = b.loop(x, ring.stride, block(store(b.var(x))));
      std::get<tir::For>(loop.node).min = at(b.var(y), tir::make_int(0));
      fill = block(std::move(loop));
    }
    const ExprRef row = sub(b.var(y), b.var(k));
    tir::Block newest = block(b.loop(
        k, read,
        block(b.when(
            at_least(row, tir::make_int(0)),
            block(b.loop(x, ring.stride,
                         block(b.store(out, at(b.var(y), b.var(x)),
                                       make_cast(tir::testing::int8_type,
                                                 plus(make_cast(tir::int32_type, b.load(out, at(b.var(y), b.var(x)))),
                                                      make_cast(tir::int32_type,
                                                                b.load(conv, access(at(row, b.var(x)))))))))))))));
    tir::Block clear = block(
        b.loop(x, ring.stride, block(b.store(out, at(b.var(y), b.var(x)), tir::make_int(0, tir::testing::int8_type)))));
    tir::Block rows = std::move(fill);
    for (tir::Block* part : {&clear, &newest}) {
      for (tir::Stmt& stmt : *part) rows.push_back(std::move(stmt));
    }
    tir::Stmt allocate = b.allocate(conv, planes * ring.rows * ring.stride);
    std::get<tir::Allocate>(allocate.node).ring = ring;
    b.entry({in, out},
            block(std::move(allocate), b.loop(plane, planes, block(b.loop(y, ring.extent, std::move(rows))))));
    return b.build();
  }

  [[nodiscard]] Outcome run(const tir::Module& module) const {
    std::string contents;
    for (std::int64_t i = 0; i < elements(); ++i) contents += static_cast<char>(i % 7);
    const auto bytes = static_cast<std::size_t>(elements());
    return Interpreter(module, 4).run({{bytes, contents}, {bytes, std::nullopt}});
  }
};

// What every access of the run reaches.
std::vector<std::vector<std::uint32_t>> places(const Outcome& outcome, std::uint32_t ring) {
  std::vector<std::vector<std::uint32_t>> result;
  for (const random_modules::Access& access : outcome.memory.accesses()) {
    if (access.instance == ring) result.push_back({access.offset, access.bytes, access.writes ? 1U : 0U});
  }
  return result;
}

TEST_CASE("places of rows are those of the definition") {
  std::mt19937 random(1);
  const auto up_to = [&](std::int64_t most) {
    return 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  };
  for (int trial = 0; trial < 300; ++trial) {
    CAPTURE(trial);
    Window window;
    window.ring.stride = up_to(5);
    window.ring.extent = up_to(7);
    window.ring.rows = up_to(window.ring.extent);
    window.planes = up_to(3);
    window.read = up_to(window.ring.rows);
    window.index = std::vector{Index::of_loops, Index::of_data, Index::flat}[random() % 3];
    const tir::Module module = window.module();
    tir::Module placed = module;
    lower_rings(placed);
    CAPTURE(print(module));
    CAPTURE(print(placed));
    REQUIRE(print(placed).find(" holds ") == std::string::npos);
    const Outcome expected = window.run(module);
    const Outcome found = window.run(placed);
    REQUIRE(expected.memory.instances().size() == 3);
    REQUIRE(expected.memory.instances()[1].bytes == found.memory.instances()[1].bytes);
    REQUIRE_FALSE(places(expected, 2).empty());
    REQUIRE(places(expected, 2) == places(found, 2));
  }
}

TEST_CASE("a row too few is seen by the interpreter") {
  for (const std::int64_t planes : {1, 2}) {
    Window window{.ring = {.stride = 4, .extent = 6, .rows = 3}, .planes = planes, .read = 3, .index = Index::of_loops};
    CHECK_NOTHROW((void)window.run(window.module()));
    window.ring.rows = 2;
    CHECK_THROWS_WITH_AS((void)window.run(window.module()), "element 0 is read where element 8 was stored last",
                         random_modules::Undefined);
  }
}

}  // namespace
}  // namespace usmp::lower::ring_places_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Nests over several parts of a buffer, up to the limits of 64 bits.
#include "transform/producer.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "transform/program.hpp"

namespace usmp::transform::testing::producer_test {
namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

// b[first, first + 4) of a, b[first + 4, first + 8) of d; then c is b[first + 4].
struct Fixture : Program {
  VarId a = input("a", 4);
  VarId d = input("d", 4);
  VarId c = output("c", 1);
  VarId b = buffer("b");
  VarId i = number("i", int64_type);
  VarId l = number("l", int64_type);

  // How many elements the one nest over both has; nothing if there is none.
  std::optional<std::int64_t> joined(const tir::Stmt& first, const tir::Stmt& second, std::int64_t read) {
    const ExprRef element = load(b, tir::make_int(read, int64_type));
    body(block(allocate(b, 8), first, second, store(c, tir::make_int(0), element)));
    const auto producer = producer_of(changed(), index(), aliases(), b);
    if (!producer) return std::nullopt;
    REQUIRE(producer->nest.loops.size() == 1);
    CHECK(producer->nest.loops[0].min == read - 4);
    return producer->nest.loops[0].extent;
  }
  // Loops from 0 whose index is shifted.
  std::optional<std::int64_t> shifted(std::int64_t first) {
    const auto part = [&](VarId of, VarId counter, std::int64_t from) {
      return loop_from(counter, 0, 4, block(store(b, add(var(counter), from), load(of, var(counter)))));
    };
    return joined(part(a, i, first), part(d, l, first + 4), first + 4);
  }
  // Loops that start there.
  std::optional<std::int64_t> started(std::int64_t first) {
    const auto part = [&](VarId of, VarId counter, std::int64_t from) {
      return loop_from(counter, from, 4, block(store(b, var(counter), load(of, sub(var(counter), from)))));
    };
    return joined(part(a, i, first), part(d, l, first + 4), first + 4);
  }
};

// Sums beyond a quarter of the type's range are not written (arith::Facts::fits); what is counted on the way there must
// not overflow, which a build with UndefinedBehaviorSanitizer sees.
TEST_CASE_FIXTURE(Fixture, "producer: parts at the limits of 64 bits") {
  constexpr std::int64_t quarter = std::int64_t{1} << 61;
  SUBCASE("shifted") { CHECK(shifted(0) == 8); }
  SUBCASE("shifted as far as sums go") { CHECK(shifted(quarter - 8) == 8); }
  SUBCASE("shifted farther") { CHECK(shifted(quarter) == std::nullopt); }
  SUBCASE("shifted to the last number") { CHECK(shifted(largest - 7) == std::nullopt); }
  SUBCASE("started") { CHECK(started(0) == 8); }
  SUBCASE("started as late as sums go") { CHECK(started(quarter - 8) == 8); }
  SUBCASE("started later") { CHECK(started(2 * quarter) == std::nullopt); }
  SUBCASE("started at the last numbers") { CHECK(started(largest - 7) == std::nullopt); }
}

TEST_CASE_FIXTURE(Fixture, "producer: not of parameters, nor of parts under conditions") {
  const tir::Stmt second = loop_from(l, 0, 4, block(store(b, add(var(l), 4), load(d, var(l)))));
  const tir::Stmt first = store(b, var(i), load(a, var(i)));
  SUBCASE("neither") { CHECK(joined(loop_from(i, 0, 4, block(first)), second, 4) == 8); }
  SUBCASE("a part under a condition") {
    const tir::Stmt some = when(less(mul(var(i), var(i)), 5), block(first));
    CHECK(joined(loop_from(i, 0, 4, block(some)), second, 4) == std::nullopt);
  }
  SUBCASE("a parameter") {
    const VarId e = output("e", 4);
    body(block(loop_from(i, 0, 4, block(store(e, var(i), load(a, var(i))))), store(c, 0, load(e, 2))));
    CHECK_FALSE(producer_of(changed(), index(), aliases(), e));
  }
}

}  // namespace
}  // namespace usmp::transform::testing::producer_test

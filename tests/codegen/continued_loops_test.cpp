// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which loops over rows go on where they ended, and their C.
#include <doctest/doctest.h>

#include "codegen/builders.hpp"
#include "codegen/continued_loops.hpp"

namespace usmp::codegen::testing::continued_loops_test {
namespace {

constexpr std::int64_t rows = 6;
using Bound = std::function<ExprRef(const ExprRef&)>;

ExprRef times_2(const ExprRef& x) { return mul(x, imm(2)); }

tir::Stmt row_loop(VarId var, ExprRef min, ExprRef extent, Block body) {
  tir::Stmt stmt = loop(var, std::move(min), std::move(extent), std::move(body));
  std::get<tir::For>(stmt.node).row_runs = 1;
  return stmt;
}

// Inside of a loop over six rows, one from `begin` to `end`.
ContinuedLoops found(const Bound& begin, const Bound& end, const Bound& condition = {}) {
  CaseProgram program;
  const VarId outer = program.var("outer", i32);
  const VarId inner = program.var("inner", i32);
  const ExprRef row = program.ref(outer);
  tir::Stmt stmt = row_loop(inner, begin(row), sub(end(row), begin(row)), {});
  if (condition) stmt = if_then(condition(row), {stmt});
  return continued_loops({row_loop(outer, imm(0), imm(rows), {stmt})});
}

TEST_CASE("continued loops: each iteration begins where the one before it ended") {
  const auto next = [](const ExprRef& row) { return smaller(times_2(add(row, imm(1))), imm(9)); };
  const auto first = [](const ExprRef& row) { return times_2(row); };
  CHECK(found(first, next).vars.size() == 1);
  CHECK(found([](const ExprRef& row) { return add(row, imm(3)); }, [](const ExprRef& row) { return add(row, imm(4)); })
            .declared_at.begin()
            ->second.at(0)
            .first == 3);
  // A row is computed twice; one is left out; each iteration begins again; known at run time.
  CHECK(found(first, [](const ExprRef& row) { return add(times_2(row), imm(3)); }).vars.empty());
  CHECK(found(first, [](const ExprRef& row) { return add(times_2(row), imm(1)); }).vars.empty());
  CHECK(found([](const ExprRef&) { return imm(0); }, next).vars.empty());
  CaseProgram program;
  const VarId known_later = program.var("n", i32);
  CHECK(found(first, [&](const ExprRef&) { return program.ref(known_later); }).vars.empty());
}

TEST_CASE("continued loops: iterations without rows") {
  // Rows 0 and 1 need two each, rows 2 to 5 none, whatever the begin says.
  const auto end = [](const ExprRef& row) { return smaller(times_2(add(row, imm(1))), imm(4)); };
  CHECK(found(times_2, end).vars.size() == 1);
  // Row 1 has none, as it begins at 9 and ends at 5; from 2 on it would have 2 to 4.
  const auto choice = [](const ExprRef& row, int at_0, int at_1, int later) {
    const auto is = [&](int n) { return binary(ExprKind::eq, row, imm(n)); };
    return op("if_then_else", i32, {is(0), imm(at_0), op("if_then_else", i32, {is(1), imm(at_1), imm(later)})});
  };
  CHECK(found([&](const ExprRef& row) { return choice(row, 0, 9, 5); },
              [&](const ExprRef& row) { return choice(row, 2, 5, 5); })
            .vars.empty());
}

TEST_CASE("continued loops: one that a branch leaves out begins again") {
  const auto end = [](const ExprRef& row) { return times_2(add(row, imm(1))); };
  CHECK(found(times_2, end, [](const ExprRef& row) { return binary(ExprKind::gt, row, imm(1)); }).vars.empty());
}

TEST_CASE("continued loops: three levels, in C") {
  CaseProgram program;
  std::vector<std::int32_t> expected;
  // Row r needs two of a up to 2r + 3, row a one of b up to a + 2: each once, in order.
  std::int32_t a = 0;
  std::int32_t b = 0;
  for (std::int32_t r = 0; r < rows; ++r) {
    for (; a < std::min(11, 2 * r + 3); ++a) {
      for (; b < a + 2; ++b) expected.push_back(100 + b);
      expected.push_back(200 + a);
    }
    expected.push_back(300 + r);
  }
  expected.push_back(static_cast<std::int32_t>(expected.size()));
  program.operation("rows", {}, ints(expected), [&](const auto&, VarId out) {
    const VarId n = program.pointer("n", i32);
    const VarId outer = program.var("outer", i32);
    const VarId middle = program.var("middle", i32);
    const VarId inner = program.var("inner", i32);
    const auto count = static_cast<int>(expected.size()) - 1;
    // The last element counts the others.
    const auto put = [&](int base, VarId row) {
      return Block{store(out, program.load(n, imm(count)), add(imm(base), program.ref(row))),
                   store(n, imm(count), add(program.load(n, imm(count)), imm(1)))};
    };
    const auto first_row = [&](VarId row, const ExprRef& value) {
      return op("if_then_else", i32, {binary(ExprKind::eq, program.ref(row), imm(0)), imm(0), value});
    };
    const auto with = [](tir::Stmt stmt, const Block& after) {
      Block all = {std::move(stmt)};
      all.insert(all.end(), after.begin(), after.end());
      return all;
    };
    const ExprRef a_first = first_row(outer, smaller(imm(11), add(times_2(program.ref(outer)), imm(1))));
    const ExprRef a_end = smaller(imm(11), add(times_2(program.ref(outer)), imm(3)));
    const ExprRef b_first = first_row(middle, add(program.ref(middle), imm(1)));
    const ExprRef b_end = add(program.ref(middle), imm(2));
    Block last = {row_loop(inner, b_first, sub(b_end, b_first), put(100, inner))};
    Block inside = {row_loop(middle, a_first, sub(a_end, a_first), with({tir::Scope{last}}, put(200, middle)))};
    return Block{let(n, program.ref(out)), store(n, imm(count), imm(0)),
                 row_loop(outer, imm(0), imm(rows), with({tir::Scope{inside}}, put(300, outer)))};
  });
  program.run();
  CHECK(count_of(program.text(), "for (; ") == 2);
}

}  // namespace
}  // namespace usmp::codegen::testing::continued_loops_test

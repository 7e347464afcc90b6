// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What is known at each place of a function, however it is walked, and in which order things are visited.
#include "usmp/loops/walk.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "tir_support/module_builder.hpp"
#include "usmp/tir/printer.hpp"

namespace usmp::loops::walk_test {
namespace {

using namespace tir::testing;  // the words for expressions
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

// The walks meet probes: reads of `probe[n + <number>]`, and note what n may be there.
struct Fixture : ModuleBuilder {
  VarId probe = pointer("probe", i32);
  VarId out = pointer("out", i32);
  VarId n = integer("n");  // a parameter
  VarId i = integer("i");
  VarId x = integer("x");
  arith::Facts facts{module()};
  std::vector<std::string> seen;

  Fixture() { facts.bind_interval(n, Interval{0, 9}); }

  [[nodiscard]] ExprRef at(VarId of, std::int64_t number) const { return load(probe, add(var(of), number)); }
  [[nodiscard]] Stmt read(VarId of, std::int64_t number) const { return store(out, 0, at(of, number)); }

  void note(const tir::Expr& expr, const arith::Facts& here) {
    if (expr.kind != ExprKind::load || expr.var != probe) return;
    const tir::Expr& sum = *expr.operands[0];
    const auto value = here.affine(*sum.operands[0]);
    const auto interval = value ? here.interval(*value) : std::nullopt;
    seen.push_back(std::to_string(*tir::as_int(*sum.operands[1])) + ":" +
                   (interval ? std::to_string(interval->low) + ".." + std::to_string(interval->high) : "?"));
  }

  // What the three walks note of the block, which is the same.
  std::vector<std::string> noted(const tir::Block& body) {
    const std::size_t mark = facts.mark();
    seen.clear();
    visit(body, facts, {.before = {}, .after = {}, .expr = [&](const tir::Expr& expr, const arith::Facts& here) {
                          note(expr, here);
                        }});
    const auto by_visit = seen;
    facts.restore(mark);
    seen.clear();
    for (Stmt stmt : body) {
      rewrite(stmt, facts, [&](const ExprRef& expr, const arith::Facts& here) -> ExprRef {
        note(*expr, here);
        return nullptr;
      });
    }
    CHECK(seen == by_visit);
    facts.restore(mark);
    seen.clear();
    tir::Block copy = body;
    edit(copy, facts,
         {.before =
              [&](tir::Block& block, std::size_t& at, arith::Facts& here) {
                if (const auto* stored = std::get_if<tir::Store>(&block[at].node)) {
                  loops::visit(*stored->value, here, [&](const tir::Expr& e, const arith::Facts& f) { note(e, f); });
                }
                return Next::enter;
              },
          .after = {}});
    CHECK(seen == by_visit);
    facts.restore(mark);
    return by_visit;
  }

  [[nodiscard]] std::string text(const tir::Block& body) {
    ModuleBuilder copy = *this;
    copy.function("f", {out}, body);
    std::string text = tir::print(copy.module(), copy.module().functions.back());
    const std::size_t begin = text.find('\n') + 1;
    return text.substr(begin, text.rfind('}') - begin);
  }
};

using Notes = std::vector<std::string>;

TEST_CASE_FIXTURE(Fixture, "walks: in a loop its variable lies between the bounds, behind it nothing is known of it") {
  CHECK(noted(block(loop(i, 4, block(read(i, 1))), read(i, 2))) == Notes{"1:0..3", "2:?"});
  Stmt from_n{tir::For{.var = i, .min = var(n), .extent = imm(3), .body = block(read(i, 1))}};
  CHECK(noted(block(std::move(from_n))) == Notes{"1:0..11"});
}

TEST_CASE_FIXTURE(Fixture, "walks: the condition of a branch holds in its first body only") {
  const ExprRef some = both(at_least(var(n), 1), less(var(n), 4));  // elsewhere n is below or above
  CHECK(noted(block(when(some, block(read(n, 1)), block(read(n, 2))), read(n, 3))) ==
        Notes{"1:1..3", "2:0..9", "3:0..9"});
}

TEST_CASE_FIXTURE(Fixture, "walks: what a let binds is known behind it, and no longer behind its block") {
  CHECK(noted(block(read(x, 0), scope(block(let(x, add(var(n), 5)), read(x, 1))), read(x, 2))) ==
        Notes{"0:?", "1:5..14", "2:?"});
}

TEST_CASE_FIXTURE(Fixture, "walks: the condition of if_then_else holds in its first value") {
  const ExprRef inner = choice(both(at_least(var(n), 2), less(var(n), 7)), at(n, 2), at(n, 3));
  const ExprRef outer = choice(both(at_least(var(n), 1), less(var(n), 4)), inner, at(n, 4));
  CHECK(noted(block(store(out, 0, add(outer, at(n, 5))))) == Notes{"2:2..3", "3:1..3", "4:0..9", "5:0..9"});
}

TEST_CASE_FIXTURE(Fixture, "walks: what is known inside ends, what the root itself binds stays") {
  const Stmt bind = let(x, var(n));
  const auto is_known = [&] { return facts.interval(facts.affine(*var(x)).value()).has_value(); };
  const std::size_t mark = facts.mark();
  visit(scope(block(bind)), facts, Visitor{});
  CHECK_FALSE(is_known());
  visit(bind, facts, Visitor{});
  CHECK(is_known());
  facts.restore(mark);
  CHECK_FALSE(is_known());
  bind_after(bind, facts);
  CHECK(is_known());
  facts.restore(mark);
  bind_after(scope(block(bind)), facts);
  CHECK_FALSE(is_known());
}

TEST_CASE_FIXTURE(Fixture, "walks: statements are met in program order, around their expressions and blocks") {
  const auto body = block(loop(i, 4, block(when(less(var(i), 2), block(set(out)), block(set(probe))))), set(out));
  std::string order;
  const auto kind = [](const Stmt& stmt) {
    return std::holds_alternative<tir::For>(stmt.node)          ? "loop"
           : std::holds_alternative<tir::IfThenElse>(stmt.node) ? "branch"
                                                                : "store";
  };
  visit(body, facts,
        {.before = [&](const Stmt& stmt, const arith::Facts&) { order += std::string(" <") + kind(stmt); },
         .after = [&](const Stmt& stmt) { order += std::string(" ") + kind(stmt) + ">"; },
         .expr = [&](const tir::Expr& expr, const arith::Facts&) { order += expr.kind == ExprKind::lt ? " lt" : ""; }});
  CHECK(order == " <loop <branch lt <store store> <store store> branch> loop> <store store>");
}

TEST_CASE_FIXTURE(Fixture, "walks: operands are rewritten first, and what nobody changes stays the same node") {
  const ExprRef kept = at(n, 1);
  const ExprRef root = add(kept, mul(var(x), 3));
  const auto to_n = [&](const ExprRef& expr, const arith::Facts&) -> ExprRef {
    if (expr->kind == ExprKind::mul) {
      CHECK(expr->operands[0]->var == n);  // it has its new operand already
      return add(expr, 1);
    }
    return expr->kind == ExprKind::var && expr->var == x ? var(n) : nullptr;
  };
  const ExprRef changed = rewritten(root, facts, to_n);
  CHECK(tir::print_expr(module(), *changed) == tir::print_expr(module(), *add(kept, add(mul(var(n), 3), 1))));
  CHECK(changed->operands[0] == kept);
  const auto nothing = [](const ExprRef&, const arith::Facts&) -> ExprRef { return nullptr; };
  CHECK(rewritten(root, facts, nothing) == root);
}

TEST_CASE_FIXTURE(Fixture, "walks: the first value is rewritten under the condition as it has become") {
  const auto change = [&](const ExprRef& expr, const arith::Facts& here) -> ExprRef {
    note(*expr, here);
    return expr->kind == ExprKind::var && expr->var == x ? var(n) : nullptr;
  };
  (void)rewritten(choice(both(at_least(var(x), 1), less(var(x), 4)), at(n, 1), at(n, 2)), facts, change);
  CHECK(seen == Notes{"1:1..3", "2:0..9"});
}

TEST_CASE_FIXTURE(Fixture, "walks: an edit goes into what it has put there, and does not go into what it skips") {
  tir::Block body = block(set(probe), loop(i, 4, block(set(probe))), scope(block(set(probe))));
  std::vector<std::string> met;
  edit(body, facts,
       {.before =
            [&](tir::Block& block, std::size_t& at, arith::Facts&) {
              if (std::holds_alternative<tir::For>(block[at].node)) return Next::skip;
              if (auto* stored = std::get_if<tir::Store>(&block[at].node)) {
                if (stored->storage == out) return Next::enter;
                block[at] = scope(tir::testing::block(set(out)));
              }
              return Next::enter;
            },
        .after = [&](tir::Block& block, std::size_t& at,
                     arith::Facts&) { met.push_back(std::to_string(at) + " of " + std::to_string(block.size())); }});
  CHECK(text(body) ==
        text(block(scope(block(set(out))), loop(i, 4, block(set(probe))), scope(block(scope(block(set(out))))))));
  CHECK(met == std::vector<std::string>{"0 of 1", "0 of 3", "0 of 1", "0 of 1", "2 of 3"});
}

TEST_CASE_FIXTURE(Fixture, "walks: an edit sees once what stands behind statements that it puts in or drops") {
  tir::Block body = block(set(probe), set(out), set(probe), loop(i, 2, block(set(probe))), set(probe));
  int others = 0;
  SUBCASE("dropped") {
    edit(body, facts,
         {.before =
              [&](tir::Block& block, std::size_t& at, arith::Facts&) {
                const auto* stored = std::get_if<tir::Store>(&block[at].node);
                if (stored == nullptr || stored->storage != probe) {
                  ++others;
                  return Next::enter;
                }
                block.erase(block.begin() + static_cast<std::ptrdiff_t>(at));
                return Next::again;
              },
          .after = {}});
    CHECK(text(body) == text(block(set(out), loop(i, 2, {}))));
  }
  SUBCASE("doubled") {
    edit(body, facts,
         {.before =
              [&](tir::Block& block, std::size_t& at, arith::Facts&) {
                const auto* stored = std::get_if<tir::Store>(&block[at].node);
                if (stored == nullptr || stored->storage != probe) {
                  ++others;
                  return Next::enter;
                }
                block.insert(block.begin() + static_cast<std::ptrdiff_t>(at), block[at]);
                ++at;
                return Next::skip;
              },
          .after = {}});
    CHECK(text(body) == text(block(set(probe), set(probe), set(out), set(probe), set(probe),
                                   loop(i, 2, block(set(probe), set(probe))), set(probe), set(probe))));
  }
  CHECK(others == 2);
}

TEST_CASE_FIXTURE(Fixture, "walks: a let that an edit skips is bound, one that it drops is not") {
  tir::Block body = block(let(x, imm(3)), let(i, imm(4)), read(x, 1), read(i, 2));
  edit(body, facts,
       {.before =
            [&](tir::Block& block, std::size_t& at, arith::Facts& here) {
              if (const auto* bound = std::get_if<tir::Let>(&block[at].node)) {
                if (bound->var == x) return Next::skip;
                block.erase(block.begin() + static_cast<std::ptrdiff_t>(at));
                return Next::again;
              }
              note(*std::get<tir::Store>(block[at].node).value, here);
              return Next::enter;
            },
        .after = {}});
  CHECK(seen == Notes{"1:3..3", "2:?"});
}

}  // namespace
}  // namespace usmp::loops::walk_test

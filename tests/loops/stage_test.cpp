// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Stages of operators made by hand and of archives; runs of their loops touch the rows that stages say.
#include "usmp/loops/stage.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tir_support/c_value.hpp"
#include "tir_support/module_builder.hpp"
#include "usmp/mlf/archive.hpp"
#include "usmp/mlf/metadata.hpp"
#include "usmp/tir_json/reader.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::loops::stage_test {
namespace {

using namespace tir::testing;  // the words for expressions
using tir::ExprRef;
using tir::VarId;

// --- Runs of a nest -------------------------------------------------------------------------------------------------

// Runs some of the iterations of a nest, and holds every access against its stage.
class Runner {
 public:
  Runner(const tir::Module& module, const Stage& stage, unsigned seed) : module_(module), stage_(stage), random_(seed) {
    for (const Rows& rows : stage.provided) rows_[rows.storage] = &rows;
    for (const Rows& rows : stage.required) rows_[rows.storage] = &rows;
  }

  void run(const tir::Stmt& stmt) {
    if (const auto* loop = std::get_if<tir::For>(&stmt.node)) return run_loop(*loop);
    if (const auto* let = std::get_if<tir::Let>(&stmt.node)) {
      if (const Number number = value(*let->value)) variables_[let->var] = *number;
      return;
    }
    if (const auto* branch = std::get_if<tir::IfThenElse>(&stmt.node)) {
      const Number taken = value(*branch->condition);
      if (taken) run(*taken != 0 ? branch->then_body : branch->else_body);
      return;
    }
    if (const auto* scope = std::get_if<tir::Scope>(&stmt.node)) return run(scope->body);
    if (const auto* store = std::get_if<tir::Store>(&stmt.node)) {
      const Number index = value(*store->index);
      REQUIRE(index);
      note(store->storage, *index);
      (void)value(*store->value);
    }
  }

  [[nodiscard]] std::size_t accesses() const { return accesses_; }
  // Accesses outside of the rows that the stage says.
  [[nodiscard]] const std::vector<std::string>& faults() const { return faults_; }

 private:
  void run(const tir::Block& block) {
    for (const tir::Stmt& stmt : block) run(stmt);
  }

  // Ends and borders of rows, and some at random: one of each inner loop, as their numbers multiply.
  void run_loop(const tir::For& loop) {
    const Number min = value(*loop.min);
    const Number extent = value(*loop.extent);
    if (!min || !extent || *extent < 1) return;
    std::set<std::int64_t> counts = {0, *extent - 1};
    const std::int64_t random = loop.var == stage_.var ? 12 : 1;
    for (std::int64_t i = 0; i < random; ++i) {
      counts.insert(std::uniform_int_distribution<std::int64_t>(0, *extent - 1)(random_));
    }
    if (loop.var == stage_.var) {
      for (const std::int64_t border : {stage_.by, stage_.by * std::max<std::int64_t>(stage_.rows, 1)}) {
        counts.insert({border - 1, border});
      }
    }
    for (const std::int64_t count : counts) {
      if (count < 0 || count >= *extent) continue;
      variables_[loop.var] = *min + count;
      run(loop.body);
    }
  }

  Number value(const tir::Expr& expr) {
    return c_value(expr, Memory{[this](VarId var) -> Number {
                                  const auto found = variables_.find(var);
                                  return found == variables_.end() ? Number() : Number(found->second);
                                },
                                [this](const tir::Expr& load, std::int64_t index) -> Number {
                                  note(load.var, index);
                                  return 0;
                                }});
  }

  void note(VarId storage, std::int64_t index) {
    const auto found = rows_.find(storage);
    if (found == rows_.end()) return;
    ++accesses_;
    const Rows& rows = *found->second;
    const std::int64_t row = index / rows.axis.stride % rows.axis.extent;
    const std::int64_t counted = stage_.var.valid() ? variables_.at(stage_.var) / stage_.by : 0;
    const std::int64_t iteration = stage_.rows > 0 ? counted % stage_.rows : counted;
    const Interval allowed = rows.in(stage_.iterations > 1 ? iteration : 0);
    const bool is_iteration = iteration < stage_.iterations || stage_.iterations == 1;
    if (is_iteration && row >= allowed.low && row <= allowed.high) return;
    faults_.push_back(module_.var(storage).name + "[" + std::to_string(index) + "] in iteration " +
                      std::to_string(iteration) + " is row " + std::to_string(row));
  }

  const tir::Module& module_;
  const Stage& stage_;
  std::mt19937 random_;
  std::map<VarId, const Rows*> rows_;
  std::map<VarId, std::int64_t> variables_;
  std::size_t accesses_ = 0;
  std::vector<std::string> faults_;
};

void check_by_running(const tir::Module& module, const tir::Function& function, const std::vector<Stage>& stages) {
  for (const Stage& stage : stages) {
    Runner runner(module, stage, 1);
    runner.run(function.body[stage.statement]);
    CHECK(runner.accesses() > 0);
    if (!runner.faults().empty()) FAIL_CHECK(function.name, ": ", runner.faults().front());
  }
}

// --- Operators by hand ----------------------------------------------------------------------------------------------

struct Fixture : ModuleBuilder {
  VarId a = pointer("a");
  VarId b = pointer("b");
  VarId c = pointer("c");
  VarId i = integer("i");
  VarId j = integer("j");
  VarId k = integer("k");
  VarId l = integer("l");

  // Stages that make c from a and, if it has a shape, b.
  std::vector<Stage> stages(const std::vector<std::int64_t>& shape_a, const std::vector<std::int64_t>& shape_c,
                            tir::Block body, const std::vector<std::int64_t>& shape_b = {}) {
    function("f", shape_b.empty() ? std::vector{a, c} : std::vector{a, b, c}, std::move(body));
    std::vector<tir::Param>& params = module().functions.back().params;
    params.front().shape = shape_a;
    params.back().shape = shape_c;
    if (!shape_b.empty()) params[1].shape = shape_b;
    return stages_of_last();
  }

  // If the function has one.
  Stage stage(const std::vector<std::int64_t>& shape_a, const std::vector<std::int64_t>& shape_c, tir::Block body,
              const std::vector<std::int64_t>& shape_b = {}) {
    const std::vector<Stage> found = stages(shape_a, shape_c, std::move(body), shape_b);
    REQUIRE(found.size() == 1);
    return found.front();
  }

  // Stages of the function that was added last.
  std::vector<Stage> stages_of_last() {
    std::vector<Stage> found = stages_of(module(), module().functions.back());
    check_by_running(module(), module().functions.back(), found);
    return found;
  }
};

void check_rows(const Rows& rows, VarId storage, Axis axis, std::int64_t step, std::int64_t per, Interval reach) {
  CAPTURE(rows.axis.stride);
  CAPTURE(rows.axis.extent);
  CHECK(rows.storage == storage);
  CHECK(rows.axis == axis);
  CHECK(rows.advance.step == step);
  CHECK(rows.advance.per == per);
  CHECK(rows.reach == reach);
}

TEST_CASE_FIXTURE(Fixture, "stages: an operator on elements provides and requires the same row") {
  // 4 rows of 6, loops fused
  const Stage found = stage({4, 6}, {4, 6}, block(loop(i, 24, block(store(c, var(i), load(a, var(i)))))));
  CHECK(found.by == 6);
  CHECK(found.iterations == 4);
  check_rows(found.provided[0], c, {6, 4}, 1, 1, {0, 0});
  check_rows(found.required[0], a, {6, 4}, 1, 1, {0, 0});
}

TEST_CASE_FIXTURE(Fixture,
                  "stages: a convolution requires the rows that its window covers, less those beyond the border") {
  // 8 rows of 5 pixels of 2 channels; 3 x 3, padded by 1. TVM fuses rows and pixels.
  const ExprRef row = add(quotient(var(i), 5), sub(var(j), 1));
  const ExprRef pixel = add(remainder(var(i), 5), sub(var(k), 1));
  const ExprRef inside = both(both(at_least(row, 0), less(row, 8)), both(at_least(pixel, 0), less(pixel, 5)));
  const ExprRef element = add(add(mul(row, 10), mul(pixel, 2)), var(l));
  const ExprRef target = add(mul(var(i), 2), var(l));
  const auto body = loop(
      i, 40,
      block(loop(l, 2, block(store(c, target, imm(0, i8)))),
            loop(j, 3,
                 block(loop(
                     k, 3,
                     block(loop(l, 2,
                                block(store(c, target,
                                            add(load(c, target), choice(inside, load(a, element), imm(0, i8))))))))))));
  const Stage found = stage({8, 5, 2}, {8, 5, 2}, block(body));
  CHECK(found.var == i);
  CHECK(found.by == 5);
  CHECK(found.iterations == 8);
  check_rows(found.provided[0], c, {10, 8}, 1, 1, {0, 0});
  check_rows(found.required[0], a, {10, 8}, 1, 1, {-1, 1});
}

TEST_CASE_FIXTURE(Fixture, "stages: with strides, rows are skipped") {
  const auto body =
      loop(i, 4,
           block(loop(j, 3,
                      block(loop(k, 6,
                                 block(store(c, add(mul(var(i), 6), var(k)),
                                             load(a, add(mul(add(mul(var(i), 2), var(j)), 6), var(k))))))))));
  const Stage found = stage({9, 6}, {4, 6}, block(body));
  check_rows(found.required[0], a, {6, 9}, 2, 1, {0, 2});
}

TEST_CASE_FIXTURE(Fixture, "stages: upsampling provides several rows for each that it requires") {
  const auto element = add(mul(quotient(var(i), 2), 3), quotient(var(j), 2));
  const auto body = loop(i, 8, block(loop(j, 6, block(store(c, add(mul(var(i), 6), var(j)), load(a, element))))));
  const Stage found = stage({4, 3}, {8, 6}, block(body));
  CHECK(found.by == 2);
  CHECK(found.iterations == 4);
  check_rows(found.provided[0], c, {6, 8}, 2, 1, {0, 1});
  check_rows(found.required[0], a, {3, 4}, 1, 1, {0, 0});
}

TEST_CASE_FIXTURE(Fixture, "stages: channels first, the row's loop is fused with the channels'") {
  // 3 channels of 4 rows of 5, each from 2 channels of 5 such rows
  const auto element = add(add(mul(var(l), 25), mul(add(remainder(var(i), 4), var(j)), 5)), var(k));
  const auto target = add(mul(var(i), 5), var(k));
  const auto sum = store(c, target, add(load(c, target), load(a, element)));
  const auto body = loop(i, 12, block(loop(l, 2, block(loop(j, 2, block(loop(k, 5, block(sum))))))));
  const Stage found = stage({2, 5, 5}, {3, 4, 5}, block(body));
  CHECK(found.rows == 4);
  CHECK(found.iterations == 4);
  check_rows(found.provided[0], c, {5, 4}, 1, 1, {0, 0});
  check_rows(found.required[0], a, {5, 5}, 1, 1, {0, 1});
}

// f(a, c): c from a buffer t of 128 elements without a shape, which is made from a first.
struct FlatFixture : Fixture {
  const VarId t = pointer("t");
  const VarId n = integer("n");

  std::vector<Stage> flat_stages(const tir::Stmt& writer, const tir::Stmt& reader, std::vector<std::int64_t> shape_c) {
    function("f", {a, c}, block(allocate(t, 128), writer, reader));
    module().functions.back().params[0].shape = std::nullopt;
    module().functions.back().params[1].shape = std::move(shape_c);
    std::vector<Stage> found = stages_of_last();
    REQUIRE(found.size() == 2);
    REQUIRE(found[0].provided.size() == 1);
    REQUIRE(found[1].required.size() == 1);
    return found;
  }
};

TEST_CASE_FIXTURE(FlatFixture, "stages: rows of a buffer without a shape are those that it is written by") {
  // 8 rows of 8 pixels of 2 elements, one loop over all pixels; a window of two rows, seven elements of each, by
  // strides
  const auto place = add(mul(var(i), 2), var(j));
  const auto source = add(add(mul(quotient(var(i), 8), 20), mul(remainder(var(i), 8), 2)), var(j));
  const auto writer = loop(i, 64, block(loop(j, 2, block(store(t, place, load(a, source))))));
  const auto window = add(add(mul(quotient(var(n), 4), 32), mul(var(k), 16)), mul(remainder(var(n), 4), 4));
  const auto reader = loop(n, 16, block(loop(k, 2, block(store(c, var(n), load(t, window))))));
  const auto found = flat_stages(writer, reader, {4, 4});
  check_rows(found[0].provided[0], t, {16, 8}, 1, 1, {0, 0});
  check_rows(found[1].required[0], t, {16, 8}, 2, 1, {0, 1});
  CHECK(found[0].iterations == 8);
  CHECK(found[1].iterations == 4);
}

TEST_CASE_FIXTURE(FlatFixture, "stages: rows of planes are found by what takes the loop over both apart") {
  // 4 planes of 8 rows of 4
  const auto place = add(mul(var(i), 4), var(j));
  const auto writer = loop(i, 32, block(loop(j, 4, block(store(t, place, load(a, quotient(var(i), 8)))))));
  const auto row = add(mul(remainder(var(n), 8), 4), var(k));
  const auto both_planes = add(load(t, row), load(t, add(row, 32)));
  const auto reader = loop(n, 32, block(loop(k, 4, block(store(c, add(mul(var(n), 4), var(k)), both_planes)))));
  const auto found = flat_stages(writer, reader, {4, 8, 4});
  check_rows(found[0].provided[0], t, {4, 8}, 1, 1, {0, 0});
  check_rows(found[1].required[0], t, {4, 8}, 1, 1, {0, 0});
}

TEST_CASE_FIXTURE(FlatFixture,
                  "stages: rows of an image are found by bounds that take the loop over its pixels apart") {
  // 8 rows of 8 pixels of 2 elements, which no index takes apart; a window that ends at the first row.
  const auto place = add(mul(var(i), 2), var(j));
  const auto reader = loop(
      n, 64, block(loop(k, 2, block(store(c, add(mul(var(n), 2), var(k)), load(t, add(mul(var(n), 2), var(k))))))));
  const auto writer = [&](const tir::ExprRef& extent) {
    tir::For window{
        .var = k, .min = tir::make_int(0), .extent = extent, .body = block(store(t, place, load(a, place)))};
    return loop(i, 64, block(loop(j, 2, block(tir::Stmt{std::move(window)}))));
  };
  const auto whole = flat_stages(writer(tir::make_int(2)), reader, {64, 2});
  check_rows(whole[0].provided[0], t, {2, 64}, 1, 1, {0, 0});
  CHECK(whole[0].iterations == 64);
  const auto rows = flat_stages(writer(add(quotient(var(i), 8), 1)), reader, {64, 2});
  check_rows(rows[0].provided[0], t, {16, 8}, 1, 1, {0, 0});
  CHECK(rows[0].iterations == 8);
}

TEST_CASE_FIXTURE(FlatFixture, "stages: what is known of loops gives the same stages when another one changes") {
  const auto copy_in_parts = [&](VarId to, VarId from, VarId outer, VarId inner, std::int64_t size) {
    const auto place = add(mul(var(outer), size), var(inner));
    return loop(outer, 64 / size, block(loop(inner, size, block(store(to, place, load(from, place))))));
  };
  for (const std::int64_t first : {1, 2, 4, 8, 16, 32}) {
    for (const std::int64_t before : {2, 4, 8, 16, 32}) {
      for (const std::int64_t after : {2, 4, 8, 16, 32}) {
        function("f", {a, c},
                 block(allocate(t, 64), copy_in_parts(t, a, i, j, first), copy_in_parts(c, t, k, l, before)));
        tir::Function& function = module().functions.back();
        function.params[0].shape = std::vector<std::int64_t>{4, 16};
        function.params[1].shape = std::vector<std::int64_t>{64};
        KnownNests known;
        const std::vector<Stage> stages = stages_of(module(), function, known);
        CHECK(stages == stages_of(module(), function));
        CHECK(stages == stages_of(module(), function, known));
        function.body.back() = copy_in_parts(c, t, n, l, after);
        CHECK(stages_of(module(), function, known) == stages_of(module(), function));
      }
    }
  }
}

// f(a, c): c of 128 elements without more of a shape, which nests of a and of t write.
struct PartsFixture : FlatFixture {
  // The stages that write c.
  std::vector<Stage> writers(tir::Block body) {
    body.insert(body.begin(), allocate(t, 64));
    function("f", {a, c}, std::move(body));
    module().functions.back().params[0].shape = std::vector<std::int64_t>{64};
    module().functions.back().params[1].shape = std::vector<std::int64_t>{128};
    std::vector<Stage> found = stages_of_last();
    std::erase_if(found, [&](const Stage& stage) { return stage.provided.empty() || stage.provided[0].storage != c; });
    return found;
  }
  // c[from + v] = source[v], v below `count`.
  [[nodiscard]] tir::Stmt copy_to(std::int64_t from, VarId source, VarId v, std::int64_t count) {
    return loop(v, count, block(store(c, add(var(v), from), load(source, var(v)))));
  }
};

TEST_CASE_FIXTURE(PartsFixture, "stages: nests that write equal parts of a tensor provide the same rows of it") {
  SUBCASE("two halves") {
    const auto found = writers(block(copy_to(0, a, i, 64), copy_to(64, a, j, 64)));
    REQUIRE(found.size() == 2);
    for (const Stage& stage : found) {
      CHECK(stage.iterations == 64);
      check_rows(stage.provided[0], c, {1, 64}, 1, 1, {0, 0});
    }
  }
  SUBCASE("not parts of different sizes") {
    const auto found = writers(block(copy_to(0, a, i, 64), copy_to(64, a, j, 32)));
    REQUIRE(found.size() == 2);
    check_rows(found[0].provided[0], c, {1, 128}, 1, 1, {0, 0});
    check_rows(found[1].provided[0], c, {1, 128}, 1, 1, {64, 64});
  }
  SUBCASE("not if there are more elements than those of the parts") {
    const auto found = writers(block(copy_to(0, a, i, 32), copy_to(32, a, j, 32)));
    REQUIRE(found.size() == 2);
    check_rows(found[1].provided[0], c, {1, 128}, 1, 1, {32, 32});
  }
}

TEST_CASE_FIXTURE(PartsFixture, "stages: nests that write a tensor's parts are divided as one of them can be") {
  // t is written by rows of 16, by which a copy of it may be divided; the copy of a has no such rows.
  const auto element = [&](VarId row, VarId column) { return add(mul(var(row), 16), var(column)); };
  tir::Stmt fill = loop(i, 4, block(loop(j, 16, block(store(t, element(i, j), load(t, element(i, j)))))));
  const auto found = writers(block(std::move(fill), copy_to(0, t, k, 64), copy_to(64, a, n, 64)));
  REQUIRE(found.size() == 2);
  for (const Stage& stage : found) {
    CHECK(stage.iterations == 64);
    check_rows(stage.provided[0], c, {1, 64}, 1, 1, {0, 0});
  }
  check_rows(found[0].required[0], t, {16, 4}, 1, 16, {0, 0});
}

TEST_CASE_FIXTURE(Fixture, "stages: a quotient's quotient is one of the loop's variable") {
  // Groups of 10 rows of 2, transposed, from 4 such groups; two loops over groups and rows became one, taken apart
  // twice.
  const auto fifth = quotient(var(i), 5);
  const auto transposed = [&](const ExprRef& group, std::int64_t groups) {
    const auto in_group = add(add(mul(remainder(fifth, 2), 5), remainder(var(i), 5)), mul(var(j), 10));
    const auto from = load(a, add(mul(var(i), 2), var(j)));
    const auto body = loop(i, 40, block(loop(j, 2, block(store(c, add(mul(group, 20), in_group), from)))));
    return stage({4, 20}, {groups, 20}, block(body));
  };
  SUBCASE("of all of it") {
    const Stage found = transposed(quotient(fifth, 2), 4);
    CHECK(found.by == 10);
    CHECK(found.iterations == 4);
    check_rows(found.provided[0], c, {20, 4}, 1, 1, {0, 0});
    check_rows(found.required[0], a, {20, 4}, 1, 1, {0, 0});
  }
  // What the stages say is held against runs.
  SUBCASE("not of a sum") { (void)transposed(quotient(add(fifth, 1), 2), 5); }
  SUBCASE("not of a multiple") { (void)transposed(quotient(mul(fifth, 3), 2), 11); }
  SUBCASE("not by another number") { (void)transposed(quotient(quotient(var(i), 4), 2), 5); }
}

// --- Digits of a loop that rows are made of, and what only looks like one
// ---------------------------------------------

// c[i] = a[…] + b[…]: c and b, which is read along the rows that are wanted, decide how the loop is divided; what the
// stage says of a is held against runs.
struct DigitsFixture : Fixture {
  Stage reading(const ExprRef& index, std::int64_t elements, std::vector<std::int64_t> shape_c,
                std::vector<std::int64_t> shape_b, const ExprRef& index_b, std::int64_t columns) {
    std::int64_t extent = 1;
    for (const std::int64_t part : shape_c) extent *= part;
    const ExprRef value = add(load(a, index), load(b, index_b));
    const auto body = loop(i, extent, block(loop(j, columns, block(store(c, var(i), value)))));
    return stage({elements}, shape_c, block(body), shape_b);
  }
};

TEST_CASE_FIXTURE(DigitsFixture, "stages: of pairs of elements, what is no quotient of the pair's number") {
  // 12 rows of 2
  ExprRef index = quotient(var(i), 6);
  bool is_quotient = false;
  SUBCASE("a third of it") { is_quotient = true; }
  SUBCASE("a remainder") { index = remainder(var(i), 6); }
  SUBCASE("a quotient by no multiple") { index = quotient(var(i), 5); }
  SUBCASE("what is left of another variable") { index = quotient(remainder(var(j), 6), 2); }
  SUBCASE("a quotient of what is left by no multiple") { index = quotient(remainder(var(i), 5), 2); }
  SUBCASE("a quotient of more than what is left") { index = quotient(add(remainder(var(i), 6), 1), 2); }
  SUBCASE("a quotient of a multiple of what is left") { index = quotient(mul(remainder(var(i), 6), 3), 2); }
  SUBCASE("two quotients") { index = add(quotient(var(i), 4), quotient(var(i), 6)); }
  const Stage found = reading(index, 12, {12, 2}, {12, 2}, var(i), 12);
  CHECK(found.by == 2);
  CHECK(found.iterations == 12);
  CHECK((found.required[0].advance.per == 3) == is_quotient);
}

TEST_CASE_FIXTURE(DigitsFixture, "stages: of rows of planes, what is no row's number") {
  // 3 planes of 4 rows of 5
  ExprRef index = remainder(quotient(var(i), 5), 4);
  bool is_row = false;
  SUBCASE("the row") { is_row = true; }
  SUBCASE("the column") { index = remainder(var(i), 5); }
  SUBCASE("a quotient of another variable") { index = quotient(var(j), 5); }
  SUBCASE("a larger quotient") { index = quotient(var(i), 10); }
  SUBCASE("a remainder by another number") { index = remainder(quotient(var(i), 5), 2); }
  SUBCASE("a remainder of another variable") { index = remainder(quotient(var(j), 5), 4); }
  SUBCASE("a row of planes of three") { index = quotient(remainder(var(i), 15), 5); }
  SUBCASE("a quotient of two variables") { index = quotient(add(var(i), var(j)), 5); }
  const Stage found = reading(index, 20, {3, 4, 5}, {4, 5}, remainder(var(i), 20), 40);
  CHECK(found.by == 5);
  CHECK(found.rows == 4);
  CHECK((found.required[0].advance == Advance{.step = 1}) == is_row);
}

TEST_CASE_FIXTURE(DigitsFixture, "stages: of rows of one element, a remainder that rows do not repeat") {
  const Stage found = reading(remainder(var(i), 3), 3, {6, 4}, {4}, remainder(var(i), 4), 1);
  CHECK(found.rows == 4);
}

TEST_CASE_FIXTURE(Fixture, "stages: a loop that does not begin at 0 is not divided") {
  const auto copy = [&](std::int64_t min) {
    const tir::For rows{
        i, imm(min), imm(4),
        block(loop(j, 6, block(store(c, add(mul(var(i), 6), var(j)), load(a, add(mul(var(i), 6), var(j)))))))};
    return stage({5, 6}, {5, 6}, block(tir::Stmt{rows}));
  };
  CHECK(copy(0).iterations == 4);
  CHECK(copy(1).iterations == 1);
}

TEST_CASE_FIXTURE(Fixture, "stages: a concatenation requires a row of each") {
  const auto from_a = load(a, add(mul(var(i), 2), var(j)));
  const auto from_b = load(b, add(mul(var(i), 4), sub(var(j), 2)));
  const auto body = loop(
      i, 5, block(loop(j, 6, block(store(c, add(mul(var(i), 6), var(j)), choice(less(var(j), 2), from_a, from_b))))));
  const Stage found = stage({5, 2}, {5, 6}, block(body), {5, 4});
  REQUIRE(found.required.size() == 2);
  check_rows(found.required[0], a, {2, 5}, 1, 1, {0, 0});
  check_rows(found.required[1], b, {4, 5}, 1, 1, {0, 0});
}

TEST_CASE_FIXTURE(Fixture, "stages: a padded copy and its reader are two stages, divided alike") {
  const VarId padded = pointer("padded");
  const ExprRef inside = both(at_least(var(i), 1), less(var(i), 5));
  const auto copy =
      loop(i, 6,
           block(loop(k, 3,
                      block(store(padded, add(mul(var(i), 3), var(k)),
                                  choice(inside, load(a, sub(add(mul(var(i), 3), var(k)), 3)), imm(0, i8)))))));
  const ExprRef window = add(mul(add(var(j), var(l)), 3), var(k));
  const auto read = store(c, add(mul(var(j), 3), var(k)), load(padded, window));
  const auto reader = loop(j, 4, block(loop(l, 3, block(loop(k, 3, block(read))))));
  const auto found = stages({4, 3}, {4, 3}, block(allocate(padded, 18), copy, reader));
  REQUIRE(found.size() == 2);
  check_rows(found[0].provided[0], padded, {3, 6}, 1, 1, {0, 0});
  check_rows(found[0].required[0], a, {3, 4}, 1, 1, {-1, -1});
  check_rows(found[1].required[0], padded, {3, 6}, 1, 1, {0, 2});
}

TEST_CASE_FIXTURE(Fixture, "stages: a sum of all rows takes them one by one, and provides nothing less than all") {
  const auto body = loop(
      i, 5, block(loop(k, 4, block(store(c, var(k), add(load(c, var(k)), load(a, add(mul(var(i), 4), var(k)))))))));
  const Stage found = stage({5, 4}, {4}, block(body));
  check_rows(found.provided[0], c, {1, 4}, 0, 1, {0, 3});
  check_rows(found.required[0], a, {4, 5}, 1, 1, {0, 0});
}

TEST_CASE_FIXTURE(Fixture, "stages: several accesses of a tensor require the rows of all of them") {
  const auto row = [&](const ExprRef& number) { return load(a, add(mul(number, 6), var(k))); };
  const auto sum_of = [&](const ExprRef& first, const ExprRef& second) {
    const auto sum = store(c, add(mul(var(i), 6), var(k)), add(row(first), row(second)));
    return block(loop(i, 4, block(loop(k, 6, block(sum)))));
  };
  const Stage near = stage({6, 6}, {4, 6}, sum_of(add(var(i), 2), var(i)));
  check_rows(near.required[0], a, {6, 6}, 1, 1, {0, 2});
  // One that moves with the rows and one that moves twice as fast lie in no rows that move along.
  const Stage apart = stage({8, 6}, {4, 6}, sum_of(var(i), mul(var(i), 2)));
  check_rows(apart.required[0], a, {6, 8}, 0, 1, {0, 7});
}

TEST_CASE_FIXTURE(Fixture, "stages: nothing is divided where every iteration touches everything") {
  const auto body = loop(i, 5, block(loop(k, 4, block(store(c, var(k), load(a, var(k)))))));
  CHECK(stage({4}, {4}, block(body)).iterations == 1);
}

TEST_CASE_FIXTURE(Fixture, "stages: an index that memory decides may be any row") {
  const auto body = loop(i, 5, block(store(c, var(i), load(a, tir::make_cast(i32, load(b, var(i)))))));
  const Stage found = stage({8}, {5}, block(body), {5});
  check_rows(found.required[0], a, {1, 8}, 0, 1, {0, 7});
}

// --- Pixels ---------------------------------------------------------------------------------------------------------

// The first stage by pixels, if any; all are checked by running.
std::optional<Stage> pixels_of(const tir::Module& module, const tir::Function& function) {
  KnownNests known;
  const std::vector<Stage> all = stages_of(module, function, known);
  const std::vector<Stage> stages = pixel_stages_of(module, function, all, known);
  check_by_running(module, function, stages);
  return stages.empty() ? std::nullopt : std::optional(stages.front());
}

struct PixelFixture : Fixture {
  // c = the sums of 3 x 3 windows of a, of 2 channels: a step of `stride` pixels, padded by `padding` above and left.
  std::optional<Stage> window(std::int64_t height, std::int64_t width, std::int64_t out_height, std::int64_t out_width,
                              std::int64_t stride, std::int64_t padding) {
    const ExprRef row = add(mul(quotient(var(i), out_width), stride), sub(var(j), padding));
    const ExprRef pixel = add(mul(remainder(var(i), out_width), stride), sub(var(k), padding));
    const ExprRef inside =
        both(both(at_least(row, 0), less(row, height)), both(at_least(pixel, 0), less(pixel, width)));
    const ExprRef element = add(add(mul(row, 2 * width), mul(pixel, 2)), var(l));
    const ExprRef target = add(mul(var(i), 2), var(l));
    const auto term = when(inside, block(loop(l, 2, block(store(c, target, add(load(c, target), load(a, element)))))));
    function("f", {a, c}, block(loop(i, out_height * out_width, block(loop(j, 3, block(loop(k, 3, block(term))))))));
    module().functions.back().params[0].shape = std::vector<std::int64_t>{1, height, width, 2};
    module().functions.back().params[1].shape = std::vector<std::int64_t>{1, out_height, out_width, 2};
    return pixels_of(module(), module().functions.back());
  }
};

TEST_CASE_FIXTURE(PixelFixture, "pixels: a window covers two lines and three pixels, and ends where its lines do") {
  const auto found = window(8, 5, 8, 5, 1, 1);
  REQUIRE(found);
  const Stage& stage = *found;
  CHECK(stage.by == 1);
  CHECK(stage.iterations == 40);
  check_rows(stage.provided[0], c, {2, 40}, 1, 1, {0, 0});
  check_rows(stage.required[0], a, {2, 40}, 1, 1, {-6, 6});
  REQUIRE(stage.required[0].lines);
  CHECK(*stage.required[0].lines == Window{{.step = 5, .per = 5}, {-5, 9}});
  CHECK(stage.required[0].in(0) == Interval{0, 6});
  CHECK(stage.required[0].in(9) == Interval{3, 14});   // the last one of the second line
  CHECK(stage.required[0].in(10) == Interval{5, 16});  // the first one of the third
  CHECK(stage.required[0].in(39) == Interval{33, 39});
}

TEST_CASE_FIXTURE(PixelFixture, "pixels: with a stride, windows step over a line at the end of each") {
  const auto found = window(8, 7, 4, 3, 2, 0);
  REQUIRE(found);
  const Stage& stage = *found;
  CHECK(stage.iterations == 12);
  check_rows(stage.required[0], a, {2, 56}, 2, 1, {0, 16});
  CHECK(stage.required[0].advance == Advance{.step = 2, .per = 1, .turn = 8, .width = 3});
  CHECK(stage.required[0].in(2) == Interval{4, 20});
  CHECK(stage.required[0].in(3) == Interval{14, 30});
}

TEST_CASE_FIXTURE(PixelFixture, "pixels: windows that go back at the end of a line have no stage") {
  // Lines of windows by two pixels, every second line of 7 pixels: with 9 windows, the first one of a line begins left
  // of the last one of the line before.
  CHECK(window(8, 7, 4, 8, 2, 0));
  CHECK_FALSE(window(8, 7, 4, 9, 2, 0));
}

TEST_CASE_FIXTURE(PixelFixture, "pixels: an operator on elements has those of its neighbour") {
  const auto elements = loop(i, 80, block(store(b, var(i), load(a, var(i)))));
  const auto of_pixel = loop(l, 2, block(store(c, add(mul(var(j), 2), var(l)), load(b, add(mul(var(j), 2), var(l))))));
  function("f", {a, b, c}, block(elements, loop(j, 40, block(of_pixel))));
  for (tir::Param& param : module().functions.back().params) param.shape = std::vector<std::int64_t>{8, 5, 2};
  const auto found = pixels_of(module(), module().functions.back());
  REQUIRE(found);
  const Stage& stage = *found;
  CHECK(stage.statement == 0);
  CHECK(stage.by == 2);
  CHECK(stage.iterations == 40);
}

TEST_CASE_FIXTURE(PixelFixture, "pixels: of two elements each, that one loop counts") {
  // 6 lines of 8 pixels of 2, of each the sum over a window of 3 x 3.
  const ExprRef row = add(quotient(var(i), 16), var(j));
  const ExprRef pixel = add(remainder(quotient(var(i), 2), 8), var(k));
  const ExprRef element = add(add(mul(row, 20), mul(pixel, 2)), remainder(var(i), 2));
  const auto sum = store(c, var(i), add(load(c, var(i)), load(a, element)));
  function("f", {a, c}, block(loop(i, 96, block(loop(j, 3, block(loop(k, 3, block(sum))))))));
  module().functions.back().params[0].shape = std::vector<std::int64_t>{1, 8, 10, 2};
  module().functions.back().params[1].shape = std::vector<std::int64_t>{1, 6, 8, 2};
  const auto found = pixels_of(module(), module().functions.back());
  REQUIRE(found);
  CHECK(found->by == 2);
  CHECK(found->iterations == 48);
  CHECK_FALSE(found->required[0].lines);
}

// --- Networks -------------------------------------------------------------------------------------------------------

// A layer that needs all of its input for each element of its output has no rows to gain; nor has one of few rows.
bool needs_all(const tir::Function& function, const std::vector<Stage>& stages) {
  for (const char* word : {"dense", "softmax", "batch_flatten"}) {
    if (function.name.find(word) != std::string::npos) return true;
  }
  constexpr std::int64_t few = 4;
  return std::all_of(stages.begin(), stages.end(), [](const Stage& stage) { return stage.iterations <= few; });
}

// The share of all elements that are accessed which an iteration of each stage touches.
double share_of(const tir::Function& function, const std::vector<Stage>& stages) {
  std::map<VarId, std::int64_t> sizes;
  for (const tir::Param& param : function.params) {
    std::int64_t size = 1;
    for (const std::int64_t extent : param.shape.value_or(std::vector<std::int64_t>{})) size *= extent;
    sizes[param.var] = size;
  }
  for (const tir::Stmt& stmt : function.body) {
    if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) {
      sizes[allocate->var] = tir::element_count(*allocate).value_or(1);
    }
  }
  double touched = 0;
  double all = 0;
  for (const Stage& stage : stages) {
    for (const std::vector<Rows>* side : {&stage.provided, &stage.required}) {
      for (const Rows& rows : *side) {
        touched += rows.share() * static_cast<double>(sizes.at(rows.storage));
        all += static_cast<double>(sizes.at(rows.storage));
      }
    }
  }
  return touched / all;
}

// The number of stages by pixels.
std::size_t check_archive(const std::filesystem::path& path, const std::string& steps) {
  std::size_t pixels = 0;
  INFO(path.string(), ", transformed by ", steps);
  const mlf::Archive archive = mlf::read_archive(path.string());
  const mlf::Metadata metadata = mlf::read_metadata(archive);
  for (const model::Description& info : metadata.modules) {
    const auto member = std::find_if(archive.members.begin(), archive.members.end(),
                                     [&](const mlf::Member& other) { return other.name == info.tir_member; });
    if (member == archive.members.end()) continue;
    transform::Options options;
    options.steps = *transform::parse_steps(steps);
    const tir::Module module = transform::transform(tir_json::read_module(member->bytes), options).module();
    for (std::size_t f = 0; f < module.functions.size(); ++f) {
      if (f == module.entry) continue;
      const tir::Function& function = module.functions[f];
      KnownNests known;
      const std::vector<Stage> stages = stages_of(module, function, known);
      check_by_running(module, function, stages);
      const std::vector<Stage> by_pixels = pixel_stages_of(module, function, stages, known);
      check_by_running(module, function, by_pixels);
      pixels += by_pixels.size();
      CHECK_MESSAGE(!stages.empty(), function.name);
      if (!needs_all(function, stages)) CHECK_MESSAGE(share_of(function, stages) <= 0.5, function.name);
    }
  }
  return pixels;
}

TEST_CASE("stages: each operator of the archives is a chain of stages, transformed or not") {
  std::vector<std::filesystem::path> paths;
  const std::filesystem::path shared(USMP_SHARED);
  const bool has_shared = std::filesystem::is_directory(shared / "archives/own");
  for (const std::filesystem::path& directory :
       {std::filesystem::path(USMP_TESTDATA), shared / "archives/own", shared / "archives/mlperf_tiny"}) {
    if (!std::filesystem::is_directory(directory)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      const std::string name = entry.path().filename().string();
      // Those of testdata that are networks stand in own, too.
      const bool is_network = directory != std::filesystem::path(USMP_TESTDATA) ||
                              (!has_shared && (name == "resnet8.tar" || name == "ds_cnn.tar"));
      if (is_network && entry.path().extension() == ".tar") paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  REQUIRE(paths.size() >= 2);
  std::size_t pixels = 0;
  for (const auto& path : paths) {
    (void)check_archive(path, "none");
    pixels += check_archive(path, "fuse");
  }
  // The two networks of testdata alone have 14.
  if (has_shared) {
    CHECK(pixels >= 20);
  } else {
    CHECK(pixels == 14);
  }
}

}  // namespace
}  // namespace usmp::loops::stage_test

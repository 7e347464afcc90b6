// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Random programs transformed, by each step alone and by all: what the reference interpreter computes stays the same.
// Campaigns of more: `make random-transforms`.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "random_modules/campaign.hpp"
#include "random_modules/networks.hpp"
#include "random_modules/transformed.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::random_modules::transforms_test {
namespace {

using transform::Step;

std::vector<std::vector<Step>> choices_of_steps() {
  std::vector<std::vector<Step>> choices;
  for (const Step step : transform::all_steps) choices.push_back({step});
  choices.emplace_back(std::begin(transform::all_steps), std::end(transform::all_steps));
  return choices;
}

Totals run(Kind kind, const std::vector<Step>& steps, std::uint64_t count) {
  Settings settings;
  settings.kind = kind;
  settings.count = count;
  settings.plans = false;
  settings.steps = steps;
  const Totals totals = run_campaign(settings);
  for (const Failure& failure : totals.failures) FAIL_CHECK("seed " << failure.seed << ": " << failure.what);
  if (!totals.failures.empty()) {
    const Shrunk small = shrink_failure(totals.failures.front(), settings);
    MESSAGE("the first one, made small:\n" << small.module << small.what);
  }
  return totals;
}

TEST_CASE("random modules compute the same after each step of transformation, and after all") {
  for (const std::vector<Step>& steps : choices_of_steps()) {
    CAPTURE(names_of(steps));
    const Totals totals = run(Kind::modules, steps, 300);
    CHECK(totals.undefined <= 15);
  }
}

// So many percent of the networks are at least changed by the step alone, or the generator does not make what the step
// looks for; `inplace` changes none. Three look for rare things: a chain that ends wide, a tensor at the peak, branches
// side by side.
constexpr std::pair<Step, std::uint64_t> least_changed[] = {{Step::fuse, 90},    {Step::narrow, 4},
                                                            {Step::merge, 7},    {Step::constants, 80},
                                                            {Step::rolling, 12}, {Step::reorder, 9}};

TEST_CASE("random networks compute the same after each step of transformation, and after all") {
  constexpr std::uint64_t networks = 600;
  for (const std::vector<Step>& steps : choices_of_steps()) {
    CAPTURE(names_of(steps));
    const Totals totals = run(Kind::networks, steps, networks);
    CHECK(totals.undefined <= networks / 100);
    if (steps.size() > 1 || steps[0] == Step::inplace) continue;
    const auto* const least = std::ranges::find(least_changed, steps[0], [](const auto& row) { return row.first; });
    REQUIRE(least != std::end(least_changed));
    const auto found = totals.changed.find(steps[0]);
    CHECK((found == totals.changed.end() ? 0 : found->second) * 100 >= least->second * networks);
  }
}

TEST_CASE("random networks compute the same when operators run by pixels") {
  for (const bool with_all : {false, true}) {
    CAPTURE(with_all);
    Settings settings;
    settings.kind = Kind::networks;
    settings.count = 600;
    settings.plans = false;
    settings.steps = {Step::rolling};
    if (with_all) settings.steps.assign(std::begin(transform::all_steps), std::end(transform::all_steps));
    settings.rolling_grain = transform::RollingGrain::pixels;
    const Totals totals = run_campaign(settings);
    for (const Failure& failure : totals.failures) FAIL_CHECK("seed " << failure.seed << ": " << failure.what);
    if (!with_all) CHECK(totals.changed.at(Step::rolling) * 100 >= settings.count * 12);
  }
}

TEST_CASE("random networks compute the same when operators run by strips") {
  for (const bool with_all : {false, true}) {
    CAPTURE(with_all);
    Settings settings;
    settings.kind = Kind::networks;
    settings.count = 600;
    settings.plans = false;
    settings.steps = {Step::rolling};
    if (with_all) settings.steps.assign(std::begin(transform::all_steps), std::end(transform::all_steps));
    settings.strip_percent = 1000;
    settings.rolling_grain = transform::RollingGrain::strips;
    const Totals totals = run_campaign(settings);
    for (const Failure& failure : totals.failures) FAIL_CHECK("seed " << failure.seed << ": " << failure.what);
    if (!with_all) CHECK(totals.changed.at(Step::rolling) * 100 >= settings.count * 3);
  }
}

TEST_CASE("random networks compute the same when elements are computed more than once") {
  for (const std::int64_t percent : {20, 1000}) {
    CAPTURE(percent);
    Settings settings;
    settings.kind = Kind::networks;
    settings.count = 200;
    settings.plans = false;
    settings.steps.assign(std::begin(transform::all_steps), std::end(transform::all_steps));
    settings.recompute_percent = percent;
    const Totals totals = run_campaign(settings);
    for (const Failure& failure : totals.failures) FAIL_CHECK("seed " << failure.seed << ": " << failure.what);
    CHECK(totals.changed.at(Step::recompute) * 100 >= settings.count * 10);
  }
}

// --- What networks are made of ---------------------------------------------------------------------------------------

struct Occurrences {
  std::map<std::string, std::size_t> buffers;  // by name without the number behind it
  std::size_t repeated_calls = 0;
  std::size_t passed_twice = 0;
  std::size_t shared_readers = 0;  // tensors of the entry that several calls are handed
  std::size_t outputs_are_read = 0;
  std::size_t guards = 0;
  std::size_t lets = 0;
  std::size_t floor_divisions = 0;
  std::size_t lazy_choices = 0;
  std::size_t per_axis = 0;
  std::size_t constants_of_entry = 0;
  std::size_t shared_constants = 0;
  std::size_t inner_allocates = 0;
  std::size_t outer_allocates = 0;  // of what an iteration fills and forgets
};

void count_calls(const TestModule& test, Occurrences& all) {
  std::map<std::string, std::size_t> calls;
  std::map<tir::VarId, std::size_t> uses;
  tir::for_each_expr_in(test.module.functions[test.module.entry].body, [&](const tir::Expr& expr) {
    const auto call = tir::named_call(expr);
    if (!call || expr.op == tir::Op::tvm_check_return) return;
    if (calls[*call->name]++ == 1) ++all.repeated_calls;
    std::set<tir::VarId> own;
    for (const tir::ExprRef& argument : call->arguments) {
      if (!own.insert(argument->var).second) ++all.passed_twice;
    }
    for (const tir::VarId var : own) {
      if (uses[var]++ == 2) ++all.shared_readers;
    }
  });
  const auto& params = test.module.functions[test.module.entry].params;
  for (const std::size_t output : test.outputs) {
    if (uses[params[output].var] > 1) ++all.outputs_are_read;
  }
}

void count(const TestModule& test, Occurrences& all) {
  count_calls(test, all);
  std::set<const tir::Constant*> constants;
  for (const tir::Function& function : test.module.functions) {
    for (const tir::Stmt& stmt : function.body) {
      const auto* made = std::get_if<tir::Allocate>(&stmt.node);
      if (made != nullptr && test.module.var(made->var).name == "next") ++all.outer_allocates;
    }
    tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
      if (const auto* made = std::get_if<tir::Allocate>(&stmt.node)) ++all.buffers[test.module.var(made->var).name];
      if (const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node)) {
        if (!constants.insert(constant->data.get()).second) ++all.shared_constants;
        if (function.is_entry) ++all.constants_of_entry;
      }
      if (std::holds_alternative<tir::IfThenElse>(stmt.node)) ++all.guards;
      if (std::holds_alternative<tir::Let>(stmt.node)) ++all.lets;
      for (const tir::Block* block : tir::blocks_of(stmt)) {
        for (const tir::Stmt& inner : *block) all.inner_allocates += std::holds_alternative<tir::Allocate>(inner.node);
      }
    });
    tir::for_each_expr_in(function.body, [&](const tir::Expr& expr) {
      if (expr.kind == tir::ExprKind::floor_div) ++all.floor_divisions;
      if (expr.op == tir::Op::if_then_else) ++all.lazy_choices;
      if (expr.op == tir::Op::q_multiply_shift_per_axis) ++all.per_axis;
    });
  }
}

TEST_CASE("plans of networks are replayed by the product, from beginning to end, and wrong ones refused") {
  Settings settings;
  settings.kind = Kind::networks;
  settings.count = 100;
  settings.compile_every = 0;
  settings.steps = choices_of_steps().back();
  const Totals totals = run_campaign(settings);
  for (const Failure& failure : totals.failures) FAIL_CHECK("seed " << failure.seed << ": " << failure.what);
  CHECK(totals.product.pairs > settings.count);
  CHECK(totals.product.replayed == totals.product.pairs);
  CHECK(totals.product.wrong > settings.count * 10);
}

TEST_CASE("networks have what networks have, and near misses of it") {
  Occurrences all;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) count(generate_network(seed), all);
  for (const char* name : {"T_add",
                           "compute",
                           "T_cast",
                           "T_subtract",
                           "T_relu",
                           "T_multiply",
                           "pad_temp",
                           "PaddedInput",
                           "conv2d_nhwc",
                           "pool_sum",
                           "pool_max",
                           "pool_avg",
                           "T_softmax_maxelem",
                           "T_softmax_exp",
                           "T_softmax_expsum",
                           "T_softmax_norm",
                           "T_reshape",
                           "T_strided_slice",
                           "T_transpose",
                           "T_layout_trans",
                           "resize",
                           "T_reverse",
                           "T_concat",
                           "T_take",
                           "T_cumulative",
                           "state"}) {
    CHECK_MESSAGE(all.buffers[name] > 0, name);
  }
  for (const std::size_t found :
       {all.repeated_calls, all.passed_twice, all.shared_readers, all.outputs_are_read, all.guards, all.lets,
        all.floor_divisions, all.lazy_choices, all.per_axis, all.constants_of_entry, all.shared_constants,
        all.inner_allocates, all.outer_allocates}) {
    CHECK(found > 10);
  }
}

TEST_CASE("a seed always gives the same network") {
  std::uint64_t sum = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const char c : tir::print(generate_network(seed).module)) sum = sum * 31 + static_cast<unsigned char>(c);
  }
  CHECK(sum == 13991870352261501612U);
}

// Planned, emitted, compiled and run, a few of them: `make random-transforms` has more.
TEST_CASE("random networks with all transformations are planned and run") {
  Settings settings;
  settings.kind = Kind::networks;
  settings.count = 20;
  settings.variants = 1;
  settings.steps.assign(std::begin(transform::all_steps), std::end(transform::all_steps));
  const Totals totals = run_campaign(settings);
  for (const Failure& failure : totals.failures) FAIL_CHECK("seed " << failure.seed << ": " << failure.what);
  CHECK(totals.variants >= 15);
}

// --- The checks themselves -------------------------------------------------------------------------------------------

TestModule changed(TestModule test, const auto& change) {
  change(test.module);
  return test;
}

tir::Function& entry_of(tir::Module& module) { return module.functions[module.entry]; }

// Both fill the first output; the first with `value`.
TestModule with_output(std::uint64_t seed, std::int64_t value) {
  TestModule test = generate(seed);
  tir::Function& entry = entry_of(test.module);
  const tir::Param& output = entry.params[test.outputs[0]];
  const tir::ExprRef stored = tir::make_cast(output.element, tir::make_int(value, {tir::TypeCode::uint, 8, 1}));
  entry.body.push_back({tir::Store{output.var, tir::make_int(0), stored, {}}});
  return test;
}

TEST_CASE("an output that is another one is told") {
  const TestModule test = with_output(1, 0);
  const TestModule other = with_output(1, 1);
  const auto fault = [&](const TestModule& reference) {
    return transformed(test, Interpreter(reference.module).run(arguments_of(reference)), {}).fault;
  };
  CHECK_FALSE(fault(test));
  REQUIRE(fault(other));
  CHECK(fault(other)->find("transform none: output '") == 0);
}

TEST_CASE("modules as they are made are well formed") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CHECK_FALSE(fault_of(generate(seed).module));
    CHECK_FALSE(fault_of(generate_network(seed).module));
  }
}

TEST_CASE("a changed interface is told") {
  const TestModule test = generate(1);
  const auto difference = [&](const auto& change) {
    return difference_of_interfaces(test.module, changed(test, change).module).has_value();
  };
  CHECK_FALSE(difference([](tir::Module&) {}));
  CHECK(difference([](tir::Module& module) { entry_of(module).name += "_"; }));
  CHECK(difference([](tir::Module& module) { entry_of(module).params.pop_back(); }));
  CHECK(difference([](tir::Module& module) { entry_of(module).params[0].name += "_"; }));
  CHECK(difference([](tir::Module& module) { (*entry_of(module).params[0].shape)[0] += 1; }));
  CHECK(difference([](tir::Module& module) { entry_of(module).params[0].element = tir::handle_type; }));
}

}  // namespace
}  // namespace usmp::random_modules::transforms_test

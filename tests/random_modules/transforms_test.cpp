// Random programs transformed, by each step alone and by all: what the reference interpreter computes stays the same.
// Campaigns of more: `make random-transforms`.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "random_modules/campaign.hpp"
#include "random_modules/transformed.hpp"
#include "random_modules/validate.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::random_modules {
namespace {

using transform::Step;

std::vector<std::vector<Step>> choices_of_steps() {
  std::vector<std::vector<Step>> choices;
  for (const Step step : transform::all_steps) choices.push_back({step});
  choices.emplace_back(std::begin(transform::all_steps), std::end(transform::all_steps));
  return choices;
}

Totals run(const std::vector<Step>& steps, std::uint64_t count) {
  Settings settings;
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
    const Totals totals = run(steps, 300);
    CHECK(totals.undefined <= 15);
  }
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
  for (std::uint64_t seed = 1; seed <= 300; ++seed) CHECK_FALSE(fault_of(generate(seed).module));
}

TEST_CASE("what is malformed is told") {
  const TestModule test = generate(1);
  const auto fault = [&](const auto& change) { return fault_of(changed(test, change).module).value_or("none"); };
  const auto has = [](const std::string& text, const char* words) { return text.find(words) != std::string::npos; };
  const auto store_to_param = [](tir::Module& module, tir::ExprRef index, tir::ExprRef value) {
    entry_of(module).body.push_back(
        {tir::Store{entry_of(module).params[0].var, std::move(index), std::move(value), {}}});
  };
  const auto new_var = [](tir::Module& module, tir::DataType type) {
    module.vars.push_back({"fresh", type, tir::void_type, ""});
    return tir::VarId(module.vars.size() - 1);
  };
  CHECK(has(fault([&](tir::Module& module) {
              store_to_param(module, tir::make_var(module, new_var(module, tir::int32_type)), tir::make_int(1));
            }),
            "used outside of its scope: fresh"));
  CHECK(has(fault([&](tir::Module& module) {
              const tir::VarId var = new_var(module, tir::int32_type);
              for (int i = 0; i < 2; ++i) entry_of(module).body.push_back({tir::Let{var, tir::make_int(i)}});
            }),
            "declared inside of its own scope: fresh"));
  CHECK(has(fault([&](tir::Module& module) {
              const tir::VarId var = new_var(module, tir::int32_type);
              for (std::size_t i = 0; i < 2; ++i) module.functions[i].body.push_back({tir::Let{var, tir::make_int(1)}});
            }),
            "declared by another function too: fresh"));
  CHECK(has(fault([&](tir::Module& module) {
              const tir::VarId var = new_var(module, tir::int32_type);
              entry_of(module).body.push_back({tir::For{var, tir::make_int(0), tir::make_int(2), {}}});
              store_to_param(module, tir::make_var(module, var), tir::make_int(1));
            }),
            "used outside of its scope: fresh"));
  CHECK(has(fault([&](tir::Module& module) {
              const tir::VarId var = new_var(module, tir::int32_type);
              tir::Expr let;
              let.kind = tir::ExprKind::let;
              let.type = tir::int32_type;
              let.var = var;
              let.operands = {tir::make_int(1), tir::make_int(2)};
              const tir::ExprRef bound = tir::make_expr(let);
              store_to_param(module, tir::make_binary(tir::ExprKind::add, bound, tir::make_var(module, var)), bound);
            }),
            "used outside of its scope: fresh"));
  CHECK(has(fault([&](tir::Module& module) {
              tir::Expr sum;
              sum.kind = tir::ExprKind::add;
              sum.type = tir::int32_type;
              sum.operands = {tir::make_int(1), tir::make_int(2, tir::int64_type)};
              store_to_param(module, tir::make_int(0), tir::make_expr(sum));
            }),
            "operands of different types"));
  CHECK(has(fault([&](tir::Module& module) {
              store_to_param(module, tir::make_int(0), tir::make_int(300, tir::uint8_type));
            }),
            "does not fit its type: 300"));
  CHECK(has(fault([](tir::Module& module) { std::swap(module.functions[0], module.functions[1]); }), "not sorted"));
  CHECK(has(fault([](tir::Module& module) { entry_of(module).is_entry = false; }), "no entry"));
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
}  // namespace usmp::random_modules

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The step "rolling": what it does to small networks, and that each condition, where it does not hold, leaves them
// alone. Every result is interpreted, with rings that know which element they hold.
#include "transform/rolling.hpp"
#include "transform/rings.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "random_modules/interpreter.hpp"
#include "random_modules/transformed.hpp"
#include "tir_support/module_builder.hpp"
#include "transform/plain_entry.hpp"
#include "transform/rolling_segment.hpp"
#include "transform/rolling_units.hpp"
#include "usmp/arith/facts.hpp"
#include "usmp/liveness/distances.hpp"
#include "usmp/liveness/liveness.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform::rolling_test {
namespace {

using namespace tir::testing;  // NOLINT(google-build-using-namespace)
using tir::Block;
using tir::ExprKind;
using tir::ExprRef;
using tir::int32_type;
using tir::make_int;
using tir::VarId;

constexpr std::int64_t rows = 8;
constexpr std::int64_t columns = 4;
constexpr std::int64_t elements = rows * columns;

// in → a → b → out, images of int32. Each operator reads a window of rows; rows that are not there count as 0.
class Network : public ModuleBuilder {
 public:
  const VarId in = pointer("in", int32_type);
  const VarId out = pointer("out", int32_type);
  const VarId a = pointer("a", int32_type);
  const VarId b = pointer("b", int32_type);
  std::int64_t elements_of_a = elements;

  struct Loops {
    VarId p0;
    VarId p1;
    VarId row;
    VarId column;
    VarId ky;
  };
  Loops loops_of(const std::string& name) {
    return {pointer(name + "_p0", int32_type), pointer(name + "_p1", int32_type), integer("row"), integer("column"),
            integer("ky")};
  }

  // p1[row] = sum of rows row - above to row + below of p0
  void add_window(const std::string& name, std::int64_t above, std::int64_t below) {
    const Loops v = loops_of(name);
    const ExprRef here = add(mul(var(v.row), columns), var(v.column));
    const ExprRef read = add(var(v.row), add(var(v.ky), make_int(-above)));
    const ExprRef is_there = both(at_least(read, make_int(0)), less(read, make_int(rows)));
    const ExprRef element = load(v.p0, add(mul(read, columns), var(v.column)));
    function(name, {v.p0, v.p1},
             block(loop(
                 v.row, rows,
                 block(loop(
                     v.column, columns,
                     block(store(v.p1, here, make_int(0)),
                           loop(v.ky, above + below + 1,
                                block(when(is_there, block(store(v.p1, here, add(load(v.p1, here), element))))))))))));
    shape(2);
  }

  // p1[row] = p1[row - 1] + p0[row]
  void add_scan(const std::string& name) {
    const Loops v = loops_of(name);
    const ExprRef here = add(mul(var(v.row), columns), var(v.column));
    const ExprRef before = add(here, make_int(-columns));
    function(
        name, {v.p0, v.p1},
        block(loop(v.row, rows,
                   block(loop(v.column, columns,
                              block(store(v.p1, here, load(v.p0, here)),
                                    when(at_least(var(v.row), make_int(1)),
                                         block(store(v.p1, here, add(load(v.p1, here), load(v.p1, before)))))))))));
    shape(2);
  }

  // A buffer of the operator: p1[row] = p0[row] + sum. `resets`: the sum begins anew in each row; else it runs on.
  void add_sums(const std::string& name, bool resets) {
    const Loops v = loops_of(name);
    const VarId sum = pointer("sum", int32_type);
    const ExprRef here = add(mul(var(v.row), columns), var(v.column));
    const auto cleared = [&](VarId by) { return loop(by, columns, block(store(sum, var(by), make_int(0)))); };
    Block row;
    row.push_back(resets ? cleared(v.ky)
                         : when(make_binary(ExprKind::eq, var(v.row), make_int(0)), block(cleared(v.ky))));
    row.push_back(loop(v.column, columns,
                       block(store(sum, var(v.column), add(load(sum, var(v.column)), load(v.p0, here))),
                             store(v.p1, here, load(sum, var(v.column))))));
    Block body = block(allocate(sum, columns));
    body.push_back(loop(v.row, rows, std::move(row)));
    function(name, {v.p0, v.p1}, std::move(body));
    shape(2);
  }

  // p1 = the sum of p0's rows.
  void add_total(const std::string& name) {
    const Loops v = loops_of(name);
    const ExprRef here = add(mul(var(v.row), columns), var(v.column));
    const ExprRef sum = add(load(v.p1, var(v.column)), load(v.p0, here));
    function(name, {v.p0, v.p1},
             block(loop(v.ky, columns, block(store(v.p1, var(v.ky), make_int(0)))),
                   loop(v.row, rows, block(loop(v.column, columns, block(store(v.p1, var(v.column), sum)))))));
    shape(2);
    module().functions.back().params[1].shape = std::vector<std::int64_t>{columns};
  }

  // p1 = the upper half of p0.
  void add_half(const std::string& name) {
    const Loops v = loops_of(name);
    const ExprRef here = add(mul(var(v.row), columns), var(v.column));
    function(name, {v.p0, v.p1},
             block(loop(v.row, rows / 2, block(loop(v.column, columns, block(store(v.p1, here, load(v.p0, here))))))));
    shape(2);
    module().functions.back().params[1].shape = std::vector<std::int64_t>{rows / 2, columns};
  }

  // p1 = p0, which is half as high, between two rows of zeros and two more.
  void add_frame(const std::string& name) {
    const Loops v = loops_of(name);
    const ExprRef here = add(mul(var(v.row), columns), var(v.column));
    const ExprRef is_there = both(at_least(var(v.row), make_int(2)), less(var(v.row), make_int(2 + rows / 2)));
    function(
        name, {v.p0, v.p1},
        block(loop(
            v.row, rows,
            block(loop(v.column, columns,
                       block(when(is_there, block(store(v.p1, here, load(v.p0, add(here, make_int(-2 * columns))))),
                                  block(store(v.p1, here, make_int(0))))))))));
    shape(2);
    module().functions.back().params[0].shape = std::vector<std::int64_t>{rows / 2, columns};
  }

  // Images of two planes of four rows. p1 = p0 + sum, planes outermost, in one loop over all rows. `resets` as above.
  void add_sums_of_planes(const std::string& name, bool resets) {
    const Loops v = loops_of(name);
    const VarId sum = pointer("sum", int32_type);
    const ExprRef here = add(mul(var(v.row), columns), var(v.column));
    const auto cleared = [&](VarId by) { return loop(by, columns, block(store(sum, var(by), make_int(0)))); };
    Block row;
    row.push_back(resets ? cleared(v.ky)
                         : when(make_binary(ExprKind::eq, var(v.row), make_int(0)), block(cleared(v.ky))));
    row.push_back(loop(v.column, columns,
                       block(store(sum, var(v.column), add(load(sum, var(v.column)), load(v.p0, here))),
                             store(v.p1, here, load(sum, var(v.column))))));
    Block body = block(allocate(sum, columns));
    body.push_back(loop(v.row, rows, std::move(row)));
    function(name, {v.p0, v.p1}, std::move(body));
    shape(2, {2, rows / 2, columns});
  }

  // p1 = the sum of p0's two planes, in both.
  void add_sum_over_planes(const std::string& name) {
    const Loops v = loops_of(name);
    const ExprRef here = add(mul(var(v.row), columns), var(v.column));
    const ExprRef both = add(load(v.p0, here), load(v.p0, add(here, make_int(elements / 2))));
    function(
        name, {v.p0, v.p1},
        block(loop(v.row, rows / 2,
                   block(loop(v.column, columns,
                              block(store(v.p1, here, both), store(v.p1, add(here, make_int(elements / 2)), both)))))));
    shape(2, {2, rows / 2, columns});
  }

  // p1 = a turned by a quarter: each row needs all of p0.
  void add_turn(const std::string& name) {
    const Loops v = loops_of(name);
    const ExprRef here = add(mul(var(v.row), columns), var(v.column));
    const ExprRef there = add(mul(sub(make_int(rows - 1), var(v.row)), columns), var(v.column));
    function(name, {v.p0, v.p1},
             block(loop(v.row, rows, block(loop(v.column, columns, block(store(v.p1, here, load(v.p0, there))))))));
    shape(2);
  }

  // p1 = sums of all columns of p0's row, each time in another order.
  void add_mixed_columns(const std::string& name) {
    const Loops v = loops_of(name);
    const ExprRef here = add(mul(var(v.row), columns), var(v.column));
    const ExprRef turned = remainder(add(var(v.column), var(v.ky)), make_int(columns));
    const ExprRef element = load(v.p0, add(mul(var(v.row), columns), turned));
    function(
        name, {v.p0, v.p1},
        block(loop(v.row, rows,
                   block(loop(v.column, columns,
                              block(store(v.p1, here, make_int(0)),
                                    loop(v.ky, columns, block(store(v.p1, here, add(load(v.p1, here), element))))))))));
    shape(2);
  }

  // p1 = the sums of p0's columns, one after the other.
  void add_column_sums(const std::string& name) {
    const Loops v = loops_of(name);
    const VarId sum = pointer("sum", int32_type);
    const ExprRef element = load(v.p0, add(mul(var(v.row), columns), var(v.column)));
    function(name, {v.p0, v.p1},
             block(loop(v.column, columns,
                        block(allocate(sum, 1), store(sum, 0, make_int(0)),
                              loop(v.row, rows, block(store(sum, 0, add(load(sum, 0), element)))),
                              store(v.p1, var(v.column), load(sum, 0))))));
    shape(2);
    module().functions.back().params[1].shape = std::vector<std::int64_t>{columns};
  }

  // p1 = sums of all rows of p0, each time in another order; the sum begins anew in each pixel.
  void add_turned_sums(const std::string& name) {
    const Loops v = loops_of(name);
    const VarId sum = pointer("sum", int32_type);
    const ExprRef here = add(mul(var(v.row), columns), var(v.column));
    const ExprRef turned = remainder(add(var(v.row), var(v.ky)), make_int(rows));
    const ExprRef element = load(v.p0, add(mul(turned, columns), var(v.column)));
    function(name, {v.p0, v.p1},
             block(loop(v.row, rows,
                        block(loop(v.column, columns,
                                   block(allocate(sum, 1), store(sum, 0, make_int(0)),
                                         loop(v.ky, rows, block(store(sum, 0, add(load(sum, 0), element)))),
                                         store(v.p1, here, load(sum, 0))))))));
    shape(2);
  }

  // p1[row][column] = the value, of so many rows.
  template <class Value>
  void add_rows(const std::string& name, const Value& value, std::int64_t height = rows, std::int64_t first = 0) {
    const Loops v = loops_of(name);
    const ExprRef column = sub(var(v.column), make_int(first));
    const ExprRef here = add(mul(var(v.row), columns), first == 0 ? var(v.column) : column);
    const tir::For pixels{v.column, make_int(first), make_int(columns), block(store(v.p1, here, value(v, here)))};
    function(name, {v.p0, v.p1}, block(loop(v.row, height, block(tir::Stmt{pixels}))));
    shape(2);
    module().functions.back().params[1].shape = std::vector<std::int64_t>{height, columns};
  }
  // p1 = p0, in a form that is not looked into.
  void add_copy_by_let(const std::string& name) {
    const VarId zero = integer("zero");
    add_rows(name, [&](const Loops& v, const ExprRef& here) { return load(v.p0, add(here, var(zero))); });
    Block& body = module().functions.back().body;
    body.insert(body.begin(), let(zero, make_int(0)));
  }

  tir::Module with_entry(std::vector<tir::Stmt> calls, std::vector<VarId> params = {}) {
    Block body = block(allocate(a, elements_of_a), allocate(b, elements));
    std::move(calls.begin(), calls.end(), std::back_inserter(body));
    params.insert(params.begin(), {in, out});
    entry(params, std::move(body));
    return build();
  }

 private:
  void shape(std::size_t params, const std::vector<std::int64_t>& extents = {rows, columns}) {
    tir::Function& made = module().functions.back();
    for (std::size_t i = 0; i < params; ++i) {
      made.params[i].is_tensor = true;
      made.params[i].shape = extents;
    }
  }
};

void check_same(const tir::Module& before, const tir::Module& after) {
  const auto fault = random_modules::fault_of(after);
  REQUIRE_MESSAGE(!fault, fault.value_or("") << "\n" << tir::print(after));
  std::string contents;
  for (std::int64_t n = 0; n < elements; ++n) contents += {static_cast<char>(3 * n + 1), 0, 0, 0};
  std::vector<random_modules::Argument> arguments(before.functions[before.entry].params.size(),
                                                  {static_cast<std::size_t>(4 * elements), std::nullopt});
  arguments[0].contents = contents;
  const random_modules::Outcome reference = random_modules::Interpreter(before).run(arguments);
  const auto difference = random_modules::difference_to(reference, arguments, after);
  REQUIRE_MESSAGE(!difference, difference.value_or("") << "\n" << tir::print(after));
}

// "a 3, b 1": the rings of the module after the step.
std::string rolled(const tir::Module& module) {
  tir::Module after = module;
  const std::vector<Change> changes = roll(after, {});
  check_same(module, after);
  std::string rings = rings_of(after);
  CHECK(changes.empty() == rings.empty());
  return rings;
}

TEST_CASE("tensors between windows are rings as high as the windows") {
  Network n;
  n.add_window("f", 0, 0);
  n.add_window("g", 1, 1);
  n.add_window("h", 2, 0);
  CHECK(rolled(n.with_entry({n.call("f", {n.in, n.a}), n.call("g", {n.a, n.b}), n.call("h", {n.b, n.out})})) ==
        "a 3, b 3");
}

TEST_CASE("a tensor that another call reads later stays whole") {
  Network n;
  n.add_window("f", 0, 0);
  n.add_window("g", 1, 1);
  const VarId also = n.pointer("also", int32_type);
  n.add_turn("h");
  const tir::Module module = n.with_entry(
      {n.call("f", {n.in, n.a}), n.call("g", {n.a, n.b}), n.call("h", {n.b, n.out}), n.call("h", {n.a, also})}, {also});
  CHECK(rolled(module).find("a ") == std::string::npos);
}

TEST_CASE("rows that read rows of their own tensor are no stages") {
  Network n;
  n.add_scan("f");
  n.add_window("g", 1, 1);
  CHECK(rolled(n.with_entry({n.call("f", {n.in, n.a}), n.call("g", {n.a, n.out})})).empty());
}

TEST_CASE("a chain ends where a device is opened, not at a device that is open nowhere in it") {
  const auto rolls = [](const std::vector<std::string>& hooks) {
    Network n;
    n.add_window("f", 0, 0);
    n.add_window("g", 1, 1);
    std::vector<tir::Stmt> calls = {n.call("f", {n.in, n.a})};
    for (const std::string& hook : hooks) {
      calls.push_back(Network::evaluate(Network::call_expr("TVMDeviceEthosU" + hook, {})));
    }
    calls.push_back(n.call("g", {n.a, n.out}));
    tir::Module module = n.with_entry(std::move(calls));
    return !roll(module, {}).empty();
  };
  CHECK(rolls({}));
  CHECK(rolls({"Open", "Close"}));
  CHECK(!rolls({"Open"}));
  CHECK(!rolls({"Activate"}));
}

TEST_CASE("a chain ends at a call of what is no operator, which finds all rows of what it is passed") {
  const auto dump = [](const Network& network, VarId var) {
    return Network::evaluate(Network::call_expr("dump", {tir::make_string("a tensor"), network.var(var)}));
  };
  const auto rolls = [&](const VarId Network::*in_front, const VarId Network::*between, const VarId Network::*behind) {
    Network n;
    n.add_window("f", 0, 0);
    n.add_window("g", 1, 1);
    std::vector<tir::Stmt> calls = {n.call("f", {n.in, n.a}), n.call("g", {n.a, n.out})};
    if (behind) calls.push_back(dump(n, n.*behind));
    if (between) calls.insert(calls.begin() + 1, dump(n, n.*between));
    if (in_front) calls.insert(calls.begin(), dump(n, n.*in_front));
    tir::Module module = n.with_entry(std::move(calls));
    (void)roll(module, {});
    return rings_of(module);
  };
  CHECK(rolls(&Network::in, nullptr, &Network::out) == "a 3");
  CHECK(rolls(&Network::out, nullptr, &Network::in) == "a 3");
  CHECK(rolls(&Network::b, nullptr, &Network::b) == "a 3");
  CHECK(rolls(nullptr, &Network::b, nullptr).empty());
  CHECK(rolls(nullptr, nullptr, &Network::a).empty());
  CHECK(rolls(&Network::a, nullptr, nullptr).empty());  // which may write it
}

TEST_CASE("an operator that needs all rows ends a chain") {
  Network n;
  n.add_window("f", 0, 0);
  n.add_turn("g");
  CHECK(rolled(n.with_entry({n.call("f", {n.in, n.a}), n.call("g", {n.a, n.out})})).empty());
}

TEST_CASE("sums over rows that are computed one after the other are computed side by side, as the rows come") {
  Network n;
  n.add_mixed_columns("f");
  n.add_column_sums("g");
  CHECK(rolled(n.with_entry({n.call("f", {n.in, n.a}), n.call("g", {n.a, n.out})})) == "a 1");
}

TEST_CASE("sums that need all rows however they are written stay as they are") {
  Network n;
  n.add_turned_sums("f");
  n.add_window("g", 0, 0);
  const auto text_of = [](tir::Module module) {
    (void)roll(module, {});
    return tir::print(module);
  };
  const std::string sum_of_all = "allocate sum: int32[" + std::to_string(elements) + "]";
  SUBCASE("of one operator") {
    const tir::Module module = n.with_entry({n.call("f", {n.in, n.a}), n.call("g", {n.a, n.out})});
    CHECK(rolled(module) == "a 1");
    CHECK(text_of(module).find(sum_of_all) == std::string::npos);
  }
  SUBCASE("of several") {
    const tir::Module module =
        n.with_entry({n.call("f", {n.in, n.a}), n.call("f", {n.a, n.b}), n.call("g", {n.b, n.out})});
    CHECK(rolled(module) == "a 1, b 1");  // by columns
    CHECK(text_of(module).find(sum_of_all) == std::string::npos);
  }
}

TEST_CASE("operators that do nothing are no chain") {
  Network n;
  const auto v = n.loops_of("f");
  n.function("f", {v.p0, v.p1}, {});
  tir::Module module = n.with_entry({n.call("f", {n.in, n.a}), n.call("f", {n.a, n.out})});
  CHECK(roll(module, {}).empty());
}

TEST_CASE("a program of more calls than segments are looked at stays as it is, and the step says so") {
  const auto stepped = [](std::size_t count) {
    Network n;
    n.add_window("f", 0, 0);
    n.add_window("g", 1, 1);
    const auto v = n.loops_of("nothing");
    n.function("nothing", {v.p0, v.p1}, {});
    std::vector<tir::Stmt> calls = {n.call("f", {n.in, n.a}), n.call("g", {n.a, n.out})};
    while (calls.size() < count) calls.push_back(n.call("nothing", {n.in, n.out}));
    return apply(begin(n.with_entry(std::move(calls))), Step::rolling, {.steps = {Step::rolling}}).steps.back();
  };
  const StepResult most = stepped(most_segments);
  CHECK(most.changes.size() == 1);
  CHECK(most.too_large.empty());
  const StepResult more = stepped(most_segments + 1);
  CHECK(more.changes.empty());
  CHECK(more.load_after == more.load_before);
  CHECK(more.too_large == "more than 10000 calls");
}

TEST_CASE("functions of somebody else are not looked into") {
  Network n;
  n.add_window("f", 0, 0);
  n.add_window("g", 1, 1);
  std::string& target = n.module().functions.back().target;
  SUBCASE("of another generator") { target = "cmsis-nn"; }
  SUBCASE("of whom nobody says") { target = ""; }
  tir::Module module = n.with_entry({n.call("f", {n.in, n.a}), n.call("g", {n.a, n.out})});
  CHECK(roll(module, {}).empty());
}

TEST_CASE("sums over rows: of one row they live in it, running ones in the whole function") {
  for (const bool resets : {true, false}) {
    CAPTURE(resets);
    Network n;
    n.add_sums("f", resets);
    n.add_window("g", 1, 1);
    const tir::Module module = n.with_entry({n.call("f", {n.in, n.a}), n.call("g", {n.a, n.out})});
    CHECK(rolled(module) == "a 3");
    tir::Module after = module;
    (void)roll(after, {});
    const tir::Function& function = after.functions[*after.find("g_rolled")];
    const bool is_outermost = std::ranges::any_of(function.body, [&](const tir::Stmt& stmt) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      return allocate != nullptr && after.var(allocate->var).name == "sum";
    });
    CHECK(is_outermost == !resets);
  }
}

TEST_CASE("a function by rows says which operators it has, and its rings how much they hold") {
  Network n;
  n.add_turn("turn");
  n.add_window("f", 0, 0);
  n.add_window("g", 1, 1);
  const VarId turned = n.pointer("turned", int32_type);
  tir::Module module =
      n.with_entry({n.call("turn", {n.in, turned}), n.call("f", {turned, n.a}), n.call("g", {n.a, n.out})}, {turned});
  const std::vector<Change> changes = roll(module, {});
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].text == "operators 2 to 3 run row by row, rings of 3 rows hold 48 of 128 bytes");
  const std::vector<tir::RowOperator>& by_rows = module.functions[*module.find(changes[0].function)].by_rows;
  REQUIRE(by_rows.size() == 2);
  CHECK(by_rows[0].number == 2);
  CHECK(by_rows[0].function == "f");
  CHECK(by_rows[0].kind == "sum");
  CHECK(by_rows[1].number == 3);
  CHECK(by_rows[1].function == "g");
  std::string held;
  for (const liveness::Site& site : liveness::analyse(module).sites) {
    if (const auto ring = liveness::rows_held(site)) held += site.name + ": " + to_string(*ring);
    CHECK(site.row_operator == (site.name == "a" ? std::optional<std::size_t>(0) : std::nullopt));
  }
  CHECK(held == "a: 3 of 8 rows, 16 bytes each");
}

TEST_CASE("an input in the workspace dies row by row, unless a later run reads it too") {
  const auto estimated = [](const tir::Module& of) {
    tir::Module module = of;
    const auto entry = read_plain_entry(module);
    REQUIRE(entry);
    const std::vector<CallRun> runs = call_runs(module, *entry, true);
    REQUIRE_FALSE(runs.empty());
    return plain_bytes(runs[0], 0);
  };
  constexpr Bytes row_bytes = 4 * columns;
  Network n;
  n.add_window("f", 0, 0);
  n.add_window("g", 1, 1);
  const tir::Module module = n.with_entry({n.call("f", {n.in, n.a}), n.call("g", {n.a, n.out})});
  CHECK(estimated(module) == (rows + 1) * row_bytes);
  // Only sizes are known of the C of an archive.
  tir::Module sizes = module;
  for (tir::Function& function : sizes.functions) {
    for (tir::Param& param : function.params) {
      param.is_tensor = true;
      param.shape = std::nullopt;
      if (function.is_entry) param.shape = std::vector<std::int64_t>{elements};
    }
  }
  CHECK(estimated(sizes) == (rows + 1) * row_bytes);
  Network other;
  other.add_window("f", 0, 0);
  other.add_window("g", 1, 1);
  other.add_window("h", 1, 1);
  other.module().functions.back().target = "cmsis-nn";  // so that the run ends in front of it
  const VarId also = other.pointer("also", int32_type);
  CHECK(estimated(other.with_entry({other.call("f", {other.in, other.a}), other.call("g", {other.a, other.out}),
                                    other.call("h", {other.in, also})},
                                   {also})) == 2 * rows * row_bytes);
  Network dumped;
  dumped.add_window("f", 0, 0);
  dumped.add_window("g", 1, 1);
  const tir::Stmt dump = Network::evaluate(Network::call_expr("dump", {dumped.var(dumped.in)}));
  CHECK(estimated(dumped.with_entry({dumped.call("f", {dumped.in, dumped.a}), dumped.call("g", {dumped.a, dumped.out}),
                                     dump})) == 2 * rows * row_bytes);
}

TEST_CASE("what stands before a chain is not live with what the chain writes") {
  Network n;
  n.add_window("f", 0, 0);
  n.add_total("g");
  tir::Module module = n.with_entry({n.call("f", {n.in, n.a}), n.call("g", {n.a, n.out})});
  const auto entry = read_plain_entry(module);
  REQUIRE(entry);
  const std::vector<CallRun> runs = call_runs(module, *entry, false);
  REQUIRE(runs.size() == 1);
  const auto segment = rolled_segment(module, runs[0], 0, 2, Grain::rows);
  REQUIRE(segment);
  CHECK(segment->before.size() == 1);
  CHECK(segment->bytes() == 4 * columns);
  CHECK(rolled_segment(module, runs[0], 0, 2, Grain::rows, segment->bytes()));
  CHECK_FALSE(rolled_segment(module, runs[0], 0, 2, Grain::rows, segment->bytes() - 1));
  CHECK(rolled(module) == "a 1");
}

TEST_CASE("bounds of row loops tell which rows there are") {
  // g reads row r - 2, if there is one; or never the last two rows.
  for (const bool is_framed : {true, false}) {
    CAPTURE(is_framed);
    Network n;
    if (is_framed) {
      n.elements_of_a = elements / 2;
      n.add_half("f");
      n.add_frame("g");
    } else {
      n.add_window("f", 0, 0);
      n.add_window("g", 2, -2);
    }
    const tir::Module before = n.with_entry({n.call("f", {n.in, n.a}), n.call("g", {n.a, n.out})});
    CHECK(rolled(before) == "a 1");
    tir::Module after = before;
    (void)roll(after, {});
    std::size_t stores = 0;
    arith::Facts facts(after);
    const auto check = [&](const tir::Stmt& stmt, const arith::Facts& here) {
      const auto* store = std::get_if<tir::Store>(&stmt.node);
      if (store == nullptr) return;
      ++stores;
      const auto index = here.affine(*store->index);
      REQUIRE(index);
      const auto range = here.interval(*index);
      REQUIRE(range);
      CHECK(range->low >= 0);
      CHECK(range->high < elements);
    };
    loops::visit(after.functions[*after.find("g_rolled")].body, facts, {.before = check, .after = {}, .expr = {}});
    CHECK(stores == (is_framed ? 3 : 4));
  }
}

TEST_CASE("sums that run on over planes keep their order") {
  for (const bool resets : {true, false}) {
    CAPTURE(resets);
    Network n;
    n.add_sums_of_planes("f", resets);
    n.add_sum_over_planes("g");
    const tir::Module module = n.with_entry({n.call("f", {n.in, n.a}), n.call("g", {n.a, n.out})});
    CHECK(rolled(module) == (resets ? "a 1" : ""));
  }
}

// --- What is no chain ----------------------------------------------------------------------------------------------

TEST_CASE("storage that is written again is that of two tensors") {
  Network n;
  n.add_window("f", 1, 1);
  n.add_window("g", 2, 0);
  CHECK(rolled(n.with_entry({n.call("f", {n.in, n.a}), n.call("g", {n.a, n.b}), n.call("f", {n.b, n.a}),
                             n.call("g", {n.a, n.out})})) == "");
}

TEST_CASE("what a chain reads it does not write") {
  Network n;
  n.add_window("f", 0, 0);
  n.add_window("g", 2, 0);
  n.add_copy_by_let("copy");
  CHECK(rolled(n.with_entry({n.call("copy", {n.in, n.a}), n.call("g", {n.a, n.b}), n.call("f", {n.b, n.a}),
                             n.call("copy", {n.a, n.out})})) == "");
}

TEST_CASE("what stands between stages and reads the first one's tensor finds it") {
  Network n;
  n.add_window("f", 0, 0);
  n.add_scan("scan");
  n.add_window("g", 1, 1);
  const VarId also = n.pointer("also", int32_type);
  tir::Module module = n.with_entry(
      {n.call("f", {n.in, n.a}), n.call("scan", {n.a, also}), n.call("g", {n.a, n.b}), n.call("f", {n.b, n.out})},
      {also});
  CHECK(rolled(module) == "b 1");
  const auto entry = read_plain_entry(module);
  REQUIRE(entry);
  const std::vector<CallRun> runs = call_runs(module, *entry, false);
  REQUIRE(runs.size() == 1);
  CHECK(rolled_segment(module, runs[0], 2, 4, Grain::rows));
  CHECK_FALSE(rolled_segment(module, runs[0], 0, 4, Grain::rows));
}

TEST_CASE("rows that only a later run reads are computed") {
  Network n;
  n.add_window("f", 1, 1);
  n.add_half("half");
  n.add_copy_by_let("copy");
  const VarId also = n.pointer("also", int32_type);
  CHECK(rolled(n.with_entry({n.call("f", {n.in, n.a}), n.call("half", {n.a, also}), n.call("copy", {n.a, n.out})},
                            {also})) == "");
}

TEST_CASE("an operator that reads every other row waits for two") {
  Network n;
  n.add_window("f", 1, 1);
  n.add_rows(
      "g",
      [&](const Network::Loops& v, const ExprRef& here) { return n.load(v.p0, add(here, mul(n.var(v.row), columns))); },
      rows / 2);
  CHECK(rolled(n.with_entry({n.call("f", {n.in, n.a}), n.call("g", {n.a, n.out})})) == "a 1");
}

TEST_CASE("operators of other forms are in no chain") {
  Network n;
  n.add_window("f", 1, 1);
  SUBCASE("with values beside loops") { n.add_copy_by_let("g"); }
  SUBCASE("with predicates") {
    n.add_rows("g", [&](const Network::Loops& v, const ExprRef& here) { return n.load(v.p0, here); });
    tir::for_each_block(n.module().functions.back().body, [&](Block& body) {
      auto* store = std::get_if<tir::Store>(&body.front().node);
      if (store != nullptr) store->predicate = less(store->index, make_int(elements));
    });
  }
  SUBCASE("that take the elements for bytes") {
    n.add_rows("g", [&](const Network::Loops& v, const ExprRef& here) {
      n.module().vars[v.p0.index()].element = int8_type;
      return tir::make_cast(int32_type, n.load(v.p0, mul(here, 4)));
    });
    n.module().functions.back().params[0].element = int8_type;
    n.module().functions.back().params[0].shape = std::vector<std::int64_t>{rows, 4 * columns};
  }
  CHECK(rolled(n.with_entry({n.call("f", {n.in, n.a}), n.call("g", {n.a, n.b}), n.call("f", {n.b, n.out})})) == "");
}

TEST_CASE("a tensor that is passed twice is in no chain") {
  Network n;
  n.add_window("f", 1, 1);
  const VarId again = n.pointer("again", int32_type);
  n.add_rows(
      "g", [&](const Network::Loops& v, const ExprRef& here) { return add(n.load(v.p0, here), n.load(again, here)); });
  tir::Function& g = n.module().functions.back();
  g.params.insert(g.params.begin(), g.params.front());
  g.params.front().var = again;
  g.params.front().name = "again";
  CHECK(rolled(n.with_entry({n.call("f", {n.in, n.a}), n.call("g", {n.a, n.a, n.out})})) == "");
}

TEST_CASE("sums that are handed from column to column stay in their order") {
  Network n;
  n.add_window("f", 0, 0);
  const Network::Loops v = n.loops_of("g");
  const VarId sum = n.pointer("sum", int32_type);
  const VarId twice = n.integer("twice");
  const auto reduced = [&](std::int64_t first, const ExprRef& column, const ExprRef& to, const ExprRef& begin,
                           Block beside = {}) {
    Block body = block(n.allocate(sum, 1));
    std::move(beside.begin(), beside.end(), std::back_inserter(body));
    const ExprRef element = n.load(v.p0, add(mul(n.var(v.row), columns), column));
    body.push_back(n.store(sum, 0, begin));
    body.push_back(n.loop(v.row, rows, block(n.store(sum, 0, add(n.load(sum, 0), element)))));
    body.push_back(n.store(v.p1, to, n.load(sum, 0)));
    return tir::Stmt{tir::For{v.column, make_int(first), make_int(columns), std::move(body)}};
  };
  const ExprRef here = n.var(v.column);
  Block body;
  std::string rings;
  SUBCASE("sums of their own") {
    body = block(reduced(0, here, here, make_int(0)));
    rings = "a 1";
  }
  SUBCASE("by the tensor") {
    body = block(n.store(v.p1, 0, make_int(0)), reduced(0, here, make_int(0), n.load(v.p1, 0)));
  }
  SUBCASE("of columns that are counted from 1") {
    const ExprRef column = sub(here, make_int(1));
    body = block(reduced(1, column, column, make_int(0)));
  }
  SUBCASE("with a value that two of the parts need") {
    body = block(reduced(0, here, here, n.var(twice), block(n.let(twice, mul(here, 2)))));
  }
  n.function("g", {v.p0, v.p1}, std::move(body));
  n.module().functions.back().params[0].shape = std::vector<std::int64_t>{rows, columns};
  n.module().functions.back().params[1].shape = std::vector<std::int64_t>{columns};
  CHECK(rolled(n.with_entry({n.call("f", {n.in, n.a}), n.call("g", {n.a, n.out})})) == rings);
}

TEST_CASE("columns that are counted from 1 are no pixels") {
  Network n;
  n.add_window("f", 1, 1);
  n.add_rows(
      "g", [&](const Network::Loops& v, const ExprRef& here) { return n.load(v.p0, here); }, rows, 1);
  n.add_window("h", 1, 1);
  const tir::Module module =
      n.with_entry({n.call("f", {n.in, n.a}), n.call("g", {n.a, n.b}), n.call("h", {n.b, n.out})});
  tir::Module after = module;
  Options options;
  options.rolling_grain = RollingGrain::pixels;
  CHECK_FALSE(roll(after, options).empty());
  check_same(module, after);
}

TEST_CASE("rings have no distances") {
  Network n;
  n.add_window("f", 0, 0);
  n.add_window("g", 1, 1);
  n.add_window("h", 0, 0);
  tir::Module module = n.with_entry({n.call("f", {n.in, n.a}), n.call("g", {n.a, n.b}), n.call("h", {n.b, n.out})});
  for (tir::Param& param : module.functions[module.entry].params) {
    param.is_tensor = true;
    param.shape = std::vector<std::int64_t>{rows, columns};
  }
  REQUIRE_FALSE(roll(module, {}).empty());
  std::vector<VarId> rings;
  for (const tir::Function& function : module.functions) {
    tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      if (allocate != nullptr && allocate->ring) rings.push_back(allocate->var);
    });
  }
  REQUIRE_FALSE(rings.empty());
  liveness::Options options;
  options.workspace_io = true;
  for (const liveness::StorageDistance& distance : liveness::find_distances(module, options)) {
    CHECK(std::ranges::count(rings, distance.below) == 0);
    CHECK(std::ranges::count(rings, distance.above) == 0);
  }
}

}  // namespace
}  // namespace usmp::transform::rolling_test

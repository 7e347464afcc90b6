// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Random programs, run and held against their live ranges: no value may be read from a buffer that was not live all the
// way since the value was written, and nothing may be written to a buffer that is not live.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "liveness/interpreter.hpp"
#include "liveness/result.hpp"

namespace usmp::liveness::testing::property_test {
namespace {

using tir::ExprKind;
using tir::ExprRef;
using tir::make_binary;
using tir::make_int;

class Generator {
 public:
  explicit Generator(std::uint32_t seed) : rng_(seed) {}

  tir::Module module() {
    for (int i = 0; i < 3; ++i) {
      Scope scope;
      for (const char* name : {"p", "q"}) scope.pointers.push_back({b_.pointer(name), param_room});
      const std::vector<tir::VarId> params{scope.pointers[0].var, scope.pointers[1].var};
      tir::Block body = block(scope, 3);
      b_.function("f" + std::to_string(i), params, std::move(body));
      ++functions_;
    }
    Scope scope;
    for (const char* name : {"in", "out"}) scope.pointers.push_back({b_.pointer(name), 8});
    inputs = {scope.pointers[0].var};
    outputs = {scope.pointers[1].var};
    b_.entry({inputs[0], outputs[0]}, block(scope, 3));
    return b_.build();
  }

  std::vector<tir::VarId> inputs;
  std::vector<tir::VarId> outputs;

 private:
  static constexpr std::int64_t param_room = 2;

  struct PointerVar {
    tir::VarId var;
    std::int64_t room;  // elements that may be accessed
  };
  struct LoopVar {
    tir::VarId var;
    std::int64_t extent;
  };
  struct Scope {
    std::vector<PointerVar> pointers;
    std::vector<LoopVar> loops;
  };

  std::size_t pick(std::size_t n) { return rng_() % n; }

  // By value: what a block declares ends with it.
  tir::Block block(Scope scope, int depth) {
    tir::Block body;
    const std::size_t count = 2 + pick(4);
    for (std::size_t i = 0; i < count; ++i) append(body, scope, depth);
    return body;
  }

  void append(tir::Block& body, Scope& scope, int depth) {
    switch (pick(depth > 0 ? 19 : 9)) {
      case 0:
      case 1:
        return allocate(body, scope);
      case 2:
        return alias(body, scope);
      case 3:
      case 4:
      case 5:
      case 6:
        return store(body, scope);
      case 7:
        return fill(body, scope);
      case 8:
        return call(body, scope);
      case 9:
      case 10:
      case 11:
      case 12:
        return loop(body, scope, depth);
      case 13:
        return branch(body, scope, depth);
      case 14:
        return countdown(body, scope, depth);
      case 15:
      case 16:
      case 17:
        return refilled(body, scope, depth);
      default:
        return stash(body, scope, depth);
    }
  }

  void allocate(tir::Block& body, Scope& scope) {
    const auto size = static_cast<std::int64_t>(1 + pick(5));
    const auto var = b_.pointer("b" + std::to_string(next_name_++));
    body.push_back(b_.allocate(var, size));
    scope.pointers.push_back({var, size});
  }

  void alias(tir::Block& body, Scope& scope) {
    const PointerVar& x = scope.pointers[pick(scope.pointers.size())];
    const PointerVar& y = scope.pointers[pick(scope.pointers.size())];
    const auto var = b_.pointer("a" + std::to_string(next_name_++));
    const auto offset = static_cast<std::int64_t>(pick(static_cast<std::size_t>(x.room)));
    switch (pick(4)) {
      case 0:
        body.push_back(b_.let(var, b_.var(x.var)));
        return scope.pointers.push_back({var, x.room});
      case 1:
        body.push_back(b_.let(var, b_.address_of(x.var, offset)));
        return scope.pointers.push_back({var, x.room - offset});
      case 2:
        body.push_back(b_.let(var, b_.access_ptr(x.var, offset, 1)));
        return scope.pointers.push_back({var, x.room - offset});
      default: {
        tir::Expr select;
        select.kind = ExprKind::select;
        select.type = tir::handle_type;
        select.operands = {condition(scope), b_.var(x.var), b_.var(y.var)};
        body.push_back(b_.let(var, std::make_shared<const tir::Expr>(select)));
        return scope.pointers.push_back({var, std::min(x.room, y.room)});
      }
    }
  }

  ExprRef index(const PointerVar& pointer, const Scope& scope) {
    std::vector<ExprRef> choices{make_int(static_cast<std::int64_t>(pick(static_cast<std::size_t>(pointer.room))))};
    for (const LoopVar& loop : scope.loops) {
      if (loop.extent <= pointer.room) choices.push_back(b_.var(loop.var));
    }
    return choices[pick(choices.size())];
  }

  ExprRef load(const Scope& scope) {
    const PointerVar& pointer = scope.pointers[pick(scope.pointers.size())];
    return b_.load(pointer.var, index(pointer, scope));
  }

  ExprRef condition(const Scope& scope) { return make_binary(ExprKind::mod, load(scope), make_int(2, int8_type)); }

  void store(tir::Block& body, Scope& scope) {
    const PointerVar& to = scope.pointers[pick(scope.pointers.size())];
    ExprRef value = make_binary(ExprKind::add, load(scope), pick(2) == 0 ? load(scope) : make_int(1, int8_type));
    if (functions_ > 0 && pick(8) == 0) value = make_binary(ExprKind::add, load(scope), call_expr(scope));
    body.push_back(b_.store(to.var, index(to, scope), value));
  }

  // Overwrites all of a buffer or almost all of it: the first is what lets it sink into a loop.
  void fill(tir::Block& body, Scope& scope) {
    const PointerVar to = scope.pointers[pick(scope.pointers.size())];
    const auto i = b_.integer("i");
    const std::int64_t extent = pick(4) == 0 ? std::max<std::int64_t>(1, to.room - 1) : to.room;
    tir::Block inner = tir::Block{b_.store(to.var, b_.var(i), load(scope))};
    if (pick(2) == 0) inner.push_back(b_.store(to.var, b_.var(i), b_.load(to.var, b_.var(i))));
    body.push_back(b_.loop(i, extent, std::move(inner)));
  }

  ExprRef call_expr(const Scope& scope) {
    std::vector<ExprRef> arguments;
    while (arguments.size() < 2) {
      const PointerVar& pointer = scope.pointers[pick(scope.pointers.size())];
      // The parameters of the function itself always have enough room.
      if (pointer.room >= param_room) arguments.push_back(b_.var(pointer.var));
    }
    const std::string callee = "f" + std::to_string(pick(functions_));
    return b_.call_expr(callee, std::move(arguments));
  }

  void call(tir::Block& body, Scope& scope) {
    if (functions_ == 0 || pick(6) == 0) {
      return body.push_back(
          b_.evaluate(b_.call_expr("library", {b_.var(scope.pointers[pick(scope.pointers.size())].var)})));
    }
    const ExprRef first = call_expr(scope);
    body.push_back(b_.evaluate(pick(4) == 0 ? make_binary(ExprKind::add, first, call_expr(scope)) : first));
  }

  void loop(tir::Block& body, Scope& scope, int depth) {
    const auto i = b_.integer("i");
    const auto extent = static_cast<std::int64_t>(pick(4));
    Scope inner = scope;
    inner.loops.push_back({i, std::max<std::int64_t>(extent, 2)});
    tir::Block statements = block(inner, depth - 1);
    const ExprRef bound = pick(5) == 0 ? condition(scope) : make_int(extent);
    body.push_back({tir::For{.var = i, .min = make_int(0), .extent = bound, .body = std::move(statements)}});
  }

  void branch(tir::Block& body, Scope& scope, int depth) {
    tir::Block then_body = block(scope, depth - 1);
    body.push_back(
        b_.when(condition(scope), std::move(then_body), pick(2) == 0 ? block(scope, depth - 1) : tir::Block{}));
  }

  // c[0] = 3; while (c[0]) { c[0] = c[0] - 1; ... } with c used nowhere else
  void countdown(tir::Block& body, Scope& scope, int depth) {
    const auto c = b_.pointer("c" + std::to_string(next_name_++));
    tir::Block inner = block(scope, depth - 1);
    inner.insert(inner.begin(), b_.store(c, 0, make_binary(ExprKind::add, b_.load(c, 0), make_int(-1, int8_type))));
    body.push_back(b_.allocate(c, 1));
    body.push_back(b_.store(c, 0, make_int(3, int8_type)));
    body.push_back({tir::While{b_.load(c, 0), std::move(inner)}});
  }

  // A buffer used in one loop only, whose body begins by overwriting it, or almost.
  void refilled(tir::Block& body, Scope& scope, int depth) {
    const auto size = static_cast<std::int64_t>(2 + pick(3));
    const auto var = b_.pointer("r" + std::to_string(next_name_++));
    const auto i = b_.integer("i");
    const auto j = b_.integer("j");
    const auto start = static_cast<std::int64_t>(pick(4) == 0);
    const std::int64_t extent = pick(4) == 0 ? size - 1 : size - start;
    tir::Block filling{b_.store(var, make_binary(ExprKind::add, b_.var(j), make_int(start)), load(scope))};
    Scope inner = scope;
    inner.pointers.push_back({var, size});
    if (pick(4) == 0) store(filling, inner);
    tir::Stmt fill = b_.loop(j, extent, std::move(filling));
    tir::Block statements{pick(5) == 0 ? b_.when(condition(scope), tir::Block{fill}) : fill};
    if (pick(5) == 0) {
      store(statements, inner);
      std::swap(statements[0], statements[1]);
    }
    for (int n = 0; n < 2; ++n) {
      const PointerVar& to = scope.pointers[pick(scope.pointers.size())];
      statements.push_back(b_.store(to.var, index(to, scope), b_.load(var, index({var, size}, scope))));
      if (pick(2) == 0) append(statements, inner, depth - 1);
    }
    store(statements, scope);
    body.push_back(b_.allocate(var, size));
    body.push_back(b_.loop(i, 3, std::move(statements)));
  }

  // A pointer goes through memory.
  void stash(tir::Block& body, Scope& scope, int depth) {
    const PointerVar x = scope.pointers[pick(scope.pointers.size())];
    const auto h = b_.pointer("h" + std::to_string(next_name_++), tir::handle_type);
    const auto a = b_.pointer("a" + std::to_string(next_name_++));
    body.push_back(b_.allocate(h, 1));
    body.push_back(b_.store(h, 0, b_.var(x.var)));
    append(body, scope, depth - 1);
    body.push_back(b_.let(a, b_.load(h, 0)));
    scope.pointers.push_back({a, x.room});
  }

  ModuleBuilder b_;
  std::mt19937 rng_;
  std::size_t functions_ = 0;
  int next_name_ = 0;
};

TEST_CASE("random programs never lose a value") {
  std::size_t reads = 0;
  std::size_t carried = 0;
  std::size_t free_pairs = 0;
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    Generator generator(seed);
    const tir::Module module = generator.module();
    Options options = with_io();
    options.inputs = generator.inputs;
    options.outputs = generator.outputs;
    const Analysis analysis = analyse(module, options);
    Interpreter interpreter(module, analysis, seed);
    interpreter.run(3000);
    for (const std::string& violation : interpreter.violations()) FAIL_CHECK("seed ", seed, ": ", violation);
    reads += interpreter.checked_reads();
    carried += interpreter.carried_reads();
    for (std::size_t i = 0; i < analysis.sites.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (!overlap(analysis.sites[i].live, analysis.sites[j].live)) ++free_pairs;
      }
    }
  }
  // The programs do pass values on, and the analysis does let buffers share.
  CHECK(reads > 100'000);
  CHECK(carried > 100'000);
  CHECK(free_pairs > 10'000);
}

}  // namespace
}  // namespace usmp::liveness::testing::property_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Pairs of parameters that may be one storage, by the calls of an entry.
#include "usmp/program/param_aliases.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "tir_support/module_builder.hpp"

namespace usmp::program::param_aliases_test {
namespace {

using tir::int32_type;
using tir::VarId;
using tir::testing::block;

// An entry that calls f(a, c) and f(b, d) unless told otherwise.
struct Calls : tir::testing::ModuleBuilder {
  VarId a = pointer("a", int32_type);
  VarId c = pointer("c", int32_type);
  VarId x = pointer("x", int32_type);
  VarId y = pointer("y", int32_type);
  VarId z = pointer("z", int32_type);

  ParamAliases aliases(tir::Block body_of_entry) {
    function("f", {a, c}, block(store(c, 0, load(a, 0))));
    entry({x, y}, std::move(body_of_entry));
    return ParamAliases(build());
  }
};

TEST_CASE_FIXTURE(Calls, "parameters may be one storage if any call says so") {
  const auto made = aliases(block(allocate(z, 8), call("f", {x, z}), call("f", {z, y})));
  CHECK(made.known(0));
  CHECK_FALSE(made.may_alias(a, c));
  CHECK(made.may_alias(a, a));
}

TEST_CASE_FIXTURE(Calls, "one call of several passes one storage twice") {
  const auto made = aliases(block(call("f", {x, y}), call("f", {y, y}), call("f", {x, y})));
  CHECK(made.known(0));
  CHECK(made.may_alias(a, c));
  CHECK(made.may_alias(c, a));
}

TEST_CASE_FIXTURE(Calls, "what one call passes once and another twice is no class of three") {
  const VarId b = pointer("b", int32_type);
  function("f", {a, b, c}, block(store(c, 0, load(a, 0))));
  entry({x, y}, block(call("f", {x, x, y}), call("f", {y, x, x}), call("f", {x, x, y})));
  const ParamAliases made(build());
  CHECK(made.may_alias(a, b));
  CHECK(made.may_alias(b, c));
  CHECK_FALSE(made.may_alias(a, c));
  CHECK(made.classes() == 2);
}

TEST_CASE_FIXTURE(Calls, "parameters that are all one storage are one class, not pairs") {
  std::vector<VarId> params;
  for (int n = 0; n < 500; ++n) params.push_back(pointer("p", int32_type));
  function("f", params, block(store(params[0], 0, tir::make_int(1))));
  entry({x, y}, block(call("f", std::vector<VarId>(params.size(), x))));
  const ParamAliases made(build());
  CHECK(made.classes() == 1);
  CHECK(made.may_alias(params.front(), params.back()));
}

TEST_CASE_FIXTURE(Calls, "a parameter of too many classes may be what any other is that is in one") {
  std::vector<VarId> params = {a};
  while (params.size() < ParamAliases::most_classes + 5) params.push_back(pointer("p", int32_type));
  function("f", params, block(store(params[0], 0, tir::make_int(1))));
  std::size_t partners = ParamAliases::most_classes;
  SUBCASE("many") {}
  SUBCASE("too many") { ++partners; }
  std::vector<VarId> storages;
  tir::Block body;
  for (std::size_t n = 0; n < params.size(); ++n) {
    storages.push_back(pointer("s", int32_type));
    body.push_back(allocate(storages.back(), 8));
  }
  const auto together = [&](std::size_t one, std::size_t other) {
    std::vector<VarId> arguments = storages;
    arguments[other] = arguments[one];
    body.push_back(call("f", arguments));
  };
  for (std::size_t n = 1; n <= partners; ++n) together(0, n);
  together(partners + 1, partners + 2);
  entry({x, y}, body);
  const ParamAliases made(build());
  CHECK(made.may_alias(a, params[1]));
  CHECK(made.may_alias(params[partners], a));
  CHECK_FALSE(made.may_alias(params[1], params[2]));
  CHECK_FALSE(made.may_alias(params[1], params[partners + 1]));
  CHECK(made.may_alias(a, params[partners + 1]) == (partners > ParamAliases::most_classes));
  CHECK(made.may_alias(params[partners + 1], a) == (partners > ParamAliases::most_classes));
  CHECK_FALSE(made.may_alias(a, params.back()));
}

TEST_CASE_FIXTURE(Calls, "nothing is known of functions that are passed anything but whole storage") {
  SUBCASE("an address") { CHECK_FALSE(aliases(block(call("f", {var(x), address_of(x, 1)}))).known(0)); }
  SUBCASE("a pointer of the entry") {
    CHECK_FALSE(aliases(block(let(z, address_of(x, 1)), call("f", {x, z}))).known(0));
  }
  SUBCASE("storage that is another pointer there") {
    const tir::Stmt pointer = scope(block(let(z, address_of(x, 1)), call("f", {x, z})));
    CHECK_FALSE(aliases(block(scope(block(allocate(z, 8))), pointer)).known(0));
  }
  SUBCASE("in one of two calls") {
    CHECK_FALSE(aliases(block(call("f", {x, y}), call("f", {var(x), address_of(x, 1)}))).known(0));
  }
  SUBCASE("too few") { CHECK_FALSE(aliases(block(call("f", {x}))).known(0)); }
  SUBCASE("by another function than the entry") {
    const VarId p = pointer("p", int32_type);
    const VarId q = pointer("q", int32_type);
    function("g", {p, q}, block(call("f", {p, q})));
    CHECK_FALSE(aliases(block(call("f", {x, y}), call("g", {x, y}))).known(0));
  }
  SUBCASE("never") { CHECK_FALSE(aliases({}).known(0)); }
}

}  // namespace
}  // namespace usmp::program::param_aliases_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Two functions joined into one, as text, and pairs that cannot be joined.
#include "usmp/program/join.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "tir_support/module_builder.hpp"
#include "usmp/tir/printer.hpp"

namespace usmp::program::join_test {
namespace {

using tir::VarId;
using namespace tir::testing;  // NOLINT(google-build-using-namespace)

// write(a, t): t[i] = a[i]; read(p, b, q): q[i] = p[i] + b[i]. The entry's storages are in, mid and out.
struct Fixture : tir::testing::ModuleBuilder {
  VarId in = pointer("in"), mid = pointer("mid"), out = pointer("out");
  VarId a = pointer("a"), t = pointer("t"), p = pointer("p"), b = pointer("b"), q = pointer("q");
  VarId i = integer("i"), k = integer("k");
  tir::Stmt between = allocate(mid, 8);

  Fixture() {
    function("write", {a, t}, block(loop(i, 8, block(store(t, var(i), load(a, var(i)))))));
    function("read", {p, b, q},
             block(let(k, tir::make_int(3)), store(q, var(k), add(load(p, var(k)), load(b, var(k))))));
  }
  std::optional<JoinedFunction> join(const std::vector<VarId>& first, const std::vector<VarId>& second) {
    return joined(module(), {module().functions[0], first}, {module().functions[1], second},
                  std::get<tir::Allocate>(between.node));
  }
  [[nodiscard]] std::string names(const std::vector<VarId>& vars) const {
    std::string all;
    for (const VarId id : vars) all += (all.empty() ? "" : " ") + module().var(id).name;
    return all;
  }
};

TEST_CASE_FIXTURE(Fixture, "what one writes for the other is a buffer inside") {
  module().functions[0].notes = {"w", "both"};
  module().functions[1].notes = {"both", "r"};
  const std::size_t before = module().vars.size();
  const auto made = join({in, mid}, {mid, in, out});
  REQUIRE(made);
  CHECK(made->function.name == "read");
  CHECK(made->function.notes == std::vector<std::string>{"w", "both", "r"});
  CHECK(names(made->arguments) == "in out");
  REQUIRE(made->function.params.size() == 2);
  CHECK(made->function.params[0].name == "a");
  CHECK(made->function.params[1].name == "q");
  // The buffer, the loop of the writer, the let and the store of the reader.
  REQUIRE(made->function.body.size() == 4);
  const auto& allocate = std::get<tir::Allocate>(made->function.body[0].node);
  CHECK(allocate.var == made->inner);
  CHECK(tir::allocation_size(allocate).bytes == 8);
  // Every variable is new, and each stands for one thing in both parts.
  for (const tir::Param& param : made->function.params) CHECK(param.var.index() >= before);
  const auto& written = std::get<tir::Store>(std::get<tir::For>(made->function.body[1].node).body[0].node);
  CHECK(written.storage == made->inner);
  CHECK(written.value->var == made->function.params[0].var);
  const auto& store = std::get<tir::Store>(made->function.body[3].node);
  CHECK(store.storage == made->function.params[1].var);
  CHECK(store.value->operands[0]->var == made->inner);
  CHECK(store.value->operands[1]->var == made->function.params[0].var);
  CHECK(store.index->var == std::get<tir::Let>(made->function.body[2].node).var);
  CHECK(store.index->var.index() >= before);
}

TEST_CASE_FIXTURE(Fixture, "the functions that are joined stay as they are") {
  const std::string before = tir::print(module());
  CHECK(join({in, mid}, {mid, in, out}));
  module().vars.resize(10);
  CHECK(tir::print(module()) == before);
}

TEST_CASE_FIXTURE(Fixture, "storage that is no whole number of elements cannot be a buffer") {
  module().vars[t.index()].element = module().vars[p.index()].element = tir::int32_type;
  CHECK(join({in, mid}, {mid, in, out}));
  between = allocate(mid, 7);
  CHECK_FALSE(join({in, mid}, {mid, in, out}));
}

TEST_CASE_FIXTURE(Fixture, "an element type that nobody says, or a size") {
  SUBCASE("no type") { module().vars[t.index()].element = tir::void_type; }
  SUBCASE("vectors") { module().vars[t.index()].element = tir::int32_type.with_lanes(2); }
  SUBCASE("no size") { between = allocate(mid, std::vector{var(k)}); }
  CHECK_FALSE(join({in, mid}, {mid, in, out}));
}

}  // namespace
}  // namespace usmp::program::join_test

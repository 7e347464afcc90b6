// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Constants of the same data: which of them have one place, and which keep their own.
#include <doctest/doctest.h>

#include "tir_support/module_builder.hpp"
#include "usmp/liveness/liveness.hpp"

namespace usmp::liveness::testing::share_constants_test {
namespace {

using namespace tir::testing;  // NOLINT(google-build-using-namespace): the builder's names

// Two operators, each with a constant that it copies to the output.
struct Program {
  ModuleBuilder builder;
  tir::VarId out = builder.pointer("out");
  tir::VarId first = builder.pointer("first");
  tir::VarId second = builder.pointer("second");
  tir::Stmt a = builder.constant(first, "weights");
  tir::Stmt b = builder.constant(second, "weights");
  std::string target = "c";  // of the second operator

  // Both nodes refer to one object, as the reader and the step `constants` make it.
  Program() { data(b).data = data(a).data; }

  static tir::AllocateConst& data(tir::Stmt& stmt) { return std::get<tir::AllocateConst>(stmt.node); }

  std::vector<Site> shared() {
    const tir::VarId p = builder.pointer("p");
    const tir::VarId q = builder.pointer("q");
    builder.function("f", {p}, block(a, builder.copy(p, first)));
    builder.function("g", {q}, block(b, builder.copy(q, second)), target);
    builder.entry({out}, block(builder.call("f", {out}), builder.call("g", {out})));
    const tir::Module module = builder.build();
    Analysis analysis = analyse(module);
    share_constants(analysis, module);
    return analysis.sites;
  }
};

TEST_CASE("constants of the same data have one place") {
  Program program;
  const std::vector<Site> sites = program.shared();
  REQUIRE(sites.size() == 1);
  CHECK(sites[0].var == program.first);
  CHECK(sites[0].size == 7);
  REQUIRE(sites[0].twins.size() == 1);
  CHECK(sites[0].twins[0].var == program.second);
  CHECK(sites[0].twins[0].function != sites[0].function);
}

TEST_CASE("equal bytes in two objects are not compared") {
  Program program;
  program.b = program.builder.constant(program.second, "weights");
  CHECK(program.shared().size() == 2);
}

TEST_CASE("constants that may be in other pools keep their own place") {
  Program program;
  Program::data(program.b).candidate_pools = {"flash"};
  CHECK(program.shared().size() == 2);
}

// An entry that hands two constants of the same data to operators, of which `g` reads as many bytes at once as told.
std::vector<Site> handed(const std::string& target, tir::DataType read) {
  ModuleBuilder builder;
  builder.module().constant_alignment = 1;
  const tir::VarId out = builder.pointer("out");
  const tir::VarId first = builder.pointer("first");
  const tir::VarId second = builder.pointer("second");
  const tir::VarId p = builder.pointer("p");
  const tir::VarId q = builder.pointer("q");
  const tir::VarId r = builder.pointer("r");
  const tir::VarId s = builder.pointer("s");
  tir::Stmt a = builder.constant(first, "weights!");
  tir::Stmt b = builder.constant(second, "weights!");
  Program::data(b).data = Program::data(a).data;
  const tir::ExprRef element = tir::make_load(read, r, tir::make_int(0));
  builder.function("f", {p, q}, block(builder.copy(q, p)));
  builder.function("g", {r, s}, block(builder.store(s, 0, tir::make_cast(int8_type, element))), target);
  builder.entry({out}, block(a, b, builder.call("f", {first, out}), builder.call("g", {second, out})));
  const tir::Module module = builder.build();
  Analysis analysis = analyse(module);
  share_constants(analysis, module);
  return analysis.sites;
}

TEST_CASE("constants that other targets access keep their own place") {
  CHECK(handed("c", int8_type).size() == 1);
  CHECK(handed("cmsis-nn", int8_type).size() == 2);
}

TEST_CASE("a place that constants share is aligned for each") {
  const std::vector<Site> sites = handed("c", tir::int32_type);
  REQUIRE(sites.size() == 1);
  CHECK(sites[0].alignment == 4);
}

TEST_CASE("a variable that stands for two data shares none of them") {
  Program program;
  ModuleBuilder& builder = program.builder;
  const tir::VarId p = builder.pointer("p");
  const tir::VarId q = builder.pointer("q");
  const tir::Stmt other = builder.constant(program.first, "another");
  builder.function("f", {p},
                   block(builder.scope(block(program.a, builder.copy(p, program.first))),
                         builder.scope(block(other, builder.copy(p, program.first)))));
  builder.function("g", {q}, block(program.b, builder.copy(q, program.second)));
  builder.entry({program.out}, block(builder.call("f", {program.out}), builder.call("g", {program.out})));
  const tir::Module module = builder.build();
  Analysis analysis = analyse(module);
  const std::size_t before = analysis.sites.size();
  share_constants(analysis, module);
  CHECK(analysis.sites.size() == before);
}

TEST_CASE("a constant that nothing reads is no twin") {
  ModuleBuilder builder;
  const tir::VarId out = builder.pointer("out");
  const tir::VarId used = builder.pointer("used");
  const tir::VarId unused = builder.pointer("unused");
  tir::Stmt a = builder.constant(used, "weights");
  tir::Stmt b = builder.constant(unused, "weights");
  Program::data(b).data = Program::data(a).data;
  builder.entry({out}, block(a, b, builder.copy(out, used)));
  const tir::Module module = builder.build();
  Analysis analysis = analyse(module);
  share_constants(analysis, module);
  CHECK(analysis.sites.size() == 2);
}

}  // namespace
}  // namespace usmp::liveness::testing::share_constants_test

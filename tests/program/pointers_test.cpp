// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads, writes and escapes of single statements, as lines of text.
#include "usmp/program/pointers.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tir_support/module_builder.hpp"
#include "usmp/support/error.hpp"

namespace usmp::program::pointers_test {
namespace {

using tir::VarId;
using namespace tir::testing;  // NOLINT(google-build-using-namespace)

// Writes down what is told, a line each: "read a b", "write a", "escape a", "call f(a, b)".
class Recorder : public PointerUses {
 public:
  explicit Recorder(const tir::Module& module, const std::string& function)
      : module_(module), reader_(module, *module.find(function), *this) {}

  PointerSet read(const tir::Stmt& stmt) { return reader_.read(stmt); }
  PointerReader& reader() { return reader_; }
  [[nodiscard]] std::string names(const PointerSet& pointers) const {
    std::string all;
    for (const Slot slot : pointers) all += (all.empty() ? "" : " ") + module_.var(reader_.vars()[slot]).name;
    return all;
  }
  std::vector<std::string> lines;
  std::vector<PointerCall> calls;
  std::vector<PointerAccess> accesses;

 private:
  void access(const PointerSet& pointers, const PointerAccess& access) override {
    if (pointers.empty()) return;
    accesses.push_back(access);
    const std::string what = access.reads && access.writes ? "both " : access.reads ? "read " : "write ";
    lines.push_back(what + names(pointers));
  }
  void escape(const PointerSet& pointers) override {
    if (!pointers.empty()) lines.push_back("escape " + names(pointers));
  }
  void call(PointerCall call) override {
    std::string line = "call " + call.callee;
    for (const PointerSet& argument : call.arguments) line += " (" + names(argument) + ")";
    lines.push_back(line + (call.is_walked ? "" : " not walked"));
    calls.push_back(std::move(call));
  }

  const tir::Module& module_;
  PointerReader reader_;
};

// The entry has parameters a, b and n; f(p, q) is the module's, npu(r) is opaque.
struct Fixture : tir::testing::ModuleBuilder {
  VarId a = pointer("a");
  VarId b = pointer("b");
  VarId n = integer("n");
  VarId x = pointer("x");

  Fixture() {
    function("f", {pointer("p"), pointer("q")}, {});
    function("npu", {pointer("r", tir::int32_type)}, {}, "cmsis-nn");
    entry({a, b, n}, {});
    built = build();
  }
  [[nodiscard]] tir::ExprRef chosen() const {
    return tir::testing::make_operator(tir::ExprKind::select, tir::handle_type,
                                       {less(var(n), tir::make_int(3)), var(a), var(b)});
  }
  [[nodiscard]] static tir::ExprRef let_in(VarId id, tir::ExprRef value, tir::ExprRef body) {
    tir::Expr expr;
    expr.kind = tir::ExprKind::let;
    expr.var = id;
    expr.type = body->type;
    expr.operands = {std::move(value), std::move(body)};
    return tir::make_expr(expr);
  }
  std::vector<std::string> lines(const tir::Stmt& stmt) {
    built.vars = module().vars;
    Recorder recorder(built, "main");
    (void)recorder.read(stmt);
    return recorder.lines;
  }
  std::string value_of(const tir::ExprRef& value) {
    built.vars = module().vars;
    Recorder recorder(built, "main");
    return recorder.names(recorder.read(let(x, value)));
  }

  using Lines = std::vector<std::string>;
  tir::Module built;
};

TEST_CASE_FIXTURE(Fixture, "loads read, stores write, and so do their indices and predicates") {
  CHECK(lines(store(a, load(b, 0), load(b, 1))) == Lines{"write a", "read b", "read b"});
  tir::Stmt some = set(a);
  std::get<tir::Store>(some.node).predicate = load(b, 0);
  CHECK(lines(some) == Lines{"write a", "read b"});
}

TEST_CASE_FIXTURE(Fixture, "a pointer that is passed on stands for what it is made of") {
  CHECK(value_of(var(a)) == "a");
  CHECK(value_of(address_of(b, 4)) == "b");
  CHECK(value_of(access_ptr(a, 0, 4)) == "a");
  CHECK(value_of(tir::make_cast(tir::handle_type, var(a))) == "a");
  CHECK(value_of(chosen()) == "a b");
  CHECK(value_of(tir::make_string("a")).empty());
  CHECK(lines(let(x, chosen())).empty());
}

TEST_CASE_FIXTURE(Fixture, "the load below address_of does not happen, its index is computed") {
  CHECK(lines(let(x, tir::make_call(tir::handle_type, "tir.address_of", {load(a, load(b, 0))}))) == Lines{"read b"});
}

TEST_CASE_FIXTURE(Fixture, "the variable of a let expression is what its value is, as far as it goes") {
  CHECK(value_of(let_in(x, var(b), var(x))) == "b");
  CHECK(lines(evaluate(let_in(x, chosen(), load(x, 0)))) == Lines{"read a b"});
  CHECK_THROWS_WITH_AS((void)lines(evaluate(load(x, 0))),
                       "main: variable 'x' points to storage that the function does not declare", Error);
}

TEST_CASE_FIXTURE(Fixture, "what is declared stands for itself") {
  built.vars = module().vars;
  Recorder recorder(built, "main");
  const Slot slot = recorder.reader().declare(x);
  CHECK(recorder.reader().declare(x) == slot);
  CHECK(recorder.reader().vars()[slot] == x);
  (void)recorder.read(copy(x, a));
  CHECK(recorder.lines == Lines{"write x", "read a"});
}

TEST_CASE_FIXTURE(Fixture, "a pointer that is taken for a number gets out of sight") {
  const VarId memory = pointer("memory", tir::handle_type);
  const auto number = [&] { return tir::make_cast(tir::int64_type, var(a)); };
  CHECK(lines(let(x, number())) == Lines{"escape a"});
  CHECK(lines(store(b, 0, var(a))) == Lines{"write b", "escape a"});
  CHECK(lines(evaluate(tir::make_call(tir::int32_type, "tir.ret", {chosen()}))) == Lines{"escape a b"});
  CHECK(lines(evaluate(tir::make_binary(tir::ExprKind::eq, var(a), var(b)))).empty());
  CHECK(lines(evaluate(var(a))).empty());
  (void)memory;
}

TEST_CASE_FIXTURE(Fixture, "what operators do with pointers") {
  const auto of = [&](const tir::DataType& type, const char* op, std::vector<tir::ExprRef> operands) {
    return lines(evaluate(tir::make_call(type, op, std::move(operands))));
  };
  CHECK(lines(let(x, access_ptr(a, 0, 4))).empty());
  CHECK(of(tir::int64_type, "tir.reinterpret", {var(a)}) == Lines{"escape a"});
  CHECK(of(tir::handle_type, "tir.reinterpret", {var(a)}).empty());
  CHECK(of(tir::bool_type, "tir.isnullptr", {var(a)}).empty());
  CHECK(of(tir::int32_type, "tir.tvm_struct_set", {var(a), tir::make_int(0), tir::make_int(1), var(b)}) ==
        Lines{"escape a b"});
  CHECK(of(tir::handle_type, "tir.tvm_struct_get", {var(a), tir::make_int(0), tir::make_int(1)}) == Lines{"both a"});
}

TEST_CASE_FIXTURE(Fixture, "of which operands a pointer is made") {
  const auto parts_of = [&](const tir::ExprRef& pointer) {
    std::vector<const tir::Expr*> parts;
    append_pointer_parts(*pointer, parts);
    std::string names;
    for (const tir::Expr* part : parts) names += module().var(part->var).name;
    return names;
  };
  const auto call = [](const char* op, std::vector<tir::ExprRef> operands) {
    return tir::make_call(tir::handle_type, op, std::move(operands));
  };
  const tir::ExprRef condition = less(var(n), tir::make_int(3));
  CHECK(parts_of(tir::make_cast(tir::handle_type, var(a))) == "a");
  CHECK(parts_of(address_of(a, 1)) == "a");
  CHECK(parts_of(call("tir.reinterpret", {var(a)})) == "a");
  CHECK(parts_of(access_ptr(a, 0, 4)) == "a");
  CHECK(parts_of(let_in(x, var(a), var(b))) == "b");
  CHECK(parts_of(chosen()) == "ab");
  CHECK(parts_of(call("tir.if_then_else", {condition, var(a), var(b)})) == "ab");
  CHECK(parts_of(call("tir.tvm_struct_get", {var(a), tir::make_int(0), tir::make_int(1)})).empty());
}

TEST_CASE_FIXTURE(Fixture, "a call is told wherever it stands") {
  CHECK(lines(store(b, 0, tir::make_cast(tir::testing::int8_type, call_expr("elsewhere", {})))) ==
        Lines{"write b", "call elsewhere not walked"});
}

TEST_CASE_FIXTURE(Fixture, "a function of the module is told by its arguments") {
  CHECK(lines(call("f", {address_of(a, 1), chosen()})) == Lines{"call f (a) (a b)"});
  CHECK_THROWS_WITH_AS((void)lines(call("f", {a})), "main: a call passes 1 arguments to 'f', which takes 2", Error);
}

TEST_CASE_FIXTURE(Fixture, "whoever is not looked into reads and writes all that it is handed") {
  CHECK(lines(call("elsewhere", {a, b})) == Lines{"both a b", "both a", "both b", "call elsewhere (a) (b) not walked"});
  Recorder recorder(built, "main");
  (void)recorder.read(call("npu", {a}));
  REQUIRE(recorder.accesses.size() == 2);
  CHECK(recorder.accesses[1].function == *built.find("npu"));
  CHECK(recorder.accesses[1].element_bytes == 4);
  // As the pointer is made.
  const VarId wide = pointer("wide", tir::int32_type);
  built.vars = module().vars;
  for (const tir::ExprRef& argument :
       {address_of(wide, 1), tir::make_call(tir::handle_type, "tir.tvm_access_ptr",
                                            {tir::make_call(tir::int32_type, "tir.type_annotation", {}), var(wide),
                                             tir::make_int(0), tir::make_int(4), tir::make_int(3)})}) {
    Recorder other(built, "main");
    (void)other.reader().declare(wide);
    (void)other.read(call("elsewhere", {argument}));
    CHECK(other.accesses.back().element_bytes == 4);
  }
}

TEST_CASE_FIXTURE(Fixture, "which arguments are variables as they are") {
  Recorder recorder(built, "main");
  (void)recorder.read(call("f", {var(a), address_of(a, 0)}));
  CHECK(recorder.calls.at(0).is_variable == std::vector<bool>{true, false});
  (void)recorder.read(evaluate(let_in(b, var(a), call_expr("f", {var(a), var(b)}))));
  CHECK(recorder.calls.at(1).is_variable == std::vector<bool>{true, false});
}

}  // namespace
}  // namespace usmp::program::pointers_test

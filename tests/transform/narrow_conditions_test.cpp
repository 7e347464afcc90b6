// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Near misses of the step "narrow": in each case one condition under which a tensor may be stored in a narrower type,
// or a copy left out, does not hold, and the module stays as it is.
#include <doctest/doctest.h>

#include <functional>

#include "tir_support/module_builder.hpp"
#include "transform/narrow.hpp"
#include "usmp/tir/printer.hpp"

namespace usmp::transform::narrow_conditions_test {
namespace {

using tir::Block;
using tir::DataType;
using tir::ExprKind;
using tir::ExprRef;
using tir::VarId;
using tir::testing::block;
using Builder = tir::testing::ModuleBuilder;
using namespace tir::testing;  // NOLINT(google-build-using-namespace)

tir::Stmt constant_of(VarId var, DataType type, std::string bytes) {
  const std::int64_t count = static_cast<std::int64_t>(bytes.size()) / type.bytes();
  const tir::Constant data{.type = type, .shape = {count}, .bytes = std::move(bytes)};
  return {tir::AllocateConst{var, type, std::make_shared<const tir::Constant>(data), {}}};
}

// in -> write(a, T) -> mid -> read(p, o) -> out, of 8 elements of 32 bits: T is what a test says, o is p + 1.
struct Network : Builder {
  VarId in = pointer("in", i32), out = pointer("out", i32), mid = pointer("mid");
  VarId a = pointer("a", i32), T = pointer("T", i32), i = integer("i");
  VarId p = pointer("p", i32), o = pointer("o", i32), j = integer("j");
  Block declarations = block(allocate(mid, 32));
  Block calls = block(call("write", {in, mid}), call("read", {mid, out}));
  std::vector<VarId> write_params = {a, T};
  Block write;
  Block read = block(loop(j, 8, block(store(o, var(j), add(load(p, var(j)), imm(1))))));

  [[nodiscard]] ExprRef element() const { return load(a, var(i)); }
  [[nodiscard]] ExprRef byte() const { return clip(element(), -128, 127); }
  void writes(ExprRef value) { write = block(loop(i, 8, block(store(T, var(i), std::move(value))))); }
  // The first four elements, and the others.
  void writes(ExprRef first, ExprRef second) {
    const ExprRef place = add(var(i), imm(4));
    write = block(loop(i, 4, block(store(T, var(i), std::move(first)), store(T, place, std::move(second)))));
  }
  tir::Module network() {
    function("write", write_params, write);
    function("read", {p, o}, read);
    Block body = declarations;
    body.insert(body.end(), calls.begin(), calls.end());
    entry({in, out}, std::move(body));
    return build();
  }
};

std::string text(const tir::Module& module, const std::string& name) {
  const auto found = module.find(name);
  return found ? tir::print(module, module.functions[*found]) : "";
}

tir::Module narrowed(const tir::Module& before) {
  tir::Module module = before;
  (void)narrow(module);
  return module;
}

// What the tensor has become.
std::string storage(Network& network) {
  const std::string main = text(narrowed(network.network()), "main");
  const std::size_t begin = main.find("mid: ") + 5;
  return main.substr(begin, main.find('\n', begin) - begin);
}

void check_alone(Network& network) {
  const tir::Module module = network.network();
  CHECK(tir::print(narrowed(module)) == tir::print(module));
}

// --- Steps -----------------------------------------------------------------------------------------------------------

TEST_CASE("narrow: a value that its own type would cut is not what is stored") {
  // C adds bytes as int, so that the sum is up to 254: that is no int8, and what readers compute is of int8.
  Network network;
  const VarId bytes = network.pointer("bytes", i8);
  network.write_params = {bytes, network.T};
  const ExprRef element = larger(network.load(bytes, network.var(network.i)), imm(0, i8));
  const ExprRef sum = add(element, element);
  network.writes(cast(i32, mul(sum, imm(100, i8))));
  CHECK(storage(network) == "int8[16]");
}

TEST_CASE("narrow: steps that only look alike") {
  Network network;
  const ExprRef wide = mul(network.byte(), imm(300));
  SUBCASE("are the same") {
    network.writes(sub(wide, imm(83)), sub(wide, imm(83)));
    CHECK(storage(network) == "int8[8]");
  }
  SUBCASE("something less a constant, and the constant less that") {
    network.writes(sub(network.byte(), imm(83)), sub(imm(83), network.byte()));
    CHECK(storage(network) == "int8[16]");
  }
  SUBCASE("sum and difference") {
    network.writes(add(network.byte(), imm(83)), sub(network.byte(), imm(83)));
    CHECK(storage(network) == "int8[16]");
  }
  SUBCASE("of two elements") {
    network.writes(mul(network.byte(), clip(network.load(network.a, 0), 0, 300)));
    CHECK(storage(network) == "int8[32]");
  }
}

TEST_CASE("narrow: costly steps stay where nobody knows how often they would run") {
  Network network;
  const VarId n = network.integer("n");
  network.writes(tir::make_call(i32, "tir.q_multiply_shift", {network.byte(), imm(1805621035), imm(31), imm(3)}));
  std::string expected = "int8[16]";
  SUBCASE("once") { expected = "int8[8]"; }
  SUBCASE("as often as data say") {
    network.read = block(tir::Stmt{tir::For{n, imm(0), network.load(network.o, 0), network.read}});
  }
  SUBCASE("as long as data say") {
    network.read = block(tir::Stmt{tir::While{binary(ExprKind::gt, network.load(network.o, 0), imm(0)), network.read}});
  }
  CHECK(storage(network) == expected);
}

TEST_CASE("narrow: products of 64 bits are costly") {
  Network network;
  const VarId n = network.integer("n");
  network.module().vars[network.T.index()].element = i64;
  network.module().vars[network.p.index()].element = i64;
  network.declarations = block(network.allocate(network.mid, 64));
  network.writes(mul(cast(i64, network.byte()), imm(300, i64)));
  const ExprRef element = cast(i32, network.load(network.p, network.var(network.j)));
  network.read = block(network.loop(network.j, 8, block(network.store(network.o, network.var(network.j), element))));
  std::string expected = "int8[8]";
  SUBCASE("once") {}
  SUBCASE("twice") {
    network.read = block(network.loop(n, 2, network.read));
    expected = "int8[32]";
  }
  CHECK(storage(network) == expected);
}

// --- Accesses --------------------------------------------------------------------------------------------------------

TEST_CASE("narrow: tensors of whose accesses not all are known stay") {
  Network network;
  network.writes(network.byte());
  SUBCASE("a load under a predicate") {
    tir::Expr some = *network.load(network.p, 1);
    some.operands.push_back(binary(ExprKind::gt, network.load(network.o, 0), imm(0)));
    network.read.push_back(network.store(network.o, 0, tir::make_expr(std::move(some))));
  }
  SUBCASE("operators of two types") {
    const VarId q = network.pointer("q", i16);
    network.function("halves", {q}, block(network.store(q, 0, imm(1, i16))));
    network.calls.push_back(network.call("halves", {network.mid}));
  }
  SUBCASE("vectors only") {
    const DataType pair = i32.with_lanes(2);
    tir::Expr lanes;
    lanes.kind = ExprKind::ramp;
    lanes.type = pair;
    lanes.operands = {imm(0), imm(1)};
    const ExprRef all = tir::make_load(pair, network.p, tir::make_expr(std::move(lanes)));
    network.read = block(network.evaluate(all));
  }
  SUBCASE("an argument that is made of it") {
    const VarId q = network.pointer("q", i32);
    network.function("use", {q}, {});
    network.calls.push_back(network.call("use", std::vector{network.load(network.mid, 0)}));
  }
  SUBCASE("a reader that gets no tensor, too") {
    network.calls.push_back(network.call("read", std::vector{tir::make_cast(tir::handle_type, imm(0)),  //
                                                             network.var(network.out)}));
  }
  SUBCASE("a reader that gets a pointer of the entry, too") {
    const VarId part = network.pointer("part", i32);
    const VarId other = network.pointer("other");
    network.declarations.push_back(network.allocate(other, 64));
    network.calls.push_back(network.let(part, network.address_of(other, 16)));
    network.calls.push_back(network.call("read", {part, network.out}));
  }
  SUBCASE("a variable that is a second tensor, which may not be there") {
    tir::Stmt second = network.allocate(network.mid, 32);
    std::get<tir::Allocate>(second.node).condition = binary(ExprKind::gt, network.load(network.in, 0), imm(0));
    network.calls.push_back(network.scope(block(std::move(second), network.call("read", {network.mid, network.out}))));
  }
  check_alone(network);
}

TEST_CASE("narrow: storage keeps what it is made of") {
  Network network;
  network.writes(clip(network.element(), -300, 300));
  SUBCASE("bytes stay bytes") { CHECK(storage(network) == "int8[16]"); }
  SUBCASE("elements stay elements") {
    network.module().vars[network.mid.index()].element = i32;
    network.declarations = block(network.allocate(network.mid, 8));
    CHECK(storage(network) == "int16[8]");
  }
}

// --- Constants -------------------------------------------------------------------------------------------------------

// write(a, T, table) stores table[0] + a, cut to a byte. The table is of 300s unless something stores to it.
struct WithTable : Network {
  VarId table = pointer("table", i32), t = pointer("t", i32);
  std::string bytes = std::string("\x2c\x01\0\0\x2c\x01\0\0", 8);
  WithTable() {
    write_params = {a, T, t};
    declarations.push_back(constant_of(table, i32, bytes));
    calls[0] = call("write", {in, mid, table});
    writes(add(byte(), load(t, 0)));
  }
};

TEST_CASE("narrow: what constants are is known only of those that stay as they are") {
  WithTable network;
  std::string expected = "int8[32]";
  const VarId z = network.pointer("z", i32);
  SUBCASE("which stay") { expected = "int8[8]"; }
  SUBCASE("one that the entry stores to") {
    network.calls.insert(network.calls.begin(), network.store(network.table, 0, network.load(network.in, 0)));
  }
  SUBCASE("one that the operator stores to") {
    network.write.insert(network.write.begin(), network.store(network.t, 0, network.load(network.a, 0)));
  }
  SUBCASE("a variable of two") {
    network.calls.push_back(network.scope(block(constant_of(network.table, i32, std::string("\0\0\0\x7f\0\0\0\x7f", 8)),
                                                network.call("write", {network.in, network.mid, network.table}))));
  }
  SUBCASE("one call passes something else") {
    network.calls.push_back(network.call("write", {network.in, network.mid, network.in}));
  }
  SUBCASE("one call passes a constant that holds more") {
    network.declarations.push_back(constant_of(z, i32, std::string("\0\0\0\x7f", 4)));
    network.calls.push_back(network.call("write", {network.in, network.mid, z}));
  }
  SUBCASE("one call passes a constant of another type") {
    network.declarations.push_back(constant_of(z, i16, std::string("\x2c\x01\x2c\x01", 4)));
    network.calls.push_back(network.call("write", {network.in, network.mid, z}));
  }
  SUBCASE("it is read in another type") { network.writes(add(network.byte(), tir::make_load(i64, network.t, imm(0)))); }
  CHECK(storage(network) == expected);
}

TEST_CASE("narrow: elements of constants have a sign") {
  WithTable network;
  network.declarations[1] = constant_of(network.table, i32, std::string("\xff\xff\xff\xff", 4));
  network.writes(network.load(network.t, 0));
  CHECK(storage(network) == "int8[8]");
}

// --- Copies ----------------------------------------------------------------------------------------------------------

// in -> copy(x, y) -> mid -> read(p, o) -> out, of 8 elements.
struct Copying : Network {
  VarId x = pointer("x", i32), y = pointer("y", i32), k = integer("k"), m = integer("m");
  std::vector<VarId> copy_params = {x, y};
  Block copy_body = block(loop(k, 8, block(store(y, var(k), load(x, var(k))))));

  Copying() { calls = block(call("copy", {in, mid}), call("read", {mid, out})); }
  tir::Module copying() {
    function("copy", copy_params, copy_body);
    return network();
  }
};

void check_kept(Copying& network) {
  const tir::Module module = network.copying();
  CHECK(tir::print(narrowed(module)) == tir::print(module));
}

TEST_CASE("narrow: a copy is left out") {
  Copying network;
  CHECK_FALSE(narrowed(network.copying()).find("copy"));
}

TEST_CASE("narrow: a function that copies not all, or not only that, is no copy") {
  Copying network;
  auto& only = std::get<tir::Store>(std::get<tir::For>(network.copy_body[0].node).body[0].node);
  SUBCASE("under a condition") {
    const ExprRef positive = binary(ExprKind::gt, network.load(network.x, network.var(network.k)), imm(0));
    network.copy_body = block(network.loop(network.k, 8, block(network.when(positive, block(tir::Stmt{only})))));
  }
  SUBCASE("with a second store behind") {
    network.copy_body.push_back(network.store(network.y, 3, network.load(network.x, 3)));
  }
  SUBCASE("with a second store in front") {
    network.copy_body.insert(network.copy_body.begin(), network.store(network.y, 3, imm(5)));
  }
  SUBCASE("in a loop that never runs") { network.copy_body = block(network.loop(network.m, 0, network.copy_body)); }
  SUBCASE("stored under a predicate") { only.predicate = binary(ExprKind::gt, network.load(network.x, 0), imm(0)); }
  SUBCASE("loaded under a predicate") {
    tir::Expr some = *only.value;
    some.operands.push_back(binary(ExprKind::gt, network.load(network.x, 0), imm(0)));
    only.value = tir::make_expr(std::move(some));
  }
  SUBCASE("of vectors") { only.value = tir::make_load(i32.with_lanes(2), network.x, network.var(network.k)); }
  SUBCASE("shifted") { only.value = network.load(network.x, add(network.var(network.k), imm(1))); }
  SUBCASE("to itself") {
    only.storage = network.x;
    network.read = block(network.store(network.o, 0, network.load(network.p, 0)));
  }
  check_kept(network);
}

TEST_CASE("narrow: a copy stays if one of the two is used in another way") {
  Copying network;
  SUBCASE("a call takes the address of an element") {
    network.read.push_back(network.evaluate(Builder::call_expr("external", {network.address_of(network.p, 0)})));
  }
  SUBCASE("a call gets the pointer") {
    network.read.push_back(network.evaluate(Builder::call_expr("external", {network.var(network.p)})));
  }
  SUBCASE("the entry reads the copy") { network.calls.push_back(network.evaluate(network.load(network.mid, 0))); }
  SUBCASE("the copy may not be there") {
    std::get<tir::Allocate>(network.declarations[0].node).condition =
        binary(ExprKind::gt, network.load(network.in, 0), imm(0));
  }
  SUBCASE("the source is a pointer of the entry") {
    const VarId part = network.pointer("part", i32);
    const VarId other = network.pointer("other");
    network.declarations.push_back(network.allocate(other, 64));
    network.declarations.push_back(network.let(part, network.address_of(other, 16)));
    network.calls[0] = network.call("copy", {part, network.mid});
  }
  check_kept(network);
}

TEST_CASE("narrow: the producer writes no output of another type or with more elements") {
  Copying network;
  const VarId z = network.pointer("z", i32);
  network.function("fill", {z},
                   block(network.loop(network.i, 8, block(network.store(z, network.var(network.i), imm(100000))))));
  network.calls = block(network.call("fill", {network.mid}), network.call("copy", {network.mid, network.out}));
  SUBCASE("another type") { network.module().vars[network.out.index()].element = i16; }
  SUBCASE("more elements") {
    network.copy_body = block(network.loop(
        network.k, 4,
        block(network.store(network.y, network.var(network.k), network.load(network.x, network.var(network.k))))));
    network.declarations = block(network.allocate(network.mid, 16));
  }
  check_kept(network);
}

}  // namespace
}  // namespace usmp::transform::narrow_conditions_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The step "narrow": what it does to small networks, and that each condition, where it does not hold, leaves them
// alone.
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>

#include "tir_support/module_builder.hpp"
#include "transform/narrow.hpp"
#include "transform/narrow_copies.hpp"
#include "usmp/program/constant_table.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tir/visit.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::transform::narrow_test {
namespace {

using tir::Block;
using tir::DataType;
using tir::ExprKind;
using tir::ExprRef;
using tir::VarId;
using tir::testing::block;
using Builder = tir::testing::ModuleBuilder;
using namespace tir::testing;  // NOLINT(google-build-using-namespace)

// in -> write(a, T) -> mid -> read(p, o) -> out, of 8 elements: T is int16(int8(clip(a))) - 83, o is p + 1.
struct Network : Builder {
  VarId in = pointer("in", i32), out = pointer("out", i32), mid = pointer("mid");
  VarId a = pointer("a", i32), T = pointer("T", i16), i = integer("i");
  VarId p = pointer("p", i16), o = pointer("o", i32), j = integer("j");
  ExprRef zero_point = imm(83, i16);
  Block declarations = block(allocate(mid, 16));
  Block calls = block(call("write", {in, mid}), call("read", {mid, out}));
  std::vector<VarId> write_params = {a, T};
  std::vector<VarId> read_params = {p, o};
  std::string write_target = "c";
  std::function<Block()> write = [this] { return block(loop(i, 8, block(store(T, var(i), value())))); };
  std::function<Block()> read = [this] {
    return block(loop(j, 8, block(store(o, var(j), add(cast(i32, load(p, var(j))), imm(1))))));
  };

  ExprRef value() { return sub(cast(i16, cast(i8, clip(load(a, var(i))))), zero_point); }

  tir::Module network() {
    function("write", write_params, write(), write_target);
    function("read", read_params, read());
    Block body = declarations;
    body.insert(body.end(), calls.begin(), calls.end());
    entry({in, out}, std::move(body));
    return build();
  }
};

// The pass by itself: `transform` takes it back where it does not lower the load.
Result narrowed(const tir::Module& module) {
  tir::Module changed = module;
  std::vector<Change> changes = narrow(changed);
  Result result(std::move(changed));
  result.steps.push_back({Step::narrow, 0, 0, std::move(changes)});
  return result;
}

std::string text(const tir::Module& module, const std::string& name) {
  const auto found = module.find(name);
  return found ? tir::print(module, module.functions[*found]) : "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void check_alone(Network& network) {
  const tir::Module module = network.network();
  const Result result = narrowed(module);
  CHECK(tir::print(result.module()) == tir::print(module));
  CHECK(result.changes().empty());
}

TEST_CASE("a tensor is stored where its value is narrowest, and its readers compute the rest") {
  Network network;
  const Result result = narrowed(network.network());
  CHECK(has(text(result.module(), "main"), "allocate mid: int8[8]"));
  CHECK(has(text(result.module(), "write"), "T: int8*"));
  CHECK(has(text(result.module(), "write"), "T[i] = int8(max(min(a[i], 127), -128))\n"));
  CHECK(has(text(result.module(), "read"), "p: int8*"));
  CHECK(has(text(result.module(), "read"), "o[j] = int32(int16(p[j]) - 83i16) + 1"));
  REQUIRE(result.changes().size() == 1);
  CHECK(result.changes()[0].function == "main");
  CHECK(result.changes()[0].text == "mid: int8 instead of int16");
}

TEST_CASE("of values that are as narrow, the last one is stored") {
  Network network;
  network.zero_point = imm(-128, i16);  // 0 … 255
  const Result result = narrowed(network.network());
  CHECK(has(text(result.module(), "write"), "T[i] = uint8(int16(int8(max(min(a[i], 127), -128))) - -128i16)"));
  CHECK(has(text(result.module(), "read"), "o[j] = int32(int16(p[j])) + 1"));
}

TEST_CASE("the range decides, not the type") {
  for (const std::int64_t bound : {127, 128, 255, 256, 32767, 32768}) {
    Network network;
    network.T = network.pointer("T", i32);
    network.p = network.pointer("p", i32);
    network.write_params = {network.a, network.T};
    network.read_params = {network.p, network.o};
    network.declarations = block(network.allocate(network.mid, 32));
    network.write = [&] {
      ExprRef value = larger(smaller(network.load(network.a, network.var(network.i)), imm(bound)),
                             imm(bound > 200 && bound < 300 ? 0 : -128));
      return block(
          network.loop(network.i, 8, block(network.store(network.T, network.var(network.i), std::move(value)))));
    };
    const std::string main = text(narrowed(network.network()).module(), "main");
    const int bytes = bound == 127 || bound == 255 ? 8 : bound == 32768 ? 32 : 16;
    CHECK_MESSAGE(has(main, "int8[" + std::to_string(bytes) + "]"), bound);
  }
}

TEST_CASE("uniform constants move as immediates, others do not") {
  for (const bool is_uniform : {true, false}) {
    Network network;
    const VarId table = network.pointer("table", i16);
    tir::Constant data{.type = i16,
                       .shape = {2},
                       .bytes = is_uniform ? std::string("\x53\0\x53\0", 4) : std::string("\x53\0\x54\0", 4)};
    network.zero_point = network.load(table, network.var(network.i));
    network.write = [&] {
      return block(
          tir::Stmt{tir::AllocateConst{table, i16, std::make_shared<const tir::Constant>(data), {}}},
          network.loop(network.i, 2, block(network.store(network.T, network.var(network.i), network.value()))));
    };
    const std::string read = text(narrowed(network.network()).module(), "read");
    CHECK(has(read, "int16(p[j]) - 83i16") == is_uniform);
  }
}

TEST_CASE("of constants, a function is told of those that it loads from") {
  Builder builder;
  const VarId i = builder.integer("i");
  const VarId out = builder.pointer("out", i8);
  tir::Block calls;
  for (int n = 0; n < 10; ++n) {
    const VarId constant = builder.pointer("c", i8);
    const VarId target = builder.pointer("p", i8);
    const tir::Constant data{.type = i8, .shape = {2}, .bytes = std::string(2, static_cast<char>(n))};
    builder.function(
        "f" + std::to_string(n), {target},
        block(tir::Stmt{tir::AllocateConst{constant, i8, std::make_shared<const tir::Constant>(data), {}}},
              builder.loop(i, 2, block(builder.store(target, builder.var(i), builder.load(constant, 0))))));
    calls.push_back(builder.call("f" + std::to_string(n), {out}));
  }
  builder.entry({out}, calls);
  const tir::Module module = builder.build();
  const program::ConstantTable table(module);
  for (const tir::Function& function : module.functions) {
    arith::Ranges ranges;
    CHECK(table.bind(ranges, function) == (function.is_entry ? 0 : 1));
  }
}

TEST_CASE("fixed-point products move to readers that read each element once") {
  for (const int times : {1, 2}) {
    Network network;
    const VarId k = network.integer("k");
    network.T = network.pointer("T", i32);
    network.p = network.pointer("p", i32);
    network.write_params = {network.a, network.T};
    network.read_params = {network.p, network.o};
    network.declarations = block(network.allocate(network.mid, 32));
    network.write = [&] {
      ExprRef value =
          tir::make_call(i32, "tir.q_multiply_shift",
                         {clip(network.load(network.a, network.var(network.i))), imm(1805621035), imm(31), imm(3)});
      return block(
          network.loop(network.i, 8, block(network.store(network.T, network.var(network.i), std::move(value)))));
    };
    const auto read = network.read;
    network.read = [&] { return block(network.loop(k, times, read())); };
    const tir::Module module = narrowed(network.network()).module();
    // Eight times the clipped value, at most 862, takes 16 bits.
    CHECK(has(text(module, "main"), times == 1 ? "mid: int8[8]" : "mid: int8[16]"));
    CHECK(has(text(module, "read"), "q_multiply_shift") == (times == 1));
  }
}

// The operator says how it is rounded, so its shift may become a literal.
TEST_CASE("a fixed-point product by one half moves with its operator") {
  for (const bool is_literal : {true, false}) {
    Network network;
    const VarId shift = network.pointer("shift", i32);
    network.T = network.pointer("T", i32);
    network.p = network.pointer("p", i32);
    network.write_params = {network.a, network.T};
    network.read_params = {network.p, network.o};
    network.declarations = block(network.allocate(network.mid, 32));
    network.write = [&] {
      tir::Constant data{.type = i32, .shape = {1}, .bytes = std::string("\4\0\0\0", 4)};
      ExprRef value = tir::make_call(i32, is_literal ? tir::Op::q_multiply_shift_half : tir::Op::q_multiply_shift,
                                     {clip(network.load(network.a, network.var(network.i))), imm(1 << 30), imm(31),
                                      is_literal ? imm(4) : network.load(shift, imm(0))});
      return block(
          tir::Stmt{tir::AllocateConst{shift, i32, std::make_shared<const tir::Constant>(data), {}}},
          network.loop(network.i, 8, block(network.store(network.T, network.var(network.i), std::move(value)))));
    };
    CHECK(has(text(narrowed(network.network()).module(), "read"),
              is_literal ? "usmp.q_multiply_shift_half(" : "tir.q_multiply_shift("));
  }
}

TEST_CASE("an operator that is called with several tensors treats them alike") {
  Network network;
  const VarId other = network.pointer("other");
  network.declarations.push_back(network.allocate(other, 32));
  network.calls = block(network.call("write", {network.in, network.mid}), network.call("write", {network.in, other}),
                        network.call("read", {network.mid, network.out}), network.call("read", {other, network.out}));
  SUBCASE("all are narrower") {
    const Result result = narrowed(network.network());
    CHECK(has(text(result.module(), "main"), "allocate mid: int8[8]"));
    CHECK(has(text(result.module(), "main"), "allocate other: int8[16]"));
    REQUIRE(result.changes().size() == 1);
    CHECK(result.changes()[0].text == "mid, other: int8 instead of int16");
  }
  SUBCASE("one that must stay keeps the others") {
    network.calls.push_back(network.evaluate(network.load(other, 0)));
    check_alone(network);
  }
  SUBCASE("an output of the network keeps the others") {
    network.calls.push_back(network.call("read", {network.out, network.out}));
    check_alone(network);
  }
}

TEST_CASE("all stores must end in the same steps") {
  Network network;
  const auto once = network.write;
  SUBCASE("they do") {
    network.write = [&] { return block(network.scope(once()), network.scope(once())); };
    CHECK(has(text(narrowed(network.network()).module(), "main"), "int8[8]"));
  }
  SUBCASE("other constants") {
    network.write = [&] {
      Block first = once();
      network.zero_point = imm(84, i16);
      return block(network.scope(std::move(first)), network.scope(once()));
    };
    check_alone(network);
  }
  SUBCASE("another range") {
    network.write = [&] {
      return block(network.scope(once()),
                   network.store(network.T, 0, sub(cast(i16, network.load(network.a, 0)), network.zero_point)));
    };
    check_alone(network);
  }
}

TEST_CASE("values that the store cuts stay where they are") {
  Network network;  // clip(a) · 300 leaves int16, though the value before fits int8
  network.write = [&] {
    ExprRef value = mul(cast(i16, clip(network.load(network.a, network.var(network.i)))), imm(300, i16));
    return block(network.loop(network.i, 8, block(network.store(network.T, network.var(network.i), std::move(value)))));
  };
  check_alone(network);
}

TEST_CASE("a tensor with an access that is not understood stays as it is") {
  Network network;
  const auto add_to_read = [&](tir::Stmt stmt) {
    const auto before = network.read;
    network.read = [before, stmt] {
      Block body = before();
      body.push_back(stmt);
      return body;
    };
  };
  SUBCASE("its address is taken by the reader") {
    add_to_read(network.evaluate(Builder::call_expr("external", {network.address_of(network.p, 0)})));
  }
  SUBCASE("the reader passes it on") {
    add_to_read(network.evaluate(Builder::call_expr("external", {network.var(network.p)})));
  }
  SUBCASE("the reader makes a pointer of it") {
    add_to_read(network.evaluate(Builder::call_expr("external", {network.access_ptr(network.p, 0, 8)})));
  }
  SUBCASE("it is read in another type") {
    add_to_read(network.store(network.o, 0, cast(i32, tir::make_load(i8, network.p, imm(0)))));
  }
  SUBCASE("it is read in another type before it is read in its own") {
    const auto before = network.read;
    const tir::Stmt first = network.store(network.o, 0, cast(i32, tir::make_load(i8, network.p, imm(0))));
    network.read = [before, first] {
      Block body = before();
      body.insert(body.begin(), first);
      return body;
    };
  }
  SUBCASE("it is read as vectors") {
    const DataType pair = i16.with_lanes(2);
    tir::Expr lanes;
    lanes.kind = ExprKind::ramp;
    lanes.type = i32.with_lanes(2);
    lanes.operands = {imm(0), imm(1)};
    add_to_read(network.evaluate(tir::make_load(pair, network.p, tir::make_expr(std::move(lanes)))));
  }
  SUBCASE("it is written under a predicate") {
    const auto before = network.write;
    network.write = [&network, before] {
      Block body = before();
      std::get<tir::Store>(std::get<tir::For>(body[0].node).body[0].node).predicate = imm(1, tir::bool_type);
      return body;
    };
  }
  SUBCASE("the writer is an operator of somebody else") { network.write_target = "cmsis-nn"; }
  SUBCASE("the entry stores to it") { network.calls.push_back(network.set(network.mid)); }
  SUBCASE("the entry passes a part of it") {
    network.calls.push_back(
        network.call("read", std::vector{network.address_of(network.mid, 2), network.var(network.out)}));
  }
  SUBCASE("the entry passes it to a function that the module lacks") {
    network.calls.push_back(network.call("external", {network.mid}));
  }
  SUBCASE("the reader is called with too few arguments") {
    network.calls.push_back(network.call("read", {network.in}));
  }
  SUBCASE("another operator calls the reader") {
    const VarId q = network.pointer("q", i16);
    const VarId r = network.pointer("r", i32);
    network.function("outer", {q, r}, block(network.call("read", {q, r})));
  }
  SUBCASE("it is no whole number of elements") { network.declarations = block(network.allocate(network.mid, 17)); }
  SUBCASE("it is allocated twice, and the reader is also given a constant") {
    const VarId constant = network.pointer("constant", i16);
    network.declarations.push_back(network.allocate(network.mid, 16));
    network.declarations.push_back(network.constant(constant, std::string(16, 1)));
    network.calls.push_back(network.call("read", {constant, network.out}));
  }
  SUBCASE("it is allocated under a condition") {
    std::get<tir::Allocate>(network.declarations[0].node).condition = imm(1, tir::bool_type);
  }
  SUBCASE("nothing stores to it") {
    network.write = [] { return Block{}; };
  }
  check_alone(network);
}

TEST_CASE("writers and readers of a narrow tensor say so") {
  Network network;
  const Result result = transform::transform(network.network(), {.steps = {Step::narrow}});
  const auto notes = [&](const char* function) {
    return result.module().functions[*result.module().find(function)].notes;
  };
  CHECK(notes("main") == std::vector<std::string>{"narrow: mid: int8 instead of int16"});
  CHECK(notes("write") == std::vector<std::string>{"narrow: T: int8 instead of int16"});
  CHECK(notes("read") == std::vector<std::string>{"narrow: p: int8 instead of int16"});
}

// --- Copies ----------------------------------------------------------------------------------------------------------

// in -> copy(x, y) -> mid -> read(p, o) -> out, of 8 elements of 16 bits.
struct Copying : Network {
  VarId x = pointer("x", i16), y = pointer("y", i16), k = integer("k"), m = integer("m");
  ExprRef written = add(mul(var(k), imm(4)), var(m));
  ExprRef source = written;
  std::int64_t rows = 2;

  Copying() {
    module().vars[in.index()].element = i16;
    declarations = block(allocate(mid, 16));
    calls = block(call("copy", {in, mid}), call("read", {mid, out}));
    write = [] { return Block{}; };
  }
  tir::Module copying() {
    function("copy", {x, y}, block(loop(k, rows, block(loop(m, 4, block(store(y, written, load(x, source))))))));
    return network();
  }
};

void check_kept(Copying& network) {
  const tir::Module module = network.copying();
  CHECK(tir::print(narrowed(module).module()) == tir::print(module));
}

TEST_CASE("readers of a copy read what was copied") {
  Copying network;
  const Result result = narrowed(network.copying());
  CHECK(text(result.module(), "main") ==
        "primfn main(in: int16*, out: int32*) target c entry {\n"
        "  tir.tvm_check_return(0, -1, tir.call_extern(\"read\", in, out))\n"
        "}\n");
  CHECK_FALSE(result.module().find("copy"));
  CHECK(result.module().functions[result.module().entry].is_entry);
  REQUIRE(result.changes().size() == 1);
  CHECK(result.changes()[0].text == "mid: in is read instead, without copy");
}

// Firmware has the addresses of inputs and outputs, too.
tir::Stmt unread() {
  return Builder::evaluate(
      tir::make_call(tir::int32_type, tir::Op::call_extern, {tir::make_string("hook"), imm(3, tir::int32_type)}));
}

TEST_CASE("readers of a copy of an input do not read what code that nobody has read may have written") {
  Copying network;
  SUBCASE("in front of them") {
    network.calls.insert(network.calls.begin() + 1, unread());
    check_kept(network);
  }
  SUBCASE("in a branch") {
    network.calls.insert(network.calls.begin() + 1, network.loop(network.i, 8, block(unread())));
    check_kept(network);
  }
  SUBCASE("but what runs in front of the copy or behind them does not matter") {
    network.calls.insert(network.calls.begin(), unread());
    network.calls.push_back(unread());
    CHECK(narrowed(network.copying()).changes().size() == 1);
  }
  SUBCASE("nor do hooks of devices") {
    network.calls.insert(network.calls.begin() + 1,
                         Builder::evaluate(tir::make_call(tir::int32_type, tir::Op::call_extern,
                                                          {tir::make_string("TVMDeviceM0Open")})));
    CHECK(narrowed(network.copying()).changes().size() == 1);
  }
}

TEST_CASE("a cast and a zero point in front of the network are computed where it is read") {
  Copying network;
  network.module().vars[network.x.index()].element = i8;
  network.module().vars[network.in.index()].element = i8;
  network.function(
      "copy", {network.x, network.y},
      block(network.loop(
          network.k, 8,
          block(network.store(network.y, network.var(network.k),
                              sub(cast(i16, network.load(network.x, network.var(network.k))), imm(-128, i16)))))));
  const tir::Module module = narrowed(network.network()).module();
  CHECK_FALSE(module.find("copy"));
  CHECK(has(text(module, "main"), "\"read\", in, out"));
  CHECK(has(text(module, "read"), "int32(int16(p[j]) - -128i16) + 1"));
}

TEST_CASE("a copy to an output is written by the producer") {
  Copying network;
  network.module().vars[network.out.index()].element = i16;
  network.calls = block(network.call("fill", {network.mid}), network.call("copy", {network.mid, network.out}));
  const VarId z = network.pointer("z", i16);
  network.function("fill", {z},
                   block(network.loop(network.i, 8, block(network.store(z, network.var(network.i), imm(1000, i16))))));
  SUBCASE("of one size") {
    CHECK(text(narrowed(network.copying()).module(), "main") ==
          "primfn main(in: int16*, out: int16*) target c entry {\n"
          "  tir.tvm_check_return(0, -1, tir.call_extern(\"fill\", out))\n"
          "}\n");
  }
  SUBCASE("but not in front of C that may leave the entry") {
    const tir::Stmt text =
        Builder::evaluate(tir::make_call(tir::int32_type, tir::Op::call_extern,
                                         {tir::make_string(tir::kept_text), tir::make_string("if (n) return 0;")}));
    network.calls.insert(network.calls.begin() + 1, text);
    check_kept(network);
  }
  SUBCASE("but not in front of code that nobody has read") {
    network.calls.insert(network.calls.begin() + 1, unread());
    check_kept(network);
  }
  SUBCASE("but not if the output is larger") {
    network.rows = 1;
    network.declarations = block(network.allocate(network.mid, 8));
    check_kept(network);
  }
  SUBCASE("but not if the tensor is larger") {
    network.declarations = block(network.allocate(network.mid, 18));
    check_kept(network);
  }
  SUBCASE("but not if the tensor is written again") {
    network.calls.push_back(network.call("fill", {network.mid}));
    check_kept(network);
  }
  SUBCASE("but not if the output is used elsewhere") {
    network.calls.insert(network.calls.begin(), network.call("fill", {network.out}));
    check_kept(network);
  }
}

TEST_CASE("a copy that is needed stays") {
  Copying network;
  const VarId z = network.pointer("z", i16);
  network.function("fill", {z},
                   block(network.loop(network.i, 8, block(network.store(z, network.var(network.i), imm(1000, i16))))));
  const auto called = [&](const char* callee, std::vector<VarId> arguments) { return network.call(callee, arguments); };
  SUBCASE("the source is written before the copy is read") {
    network.calls.insert(network.calls.begin() + 1, called("fill", {network.in}));
  }
  SUBCASE("something unknown may write the source before the copy is read") {
    const auto unknown = Builder::call_expr("external", {network.var(network.in)});
    network.calls.insert(network.calls.begin() + 1, network.evaluate(unknown));
  }
  SUBCASE("the copy is written, too") { network.calls.push_back(called("fill", {network.mid})); }
  SUBCASE("the copy is read before") {
    network.calls.insert(network.calls.begin(), called("read", {network.mid, network.out}));
  }
  SUBCASE("the copy is larger than what is copied") { network.declarations = block(network.allocate(network.mid, 18)); }
  SUBCASE("there are gaps") {
    network.written = network.source = add(mul(network.var(network.k), imm(5)), network.var(network.m));
  }
  SUBCASE("it does not start at the first element") { network.written = network.source = add(network.written, imm(1)); }
  SUBCASE("the elements change places") {
    network.source = add(mul(network.var(network.m), imm(2)), network.var(network.k));
  }
  SUBCASE("it is called in a branch") {
    network.calls[0] = network.when(imm(1, tir::bool_type), block(network.calls[0]));
  }
  SUBCASE("its result decides over a branch") {
    const ExprRef result = Builder::call_expr("copy", {network.var(network.in), network.var(network.mid)});
    network.calls = block(network.when(binary(ExprKind::eq, result, imm(0)), block(called("fill", {network.out}))),
                          called("read", {network.mid, network.out}));
  }
  SUBCASE("its statement calls something else, too") {
    const ExprRef result = Builder::call_expr("copy", {network.var(network.in), network.var(network.mid)});
    network.calls[0] = network.evaluate(add(result, Builder::call_expr("external", {})));
  }
  SUBCASE("the copy is read in a branch") {
    network.calls[1] = network.when(imm(1, tir::bool_type), block(network.calls[1]));
  }
  SUBCASE("a part of the source is passed") {
    network.calls[0] = network.call("copy", std::vector{network.address_of(network.in, 0), network.var(network.mid)});
  }
  SUBCASE("the copy is read in another type") {
    network.read = [&] { return block(network.store(network.o, 0, tir::make_load(i32, network.p, imm(0)))); };
  }
  check_kept(network);
}

TEST_CASE("a copy that is there to have the tensor in other pools stays") {
  Copying network;
  const VarId source = network.pointer("source", i16);
  const VarId z = network.pointer("z", i16);
  network.function("fill", {z},
                   block(network.loop(network.i, 8, block(network.store(z, network.var(network.i), imm(1000, i16))))));
  const auto in_pools = [&](VarId tensor, std::vector<std::string> pools) {
    tir::Stmt stmt = network.allocate(tensor, 16);
    std::get<tir::Allocate>(stmt.node).candidate_pools = std::move(pools);
    return stmt;
  };
  const auto copy_of_source = [&](std::vector<std::string> of_source, std::vector<std::string> of_copy) {
    network.declarations = block(in_pools(source, std::move(of_source)), in_pools(network.mid, std::move(of_copy)));
    network.calls = block(network.call("fill", {source}), network.call("copy", {source, network.mid}),
                          network.call("read", {network.mid, network.out}));
  };
  bool is_needed = true;
  SUBCASE("of an input") { network.declarations = block(in_pools(network.mid, {"fast"})); }
  SUBCASE("of a tensor for others") { copy_of_source({"slow"}, {"fast"}); }
  SUBCASE("of a tensor for any") { copy_of_source({}, {"fast"}); }
  SUBCASE("to an output") {
    network.module().vars[network.out.index()].element = i16;
    network.declarations = block(in_pools(network.mid, {"fast"}));
    network.calls = block(network.call("fill", {network.mid}), network.call("copy", {network.mid, network.out}));
  }
  SUBCASE("but not if they are the same") {
    copy_of_source({"fast", "slow"}, {"fast", "slow"});
    is_needed = false;
  }
  SUBCASE("nor if the copy may be anywhere") {
    copy_of_source({"slow"}, {});
    is_needed = false;
  }
  CHECK(narrowed(network.copying()).module().find("copy").has_value() == is_needed);
}

TEST_CASE("a source that is written after the last reader of the copy is read") {
  Copying network;
  const VarId z = network.pointer("z", i16);
  network.function("fill", {z},
                   block(network.loop(network.i, 8, block(network.store(z, network.var(network.i), imm(1000, i16))))));
  network.calls.push_back(network.call("fill", {network.in}));
  CHECK_FALSE(narrowed(network.copying()).module().find("copy"));
}

TEST_CASE("a copy that another one was in the way of goes when that one is gone") {
  Copying network;
  network.module().vars[network.out.index()].element = i16;
  const VarId unread = network.pointer("unread", i16);
  const VarId z = network.pointer("z", i16);
  network.function("fill", {z},
                   block(network.loop(network.i, 8, block(network.store(z, network.var(network.i), imm(1000, i16))))));
  network.declarations.push_back(network.allocate(unread, 8));
  network.calls = block(network.call("fill", {network.mid}), network.call("copy", {network.mid, network.out}),
                        network.call("copy", {network.out, unread}));
  tir::Module module = network.copying();
  std::size_t looks = 0;
  const std::vector<Change> changes = remove_copies(module, &looks);
  CHECK(text(module, "main") ==
        "primfn main(in: int16*, out: int16*) target c entry {\n"
        "  tir.tvm_check_return(0, -1, tir.call_extern(\"fill\", out))\n"
        "}\n");
  CHECK(changes.size() == 2);
  CHECK(looks == 3);
}

TEST_CASE("a copy of a copy of a copy is what the first one is of") {
  Copying network;
  std::vector<VarId> tensors = {network.in};
  network.calls.clear();
  for (int n = 0; n < 100; ++n) {
    tensors.push_back(network.pointer("t", i16));
    network.declarations.push_back(network.allocate(tensors.back(), 8));
    network.calls.push_back(network.call("copy", {tensors[tensors.size() - 2], tensors.back()}));
  }
  network.calls.push_back(network.call("read", {tensors.back(), network.out}));
  tir::Module module = network.copying();
  std::size_t looks = 0;
  CHECK(remove_copies(module, &looks).size() == 100);
  CHECK(has(text(module, "main"), "\"read\", in, out"));
  CHECK_FALSE(has(text(module, "main"), "copy"));
  CHECK(looks == 100);
}

TEST_CASE("copies of one tensor that stay are not looked at for each that goes") {
  Copying network;
  tir::Block reads;
  network.calls.clear();
  for (int n = 0; n < 200; ++n) {
    const VarId tensor = network.pointer("t", i16);
    network.declarations.push_back(network.allocate(tensor, n < 100 ? 9 : 8));  // larger than what is copied: stays
    network.calls.push_back(network.call("copy", {network.in, tensor}));
    reads.push_back(network.call("read", {tensor, network.out}));
  }
  network.calls.insert(network.calls.end(), reads.begin(), reads.end());
  tir::Module module = network.copying();
  std::size_t looks = 0;
  CHECK(remove_copies(module, &looks).size() == 100);
  CHECK(looks <= 200 + 1000 + 16 * 400);
}

TEST_CASE("a function that is still called is kept") {
  Copying network;
  const VarId other = network.pointer("other", i16);
  network.declarations.push_back(network.allocate(other, 9));  // larger than what is copied
  network.calls.push_back(network.call("copy", {network.in, other}));
  network.calls.push_back(network.call("read", {other, network.out}));
  const tir::Module module = narrowed(network.copying()).module();
  CHECK(module.find("copy"));
  CHECK(has(text(module, "main"), "\"read\", in, out"));
  CHECK(has(text(module, "main"), "\"copy\", in, other"));
}

}  // namespace
}  // namespace usmp::transform::narrow_test

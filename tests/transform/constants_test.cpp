// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The step "constants": what it does, and each condition without which it does nothing.
#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "usmp/tir/printer.hpp"
#include "usmp/tir/visit.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::transform::constants_test {
namespace {

using tir::DataType;
using tir::ExprRef;
using tir::TypeCode;
using tir::VarId;

constexpr DataType int8{TypeCode::int_, 8, 1};
constexpr DataType int16{TypeCode::int_, 16, 1};
constexpr DataType uint16{TypeCode::uint, 16, 1};
constexpr DataType uint32{TypeCode::uint, 32, 1};
constexpr DataType uint64{TypeCode::uint, 64, 1};
constexpr DataType float32{TypeCode::float_, 32, 1};

std::shared_ptr<const tir::Constant> data_of(DataType type, const std::vector<std::int64_t>& values) {
  auto constant = std::make_shared<tir::Constant>();
  constant->type = type;
  constant->shape = {static_cast<std::int64_t>(values.size())};
  for (const std::int64_t value : values) {
    for (int byte = 0; byte < type.element_bytes(); ++byte) {
      constant->bytes += static_cast<char>(static_cast<unsigned char>(static_cast<std::uint64_t>(value) >> (8 * byte)));
    }
  }
  return constant;
}

// An entry "main" with the output `out`, and functions beside it.
class Program {
 public:
  Program() {
    module_.functions.resize(1);
    module_.functions[0].name = "main";
    module_.functions[0].target = "c";
    module_.functions[0].is_entry = true;
    out = param(0, "out", tir::int32_type);
  }

  VarId var(const std::string& name, DataType type, DataType element = tir::void_type) {
    module_.vars.push_back({name, type, element, ""});
    return VarId(module_.vars.size() - 1);
  }
  VarId param(std::size_t function, const std::string& name, DataType element) {
    tir::Param added;
    added.var = var(name, tir::handle_type, element);
    added.name = name;
    added.is_tensor = true;
    added.element = element;
    added.shape = std::vector<std::int64_t>{4};
    module_.functions[function].params.push_back(added);
    return added.var;
  }
  // Names in alphabetical order behind "main".
  std::size_t function(const std::string& name, const std::string& target = "c") {
    module_.functions.emplace_back();
    module_.functions.back().name = name;
    module_.functions.back().target = target;
    return module_.functions.size() - 1;
  }
  tir::Block& body(std::size_t function = 0) { return module_.functions[function].body; }

  VarId constant(const std::string& name, DataType type, const std::vector<std::int64_t>& values,
                 std::size_t function = 0) {
    const VarId added = var(name, tir::handle_type, type);
    body(function).push_back({tir::AllocateConst{added, type, data_of(type, values), {}}});
    return added;
  }
  ExprRef use(VarId pointer) const { return tir::make_var(module_, pointer); }
  static ExprRef load(DataType type, VarId storage, std::int64_t index = 1) {
    return tir::make_load(type, storage, tir::make_int(index));
  }
  void store(const ExprRef& value, std::size_t function = 0) {
    const VarId to = function == 0 ? out : module_.functions[function].params.back().var;
    body(function).push_back({tir::Store{to, tir::make_int(0), value, {}}});
  }
  void call(const std::string& callee, std::vector<ExprRef> arguments, const char* op = "tir.call_extern",
            std::size_t function = 0) {
    arguments.insert(arguments.begin(), tir::make_string(callee));
    body(function).push_back({tir::Evaluate{tir::make_call(tir::int32_type, op, std::move(arguments))}});
  }

  Result result() const { return transform(module_, {.steps = {Step::constants}}); }
  // The module afterwards, and what was done.
  std::string text() const {
    const Result done = result();
    std::string all = tir::print(done.module());
    for (const Change& change : done.steps[0].changes) all += change.function + ": " + change.text + "\n";
    return all;
  }
  bool stays() const {
    return result().steps[0].changes.empty() && tir::print(result().module()) == tir::print(module_);
  }

  VarId out;

 private:
  tir::Module module_;
};

bool has(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

// The type that values of a type are stored in.
std::string stored(DataType type, const std::vector<std::int64_t>& values) {
  Program program;
  const VarId constant = program.constant("c", type, values);
  program.store(tir::make_cast(tir::int32_type, program.load(type, constant)));
  const Result done = program.result();
  const auto* kept = std::get_if<tir::AllocateConst>(&done.module().functions[0].body[0].node);
  if (kept == nullptr) return "literal";
  CHECK(kept->type == kept->data->type);
  CHECK(done.module().var(kept->var).element == kept->type);
  CHECK(kept->data->bytes == data_of(kept->type, values)->bytes);
  return tir::to_string(kept->type);
}

TEST_CASE("the narrowest type that holds all values, signed where both do") {
  CHECK(stored(int16, {-128, 127}) == "int8");
  CHECK(stored(int16, {-129, 127}) == "int16");
  CHECK(stored(int16, {-1, 128}) == "int16");
  CHECK(stored(int16, {0, 128}) == "uint8");
  CHECK(stored(int16, {0, 255}) == "uint8");
  CHECK(stored(int16, {0, 256}) == "int16");
  CHECK(stored(tir::int32_type, {-32768, 32767}) == "int16");
  CHECK(stored(tir::int32_type, {-32769, 0}) == "int32");
  CHECK(stored(tir::int32_type, {0, 65535}) == "uint16");
  CHECK(stored(tir::int32_type, {0, 65536}) == "int32");
  CHECK(stored(tir::int64_type, {-1, 1LL << 31}) == "int64");
  CHECK(stored(tir::int64_type, {0, 1LL << 31}) == "uint32");
  CHECK(stored(tir::int64_type, {std::numeric_limits<std::int32_t>::min(), 1}) == "int32");
  CHECK(stored(uint16, {0, 127}) == "int8");
  CHECK(stored(uint64, {0, -1}) == "uint64");
  CHECK(stored(int8, {0, 1}) == "int8");
}

TEST_CASE("a constant of equal elements is a literal where it is read") {
  CHECK(stored(tir::int32_type, {0, 0, 0}) == "literal");
  CHECK(stored(tir::int32_type, {70000, 70000}) == "literal");
  CHECK(stored(int8, {-3}) == "literal");
  CHECK(stored(float32, {0x3fc00000, 0x3fc00000}) == "literal");
  CHECK(stored(float32, {0x3fc00000, 0x3fc00001}) == "float32");
  CHECK(stored(float32, {0x7fc00000, 0x7fc00000}) == "float32");  // a NaN has no literal
  CHECK(stored(float32, {0x7f800000, 0x7f800000}) == "float32");  // nor has infinity without math.h
  CHECK(stored({TypeCode::float_, 16, 1}, {1, 1}) == "float16");
  CHECK(stored(tir::bool_type, {1, 1}) == "literal");
  CHECK(stored(tir::bool_type, {2, 2}) != "literal");  // what C makes of it depends on where it is read

  Program program;
  const VarId constant = program.constant("zeros", int16, {5, 5});
  program.store(tir::make_cast(tir::int32_type, program.load(int16, constant)));
  CHECK(has(program.text(), "out[0] = 5\n"));
  CHECK(has(program.text(), "main: zeros: all elements equal, replaced by a literal (4 bytes)\n"));
}

TEST_CASE("what is stored narrow is widened where it is read, by one cast") {
  Program program;
  const VarId constant = program.constant("w", int16, {-128, 127});
  program.store(tir::make_cast(tir::int32_type, program.load(int16, constant)));
  program.store(tir::make_cast(
      tir::int32_type, tir::make_binary(tir::ExprKind::add, program.load(int16, constant), tir::make_int(1, int16))));
  program.store(tir::make_cast(tir::int32_type, tir::make_cast(int8, program.load(int16, constant))));
  CHECK(has(program.text(), "out[0] = int32(w[1])\n"));
  CHECK(has(program.text(), "out[0] = int32(int16(w[1]) + 1i16)\n"));
  CHECK(has(program.text(), "constant w: int8[2] of 2 bytes"));
  CHECK(has(program.text(), "main: w: stored as int8 (2 bytes less)\n"));
}

TEST_CASE("casts that cut are kept") {
  Program program;
  const VarId constant = program.constant("w", tir::int32_type, {0, 200});
  program.store(tir::make_cast(tir::int32_type, tir::make_cast(int8, program.load(tir::int32_type, constant))));
  CHECK(has(program.text(), "out[0] = int32(int8(w[1]))\n"));
  CHECK(has(program.text(), "constant w: uint8[2] of 2 bytes"));
}

TEST_CASE("casts of literals that cut or change the sign are kept") {
  Program program;
  const VarId many = program.constant("many", int16, {300, 300});
  const VarId negative = program.constant("negative", int16, {-1, -1});
  program.store(tir::make_cast(tir::int32_type, tir::make_cast(int8, program.load(int16, many))));
  program.store(tir::make_cast(tir::int32_type, tir::make_cast(uint32, program.load(int16, negative))));
  program.store(tir::make_cast(tir::int32_type, program.load(int16, negative)));
  CHECK(has(program.text(), "out[0] = int32(int8(300i16))\n"));
  CHECK(has(program.text(), "out[0] = int32(uint32(-1i16))\n"));
  CHECK(has(program.text(), "out[0] = -1\n"));
}

TEST_CASE("a constant with another use than scalar loads of its type stays") {
  const auto stays = [](const std::function<void(Program&, VarId)>& use) {
    Program program;
    const VarId constant = program.constant("c", int16, {1, 2, 3, 4});
    program.store(tir::make_cast(tir::int32_type, program.load(int16, constant)));
    use(program, constant);
    return program.stays();
  };
  CHECK_FALSE(stays([](Program&, VarId) {}));
  CHECK(stays([](Program& program, VarId constant) {
    program.call("extern_c", {tir::make_call(tir::handle_type, "tir.address_of", {Program::load(int16, constant)})});
  }));
  CHECK(stays([](Program& program, VarId constant) { program.call("extern_c", {program.use(constant)}); }));
  CHECK(stays([](Program& program, VarId constant) {
    program.body().push_back({tir::Let{program.var("alias", tir::handle_type), program.use(constant)}});
  }));
  CHECK(stays([](Program& program, VarId constant) {
    program.store(tir::make_cast(tir::int32_type, Program::load({TypeCode::int_, 8, 1}, constant)));
  }));
  CHECK(stays([](Program& program, VarId constant) {
    tir::Expr load = *Program::load(int16, constant);
    load.operands.push_back(tir::make_int(1, tir::bool_type));
    program.store(tir::make_cast(tir::int32_type, tir::make_expr(load)));
  }));
  CHECK(stays([](Program& program, VarId constant) {
    tir::Expr ramp;
    ramp.kind = tir::ExprKind::ramp;
    ramp.type = tir::int32_type.with_lanes(2);
    ramp.operands = {tir::make_int(0), tir::make_int(1)};
    tir::Expr store_index = ramp;
    const ExprRef vector = tir::make_load(int16.with_lanes(2), constant, tir::make_expr(ramp));
    program.body().push_back({tir::Store{program.out, tir::make_expr(store_index), vector, {}}});
  }));
  CHECK(stays([](Program& program, VarId constant) {
    program.body().push_back({tir::Store{constant, tir::make_int(0), tir::make_int(0, int16), {}}});
  }));
}

// The operator says how it is rounded, whatever its operands become.
TEST_CASE("factor and shift of a fixed-point product may become literals") {
  for (const std::size_t operand : {1U, 3U}) {
    Program program;
    const std::int64_t value = operand == 1 ? 1 << 30 : -1;
    const VarId constant = program.constant("c", tir::int32_type, {value, value});
    std::vector<ExprRef> operands = {Program::load(tir::int32_type, program.out), tir::make_int(1 << 30),
                                     tir::make_int(31), tir::make_int(-1)};
    operands[operand] = Program::load(tir::int32_type, constant);
    program.store(tir::make_call(tir::int32_type, "tir.q_multiply_shift", operands));
    CHECK_FALSE(program.stays());
  }
}

TEST_CASE("a constant that is declared in several places stays") {
  for (const std::int64_t first : {300, 2}) {
    Program program;
    const VarId constant = program.var("c", tir::handle_type, int16);
    for (const std::int64_t value : {first, 302 - first}) {
      tir::Block inner;
      inner.push_back({tir::AllocateConst{constant, int16, data_of(int16, {1, value}), {}}});
      const ExprRef loaded = tir::make_cast(tir::int32_type, program.load(int16, constant));
      inner.push_back({tir::Store{program.out, tir::make_int(0), loaded, {}}});
      program.body().push_back({tir::Scope{std::move(inner)}});
    }
    CHECK(program.stays());
  }
}

TEST_CASE("a constant that is declared of another type than its data stays") {
  for (const DataType read : {int16, uint16}) {
    Program program;
    const VarId constant = program.var("c", tir::handle_type, uint16);
    program.body().push_back({tir::AllocateConst{constant, uint16, data_of(int16, {1, 2}), {}}});
    program.store(tir::make_cast(tir::int32_type, program.load(read, constant)));
    CHECK(program.stays());
  }
}

TEST_CASE("a constant without elements stays") {
  Program program;
  const VarId constant = program.var("c", tir::handle_type, int16);
  auto data = std::make_shared<tir::Constant>();
  data->type = int16;
  data->shape = {0};
  program.body().push_back({tir::AllocateConst{constant, int16, data, {}}});
  program.store(tir::make_cast(tir::int32_type, program.load(int16, constant, 0)));
  CHECK(program.stays());
}

// --- Equal ones

TEST_CASE("equal constants of a block are stored once") {
  Program program;
  const VarId a = program.constant("a", tir::int32_type, {1, 1 << 20});
  const VarId b = program.constant("b", tir::int32_type, {1, 1 << 20});
  program.store(program.load(tir::int32_type, a));
  program.store(program.load(tir::int32_type, b, 0));
  CHECK_FALSE(has(program.text(), "constant b"));
  CHECK(has(program.text(), "out[0] = a[0]\n"));
  CHECK(has(program.text(), "main: b: the same as a (8 bytes)\n"));
}

TEST_CASE("constants of other types, values or pools, and those of inner blocks are not merged") {
  const auto merged = [](const std::function<void(Program&)>& second) {
    Program program;
    program.store(program.load(tir::int32_type, program.constant("a", tir::int32_type, {1, 1 << 20})));
    second(program);
    return has(program.text(), "the same as");
  };
  CHECK(merged([](Program& program) {
    program.store(program.load(tir::int32_type, program.constant("b", tir::int32_type, {1, 1 << 20})));
  }));
  CHECK_FALSE(merged([](Program& program) {
    program.store(program.load(tir::int32_type, program.constant("b", tir::int32_type, {1, (1 << 20) + 1})));
  }));
  CHECK_FALSE(merged([](Program& program) {
    const VarId b = program.constant("b", float32, {1, 1 << 20});
    program.store(tir::make_cast(tir::int32_type, program.load(float32, b)));
  }));
  CHECK_FALSE(merged([](Program& program) {
    const VarId b = program.constant("b", tir::int32_type, {1, 1 << 20});
    std::get<tir::AllocateConst>(program.body().back().node).candidate_pools = {"flash"};
    program.store(program.load(tir::int32_type, b));
  }));
  CHECK_FALSE(merged([](Program& program) {
    const VarId b = program.constant("b", tir::int32_type, {1, 1 << 20});
    program.store(program.load(tir::int32_type, b));
    tir::Block inner;
    inner.push_back(std::move(program.body()[program.body().size() - 2]));
    inner.push_back(std::move(program.body().back()));
    program.body().resize(program.body().size() - 2);
    program.body().push_back({tir::Scope{std::move(inner)}});
  }));
  CHECK_FALSE(merged([](Program& program) {
    const VarId b = program.constant("b", tir::int32_type, {1, 1 << 20});
    program.call("extern_c", {program.use(b)});
  }));
}

TEST_CASE("data that two constants share is stored in the type of each") {
  Program program;
  const VarId tensor = program.constant("small", tir::int32_type, {1, 2});
  const auto data = std::get<tir::AllocateConst>(program.body().back().node).data;
  const std::size_t op = program.function("op");
  const VarId p = program.param(op, "p", tir::int32_type);
  (void)program.param(op, "result", tir::int32_type);
  program.store(program.load(tir::int32_type, p), op);
  const VarId large = program.constant("large", tir::int32_type, {1, 300});
  const VarId same = program.constant("same", tir::int32_type, {1, 2});
  std::get<tir::AllocateConst>(program.body().back().node).data = data;
  // One parameter gets `large` in one call and `same`, whose data `small` has too, in the other: 16 bits for both.
  program.call("op", {program.use(large), program.use(program.out)});
  program.call("op", {program.use(same), program.use(program.out)});
  program.store(program.load(tir::int32_type, tensor));
  const std::string text = program.text();
  CHECK(has(text, "constant small: int8[2] of 2 bytes"));
  CHECK(has(text, "constant large: int16[2] of 4 bytes"));
  CHECK(has(text, "constant same: int16[2] of 4 bytes"));
}

TEST_CASE("equal constants of several functions share their data") {
  Program program;
  program.store(program.load(tir::int32_type, program.constant("a", tir::int32_type, {1, 1 << 20})));
  const std::size_t other = program.function("other");
  (void)program.param(other, "p", tir::int32_type);
  program.store(program.load(tir::int32_type, program.constant("b", tir::int32_type, {1, 1 << 20}, other)), other);
  const Result done = program.result();
  const auto data = [&](std::size_t function) {
    return std::get<tir::AllocateConst>(done.module().functions[function].body[0].node).data;
  };
  CHECK(data(0) == data(1));
  CHECK(has(program.text(), "other: b: shares the data of an equal constant (8 bytes)\n"));
}

// --- Constants that callers pass

struct Passing {
  Program program;
  std::size_t op = 0;
  VarId weights;

  Passing() {
    op = program.function("op");
    weights = program.param(op, "weights", int16);
    const VarId result = program.param(op, "result", tir::int32_type);
    (void)result;
    program.store(tir::make_cast(tir::int32_type, Program::load(int16, weights)), op);
  }
  void pass(VarId constant, const char* how = "tir.call_extern") {
    std::vector<ExprRef> arguments = {program.use(constant), program.use(program.out)};
    if (std::string(how) == "tir.tvm_call_cpacked") {
      arguments.push_back(tir::make_call(tir::handle_type, "tir.reinterpret", {tir::make_int(0, tir::int64_type)}));
    }
    program.call("op", std::move(arguments), how);
  }
};

TEST_CASE("a parameter that gets constants from all callers changes with them") {
  Passing test;
  test.pass(test.program.constant("a", int16, {1, 2}));
  test.pass(test.program.constant("b", int16, {3, 255}));
  const std::string text = test.program.text();
  CHECK(has(text, "primfn op(weights: uint8*, result: int32*)"));
  CHECK(has(text, "result[0] = int32(weights[1])\n"));
  CHECK(has(text, "constant a: uint8[2]"));
  CHECK(has(text, "constant b: uint8[2]"));
}

TEST_CASE("data that two groups share are stored in the type of each") {
  Program program;
  const auto op = [&](const char* name) {
    const std::size_t function = program.function(name);
    const VarId weights = program.param(function, "weights", int16);
    (void)program.param(function, "result", tir::int32_type);
    program.store(tir::make_cast(tir::int32_type, Program::load(int16, weights)), function);
  };
  op("narrow");
  op("wide");
  const VarId a = program.constant("a", int16, {1, 2});
  const VarId b = program.constant("b", int16, {1, 2});
  const VarId c = program.constant("c", int16, {3, 255});
  std::get<tir::AllocateConst>(program.body()[1].node).data = std::get<tir::AllocateConst>(program.body()[0].node).data;
  program.call("narrow", {program.use(a), program.use(program.out)});
  program.call("wide", {program.use(b), program.use(program.out)});
  program.call("wide", {program.use(c), program.use(program.out)});
  const Result done = program.result();
  for (const std::size_t i : {0U, 1U, 2U}) {
    const auto& stored = std::get<tir::AllocateConst>(done.module().functions[0].body[i].node);
    CHECK(tir::to_string(stored.type) == (i == 0 ? "int8" : "uint8"));
    CHECK(stored.data->type == stored.type);
  }
}

TEST_CASE("a parameter that is always the same literal is dropped") {
  for (const char* how : {"tir.call_extern", "tir.tvm_call_cpacked"}) {
    Passing test;
    test.pass(test.program.constant("a", int16, {7, 7}), how);
    test.pass(test.program.constant("b", int16, {7}), how);
    const std::string text = test.program.text();
    CHECK(has(text, "primfn op(result: int32*)"));
    CHECK(has(text, "result[0] = 7\n"));
    CHECK_FALSE(has(text, "constant"));
    CHECK(has(text, "(\"op\", out"));
  }
}

TEST_CASE("constants that callers pass stay where callers do not agree") {
  {  // literals of different values are narrowed only
    Passing test;
    test.pass(test.program.constant("a", int16, {7, 7}));
    test.pass(test.program.constant("b", int16, {8, 8}));
    CHECK(has(test.program.text(), "primfn op(weights: int8*, result: int32*)"));
  }
  {  // one is no constant
    Passing test;
    test.pass(test.program.constant("a", int16, {7, 7}));
    test.pass(test.program.out);
    CHECK(test.program.stays());
  }
  for (const bool is_first : {false, true}) {  // one is of another type
    Passing test;
    test.pass(test.program.constant("a", is_first ? uint16 : int16, {7, 9}));
    test.pass(test.program.constant("b", is_first ? int16 : uint16, {7, 9}));
    CHECK(test.program.stays());
  }
  {  // the function looks at the address
    Passing test;
    test.pass(test.program.constant("a", int16, {7, 9}));
    test.program.call("extern_c", {test.program.use(test.weights)}, "tir.call_extern", test.op);
    CHECK(test.program.stays());
  }
}

TEST_CASE("a function of another code generator gets its constants as they are") {
  Program program;
  const std::size_t foreign = program.function("op", "cmsis-nn");
  (void)program.param(foreign, "weights", int16);
  program.call("op", {program.use(program.constant("a", int16, {7, 9}))});
  CHECK(program.stays());
}

TEST_CASE("constants are followed through functions that hand them on") {
  Passing test;
  const std::size_t middle = test.program.function("pass");
  const VarId handed = test.program.param(middle, "handed", int16);
  const VarId result = test.program.param(middle, "result", tir::int32_type);
  test.program.call("op", {test.program.use(handed), test.program.use(result)}, "tir.call_extern", middle);
  test.program.call("pass",
                    {test.program.use(test.program.constant("a", int16, {7, 9})), test.program.use(test.program.out)});
  const std::string text = test.program.text();
  CHECK(has(text, "primfn pass(handed: int8*, result: int32*)"));
  CHECK(has(text, "primfn op(weights: int8*, result: int32*)"));
  CHECK(has(text, "constant a: int8[2]"));
}

}  // namespace
}  // namespace usmp::transform::constants_test

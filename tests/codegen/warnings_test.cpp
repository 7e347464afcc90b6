// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What a compiler would warn of, found by random modules. All compilers are asked, and what is computed is compared.
#include <doctest/doctest.h>

#include "codegen/builders.hpp"
#include "codegen/case_program.hpp"

namespace usmp::codegen::testing::warnings_test {
namespace {

TEST_CASE("conditions that happen to be known compile without a warning") {
  CaseProgram program;
  const DataType u64_type = u64;
  program.operation("known", {ints({5, 6})}, ints({1, 7}), [&](const auto& in, VarId out) {
    const ExprRef first = program.load(in[0], 0);
    const ExprRef never = binary(ExprKind::gt, imm(0, u64_type), imm(-8, u64_type));
    const ExprRef itself = less(first, op("likely", i32, {first}));
    const ExprRef both = op("bitwise_and", boolean, {less(first, imm(9)), op("likely", boolean, {never})});
    const VarId x = program.var("x", i32);
    const ExprRef unused = make_operator(ExprKind::let, i32, {add(first, imm(1)), imm(1)}, x);
    const VarId i = program.var("i", u32);
    const ExprRef none = binary(ExprKind::mod, select(imm(1, boolean), imm(20, u32), imm(7, u32)), imm(5, u32));
    return Block{store(out, imm(0), select(both, imm(2), select(itself, imm(3), unused))), store(out, imm(1), imm(7)),
                 loop(i, imm(0, u32), none, {store(out, imm(1), imm(8))})};
  });
  program.operation("counted bits are of the expression's type", {ints({5})}, ints({1}),
                    [&](const auto& in, VarId out) {
                      const ExprRef number = tir::make_cast(u32, program.load(in[0], 0));
                      const ExprRef less = sub(op("popcount", u32, {number}), op("popcount", u32, {imm(7, u32)}));
                      return Block{store(out, imm(0), tir::make_cast(i32, binary(ExprKind::gt, less, imm(5, u32))))};
                    });
  program.operation("bitwise operators among conditions", {bools({1})}, ints({5}), [&](const auto& in, VarId out) {
    const ExprRef bit = program.load(in[0], 0);
    const ExprRef mixed = op("bitwise_or", boolean, {negation(bit), bit});
    return Block{store(out, imm(0), select(tir::make_cast(boolean, mixed), imm(5), imm(6)))};
  });
  program.operation("bits of a bool", {bools({1})}, ints({-2, -2}), [&](const auto& in, VarId out) {
    const ExprRef wide = op("bitwise_not", i32, {tir::make_cast(i32, program.load(in[0], 0))});
    const ExprRef narrow = op("bitwise_not", u8, {tir::make_cast(u8, program.load(in[0], 0))});
    return Block{store(out, imm(0), wide), store(out, imm(1), tir::make_cast(i32, narrow))};
  });
  program.operation("a bool beside a large number", {bools({1})}, ints({0}), [&](const auto& in, VarId out) {
    const ExprRef bit = tir::make_cast(u64, program.load(in[0], 0));
    return Block{store(out, imm(0), tir::make_cast(i32, less(imm(-2, u64), bit)))};
  });
  program.operation("pointers that are not NULL", {ints({5})}, ints({0}), [&](const auto& in, VarId out) {
    const VarId w = program.pointer("w", i32);
    const ExprRef null = op("isnullptr", boolean, {program.ref(w)});
    const ExprRef address = op("isnullptr", boolean, {address_of(program.load(in[0], 0))});
    return Block{constant(w, ints({3, 4})),
                 store(out, imm(0), tir::make_cast(i32, binary(ExprKind::or_, null, address)))};
  });
  program.run();
}

TEST_CASE("an array of which nothing depends after all") {
  CaseProgram program;
  program.operation("set, and read where the value is known", {ints8({5})}, ints({1}), [&](const auto& in, VarId out) {
    const VarId kept = program.pointer("kept", i8);
    tir::Stmt array = allocate(kept, i8, imm(1));
    std::get<tir::Allocate>(array.node).on_stack = true;
    const ExprRef read = add(tir::make_cast(i32, program.load(kept, 0)), imm(70000));
    const ExprRef clipped = larger(smaller(read, imm(1)), imm(0));
    return Block{array, store(kept, imm(0), program.load(in[0], 0)), store(out, imm(0), clipped)};
  });
  CHECK(count_of(program.text(), "(void)kept;") == 1);
  program.run();
}

TEST_CASE("an array that the C it was read from aligns, and one that is accessed as a wider type") {
  CaseProgram program;
  program.operation("aligned", {ints8({5, 6, 7, 8, 9, 10, 11, 12})}, ints8({6, 6}), [&](const auto& in, VarId out) {
    const VarId stated = program.pointer("stated", i8);
    const VarId wide = program.pointer("wide", i8);
    Block body = {allocate(stated, i8, imm(8)), allocate(wide, i8, imm(8))};
    for (tir::Stmt& stmt : body) {
      auto& array = std::get<tir::Allocate>(stmt.node);
      array.on_stack = array.was_on_stack = true;
      if (array.var == stated) array.alignment = 64;
    }
    body.push_back(store(stated, imm(0), program.load(in[0], 1)));
    body.push_back(store(stated, imm(1), program.load(stated, 0)));
    body.push_back(store(wide, imm(1), imm(0, i32)));
    body.push_back(store(wide, imm(0), program.load(stated, 0)));
    body.push_back(store(out, imm(0), program.load(wide, 0)));
    body.push_back(store(out, imm(1), program.load(stated, 1)));
    return body;
  });
  CHECK(count_of(program.text(), "  USMP_ALIGNED_ARRAY(64) int8_t stated[8];\n") == 1);
  CHECK(count_of(program.text(), "  USMP_ALIGNED_ARRAY(4) int8_t wide[8];\n") == 1);
  CHECK(count_of(program.text(), "#define USMP_ALIGNED_ARRAY(bytes) _Alignas(bytes)\n") == 1);
  program.run();
}

// GCC at -O2 cannot tell that the guards are the same, and takes the element for read before it is set.
TEST_CASE("an array that is set under one guard and read under another, spelled differently") {
  CaseProgram program;
  const auto element = [&](VarId& kept, const char* name) {
    kept = program.pointer(name, i8);
    tir::Stmt array = allocate(kept, i8, imm(1));
    std::get<tir::Allocate>(array.node).on_stack = true;
    return array;
  };
  program.operation(
      "guarded", {ints8({1, 2, 3, 4, 5, 6, 7})}, ints8({3, 5, 6, 8, 9, 11, 12}), [&](const auto& in, VarId out) {
        const VarId i = program.var("i", i32);
        const VarId j = program.var("j", i32);
        const VarId k = program.var("k", i32);
        VarId guarded;
        VarId plain;
        Block body = {element(guarded, "guarded"), element(plain, "plain")};
        const ExprRef row = add(mul(program.ref(i), imm(4)), mul(program.ref(j), imm(2)));
        const ExprRef at = add(row, program.ref(k));
        const auto half = [&](const ExprRef& value) { return quotient(value, imm(2)); };
        body.push_back(store(plain, imm(0), imm(2, i8)));
        body.push_back(
            {tir::IfThenElse{less(at, imm(7)), {store(guarded, imm(0), tir::make_load(i8, in[0], at))}, {}}});
        const ExprRef both = add(mul(half(add(row, imm(0))), imm(2)), program.ref(k));
        body.push_back({tir::IfThenElse{
            less(both, imm(7)),
            {store(out, both,
                   add(program.load(guarded, 0), add(program.load(plain, 0), half(program.load(guarded, 0)))))},
            {}}});
        return Block{loop(i, imm(0), imm(2), {loop(j, imm(0), imm(2), {loop(k, imm(0), imm(2), std::move(body))})})};
      });
  CHECK(count_of(program.text(), "int8_t guarded[1] = {0};") == 1);
  CHECK(count_of(program.text(), "int8_t plain[1];") == 1);
  program.run();
}

TEST_CASE("operators on constants are computed") {
  CaseProgram program;
  program.operation("xor", {}, ints({9, 6}), [&](const auto&, VarId out) {
    const VarId x = program.var("x", i32);
    const ExprRef bound =
        make_operator(ExprKind::let, i32, {imm(4), op("bitwise_xor", i32, {program.ref(x), imm(2)})}, x);
    return Block{store(out, imm(0), op("bitwise_xor", i32, {imm(10), imm(3)})), store(out, imm(1), bound)};
  });
  program.operation("a product of bytes", {}, ints8({-48}), [&](const auto&, VarId out) {
    const ExprRef byte = tir::make_cast(i8, mul(imm(18, i32), imm(11, i32)));
    return Block{store(out, imm(0), mul(imm(-8, i8), byte))};
  });
  program.operation("lanes that are cut", {bools({1, 0})}, ints8({-48, 0}), [&](const auto& in, VarId out) {
    const ExprRef byte = tir::make_cast(i8, mul(imm(18, i32), imm(11, i32)));
    const ExprRef on = tir::make_load(boolean.with_lanes(2), in[0], ramp(imm(0), 1, 2));
    return Block{store(out, imm(0), imm(0, i8)), store(out, imm(1), imm(0, i8)),
                 store(out, ramp(imm(0), 1, 2), broadcast(mul(imm(-8, i8), byte), 2), on)};
  });
  program.operation("a choice between constants", {ints({13, 12}), ints8({3})}, ints8({0, 0}),
                    [&](const auto& in, VarId out) {
                      const auto chosen = [&](int i) {
                        const ExprRef is_13 = binary(ExprKind::eq, program.load(in[0], i), imm(13));
                        const ExprRef bits = select(is_13, imm(17, i8), imm(-1, i8));
                        return op("bitwise_and", i8, {op("shift_left", i8, {bits, imm(5, i8)}), imm(31, i8)});
                      };
                      return Block{store(out, imm(0), chosen(0)), store(out, imm(1), chosen(1))};
                    });
  const std::string text = program.text();
  CHECK(count_of(text, "out[0] = 9;") == 1);
  CHECK(count_of(text, "] = -48;") == 1);
  program.run();
}

TEST_CASE("a constant of which a shift loses bits") {
  CaseProgram program;
  program.operation("compared", {}, ints({1}), [&](const auto&, VarId out) {
    const VarId x = program.var("x", u16);
    const ExprRef product = mul(tir::make_cast(i32, program.ref(x)), imm(33950));
    const ExprRef is_negative = less(op("shift_left", i32, {product, imm(15)}), imm(0));
    return Block{let(x, imm(16384, u16)), store(out, imm(0), tir::make_cast(i32, is_negative))};
  });
  program.run();
}

TEST_CASE("terms that cancel each other are left out of sums") {
  CaseProgram program;
  const VarId i = program.var("i", i32);
  const ExprRef x = program.ref(i);
  const auto cancelled = [&] { return add(add(mul(x, imm(-3)), x), mul(x, imm(2))); };
  program.operation("nothing is left", {ints({7})}, ints({7, 7, 7}), [&](const auto& in, VarId out) {
    return Block{loop(i, imm(0), imm(3), {store(out, x, program.load(in[0], cancelled()))})};
  });
  program.operation("the rest keeps its signs", {ints({5, 6, 7, 8})}, ints({-6, 1, 10}),
                    [&](const auto& in, VarId out) {
                      const ExprRef value = program.load(in[0], add(x, imm(1)));
                      const ExprRef sum = sub(sub(cancelled(), value), mul(mul(value, x), imm(-1)));
                      return Block{loop(i, imm(0), imm(3), {store(out, x, add(sum, x))})};
                    });
  program.operation("loads are terms too", {ints({5})}, ints({3}), [&](const auto& in, VarId out) {
    const ExprRef value = program.load(in[0], 0);
    return Block{store(out, imm(0), add(sub(mul(value, imm(2)), add(value, value)), imm(3)))};
  });
  program.operation("in every lane", {ints({5, 6})}, ints({-5, -6}), [&](const auto& in, VarId out) {
    const ExprRef at = ramp(imm(0), 1, 2);
    const ExprRef lanes = tir::make_load(i32.with_lanes(2), in[0], at);
    return Block{store(out, at, sub(sub(lanes, lanes), tir::make_load(i32.with_lanes(2), in[0], at)))};
  });
  CHECK(count_of(program.text(), "-3") == 0);
  program.run();
}

TEST_CASE("the complement of what is unsigned and narrow is compared without a warning") {
  CaseProgram program;
  const auto complement = [](DataType type, ExprRef value) {
    return op("bitwise_not", type, {tir::make_cast(type, std::move(value))});
  };
  program.operation("compared", {data<std::uint16_t>(u16, {5, 0xffff}), ints8({-1})}, ints({0, 1, 1, 1, -6}),
                    [&](const auto& in, VarId out) {
                      const ExprRef five = program.load(in[0], 0);
                      const ExprRef ones = program.load(in[0], 1);
                      const auto put = [&](int at, ExprRef value) {
                        return store(out, imm(at), tir::make_cast(i32, std::move(value)));
                      };
                      return Block{put(0, binary(ExprKind::le, imm(32767, i16), complement(i16, five))),
                                   put(1, binary(ExprKind::eq, imm(0, i16), complement(i16, ones))),
                                   put(2, binary(ExprKind::ne, complement(u8, program.load(in[1], 0)), imm(0, u8))),
                                   put(3, less(complement(i32, five), imm(-5))), put(4, complement(i64, five))};
                    });
  program.run();
}

TEST_CASE("the complement of a bool, whatever it went through") {
  CaseProgram program;
  program.operation("reinterpreted", {ints({3})}, ints8({-2}), [&](const auto& in, VarId out) {
    const ExprRef bit = tir::make_cast(i8, binary(ExprKind::le, imm(0), program.load(in[0], 0)));
    return Block{store(out, imm(0), op("bitwise_not", i8, {op("reinterpret", i8, {bit})}))};
  });
  program.run();
}

TEST_CASE("a condition that is a let of what bits join") {
  CaseProgram program;
  program.operation("chosen", {floats({5, -7}), ints({4, 3})}, floats({-7}), [&](const auto& in, VarId out) {
    const VarId unused = program.var("unused", i32);
    const ExprRef test =
        op("bitwise_and", boolean,
           {less(program.load(in[1], 0), imm(6)), less(program.load(in[1], 1), program.load(in[1], 0))});
    const ExprRef let_test = make_operator(ExprKind::let, boolean, {imm(1), test}, unused);
    return Block{store(out, imm(0), select(let_test, program.load(in[0], 1), program.load(in[0], 0)))};
  });
  program.run();
}

TEST_CASE("calls among conditions that are joined by bits") {
  CaseProgram program;
  program.operation("and", {ints({5, -7})}, ints({1, 0}), [&](const auto& in, VarId out) {
    const auto rest = [&](int i) { return remainder(program.load(in[0], i), imm(3)); };
    const ExprRef both =
        op("bitwise_and", boolean, {binary(ExprKind::eq, rest(0), imm(2)), binary(ExprKind::eq, rest(1), imm(2))});
    const ExprRef none =
        op("bitwise_and", boolean, {binary(ExprKind::eq, rest(0), imm(2)), binary(ExprKind::ne, rest(1), imm(2))});
    return Block{store(out, imm(0), tir::make_cast(i32, both)), store(out, imm(1), tir::make_cast(i32, none))};
  });
  program.run();
}

TEST_CASE("a choice between pointers of two types") {
  CaseProgram program;
  program.operation("chosen", {ints({5}), floats({0})}, ints({5, 5}), [&](const auto& in, VarId out) {
    const VarId first = program.pointer("first", i32);
    const VarId second = program.pointer("second", i32);
    const ExprRef positive = less(imm(0), program.load(in[0], 0));
    return Block{let(first, select(positive, program.ref(in[0]), program.ref(in[1]))),
                 store(out, imm(0), program.load(first, 0)),
                 let(second, choice(negation(positive), program.ref(in[1]), address_of(program.load(in[0], 0)))),
                 store(out, imm(1), program.load(second, 0))};
  });
  program.run();
}

}  // namespace
}  // namespace usmp::codegen::testing::warnings_test

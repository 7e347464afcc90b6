// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Statements, storage, calls and the file around them: compiled, run, and refused where there is no C.
#include <doctest/doctest.h>

#include <limits>
#include <regex>

#include "codegen/builders.hpp"
#include "codegen/case_program.hpp"
#include "codegen/planned_module.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::codegen::testing::functions_test {
namespace {

TEST_CASE("statements") {
  CaseProgram program;
  const std::vector<std::int32_t> a = {3, 1, 4, 1};
  program.operation("loop from 2", {ints(a)}, ints({-1515870811, -1515870811, 4, 1}), [&](const auto& in, VarId out) {
    const VarId i = program.var("i", i32);
    return Block{loop(i, imm(2), imm(2), {store(out, program.ref(i), program.load(in[0], program.ref(i)))})};
  });
  program.operation("bounds are evaluated once", {ints(a)}, ints({4, 2}), [&](const auto& in, VarId out) {
    const VarId i = program.var("i", i32);
    const VarId n = program.pointer("n", i32);
    // for i in [n[0], n[0] + n[1]): n[1] += 1; the output is n itself.
    Block body = {store(out, imm(0), program.load(in[0], 1)), store(out, imm(1), imm(1)), let(n, program.ref(out))};
    body.push_back(loop(i, program.load(out, imm(0)), add(program.load(out, imm(1)), imm(0)),
                        {store(out, imm(1), add(program.load(out, imm(1)), imm(1))),
                         store(out, imm(0), add(program.load(out, imm(0)), imm(3)))}));
    return body;
  });
  program.operation("bounds of variables", {ints(a)}, ints({0 + 1 + 2 + 1 + 2 + 2}), [&](const auto& in, VarId out) {
    const VarId i = program.var("i", i32);
    const VarId j = program.var("j", i32);
    const VarId n = program.var("n", i32);
    return Block{let(n, program.load(in[0], 0)), store(out, imm(0), imm(0)),
                 loop(i, imm(0), program.ref(n),
                      {loop(j, program.ref(i), sub(program.ref(n), program.ref(i)),
                            {store(out, imm(0), add(program.load(out, imm(0)), program.ref(j)))})})};
  });
  program.operation("empty loops", {}, ints({7}), [&](const auto&, VarId out) {
    const VarId i = program.var("i", u32);
    const VarId j = program.var("i", i32);
    return Block{store(out, imm(0), imm(7)), loop(i, imm(0, u32), imm(0, u32), {store(out, imm(0), imm(8))}),
                 loop(j, imm(5), imm(-3), {store(out, imm(0), imm(9))}), loop(j, imm(0), imm(3), {})};
  });
  program.operation("while, if, else", {}, ints({10, 25}), [&](const auto&, VarId out) {
    const ExprRef i = program.load(out, imm(0));
    const ExprRef odd = binary(ExprKind::eq, remainder(i, imm(2)), imm(1));
    return Block{store(out, imm(0), imm(0)), store(out, imm(1), imm(0)),
                 tir::Stmt{tir::While{less(i, imm(10)),
                                      {if_then(odd, {store(out, imm(1), add(program.load(out, imm(1)), i))},
                                               {store(out, imm(1), add(program.load(out, imm(1)), imm(0)))}),
                                       store(out, imm(0), add(i, imm(1)))}}}};
  });
  program.operation(
      "predicate of a scalar store", {ints(a)}, ints({3, -1515870811, 4, -1515870811}), [&](const auto& in, VarId out) {
        const VarId i = program.var("i", i32);
        const ExprRef x = program.load(in[0], program.ref(i));
        return Block{loop(i, imm(0), imm(4), {store(out, program.ref(i), x, binary(ExprKind::gt, x, imm(2)))})};
      });
  program.operation("one variable, bound twice", {}, ints({1, 2, 3}), [&](const auto&, VarId out) {
    const VarId x = program.var("x", i32);
    const ExprRef value = program.load(out, imm(0));
    return Block{store(out, imm(0), imm(1)),
                 let(x, add(value, imm(1))),
                 store(out, imm(1), program.ref(x)),
                 tir::Stmt{tir::Scope{{let(x, add(value, imm(2))), store(out, imm(2), program.ref(x))}}},
                 let(x, add(value, imm(0))),
                 store(out, imm(0), program.ref(x))};
  });
  program.operation("a variable made of its outer self", {ints({5})}, ints({6, 5}), [&](const auto& in, VarId out) {
    const VarId x = program.var("x", i32);
    return Block{let(x, program.load(in[0], 0)),
                 tir::Stmt{tir::Scope{{let(x, add(program.ref(x), imm(1))), store(out, imm(0), program.ref(x))}}},
                 store(out, imm(1), program.ref(x))};
  });
  program.operation("a narrow let is cut to its type", {ints({100})}, ints({-56}), [&](const auto& in, VarId out) {
    const VarId x = program.var("x", i8);
    const ExprRef narrow = tir::make_cast(i8, program.load(in[0], 0));
    return Block{let(x, add(narrow, narrow)), store(out, imm(0), tir::make_cast(i32, program.ref(x)))};
  });
  program.operation("nothing is computed for hints", {}, ints({1}), [&](const auto&, VarId out) {
    return Block{evaluate(imm(0)), evaluate(op("assume", tir::void_type, {imm(1, boolean)})),
                 if_then(op("likely", boolean, {imm(1, boolean)}), {store(out, imm(0), imm(1))})};
  });
  program.operation("return in the middle", {}, ints({1}), [&](const auto&, VarId out) {
    return Block{store(out, imm(0), imm(1)), if_then(imm(1, boolean), {evaluate(op("ret", i32, {imm(0)}))}),
                 store(out, imm(0), imm(2))};
  });
  program.run();
}

TEST_CASE("storage seen as several types") {
  CaseProgram program;
  program.operation("int16 in bytes", {ints8({1, 2, 3, 4})}, ints({0x0201, 0x0403}), [&](const auto& in, VarId out) {
    const VarId i = program.var("i", i32);
    return Block{loop(i, imm(0), imm(2),
                      {store(out, program.ref(i), tir::make_cast(i32, tir::make_load(u16, in[0], program.ref(i))))})};
  });
  program.operation("floats and their bits", {floats({1.0F, -2.0F})}, ints({0x3f800000, -1073741824 + 1}),
                    [&](const auto& in, VarId out) {
                      const VarId view = program.pointer("view", f32);
                      return Block{let(view, program.ref(out)), store(view, imm(0), program.load(in[0], 0)),
                                   store(view, imm(1), program.load(in[0], 1)),
                                   store(out, imm(1), add(program.load(out, 1), imm(1)))};
                    });
  program.operation("bool from any byte", {data<std::uint8_t>(u8, {0, 1, 2, 128})}, ints({0, 1, 1, 1}),
                    [&](const auto& in, VarId out) {
                      const VarId i = program.var("i", i32);
                      return Block{loop(i, imm(0), imm(4),
                                        {store(out, program.ref(i),
                                               tir::make_cast(i32, tir::make_load(boolean, in[0], program.ref(i))))})};
                    });
  // A store has the width of its value, also through a pointer that is declared wider.
  program.operation("a byte in integers", {}, ints({0x05040302, -1}), [&](const auto&, VarId out) {
    Block body = {store(out, imm(0), imm(0x0504ffff)), store(out, imm(1), imm(-1))};
    body.push_back(store(out, imm(0), imm(2, u8)));
    body.push_back(store(out, imm(1), imm(3, u8)));
    return body;
  });
  // Only what C's aliasing rules keep apart needs memcpy.
  const std::string text = program.text();
  CHECK(count_of(text, "usmp_store_f32(view, ") == 2);
  CHECK(count_of(text, "usmp_load_i32(out, ") == 1);
  CHECK(count_of(text, "usmp_load_u16") == 0);
  program.run();
}

TEST_CASE("a function of the archive's C that gives nothing is called as a statement") {
  CaseProgram program;
  const auto helper_of = [&](ExprRef argument) {
    return op("call_extern", i32, {tir::make_string("helper"), std::move(argument)});
  };
  tir::Function helper;
  helper.name = "helper";
  helper.target = "cmsis-nn";
  helper.params.push_back({.var = program.pointer("p", i32), .name = "p", .element = {}, .shape = {}});
  program.info().foreign_functions.push_back(
      {.name = "helper", .prototype = "void helper(int32_t* p)", .member = "codegen/host/src/m_lib2.c"});
  SUBCASE("as it is") {
    program.operation("plain", {}, ints({0}),
                      [&](const auto&, VarId out) { return Block{evaluate(helper_of(program.ref(out)))}; });
    program.module().functions.push_back(helper);
    const std::string text = program.text();
    CHECK(count_of(text, "  (void)helper(out);\n") == 1);
    CHECK(count_of(text, "void helper(int32_t* p);\n") == 1);
  }
  SUBCASE("its result cannot be checked") {
    program.operation("checked", {}, ints({0}), [&](const auto&, VarId out) {
      return Block{evaluate(op("tvm_check_return", i32, {imm(0), imm(-1), helper_of(program.ref(out))}))};
    });
    program.module().functions.push_back(helper);
    CHECK_THROWS_AS((void)program.text(), Error);
  }
}

TEST_CASE("arrays on the stack are aligned for the functions that get them, and for pointers made of them") {
  CaseProgram program;
  tir::Function helper;
  helper.name = "helper";
  helper.target = "cmsis-nn";
  helper.params.push_back({.var = program.pointer("p", i32), .name = "p", .element = i32, .shape = {}});
  program.info().foreign_functions.push_back(
      {.name = "helper", .prototype = "void helper(int32_t* p)", .member = "codegen/host/src/m_lib2.c"});
  program.operation("wide", {ints8({1, 0, 0, 0})}, ints({1}), [&](const auto& in, VarId out) {
    return Block{store(out, imm(0), tir::make_load(i32, in[0], imm(0)))};
  });
  program.operation("arrays", {}, ints({0}), [&](const auto&, VarId out) {
    Block body;
    const auto array = [&](const char* name) {
      const VarId var = program.pointer(name, i8);
      tir::Stmt& stmt = body.emplace_back(allocate(var, i8, imm(8)));
      std::get<tir::Allocate>(stmt.node).on_stack = std::get<tir::Allocate>(stmt.node).was_on_stack = true;
      return var;
    };
    const VarId handed = array("handed");
    const VarId walked = array("walked");
    const VarId typed = array("typed");
    const VarId offset = array("offset");
    const VarId later = array("later");
    const VarId bound = array("bound");
    const VarId bytes = array("bytes");
    const VarId first = program.pointer("first", i32);
    const VarId second = program.pointer("second", i32);
    const VarId made = program.pointer("made", i8);
    const auto call = [&](const char* name, std::vector<ExprRef> arguments) {
      arguments.insert(arguments.begin(), tir::make_string(name));
      body.push_back(evaluate(op("call_extern", i32, std::move(arguments))));
    };
    call("helper", {program.ref(handed)});
    call("tvmgen_m_case_0", {program.ref(walked), program.ref(out)});
    call("unknown",
         {op("address_of", tir::handle_type, {tir::make_load(type_of(tir::TypeCode::int_, 64), typed, imm(0))})});
    const auto access = [&](VarId var) {
      return op("tvm_access_ptr", tir::handle_type,
                {imm(0, type_of(tir::TypeCode::int_, 64)), program.ref(var), imm(0), imm(1), imm(1)});
    };
    call("unknown", {access(offset)});
    body.push_back(let(made, access(later)));
    call("unknown", {program.ref(made)});
    body.push_back(let(first, program.ref(bound)));
    body.push_back(let(second, program.ref(first)));
    body.push_back(store(second, imm(0), imm(3)));
    body.push_back(store(bytes, imm(0), imm(3, i8)));
    body.push_back(store(out, imm(0), tir::make_cast(i32, program.load(bytes, 0))));
    return body;
  });
  program.module().functions.push_back(helper);
  const std::string text = program.text();
  CHECK(count_of(text, "  USMP_ALIGNED_ARRAY(4) int8_t handed[8];\n") == 1);
  CHECK(count_of(text, "  USMP_ALIGNED_ARRAY(4) int8_t walked[8];\n") == 1);
  CHECK(count_of(text, "  USMP_ALIGNED_ARRAY(8) int8_t typed[8];\n") == 1);
  CHECK(count_of(text, "  USMP_ALIGNED_ARRAY(8) int8_t offset[8];\n") == 1);
  CHECK(count_of(text, "  USMP_ALIGNED_ARRAY(8) int8_t later[8];\n") == 1);
  CHECK(count_of(text, "USMP_ALIGNED_ARRAY(4)") + count_of(text, " bound[") == 4);
  CHECK(count_of(text, "  int8_t bytes[8];\n") == 1);
}

TEST_CASE("a foreign function that takes more than the call passes: the message names --from c") {
  for (const bool takes_more : {true, false}) {
    CaseProgram program;
    tir::Function helper;
    helper.name = "helper";
    helper.target = "cmsis-nn";
    helper.params.push_back({.var = program.pointer("p", i32), .name = "p", .element = {}, .shape = {}});
    program.info().foreign_functions.push_back(
        {.name = "helper",
         .prototype =
             takes_more ? "int32_t helper(int32_t* p, uint8_t* global_workspace_0_var)" : "int32_t helper(void)",
         .member = "codegen/host/src/m_lib2.c"});
    program.operation("calls", {}, ints({0}), [&](const auto&, VarId out) {
      return Block{evaluate(op("call_extern", i32, {tir::make_string("helper"), program.ref(out)}))};
    });
    program.module().functions.push_back(helper);
    std::string message;
    try {
      (void)program.text();
    } catch (const Error& error) {
      message = error.what();
    }
    const std::string found =
        std::string("a call passes 1 arguments to 'helper', which takes ") +
        (takes_more ? "2: C that TVM planned takes its pools, too; read the archive with --from c" : "0");
    CHECK_MESSAGE(message.ends_with(found), message);
  }
}

TEST_CASE("constants are arrays of the file, each data once") {
  CaseProgram program;
  const VarId w = program.pointer("w", f32);
  const VarId again = program.pointer("w", f32);
  const VarId unused = program.pointer("unused", f32);
  const tir::Stmt weights = constant(w, floats({1.5F, std::numeric_limits<float>::infinity(), -0.0F}));
  tir::Stmt same = weights;
  std::get<tir::AllocateConst>(same.node).var = again;
  program.operation(
      "first", {}, floats({1.5F, std::numeric_limits<float>::infinity(), -0.0F}), [&](const auto&, VarId out) {
        const VarId i = program.var("i", i32);
        return Block{weights, constant(unused, floats({5})),
                     loop(i, imm(0), imm(3), {store(out, program.ref(i), program.load(w, program.ref(i)))})};
      });
  program.operation("second", {}, floats({-0.0F}), [&](const auto&, VarId out) {
    return Block{same, store(out, imm(0), program.load(again, 2))};
  });
  const VarId numbers = program.pointer("int", i64);
  program.operation("scalar, wide", {}, ints64({std::numeric_limits<std::int64_t>::min()}),
                    [&](const auto&, VarId out) {
                      return Block{constant(numbers, ints64({std::numeric_limits<std::int64_t>::min()})),
                                   store(out, imm(0), program.load(numbers, 0))};
                    });
  const VarId flags = program.pointer("flags", boolean);
  program.operation("bools", {}, ints({0, 1}), [&](const auto&, VarId out) {
    return Block{constant(flags, bools({0, 1})), store(out, imm(0), tir::make_cast(i32, program.load(flags, 0))),
                 store(out, imm(1), tir::make_cast(i32, program.load(flags, 1)))};
  });
  const std::string text = program.text();
  CHECK(count_of(text, "m_w") == 3);  // one definition, two uses
  CHECK(count_of(text, "unused") == 0);
  CHECK(count_of(text, "static const int64_t m_int[1]") == 1);
  program.run();
}

TEST_CASE("pointers and calls of C functions") {
  CaseProgram program;
  const std::vector<std::int32_t> a = {3, 1, 4, 1, 5};
  program.provide(
      "#include <stdbool.h>\n"
      "void scale(void* to, void* from, int32_t n, float by);\n"
      "void scale(void* to, void* from, int32_t n, float by) {\n"
      "  int i; for (i = 0; i < n; ++i) ((int32_t*)to)[i] = (int32_t)(((int32_t*)from)[i] * by); }\n"
      "int32_t length(const char* text);\n"
      "int32_t length(const char* text) { return (int32_t)strlen(text); }\n"
      "void* pick(void* a, void* b, bool first);\n"
      "void* pick(void* a, void* b, bool first) { return first ? a : b; }\n"
      "int32_t is_absent(void* p);\n"
      "int32_t is_absent(void* p) { return p == NULL; }\n"
      "double twice(double x);\n"
      "double twice(double x) { return 2 * x; }\n");
  program.operation("scale", {ints(a)}, ints({6, 2, 8, 2, 10}), [&](const auto& in, VarId out) {
    return Block{evaluate(call("scale", tir::void_type, {program.ref(out), program.ref(in[0]), imm(5), fimm(2)}))};
  });
  program.operation("parts of arrays", {ints(a)}, ints({-1515870811, 3, 15}), [&](const auto& in, VarId out) {
    return Block{evaluate(
        call("scale", tir::void_type,
             {address_of(program.load(out, 1)), access_ptr(i32, program.ref(in[0]), imm(3), 1), imm(2), fimm(3)}))};
  });
  program.operation("results and strings", {ints(a)}, ints({4 + 3, 1, 0}), [&](const auto& in, VarId out) {
    const ExprRef quoted = tir::make_string("a\"\\\n");
    const ExprRef null = op("reinterpret", tir::handle_type, {imm(0, u64)});
    return Block{store(out, imm(0), add(call("length", i32, {quoted}), program.load(in[0], 0))),
                 store(out, imm(1), call("is_absent", i32, {null})),
                 store(out, imm(2), tir::make_cast(i32, op("isnullptr", boolean, {program.ref(in[0])})))};
  });
  program.operation("a pointer that is chosen", {ints(a), ints({7})}, ints({7, 3, 7}), [&](const auto& in, VarId out) {
    const VarId chosen = program.pointer("chosen", i32);
    const VarId returned = program.pointer("returned", i32);
    const ExprRef small = less(program.load(in[0], 1), imm(0));
    return Block{
        let(chosen, select(small, program.ref(in[0]), program.ref(in[1]))), store(out, imm(0), program.load(chosen, 0)),
        let(returned, call("pick", tir::handle_type, {program.ref(in[0]), program.ref(in[1]), imm(1, boolean)})),
        store(out, imm(1), program.load(returned, 0)),
        evaluate(call("scale", tir::void_type,
                      {address_of(program.load(out, 2)), choice(small, program.ref(in[0]), program.ref(in[1])), imm(1),
                       fimm(1)}))};
  });
  program.operation(
      "functions of C's own headers", {floats({2.25F, -1})}, floats({1.5F, 2.25F, -1}), [&](const auto& in, VarId out) {
        return Block{
            store(out, imm(0),
                  tir::make_call(f32, "tir.call_pure_extern", {tir::make_string("sqrtf"), program.load(in[0], 0)})),
            evaluate(call("memcpy", tir::handle_type, {address_of(program.load(out, 1)), program.ref(in[0]), imm(8)}))};
      });
  program.operation("a value that nobody uses", {floats({4})}, floats({4}), [&](const auto& in, VarId out) {
    const VarId alias = program.pointer("alias", f32);
    return Block{
        let(alias, program.ref(in[0])),
        evaluate(tir::make_call(f32, "tir.call_pure_extern", {tir::make_string("sqrtf"), program.load(alias, 0)})),
        store(out, imm(0), program.load(in[0], 0))};
  });
  program.operation("values are converted as declared", {doubles({1.25})}, doubles({2.5}),
                    [&](const auto& in, VarId out) {
                      return Block{store(out, imm(0), call("twice", f64, {program.load(in[0], 0)}))};
                    });
  const std::string text = program.text();
  CHECK(count_of(text, "void scale(") == 1);
  CHECK(count_of(text, "int32_t length(const char*);") == 1);
  CHECK(count_of(text, "sqrtf(float") == 0);
  program.run();
}

TEST_CASE("a function whose prototype is not known gets pointers of the type that the program gives them") {
  CaseProgram program;
  const std::string source =
      "#include <stdint.h>\n"
      "static int32_t sum(const int8_t* data, int32_t n) {\n"
      "  int32_t total = 0; while (n > 0) total += data[--n]; return total; }";
  const auto sum_of = [&](VarId view) { return call("sum", i32, {program.ref(view), imm(8)}); };
  program.operation("bytes that are read as integers", {ints({1, 2})}, ints({2, 3}), [&](const auto& in, VarId out) {
    const VarId view = program.pointer("view", i8);
    return Block{let(view, program.ref(in[0])), store(out, imm(0), tir::make_load(i32, view, imm(1))),
                 store(out, imm(1), sum_of(view))};
  });
  program.last_operation().imported_c = {source};
  program.operation("bytes that are not looked at", {ints({1, 2})}, ints({3}), [&](const auto& in, VarId out) {
    const VarId view = program.pointer("view", i8);
    return Block{let(view, program.ref(in[0])), store(out, imm(0), sum_of(view))};
  });
  program.last_operation().imported_c = {source};
  program.run();
}

TEST_CASE("C that the module brings along stands once, before its callers") {
  CaseProgram program;
  const std::string source =
      "#include <stdint.h>\n#include <math.h>\n#define SCALE 3\n"
      "static int32_t dot3(int8_t* a, int8_t* b, int32_t* sum) {\n"
      "  int i; int32_t total = 0; for (i = 0; i < SCALE; ++i) total += a[i] * b[i]; *sum += total; return 0; }";
  for (int k = 0; k < 2; ++k) {
    program.operation("dot product", {ints8({1, 2, 3, 4}), ints8({5, 6, 7, 8})}, ints({1 * 6 + 2 * 7 + 3 * 8}),
                      [&](const auto& in, VarId out) {
                        // A variable may not take the name of the macro.
                        const VarId scale = program.var("SCALE", i32);
                        const VarId dot3 = program.var("dot3", i32);
                        return Block{let(scale, program.load(out, 0)), let(dot3, imm(0)),
                                     store(out, imm(0), sub(program.ref(scale), program.ref(scale))),
                                     store(out, imm(0), program.ref(dot3)),
                                     evaluate(call("dot3", i32,
                                                   {access_ptr(i8, program.ref(in[0]), imm(0), 1),
                                                    access_ptr(i8, program.ref(in[1]), imm(1), 1),
                                                    access_ptr(i32, program.ref(out), imm(0), 3)}))};
                      });
    program.last_operation().imported_c = {source};
  }
  CHECK(count_of(program.text(), "static int32_t dot3(") == 1);
  program.run();
}

// --- Functions of the module, errors at run time ---------------------------------------------------------------------

struct Run {
  int status = -1;
  std::string output;
};

Run run_with(CaseProgram& program, const std::string& main_text) {
  const CompilerSandbox sandbox;
  sandbox.add("m.c", program.text());
  sandbox.add("main.c", "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n" + program.declaration() +
                            ";\n" + main_text);
  sandbox.expect_silence("gcc -std=c99 -Wall -Wextra -Werror -pedantic -c m.c");
  sandbox.expect_silence("g++ -std=c++11 -Wall -Wextra -Werror -pedantic -fsyntax-only -x c++ m.c");
  sandbox.expect_silence(
      "gcc -std=c99 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all m.o main.c -o program");
  const auto outcome = sandbox.run("./program");
  return {outcome.status, outcome.output};
}

constexpr const char* counting_workspace =
    "static int held; static int budget = 100;\n"
    "void* TVMBackendAllocWorkspace(int t, int d, uint64_t n, int c, int b);\n"
    "int TVMBackendFreeWorkspace(int t, int d, void* p);\n"
    "void* TVMBackendAllocWorkspace(int t, int d, uint64_t n, int c, int b) {\n"
    "  if (t != 1 || d != 0) exit(9);\n"
    "  printf(\"%d bytes, code %d, bits %d\\n\", (int)n, c, b);\n"
    "  if (budget-- == 0) return NULL;\n"
    "  ++held; return malloc(n); }\n"
    "int TVMBackendFreeWorkspace(int t, int d, void* p) { (void)t; (void)d; free(p); --held; return 0; }\n";

// n elements of two types, then a check that can fail.
void add_unknown_sizes(CaseProgram& program) {
  program.operation("unknown sizes", {ints({3})}, floats({0}), [&](const auto& in, VarId out) {
    const VarId n = program.var("n", i32);
    const VarId x = program.pointer("x", f32);
    const VarId y = program.pointer("y", i16);
    const VarId unused = program.pointer("unused", i16);
    const VarId i = program.var("i", i32);
    return Block{let(n, program.load(in[0], 0)),
                 allocate(x, f32, program.ref(n)),
                 allocate(unused, f32, program.ref(n)),
                 loop(i, imm(0), program.ref(n), {store(x, program.ref(i), tir::make_cast(f32, program.ref(i)))}),
                 tir::Stmt{tir::Scope{{allocate(y, i16, program.ref(n)), store(y, imm(0), imm(5, i16)),
                                       tir::Stmt{tir::Assert{less(program.ref(n), imm(4)), "too many"}},
                                       store(out, imm(0), tir::make_cast(f32, program.load(y, 0)))}}},
                 store(out, imm(0), add(program.load(out, 0), program.load(x, sub(program.ref(n), imm(1))))),
                 evaluate(op("ret", i32, {imm(0)}))};
  });
}

TEST_CASE("an allocate of unknown size comes from the runtime's workspace and goes back on every way out") {
  CaseProgram program;
  add_unknown_sizes(program);
  const std::string text = program.text();
  CHECK(count_of(text, "void* TVMBackendAllocWorkspace(int") == 1);
  const Run run = run_with(
      program, std::string(counting_workspace) +
                   "int main(void) { int32_t n = 3; float out = 0; int rc;\n"
                   "  rc = tvmgen_m___tvm_main__(&n, &out); printf(\"%d %g %d\\n\", rc, out, held);\n"
                   "  n = 4; rc = tvmgen_m___tvm_main__(&n, &out); printf(\"%d %d\\n\", rc, held);\n"
                   "  n = 3; budget = 1; rc = tvmgen_m___tvm_main__(&n, &out); printf(\"%d %d\\n\", rc, held);\n"
                   "  return 0; }\n");
  CHECK(run.output ==
        "12 bytes, code 2, bits 32\n6 bytes, code 0, bits 16\n0 7 0\n"
        "16 bytes, code 2, bits 32\n8 bytes, code 0, bits 16\n-1 0\n"
        "12 bytes, code 2, bits 32\n6 bytes, code 0, bits 16\n-1 0\n");
  CHECK(run.status == 0);
}

TEST_CASE("an error of an operator reaches the caller") {
  for (const char* way : {"assert", "throw", "ret", "extern"}) {
    CaseProgram program;
    program.operation("fails", {ints({3})}, ints({0}), [&](const auto& in, VarId out) {
      Block body = {store(out, imm(0), program.load(in[0], 0))};
      const std::string kind = way;
      if (kind == "assert") {
        body.push_back({tir::Assert{binary(ExprKind::ne, program.load(in[0], 0), imm(3)), "three"}});
      } else if (kind == "throw") {
        body.push_back(if_then(binary(ExprKind::eq, program.load(in[0], 0), imm(3)),
                               {evaluate(op("tvm_throw_last_error", i32, {}))}));
      } else if (kind == "ret") {
        body.push_back(evaluate(op("ret", i32, {add(program.load(in[0], 0), imm(0))})));
      } else {
        body.push_back(evaluate(check_return(call("fails", i32, {program.load(in[0], 0)}))));
      }
      body.push_back(store(out, imm(0), imm(100)));
      return body;
    });
    const Run run =
        run_with(program,
                 "int32_t fails(int32_t x); int32_t fails(int32_t x) { return x == 3 ? 7 : 0; }\n"
                 "int main(void) { int32_t n = 3; int32_t out = 0;\n"
                 "  int rc = tvmgen_m___tvm_main__(&n, &out); printf(\"%d %d\\n\", rc, (int)out); return 0; }\n");
    CHECK_MESSAGE(run.output == "-1 3\n", way << ": " << run.output);
  }
}

TEST_CASE("a call of an operator that fails ends its caller, though nothing asks for the result") {
  for (const char* way : {"tir.tvm_call_cpacked", "tir.call_extern"}) {
    CaseProgram program;
    program.operation("fails on three", {ints({1})}, ints({1}), [&](const auto& in, VarId out) {
      return Block{store(out, imm(0), program.load(in[0], 0)),
                   if_then(binary(ExprKind::eq, program.load(in[0], 0), imm(3)),
                           {evaluate(op("tvm_throw_last_error", i32, {}))})};
    });
    program.operation("caller", {ints({3})}, ints({3}), [&](const auto& in, VarId out) {
      std::vector<ExprRef> operands = {tir::make_string("tvmgen_m_case_0"), program.ref(in[0]), program.ref(out)};
      if (way == std::string("tir.tvm_call_cpacked")) {
        operands.push_back(op("reinterpret", tir::handle_type, {imm(0, u64)}));
      }
      return Block{evaluate(tir::make_call(i32, way, std::move(operands))), store(out, imm(0), imm(100))};
    });
    const Run run = run_with(program,
                             "int main(void) { int32_t one = 1, three = 3, a = 0, b = 0;\n"
                             "  int rc = tvmgen_m___tvm_main__(&one, &a, &three, &b);\n"
                             "  printf(\"%d %d %d\\n\", rc, (int)a, (int)b); return 0; }\n");
    CHECK_MESSAGE(run.output == "-1 1 3\n", way << ": " << run.output);
  }
}

TEST_CASE("packed calls of module functions are direct calls") {
  CaseProgram program;
  program.operation("callee", {ints({5})}, ints({6}), [&](const auto& in, VarId out) {
    return Block{store(out, imm(0), add(program.load(in[0], 0), imm(1)))};
  });
  program.operation("caller", {ints({41})}, ints({42}), [&](const auto& in, VarId out) {
    return Block{evaluate(tir::make_call(i32, "tir.tvm_call_cpacked",
                                         {tir::make_string("tvmgen_m_case_0"), program.ref(in[0]), program.ref(out),
                                          op("reinterpret", tir::handle_type, {imm(0, u64)})}))};
  });
  program.operation("value of a call", {ints({1})}, ints({7}), [&](const auto& in, VarId out) {
    return Block{
        store(out, imm(0), imm(7)),
        if_then(binary(ExprKind::ne, call("tvmgen_m_case_0", i32, {program.ref(in[0]), program.ref(out)}), imm(0)),
                {store(out, imm(0), imm(9))}),
        store(out, imm(0), add(program.load(out, 0), imm(5)))};
  });
  program.run();
}

TEST_CASE("a function that returns what a call gives") {
  CaseProgram program;
  program.provide("int32_t fails(int32_t x); int32_t fails(int32_t x) { return x * 2; }\n");
  program.operation("callee", {ints({0})}, ints({3}), [&](const auto& in, VarId out) {
    const ExprRef given = call("fails", i32, {program.load(in[0], 0)});
    return Block{store(out, imm(0), imm(3)),
                 evaluate(tir::make_call(i32, "tir.tvm_check_return", {imm(0), tir::make_own_code(), given}))};
  });
  program.operation("caller", {ints({21})}, ints({42}), [&](const auto& in, VarId out) {
    const ExprRef code = call("tvmgen_m_case_0", i32, {program.ref(in[0]), program.ref(out)});
    return Block{store(out, imm(0), code)};
  });
  program.run();
}

TEST_CASE("functions that nobody calls are left out, callees stand first") {
  CaseProgram program;
  program.operation("callee", {}, ints({6}), [&](const auto&, VarId out) { return Block{store(out, imm(0), imm(6))}; });
  tir::Function lonely = program.last_operation();
  lonely.name = "tvmgen_m_aaa";
  program.module().functions.push_back(lonely);
  const std::string text = program.text();
  CHECK(count_of(text, "tvmgen_m_aaa") == 0);
  CHECK(text.find("static void tvmgen_m_case_0(") < text.find("int32_t tvmgen_m___tvm_main__("));
}

// --- Names and text --------------------------------------------------------------------------------------------------

TEST_CASE("names of the archive are made safe") {
  CaseProgram program;
  program.operation("hostile names", {ints({1}), ints({2})}, ints({1 + 2 + 30, 4}), [&](const auto& in, VarId out) {
    const ExprRef sum = add(program.load(in[0], 0), program.load(in[1], 0));
    Block body;
    ExprRef total = sum;
    for (const char* name : {"int",      "class", "NULL",     "expf",         "linux",           "x*/ int y;", "x\\",
                             "9lives",   "",      "_Bool",    "usmp_min_i32", "tvmgen_m_case_0", "bool",       "true",
                             "INT8_MAX", "I",     "far",      "inline",       "memcpy",          "signgam",    "x",
                             "x",        "x_1",   "restrict", "i8",           "co_await",        "asm",        "typeof",
                             "NAN",      "f",     "?\?/"}) {
      const VarId var = program.var(name, i32);
      body.push_back(let(var, add(program.load(in[0], 0), imm(0))));
      total = add(total, program.ref(var));
    }
    body.push_back(store(out, imm(0), add(total, imm(-1))));
    body.push_back(store(out, imm(1), tir::make_cast(i32, op("exp", f32, {fimm(1.5)}))));
    return body;
  });
  program.last_operation().params[0].name = "default";
  program.last_operation().params[1].name = "default";
  program.run();
}

TEST_CASE("one operator, word for word") {
  ModuleBuilder builder;
  const VarId input = builder.pointer("data in");
  const VarId output = builder.pointer("output", i32);
  const VarId p0 = builder.pointer("p0");
  const VarId out = builder.pointer("T_add", i32);
  const VarId pad = builder.pointer("pad_temp", type_of(tir::TypeCode::int_, 16));
  const VarId i = builder.integer("i");
  const ExprRef index = add(mul(builder.var(i), imm(4)), imm(-1));
  const ExprRef inside =
      both(binary(ExprKind::le, imm(1), builder.var(i)), less(remainder(builder.var(i), imm(5)), imm(3)));
  const ExprRef loaded = choice(inside, tir::make_cast(i16, builder.load(p0, index)), imm(0, i16));
  builder.function(
      "tvmgen_default_fused_add", {p0, out},
      {builder.allocate(pad, 8), ModuleBuilder::loop(i, 8, {store(pad, builder.var(i), loaded)}),
       ModuleBuilder::loop(builder.integer("i"), 2, {store(out, imm(0), tir::make_cast(i32, builder.load(pad, 1)))})});
  builder.entry({input, output}, {builder.call("tvmgen_default_fused_add", std::vector{input, output})});
  config::PoolsConfig pools;
  pools.workspace_pools = {pool("sram", PoolKind::workspace)};
  const Planned planned(info_of("default", {}, {}), builder, pools, {{"pad_temp", {PoolId(0), 128}}});
  const std::string text = text_of([&](TextSink& sink) { Functions(planned.view()).write(sink); });
  CHECK(text == R"(// Operators of module default, with planned memory. Generated by usmp-plan; do not edit.
// It may be used without conditions; text copied from the archive keeps its own licence.
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// tvmgen_default_fused_add
//   pad_temp: sram[128, 144)
static void tvmgen_default_fused_add(const int8_t* p0, int32_t* T_add, uint8_t* sram) {
  int16_t* const pad_temp = (int16_t*)(void*)(sram + 128);
  for (int32_t i = 0; i < 8; ++i) {
    pad_temp[i] = 1 <= i && i % 5 < 3 ? (int16_t)p0[i * 4 - 1] : 0;
  }
  for (int32_t i_1 = 0; i_1 < 2; ++i_1) {
    T_add[0] = (int32_t)pad_temp[1];
  }
}

// tvmgen_default___tvm_main__
int32_t tvmgen_default___tvm_main__(const int8_t* data_in, int32_t* output, uint8_t* sram);
int32_t tvmgen_default___tvm_main__(const int8_t* data_in, int32_t* output, uint8_t* sram) {
  tvmgen_default_fused_add(data_in, output, sram);
  return 0;
}

#ifdef __cplusplus
}  // extern "C"
#endif
)");
  CHECK(text == text_of([&](TextSink& sink) { Functions(planned.view()).write(sink); }));
}

TEST_CASE("no text of the archive ends a comment or continues its line") {
  for (const char* name : {"a*/b", "a\\", "a\nb", "a?\?/", "a\tb", "\xff"}) {
    const std::string text = comment_text(name);
    CHECK(std::regex_match(text, std::regex("[ -~]*")));
    CHECK(text.find_first_of("*\\?") == std::string::npos);
  }
  CHECK(comment_text("tvmgen_default fused.add-1") == "tvmgen_default fused.add-1");
}

// --- What has no C ---------------------------------------------------------------------------------------------------

std::string message_for(const std::function<Block(CaseProgram&, VarId in, VarId out)>& body) {
  CaseProgram program;
  program.operation("bad", {ints({1})}, ints({1}),
                    [&](const auto& in, VarId out) { return body(program, in[0], out); });
  try {
    (void)program.text();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::archive);
    return error.what();
  }
  return "accepted";
}

std::string message_for_value(const std::function<ExprRef(CaseProgram&, VarId in)>& value) {
  return message_for(
      [&](CaseProgram& program, VarId in, VarId out) { return Block{store(out, imm(0), value(program, in))}; });
}

TEST_CASE("what has no C is refused with function and construct") {
  const std::string place = "function tvmgen_m_case_0: ";
  CHECK(message_for([](CaseProgram& p, VarId, VarId out) {
          const VarId linked = p.pointer("linked", i32);
          return Block{let(linked, op("lookup_param", tir::handle_type, {tir::make_string("p0")})),
                       store(out, imm(0), p.load(linked, 0))};
        }) == place + "operator tir.lookup_param refers to a linked parameter, which archives do not contain");
  CHECK(message_for_value([](auto& p, VarId in) { return p.ref(in); }) ==
        place + "data type handle has no C equivalent");
  CHECK(message_for_value([](auto&, VarId) { return op("vectorlow", i32, {imm(1)}); }) ==
        place + "operator tir.vectorlow is not supported here");
  CHECK(message_for([](auto&, VarId, VarId) { return Block{evaluate(op("tvm_storage_sync", i32, {}))}; }) ==
        place + "operator tir.tvm_storage_sync is not supported here");
  CHECK(message_for_value([](auto&, VarId) { return tir::make_cast(i32, imm(1, type_of(tir::TypeCode::int_, 4))); }) ==
        place + "data type int4 has no C equivalent");
  CHECK(message_for_value([](auto& p, VarId in) { return binary(ExprKind::div, p.load(in, 0), imm(0)); }) ==
        place + "division by zero");
  CHECK(message_for_value([](auto& p, VarId in) {
          return op("shift_left", i32, {p.load(in, 0), imm(32)});
        }) == place + "a shift by 32 bits of type int32");
  CHECK(message_for_value([](auto& p, VarId in) {
          return op("shift_right", i32, {p.load(in, 0), imm(-1)});
        }) == place + "a shift by -1 bits of type int32");
  CHECK(message_for_value([](auto& p, VarId in) { return op("exp", i32, {p.load(in, 0)}); }) ==
        place + "operator tir.exp is of type int32");
  CHECK(message_for_value([](auto& p, VarId in) { return op("pow", f32, {p.load(in, 0)}); }) ==
        place + "operator tir.pow has 1 operands, not 2");
  CHECK(message_for_value([](auto& p, VarId in) { return op("reinterpret", i64, {p.load(in, 0)}); }) ==
        place + "reinterpretation of int32 as int64");
  CHECK(message_for_value([](auto& p, VarId) { return p.ref(p.var("nowhere", i32)); }) ==
        place + "variable 'nowhere' is used outside of its scope");
  CHECK(message_for([](CaseProgram& p, VarId, VarId) {
          return Block{evaluate(op("tvm_call_packed", i32, {tir::make_string("f"), p.ref(p.var("x", i32))}))};
        }) == place + "operator tir.tvm_call_packed calls 'f', which the module does not define");
  CHECK(message_for([](CaseProgram&, VarId, VarId) {
          return Block{evaluate(call("f", i32, {imm(1)})), evaluate(call("f", i32, {imm(1), imm(2)}))};
        }) == place + "a call passes 2 arguments to 'f', which takes 1");
  CHECK(message_for([](CaseProgram& p, VarId in, VarId) {
          return Block{evaluate(call("tvmgen_m_case_0", i32, {p.ref(in), p.ref(in)}))};
        }) == "tvmgen_m_case_0: function 'tvmgen_m_case_0' calls itself, directly or through others");
  CHECK(message_for([](CaseProgram&, VarId, VarId) { return Block{evaluate(call("int", i32, {imm(1)}))}; }) ==
        place + "the called function 'int' has a name that is reserved in C");
  CHECK(message_for([](CaseProgram&, VarId, VarId) { return Block{evaluate(call("f(); g", i32, {}))}; }) ==
        place + "the called function 'f(); g' has no name in C");
  CHECK(message_for([](CaseProgram& p, VarId, VarId) {
          const VarId w = p.pointer("w", i32);
          return Block{constant(w, ints({1})), store(w, imm(0), imm(2))};
        }) == place + "constant 'w' is written to");
  CHECK(message_for([](CaseProgram& p, VarId, VarId out) {
          const VarId i = p.var("i", i8);
          return Block{loop(i, imm(0, i8), imm(300), {store(out, imm(0), imm(1))})};
        }) == place + "a loop from 0 of 300 iterations does not fit its variable's type int8");
  // A shared expression that doubles 17 times, of long leaves: short ones take many more, and many seconds.
  CHECK(message_for_value([](auto& p, VarId in) {
          const ExprRef name = tir::make_string(std::string(1000, 'f'));
          ExprRef value = op("call_pure_extern", i32, {name, p.load(in, 0)});
          for (int i = 0; i < 17; ++i) value = add(value, value);
          return value;
        }).starts_with(place + "the function is too large to print"));
}

TEST_CASE("a constant handed to an operator that writes is refused") {
  CaseProgram program;
  program.operation("writes", {ints({1})}, ints({1}), [&](const auto& in, VarId out) {
    return Block{store(in[0], imm(0), imm(3)), store(out, imm(0), program.load(in[0], 0))};
  });
  program.operation("hands it over", {}, ints({3}), [&](const auto&, VarId out) {
    const VarId w = program.pointer("w", i32);
    return Block{constant(w, ints({1})), evaluate(call("tvmgen_m_case_0", i32, {program.ref(w), program.ref(out)}))};
  });
  std::string message;
  try {
    (void)program.text();
  } catch (const Error& error) {
    message = error.what();
  }
  CHECK(message == "function tvmgen_m_case_1: constant 'w' is written to");
}

// Whether C elsewhere writes is not known: constants may be handed to it, by operators too.
TEST_CASE("what a let inside a let points to is written through both") {
  CaseProgram program;
  const auto nested = [&](VarId storage) {
    const VarId inner = program.pointer("inner", i32);
    return make_operator(ExprKind::let, tir::handle_type, {program.ref(storage), program.ref(inner)}, inner);
  };
  program.operation("a parameter", {ints({1})}, ints({5}), [&](const auto& in, VarId out) {
    const VarId alias = program.pointer("alias", i32);
    return Block{let(alias, nested(in[0])), store(alias, imm(0), imm(5)), store(out, imm(0), program.load(in[0], 0))};
  });
  CHECK(count_of(program.text(), "static void tvmgen_m_case_0(int32_t* p0, int32_t* out)") == 1);
  program.run();
  CaseProgram refused;
  refused.operation("a constant", {}, ints({5}), [&](const auto&, VarId out) {
    const VarId w = refused.pointer("w", i32);
    const VarId inner = refused.pointer("inner", i32);
    const VarId alias = refused.pointer("alias", i32);
    const ExprRef value = make_operator(ExprKind::let, tir::handle_type, {refused.ref(w), refused.ref(inner)}, inner);
    return Block{constant(w, ints({1})), let(alias, value), store(alias, imm(0), imm(5)),
                 store(out, imm(0), refused.load(w, 0))};
  });
  std::string message;
  try {
    (void)refused.text();
  } catch (const Error& error) {
    message = error.what();
  }
  CHECK(message == "function tvmgen_m_case_0: constant 'w' is written to");
}

TEST_CASE("a constant handed to an operator that hands it to a C function is not refused") {
  CaseProgram program;
  program.operation("copies", {ints({7, 8})}, ints({7, 8}), [&](const auto& in, VarId out) {
    return Block{evaluate(call("memcpy", tir::handle_type, {program.ref(out), program.ref(in[0]), imm(8)}))};
  });
  program.operation("hands it over", {}, ints({3, 4}), [&](const auto&, VarId out) {
    const VarId w = program.pointer("w", i32);
    return Block{constant(w, ints({3, 4})), evaluate(call("tvmgen_m_case_0", i32, {program.ref(w), program.ref(out)}))};
  });
  program.run();
}

TEST_CASE("parameters are const unless something writes through them") {
  CaseProgram program;
  program.operation("inner", {ints({1}), ints({1})}, ints({1}), [&](const auto& in, VarId out) {
    const VarId alias = program.pointer("alias", i32);
    return Block{let(alias, address_of(program.load(in[0], 0))), store(alias, imm(0), program.load(in[1], 0)),
                 store(out, imm(0), imm(1))};
  });
  program.operation("outer", {ints({1}), ints({1})}, ints({1}), [&](const auto& in, VarId out) {
    return Block{evaluate(call("tvmgen_m_case_0", i32, {program.ref(in[0]), program.ref(in[1]), program.ref(out)}))};
  });
  const std::string text = program.text();
  CHECK(count_of(text, "static void tvmgen_m_case_0(int32_t* p0, const int32_t* p1, int32_t* out)") == 1);
  CHECK(count_of(text, "static void tvmgen_m_case_1(int32_t* p0, const int32_t* p1, int32_t* out)") == 1);
  CHECK(program.declaration() ==
        "int32_t tvmgen_m___tvm_main__(int32_t* in0, const int32_t* in0_1, int32_t* out0, int32_t* in1, "
        "const int32_t* in1_1, int32_t* out1)");
}

}  // namespace
}  // namespace usmp::codegen::testing::functions_test

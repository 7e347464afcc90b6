// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Calls of C that TIR imports, read as TIR; what is not read stays.
#include "usmp/tvm_c/imported.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "tir_support/module_builder.hpp"
#include "usmp/tir/printer.hpp"

namespace usmp::tvm_c::imported_test {
namespace {

using namespace tir::testing;  // NOLINT(google-build-using-namespace)
using tir::ExprRef;
using tir::VarId;

const std::string add_one =
    "#include <stdint.h>\n#ifdef __cplusplus\nextern \"C\"\n#endif\n"
    "int32_t add_one(int8_t* to, const int8_t* from, int n) {\n  for (int i = 0; i < n; ++i) to[i] = from[i] + 1;\n  "
    "return 0;\n}\n";

struct Fixture : ModuleBuilder {
  const tir::DataType int8{tir::TypeCode::int_, 8, 1};
  VarId a = pointer("a", int8);
  VarId c = pointer("c", int8);
  tir::Block others;  // of a function that imports nothing

  ExprRef call_of(const std::string& name, std::vector<ExprRef> arguments) {
    arguments.insert(arguments.begin(), tir::make_string(name));
    return tir::make_call(tir::int32_type, tir::Op::call_extern, std::move(arguments));
  }
  ExprRef access(VarId storage, int at) {
    return tir::make_call(tir::handle_type, tir::Op::tvm_access_ptr,
                          {tir::make_call(int8, tir::Op::type_annotation, {}), tir::make_var(module(), storage),
                           tir::make_int(at), tir::make_int(4), tir::make_int(1)});
  }
  // After reading: the body of "f", and what it imports.
  std::string read(std::vector<ExprRef> calls, std::vector<std::string> imported,
                   std::vector<std::string> of_other = {}) {
    tir::Block body;
    for (ExprRef& call : calls) body.push_back({tir::Evaluate{std::move(call)}});
    function("f", {a, c}, std::move(body));
    if (!others.empty()) function("g", {pointer("a", int8), pointer("c", int8)}, others);
    const VarId x = pointer("x", int8);
    const VarId y = pointer("y", int8);
    entry({x, y}, block(call("f", {x, y})));
    tir::Module read = build();
    read.functions[*read.find("f")].imported_c = std::move(imported);
    read.functions[read.entry].imported_c = std::move(of_other);
    read_imported(read);
    const tir::Function& f = read.functions[*read.find("f")];
    const std::string printed = tir::print(read, f);
    const std::size_t begin = printed.find("{\n") + 2;
    return printed.substr(begin, printed.rfind('}') - begin) + "imports " + std::to_string(f.imported_c.size()) + "\n";
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "calls of imported functions become what these do") {
  const ExprRef address =
      tir::make_call(tir::handle_type, tir::Op::address_of, {tir::make_load(int8, a, tir::make_int(3))});
  CHECK(read({call_of("add_one", {access(c, 8), address, tir::make_int(4)}),
              call_of("add_one", {var(c), var(a), tir::make_int(2)})},
             {add_one}) ==
        "  scope {\n    for i in [0, 4) {\n      c[8 + i] = int8(int32(a[3 + i]) + 1)\n    }\n  }\n"
        "  scope {\n    for i_1 in [0, 2) {\n      c[i_1] = int8(int32(a[i_1]) + 1)\n    }\n  }\nimports 0\n");
}

TEST_CASE_FIXTURE(Fixture, "what is not understood stays, with its C") {
  std::vector<ExprRef> arguments = {var(c), var(a), tir::make_int(2)};
  const auto stays = [&](const std::string& text) { CHECK(text.find("call_extern") != std::string::npos); };
  SUBCASE("a function that is not read") {
    stays(
        read({call_of("add_one", arguments)}, {"int32_t add_one(int8_t* a, int8_t* b, int n) { return other(a); }\n"}));
  }
  SUBCASE("two of that name") { stays(read({call_of("add_one", arguments)}, {add_one, "static int k;\n" + add_one})); }
  SUBCASE("one of another name") { stays(read({call_of("add_two", arguments)}, {add_one})); }
  SUBCASE("C that does not end") { stays(read({call_of("add_one", arguments)}, {add_one + "int f() {"})); }
  SUBCASE("an argument that calls something") {
    arguments[2] = call_of("count", {});
    stays(read({call_of("add_one", arguments)}, {add_one}));
  }
  SUBCASE("an argument that is no pointer to elements") {
    arguments[0] =
        tir::make_call(tir::handle_type, tir::Op::if_then_else, {tir::make_int(1, tir::bool_type), var(a), var(c)});
    stays(read({call_of("add_one", arguments)}, {add_one}));
  }
}

TEST_CASE_FIXTURE(Fixture, "imported C goes where nothing needs it") {
  const std::vector<ExprRef> arguments = {var(c), var(a), tir::make_int(2)};
  const auto imports = [](const std::string& text) { return text.substr(text.rfind("imports ") + 8, 1); };
  const ExprRef read_call = call_of("add_one", arguments);
  SUBCASE("but for a call that stays") {
    CHECK(imports(read({read_call, call_of("other", arguments)},
                       {add_one + "int32_t other(int8_t*, int8_t*, int);\n"})) == "1");
  }
  SUBCASE("but for a call of another function") {
    others.push_back({tir::Evaluate{call_of("add_one", {tir::make_int(1)})}});
    CHECK(imports(read({read_call}, {add_one})) == "1");
  }
  SUBCASE("but for something else in it") { CHECK(imports(read({read_call}, {add_one + "int counter;\n"})) == "1"); }
  SUBCASE("of two texts") { CHECK(imports(read({read_call}, {add_one, "static void unused(void) {}\n"})) == "0"); }
}

}  // namespace usmp::tvm_c::imported_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which parameter of the entry is which member of the module's header.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "usmp/support/error.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c::entry_tensors_test {
namespace {

// The names of the entry's parameters. `arguments`: of the call in the firmware's function.
std::string names(const std::string& params, const std::string& arguments, const std::string& in_front = "",
                  const std::string& run_params = "struct tvmgen_m_inputs* inputs, struct tvmgen_m_outputs* outputs") {
  const std::string text =
      "TVM_DLL int32_t tvmgen_m_op(int8_t* p0, int8_t* T_add) {\n  T_add[0] = p0[0];\n  return 0;\n}\n"
      "TVM_DLL int32_t tvmgen_m___tvm_main__(" +
      params + ") {\n  if (tvmgen_m_op(a_buffer_var, b_buffer_var) != 0 ) return -1;\n  return 0;\n}\n";
  const std::string run = "int32_t tvmgen_m_run(" + run_params + ") {\n" + in_front +
                          "  return tvmgen_m___tvm_main__(" + arguments + ");\n}\n";
  const std::vector<Source> files = {{"m_lib0.c", run}, {"m_lib1.c", text}};
  std::string result;
  try {
    const tir::Module module = read_planned_module("m", files, {}, {}, Unread::kept).module;
    for (const tir::Param& param : module.functions[module.entry].params) result += param.name + " ";
  } catch (const Error& error) {
    result = error.what();
  }
  return result;
}

const std::string two = "int8_t* a_buffer_var, int8_t* b_buffer_var";

TEST_CASE("parameters have the names of the members that are passed for them") {
  CHECK(names(two, "inputs->a, outputs->b") == "a b ");
  CHECK(names(two, "inputs->b, outputs->a") == "b a ");
  CHECK(names(two, "outputs->y, inputs->x") == "y x ");
  CHECK(names(two, "(int8_t*)(inputs->b), ((int8_t*)outputs->a)") == "b a ");
}

TEST_CASE("parameters of the firmware's function have other spellings") {
  CHECK(names(two, "(*inputs).b, (outputs)->a") == "b a ");
  CHECK(names(two, "(int8_t*)(*inputs).b, ((outputs->a))") == "b a ");
  CHECK(names(two, "(*i).b, o->a", "", "const struct tvmgen_m_inputs *const i, struct tvmgen_m_outputs *restrict o") ==
        "b a ");
  const std::string types = "ins_t* i, outs_t* o";
  CHECK(names(two, "i->a, o->b", "", types) == "a b ");
  CHECK(
      names(two, "i->b, o->a", "", types) ==
      "m_lib0.c: line 2, column 32: found a struct of which nothing says whether it has inputs or outputs, expected a "
      "parameter struct tvmgen_MODULE_inputs* or …_outputs*");
  CHECK(
      names(two + ", uint8_t* sram_0_var", "inputs->b, outputs->a, pools->sram", "",
            "struct tvmgen_m_inputs* inputs, struct tvmgen_m_outputs* outputs, struct tvmgen_m_workspace_pools* pools")
          .starts_with("b a "));
  CHECK(names(two + ", void* npu", "inputs->b, outputs->a, devices->other", "",
              "struct tvmgen_m_inputs* inputs, struct tvmgen_m_outputs* outputs, struct tvmgen_m_devices* devices") ==
        "b a npu ");
  for (const char* argument : {"*inputs", "&inputs->b", "(*&inputs).b", "inputs->b->a"}) {
    CAPTURE(argument);
    CHECK(names(two, argument + std::string(", outputs->a")).find("found an argument of the entry that is not") !=
          std::string::npos);
  }
}

TEST_CASE("a function that somebody has edited passes members, too") {
  const std::string added = "  if (inputs == NULL) return -1;\n";
  CHECK(names(two, "inputs->b, outputs->a", added) == "b a ");
  CHECK(names(two, "(int8_t*)outputs->y, inputs->x", added) == "y x ");
  CHECK(names(two, "inputs->a, outputs->b", added) == "a b ");
  CHECK(names(two, "inputs->b, outputs->a", "  asm volatile (\"nop\");\n") == "b a ");
  CHECK(names(two, "inputs->b, outputs->a", "  int x = ({ tvmgen_m___tvm_main__(inputs->b, outputs->a); });\n")
            .find("in front of 'tvmgen_m___tvm_main__', expected a call in a statement that is understood") !=
        std::string::npos);
}

TEST_CASE("what else a call passes says nothing") {
  CHECK(names(two, "inputs->b + 1, outputs->a") == "a b ");
  CHECK(names(two, "inputs->y, outputs->x",
              "  if (inputs == NULL) return tvmgen_m___tvm_main__(outputs->x, inputs->y);\n") == "a b ");
}

TEST_CASE("the entry's name in brackets, and a member that is passed twice") {
  const std::string run = "struct tvmgen_m_inputs* inputs, struct tvmgen_m_outputs* outputs";
  CHECK(names(two, "inputs->b, outputs->a);\n  return (tvmgen_m___tvm_main__)(inputs->b, outputs->a") == "b a ");
  CHECK(names(two, "inputs->b, outputs->a);\n  return (tvmgen_m___tvm_main__)(inputs->a, outputs->b") == "a b ");
  CHECK(names(two, "inputs->a, outputs->b);\n  return (tvmgen_m___tvm_main__)(inputs->b, outputs->a") == "a b ");
  CHECK(names(two, "inputs->x, inputs->x") ==
        "m_lib0.c: line 2, column 43: found 'x' passed to the entry twice, expected each once");
}

TEST_CASE("an input and an output of one name") {
  CHECK(names(two, "outputs->x, inputs->x") == "x_output x ");
  const std::string three = two + ", int8_t* c_buffer_var";
  CHECK(names(three, "outputs->x, outputs->y, inputs->x") ==
        "m_lib0.c: line 2, column 32: found an input and an output 'x', expected parameters of the entry with the "
        "members' names, or other members");
}

TEST_CASE("TVM numbers outputs that nobody names otherwise in the header") {
  const std::string params = two + ", int8_t* output_buffer_var, int8_t* output2_buffer_var";
  CHECK(names(params, "inputs->a, inputs->b, outputs->output0, outputs->output1") == "a b output output2 ");
  CHECK(names(params, "inputs->a, inputs->b, outputs->output1, outputs->output0") == "a b output1 output0 ");
}

}  // namespace
}  // namespace usmp::tvm_c::entry_tensors_test

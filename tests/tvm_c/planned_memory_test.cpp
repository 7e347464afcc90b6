// SPDX-License-Identifier: Apache-2.0
// Places in pools that are not as TVM plans them.
#include "tvm_c/body/planned_memory.hpp"

#include <doctest/doctest.h>

#include <string>

#include "usmp/support/error.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c::planned_memory_test {
namespace {

// Of an entry with an operator op(p, q), which copies 16 bytes.
std::string error_of(const std::string& statements) {
  const std::string text =
      "static uint8_t sram[64];\n"
      "int32_t tvmgen_m_op(int8_t* p, int8_t* q) {\n  for (int32_t i = 0; i < 16; ++i) {\n    q[i] = p[i];\n  }\n"
      "  return 0;\n}\n"
      "int32_t tvmgen_m_half(int8_t* p, int8_t* q) {\n  for (int32_t i = 0; i < 16; ++i) {\n"
      "    q[i] = ((i < 8) ? p[i] : p[(i - 8)]);\n  }\n  return 0;\n}\n"
      "int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var, uint8_t* sram_0_var) {\n"
      "  void* a_let = (&(sram_0_var[0]));\n  void* b_let = (&(sram_0_var[8]));\n"
      "  void* c_let = (&(sram_0_var[32]));\n" +
      statements + "  return 0;\n}\n";
  const Source file{"lib1.c", text};
  try {
    (void)read_planned_module("m", {&file, 1});
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

std::string call(const std::string& arguments, const std::string& name = "op") {
  return "  if (tvmgen_m_" + name + "(" + arguments + ") != 0 ) return -1;\n";
}

std::string loop(const std::string& statement) {
  return "  for (int32_t i = 0; i < 16; ++i) {\n    " + statement + "\n  }\n";
}

}  // namespace

TEST_CASE("what one name of a pool reads and another writes is refused") {
  const std::string out = call("c_let, y_buffer_var");
  CHECK(error_of(call("x_buffer_var, a_let") + call("a_let, c_let") + out) == "none");
  // One after the other, at the same bytes.
  CHECK(error_of(call("x_buffer_var, a_let") + call("a_let, c_let") + call("c_let, b_let") + call("b_let, c_let") +
                 out) == "none");
  CHECK(error_of(call("x_buffer_var, a_let") + call("b_let, c_let") + out)
            .find("offset 8 of pool 'sram': found bytes [8, 24) of the pool, which 'b' reads and others write, such as "
                  "'a'") != std::string::npos);
  // Behind what it has of its own; in front of it.
  const std::string both = loop("((int8_t*)b_let)[i] = x_buffer_var[i];") + loop("((int8_t*)a_let)[(i >> 1)] = 3;");
  CHECK(error_of(both + call("a_let, c_let") + out).find("found bytes [8, 16) of the pool, which 'a' reads") !=
        std::string::npos);
  CHECK(error_of(both + loop("y_buffer_var[i] = ((int8_t*)b_let)[(i - 8)];"))
            .find("found 'b' with a negative index, expected none") != std::string::npos);
  CHECK(error_of(both + loop("((int8_t*)b_let)[(i - 8)] = y_buffer_var[i];")).find("negative") != std::string::npos);
  // A condition may keep it inside.
  CHECK(error_of(both + loop("y_buffer_var[i] = ((i < 8) ? ((int8_t*)a_let)[i] : ((int8_t*)b_let)[(i - 8)]);")) ==
        "none");
  CHECK(error_of(both + call("b_let, y_buffer_var", "half")) == "none");
  // Nobody writes it.
  CHECK(error_of(call("x_buffer_var, a_let") + call("c_let, y_buffer_var")) == "none");
}

TEST_CASE("a buffer of a function that is not read has what others access of it, whatever the plan says") {
  const auto bytes_of = [](int distance) {
    const std::string text =
        "static uint8_t sram[64];\n"
        "int32_t tvmgen_m_op(int8_t* p, int8_t* q) {\n  for (int32_t i = 0; i < 16; ++i) {\n    q[i] = p[i];\n  }\n"
        "  return 0;\n}\n"
        "int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var, uint8_t* sram_0_var) {\n"
        "  void* a_let = (&(sram_0_var[0]));\n  void* b_let = (&(sram_0_var[" +
        std::to_string(distance) + "]));\n" + call("x_buffer_var, b_let") + call("x_buffer_var, a_let", "npu") +
        call("a_let, y_buffer_var") + call("b_let, y_buffer_var") + "  return 0;\n}\n";
    const Source file{"lib1.c", text};
    const Foreign npu{"tvmgen_m_npu", "int32_t tvmgen_m_npu(int8_t* a, int8_t* b)"};
    const PlannedModule read = read_planned_module("m", {&file, 1}, {&npu, 1});
    const std::string entry = tir::print(read.module, read.module.functions[read.module.entry]);
    const std::string name = "allocate a: uint8[";
    const std::size_t at = entry.find(name);
    REQUIRE_MESSAGE(at != std::string::npos, entry);
    return std::stoi(entry.substr(at + name.size()));
  };
  CHECK(bytes_of(32) == 32);
  CHECK(bytes_of(16) == 16);
  CHECK(bytes_of(8) == 16);
}

}  // namespace usmp::tvm_c::planned_memory_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Statements and expressions of operators as C spells them, and the TIR that they are.
#include "usmp/tvm_c/reader.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "usmp/support/error.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c::reader_test {
namespace {

tir::Module read(const std::string& text) {
  const Source file{"lib1.c", text};
  return read_module("m", {&file, 1});
}

const std::string entry =
    "int32_t tvmgen_m___tvm_main__(int8_t* in_buffer_var, int8_t* output_buffer_var) {\n"
    "  if (tvmgen_m_op(in_buffer_var, output_buffer_var) != 0 ) return -1;\n"
    "  return 0;\n}\n";

// What an operator with this body, of int8 tensors p and q, is in TIR.
std::string body_of(const std::string& body, const std::string& in_front = "") {
  const tir::Module module =
      read(in_front + "TVM_DLL int32_t tvmgen_m_op(int8_t* p, int8_t* q) {\n" + body + "\n  return 0;\n}\n" + entry);
  const std::string text = tir::print(module, module.functions[*module.find("tvmgen_m_op")]);
  const std::size_t begin = text.find("{\n") + 2;
  return text.substr(begin, text.rfind('}') - begin);
}

// The value that is stored to an int32 element.
std::string value_of(const std::string& expression, const std::string& in_front = "") {
  const std::string body = body_of("  int32_t x[4];\n" + in_front + "  x[0] = " + expression + ";");
  const std::size_t begin = body.rfind("] = ") + 4;
  return body.substr(begin, body.rfind('\n') - begin);
}

std::string error_of(const std::string& text) {
  try {
    (void)read(text);
    return "none";
  } catch (const Error& error) {
    return error.what();
  }
}

std::string error_in(const std::string& body) {
  return error_of("int32_t tvmgen_m_op(int8_t* p, int8_t* q) {\n" + body + "\n}\n" + entry);
}

TEST_CASE("C's conversions are written down") {
  CHECK(value_of("p[1] + p[2]") == "int32(p[1] + p[2])");  // narrow operands promote, uncut
  CHECK(value_of("(int8_t)(p[1] + p[2])") == "int32(int8(p[1] + p[2]))");
  CHECK(value_of("p[0] + 3") == "int32(p[0]) + 3");
  CHECK(value_of("(int32_t)((int64_t)7 * p[0])") == "int32(7i64 * int64(p[0]))");
  CHECK(value_of("(int32_t)(1.5f * (float)p[0])") == "int32(1.5 * float32(p[0]))");
  CHECK(value_of("(int32_t)expf(0.5f)") == "int32(tir.exp(0.5))");
  CHECK(value_of("(int32_t)expf(-0.5f)") == "int32(tir.exp(-0.5))");
  CHECK(value_of("(int32_t)-expf(0.5f)") == "int32(tir.exp(0.5) * -1.0)");
  CHECK(value_of("(int32_t)(1.5f * 16777216)") == "int32(1.5 * 16777216.0)");
  CHECK(value_of("(int32_t)(1.5f * 16777217)") == "int32(1.5 * float32(16777217))");  // which float does not hold
  CHECK(value_of("(int32_t)(1.5f * -16777217)") == "int32(1.5 * float32(-16777217))");
  CHECK(value_of("p[0] < 3 && p[1] != 0 ? 4 : 5") == "tir.if_then_else(int32(p[0]) < 3 and int32(p[1]) != 0, 4, 5)");
  CHECK(value_of("p[0] < 3 || p[1] ? 4 : 5") == "tir.if_then_else(int32(p[0]) < 3 or p[1] != 0i8, 4, 5)");
  CHECK(value_of("true ? 4 : false") == "4");
  CHECK(value_of("false ? 4 : 5") == "5");
  CHECK(value_of("~p[0]") == "tir.bitwise_not(int32(p[0]))");
  CHECK(value_of("0x10 - 0x7fffffff - 1") == "-2147483632");
  CHECK(value_of("(p[0] == 1)") == "int32(int32(p[0]) == 1)");
}

TEST_CASE("alignments are those that the head of a file says") {
  const std::string text = "int32_t tvmgen_m_op(int8_t* p, int8_t* q) {\n  q[0] = p[0];\n  return 0;\n}\n" + entry;
  const std::string option = "-byte-alignment=";
  const tir::Module module = read("// tvm target: c -constant" + option + "32 -workspace" + option + "128\n" + text +
                                  "// -workspace" + option + "4");
  CHECK(module.constant_alignment == 32);
  CHECK(module.workspace_alignment == 128);
  CHECK(read(text + "// -constant" + option + "8").constant_alignment == 8);
  CHECK(read(text + "// -constant" + option + "0").constant_alignment == read(text).constant_alignment);
}

TEST_CASE("operators bind as in C") {
  CHECK(value_of("1 + p[0] * 2 - 3 << 1") == "tir.shift_left(1 + int32(p[0]) * 2 - 3, 1)");
  CHECK(value_of("p[0] & 3 | 4 ^ p[1]") ==
        "tir.bitwise_or(tir.bitwise_and(int32(p[0]), 3), tir.bitwise_xor(4, int32(p[1])))");
  CHECK(value_of("-p[0] - -2") == "0 - int32(p[0]) - -2");
  CHECK(value_of("p[0] ? 1 : p[1] ? 2 : 3") == "tir.if_then_else(p[0] != 0i8, 1, tir.if_then_else(p[1] != 0i8, 2, 3))");
  CHECK(value_of("(int32_t)p[p[1] + 1]") == "int32(p[int32(p[1]) + 1])");
}

TEST_CASE("minima and maxima are recognised where C computes what they are") {
  CHECK(value_of("(v) > (-128) ? (v) : (-128)", "  int32_t v = (int32_t)p[0];\n") == "max(int32(p[0]), -128)");
  CHECK(value_of("((p[0]) < (p[1]) ? (p[0]) : (p[1]))") == "int32(min(p[0], p[1]))");
  // Another pair than the one compared; and a narrow sum, which C does not cut here.
  CHECK(value_of("((p[0]) < (p[1]) ? (p[1]) : (p[0]))") == "int32(tir.if_then_else(p[0] < p[1], p[1], p[0]))");
  CHECK(value_of("((p[0] + p[1]) < (p[2]) ? (p[0] + p[1]) : (p[2]))").find("min") == std::string::npos);
}

TEST_CASE("fixed-point products are recognised, with the rounding that they have") {
  CHECK(
      value_of("((int32_t)(((((0 != 0) ? (((int64_t)y[0]) << ((int64_t)0)) : ((int64_t)y[0])) * (int64_t)1099511584) + "
               "((int64_t)1 << ((int64_t)((7 + 31) - 1)))) >> ((int64_t)(7 + 31))))",
               "  int32_t y[1];\n") == "tir.q_multiply_shift(y[0], 1099511584, 31, -7)");
  CHECK(value_of("((int32_t)((((((int64_t)y[0]) << ((int64_t)2)) * (int64_t)5) + ((int64_t)1 << ((int64_t)30))) >> "
                 "((int64_t)31)))",
                 "  int32_t y[1];\n") == "tir.q_multiply_shift(y[0], 5, 31, 2)");
  const std::string per_axis =
      "((int32_t)(((((int64_t)y[0]) * ((int64_t)m[1])) + ((int64_t)1 << ((int64_t)((s[1] + 31) - 1)))) >> "
      "((int64_t)(s[1] + 31))))";
  const std::string arrays = "  int32_t y[2]; int32_t m[2]; int32_t s[2];\n";
  CHECK(value_of(per_axis, arrays) == "tir.q_multiply_shift_per_axis(y[0], m[1], 0, s[1], 31, false, true)");
  // Half of something else is no rounding.
  std::string other = per_axis;
  other.replace(other.find("31) - 1"), 7, "31) - 2");
  CHECK(value_of(other, arrays).find("q_multiply") == std::string::npos);
}

TEST_CASE("variables that a printer introduced are gone, others stay") {
  CHECK(body_of("  int32_t v_ = p[0] + 1; int32_t v__1 = (v_) < (3) ? (v_) : (3);\n  q[0] = (int8_t)v__1;") ==
        "  q[0] = int8(min(int32(p[0]) + 1, 3))\n");
  CHECK(body_of("  int32_t c = p[0]; q[c] = (int8_t)c;") == "  let c: int32 = int32(p[0])\n  q[c] = int8(c)\n");
  // What is stored meanwhile may be what it reads.
  CHECK(body_of("  int8_t v = p[0]; q[0] = 1; q[1] = v;") == "  let v: int8 = p[0]\n  q[0] = 1i8\n  q[1] = v\n");
  // Cut where it is bound.
  CHECK(body_of("  int8_t v = p[0] + p[1]; int32_t x[1]; x[0] = v;").find("int32(int8(") != std::string::npos);
}

TEST_CASE("choices that TVM 0.16 writes as branches") {
  CHECK(
      body_of("  int8_t condval;\n  if ((p[0] < 3)) {\n    condval = p[1];\n  } else {\n    condval = (int8_t)0;\n  }\n"
              "  q[0] = condval;") == "  q[0] = tir.if_then_else(int32(p[0]) < 3, p[1], 0i8)\n");
  // Another store to it: it is memory.
  CHECK(body_of("  int8_t c;\n  if (p[0] < 3) { c = 1; } else { c = 2; }\n  c = p[3];\n  q[0] = c;")
            .find("if_then_else") == std::string::npos);
}

TEST_CASE("quotients of indices are floor quotients where they are the same") {
  const std::string loop = "  for (int32_t i = 0; i < 12; ++i) { q[";
  CHECK(body_of(loop + "i / 4] = 0; }").find("floordiv(i, 4)") != std::string::npos);
  CHECK(body_of(loop + "(i >> 2) + (i & 3)] = 0; }").find("floordiv(i, 4) + floormod(i, 4)") != std::string::npos);
  CHECK(body_of(loop + "(i - 20) / 4 + 5] = 0; }").find("floordiv") == std::string::npos);  // of a negative number
}

TEST_CASE("workspace, arrays, failures") {
  CHECK(
      body_of(
          "  void* w = TVMBackendAllocWorkspace(1, 0, (uint64_t)8, 0, 16);\n  if (w == NULL) {\n    return -1;\n  }\n"
          "  ((int16_t*)w)[1] = (int16_t)p[0];\n  if (TVMBackendFreeWorkspace(1, 0, w) != 0) {\n    return -1;\n  }") ==
      "  allocate w: int16[2]\n  w[1] = int16(p[0])\n");  // as large as it is used
  CHECK(body_of("  float* w = (float*)TVMBackendAllocWorkspace(1, 0, (uint64_t)8, 2, 32);\n  w[1] = 2.0f;") ==
        "  allocate w: float32[2]\n  w[1] = 2.0\n");
  CHECK(body_of("  int16_t x[3];\n  x[2] = 1;\n  q[0] = (int8_t)x[2];") ==
        "  allocate x: int16[3]\n  x[2] = 1i16\n  q[0] = int8(x[2])\n");
}

TEST_CASE("workspace that nothing accesses is none") {
  const std::string never =
      "  void* w = TVMBackendAllocWorkspace(1, 0, (uint64_t)64, 0, 16);\n  if (w == NULL) return -1;\n  int16_t "
      "x[3];\n";
  const std::string freed = "  if (TVMBackendFreeWorkspace(1, 0, w) != 0) {\n    return -1;\n  }";
  CHECK(body_of(never + "  q[0] = 1;\n" + freed) == "  q[0] = 1i8\n");
  CHECK(body_of(never + "  ((int16_t*)w)[0] = 1;\n" + freed) == "  allocate w: int16[1]\n  w[0] = 1i16\n");
  const std::string op = body_of(never + "  see(w, 1);\n" + freed, "int32_t see(void* w, int32_t n);\n");
  CHECK_MESSAGE(op.starts_with("  allocate w: int16[32]"), op);
}

TEST_CASE("loops, branches, while") {
  CHECK(body_of("  for (int32_t i = 2; i < 6; ++i) if (i < 4) q[i] = p[i]; else q[i] = 0;") ==
        "  for i in [2, 2 + 4) {\n    if i < 4 {\n      q[i] = p[i]\n    } else {\n      q[i] = 0i8\n    }\n  }\n");
  CHECK(body_of("  int32_t n[1];\n  n[0] = 0;\n  while (1) {\n    if (!(n[0] < 3)) { break; }\n    n[0] += 1;\n  }")
            .find("while") != std::string::npos);
  for (const char* other :
       {"if (p[0]) { }", "if (p[0]) { break; q[0] = 1; }", "if (p[0]) { break; } else { q[0] = 1; }"}) {
    CHECK(error_in("  while (1) {\n    " + std::string(other) + "\n    q[1] = 1;\n  }")
              .find("expected { if (condition) { break; } in front of what the loop does") != std::string::npos);
  }
}

TEST_CASE("arrays keep the alignment that they declare") {
  const auto array = [](const std::string& declaration) {
    const std::string text = body_of("  " + declaration + ";\n  a[0] = p[0];\n  q[0] = (int8_t)a[0];");
    return text.substr(0, text.find('\n'));
  };
  CHECK(array("int16_t a[2]").ends_with("]"));
  CHECK(array("int16_t a[2] __attribute__((aligned(4)))").ends_with("] aligned to 4"));
  CHECK(array("int16_t a[2] __attribute__((unused, __aligned__(16u)))").ends_with("aligned to 16"));
  CHECK(
      array("int16_t a[2] __attribute__((aligned(8))) __attribute__((aligned(4), unused))").ends_with("aligned to 8"));
  // A helper that is not read gets the address of such elements as it is cast to, if these are wider.
  const auto handed = [](const std::string& pointer) {
    const std::string c =
        "static int32_t helper(void* p) { return *(int32_t*)p; }\n"
        "TVM_DLL int32_t tvmgen_m_op(int8_t* p, int8_t* q) {\n  int16_t a[2];\n  a[0] = p[0];\n  helper(" +
        pointer + ");\n  q[0] = (int8_t)a[0];\n  return 0;\n}\n" + entry;
    const Source file{"lib1.c", c};
    const tir::Module module = read_planned_module("m", {&file, 1}, {}, {}, Unread::kept).module;
    const std::string text = tir::print(module, module.functions[*module.find("tvmgen_m_op")]);
    return text.find("tvm_access_ptr") != std::string::npos;
  };
  CHECK(handed("(int32_t*)a"));
  CHECK_FALSE(handed("(int8_t*)a"));
  CHECK_FALSE(handed("a"));
  const auto refusal = [](const std::string& attribute) {
    return error_in("  int16_t a[2] __attribute__((" + attribute +
                    "));\n  a[0] = p[0];\n  q[0] = (int8_t)a[0];\n  return 0;");
  };
  CHECK(refusal("aligned").find("found ')', expected '('") != std::string::npos);
  CHECK(refusal("aligned(LINE)").find("found 'LINE', expected an alignment in bytes, as a number") !=
        std::string::npos);
  CHECK(refusal("aligned(3)").find("expected an alignment that is a power of two up to 4096") != std::string::npos);
  CHECK(refusal("aligned(8192)").find("found '8192'") != std::string::npos);
  CHECK(refusal("aligned(2 * 4)").find("found '*', expected ')'") != std::string::npos);
}

TEST_CASE("constants are tables of the file") {
  const std::string table =
      "#ifdef __cplusplus\nextern \"C\" {\n#endif\nstatic const int16_t __attribute__((section(\".rodata.tvm\"), "
      "aligned(16))) c[3] = {\n    +0x0001, -0x0002, \n    3\n};\n#ifdef __cplusplus\n}\n#endif\n";
  const tir::Module module = read(
      table + "int32_t tvmgen_m_op(int8_t* p, int8_t* q) { q[0] = (int8_t)((int16_t*)c)[1]; return 0; }\n" + entry);
  const auto& stmt = module.functions[*module.find("tvmgen_m_op")].body.at(0);
  const auto& constant = std::get<tir::AllocateConst>(stmt.node);
  CHECK(constant.data->bytes == std::string("\x01\x00\xfe\xff\x03\x00", 6));
  CHECK(error_of("static const int8_t c[1] = {200};\n" + entry) ==
        "lib1.c: line 1, column 29: found 200, which int8 does not hold");
}

TEST_CASE("buffers that TVM has planned") {
  const std::string pools =
      "static struct global_const_workspace {\n  int16_t a_let[2] __attribute__((aligned(16)));\n"
      "  int8_t b_let[1] __attribute__((packed, aligned(16)));\n} global_const_workspace = {\n  .a_let = {1, 2},\n  "
      ".b_let = {7},\n};\n"
      "static uint8_t global_workspace[64];\n";
  const tir::Module module =
      read(pools +
           "int32_t tvmgen_m_op(int8_t* p, int8_t* q, uint8_t* global_const_workspace_2_var, uint8_t* "
           "global_workspace_3_var) {\n"
           "  void* b_let = (&(global_const_workspace_2_var[16]));\n  void* s_let = (&(global_workspace_3_var[8]));\n"
           "  ((int32_t*)s_let)[2] = ((int8_t*)b_let)[0];\n  q[0] = (int8_t)((int32_t*)s_let)[2];\n  return 0;\n}\n"
           "int32_t tvmgen_m___tvm_main__(int8_t* in_buffer_var, int8_t* output_buffer_var, uint8_t* "
           "global_const_workspace_0_var, "
           "uint8_t* global_workspace_1_var) {\n  if (tvmgen_m_op(in_buffer_var, output_buffer_var, "
           "global_const_workspace_0_var, "
           "global_workspace_1_var) != 0 ) return -1;\n  return 0;\n}\n");
  const tir::Function& op = module.functions[*module.find("tvmgen_m_op")];
  CHECK(op.params.size() == 2);
  CHECK(tir::print(module, op).find("constant b: int8[1] of 1 byte") != std::string::npos);
  CHECK(tir::print(module, op).find("allocate s: int32[3]") != std::string::npos);
}

TEST_CASE("the pools of TVM's plan, with their sizes") {
  const auto pools = [](const std::string& params, const std::string& c, const std::string& header) {
    const std::string lib = c + "int32_t tvmgen_m_op(int8_t* p, int8_t* q) {\n  q[0] = p[0];\n  return 0;\n}\n" +
                            "int32_t tvmgen_m___tvm_main__(int8_t* in_buffer_var, int8_t* output_buffer_var" + params +
                            ") {\n  if (tvmgen_m_op(in_buffer_var, output_buffer_var) != 0 ) return -1;\n"
                            "  return 0;\n}\n";
    const std::vector<Source> files = {{"lib1.c", lib}, {"tvmgen_m.h", header}};
    std::string text;
    for (const PlannedPool& pool : read_planned_module("m", files).pools) {
      text += pool.name + (pool.is_constant ? " constants " : " workspace ") +
              (pool.size ? std::to_string(*pool.size) : "?") + "\n";
    }
    return text;
  };
  CHECK(pools("", "static uint8_t global_workspace[64];\n", "#define TVMGEN_M_SRAM_WORKSPACE_POOL_SIZE 8\n").empty());
  // A struct ends behind its last member, which is aligned.
  const std::string owned =
      "static struct flash {\n  int8_t a_let[1] __attribute__((aligned(16)));\n"
      "  int16_t b_let[2] __attribute__((packed, aligned(16)));\n} flash = {\n  .a_let = {7},\n  .b_let = {1, 2},\n};\n"
      "static uint8_t sram[64];\n";
  const std::string params = ", uint8_t* flash_0_var, uint8_t* sram_1_var";
  CHECK(pools(params, owned, "") == "flash constants 20\nsram workspace 64\n");
  const auto spelled = [&](const std::string& alignment) {
    std::string text = owned;
    text.replace(text.rfind("aligned(16)"), 11, alignment);
    return pools(params, text, "");
  };
  CHECK(spelled("__aligned__(32)").starts_with("flash constants 36\n"));
  CHECK(spelled("aligned(N)").starts_with("flash workspace ?\n"));  // no offset of it is known
  CHECK(spelled("aligned").starts_with("flash workspace ?\n"));
  // The application's: the macros of this module, not of another whose name continues this one's.
  const std::string macros =
      "#define TVMGEN_M_SRAM_WORKSPACE_POOL_SIZE 49152\n#define TVMGEN_M_FLASH_CONSTANT_POOL_SIZE 115552\n"
      "#define TVMGEN_M_OTHER_DTCM_WORKSPACE_POOL_SIZE 5\n";
  CHECK(pools(params, "", macros) == "flash constants 115552\nsram workspace 49152\n");
  CHECK(pools(", uint8_t* dtcm_2_var", "", macros) == "dtcm workspace ?\n");
  // What the C has counts, whatever the header says.
  CHECK(pools(", uint8_t* sram_0_var", owned, macros) == "sram workspace 64\n");
  CHECK(pools(", int8_t* tensor_0_var", "", macros).empty());  // a tensor
  // However the C spells it.
  const auto sram = [&](const std::string& spelling) { return pools(", uint8_t* sram_0_var", spelling + ";\n", ""); };
  for (const char* size : {"768", "0x300", "3 * 256", "768U", "(1 + 2) * 0x100", "1024 - 256", "((768))",
                           "256 + 2 * 256", "1536 / 2", "-1 + 769", "3 << 8", "192 * sizeof(int)"}) {
    CHECK_MESSAGE(sram("static uint8_t sram[" + std::string(size) + "]") == "sram workspace 768\n", size);
  }
  for (const char* size : {"1 - 2", "3 * N", "3.0", "65536 * 65536", "sizeof(long)"}) {
    CHECK_MESSAGE(sram("static uint8_t sram[" + std::string(size) + "]") == "sram workspace ?\n", size);
  }
  for (const char* spelling :
       {"__attribute__((section(\".bss\"), aligned(16)))\nuint8_t sram[768]", "static uint8_t sram[768] = {0}",
        "uint8_t sram[768] __attribute__((aligned(16))) = { }"}) {
    CHECK_MESSAGE(sram(spelling) == "sram workspace 768\n", spelling);
  }
  CHECK(sram("static uint8_t sram[768] = {1}") == "sram workspace ?\n");
  CHECK(sram("static uint8_t sram[768] = {0, 1}") == "sram workspace ?\n");
}

TEST_CASE("sections of pools and constants") {
  const auto read = [](const std::string& tables) {
    const std::string text =
        "__attribute__((section(\".bss.noinit.tvm\"), aligned(16)))\nstatic uint8_t sram[64];\n" + tables +
        "int32_t tvmgen_m___tvm_main__(int8_t* in_buffer_var, int8_t* out_buffer_var, uint8_t* sram_0_var) {\n"
        "  void* sid_1_let = (&(sram_0_var[0]));\n"
        "  for (int32_t i = 0; i < 4; ++i) {\n    ((int8_t*)sid_1_let)[i] = in_buffer_var[i];\n  }\n  return 0;\n}\n";
    const Source file{"lib1.c", text};
    return read_planned_module("m", {&file, 1});
  };
  const std::string table =
      "static const int8_t __attribute__((section(\".rodata.tvm\"), aligned(16))) t[2] = {1, 2};\n";
  const std::string pool =
      "__attribute__((section(\".rodata.tvm\"), ))\nstatic struct c { int8_t a[2] __attribute__((aligned(16))); } c = "
      "{ .a = {1, 2}, };\n";
  const PlannedModule planned = read(table + pool + "static const int8_t helper[2] = {1, 2};\n");
  REQUIRE(planned.pools.size() == 1);
  CHECK(planned.pools[0].section == ".bss.noinit.tvm");
  CHECK(planned.constants_section == ".rodata.tvm");
  CHECK(read(pool).constants_section == ".rodata.tvm");
  CHECK(read("").constants_section.empty());
  CHECK(read("struct own { int8_t a[2]; } own = {{1, 2}};\n" + pool).constants_section == ".rodata.tvm");
  CHECK(read(table + "static const int8_t __attribute__((section(\".rodata.x\"))) u[1] = {1};\n")
            .constants_section.empty());
  CHECK(read("static const int8_t __attribute__((section(\".ram\"))) u[1] = {1};\n").constants_section.empty());
}

TEST_CASE("what stands behind the name of constants says where they are, too") {
  for (const std::string word : {"PROGMEM", "PLACED", "__attribute__"}) {
    const std::string place = word + (word == "PROGMEM" ? "" : word == "PLACED" ? "(\".x\")" : "((section(\".x\")))");
    const std::string text =
        "static struct flash { int8_t a[2]; } flash " + place +
        " = { .a = {1, 2}, };\n"
        "int32_t tvmgen_m___tvm_main__(int8_t* in_buffer_var, int8_t* out_buffer_var, uint8_t* flash_0_var) {\n"
        "  void* a_let = (&(flash_0_var[0]));\n"
        "  for (int32_t i = 0; i < 2; ++i) {\n    out_buffer_var[i] = ((int8_t*)a_let)[i];\n  }\n  return 0;\n}\n";
    const Source file{"lib1.c", text};
    const PlannedModule read = read_planned_module("m", {&file, 1});
    REQUIRE(read.lost_placements.size() == 1);
    CHECK(read.lost_placements[0] == "lib1.c: '" + word +
                                         "' of 'flash' (line 1, column 44) is not in planned C; --pools can give its "
                                         "section");
  }
}

TEST_CASE("constants in a pool of the application's; TVM's greedy_by_size puts them over one another") {
  const auto planned = [](const std::string& second) {
    const std::string c =
        "int32_t tvmgen_m_op(int8_t* p, int8_t* q, uint8_t* flash_1_var) {\n"
        "  void* a_let = (&(flash_1_var[0]));\n  void* b_let = (&(flash_1_var[" +
        second +
        "]));\n"
        "  q[0] = (int8_t)(((int16_t*)a_let)[1] + ((int16_t*)b_let)[0]);\n  return 0;\n}\n"
        "int32_t tvmgen_m___tvm_main__(int8_t* in_buffer_var, int8_t* output_buffer_var, uint8_t* flash_0_var) {\n"
        "  if (tvmgen_m_op(in_buffer_var, output_buffer_var, flash_0_var) != 0 ) return -1;\n  return 0;\n}\n";
    const std::string header =
        "#define TVMGEN_M_FLASH_CONSTANT_POOL_DATA \\\n  0x01, 0x02, 0x03, 0x04, \\\n  0x05, 0x06\n";
    const std::vector<Source> files = {{"lib1.c", c}, {"tvmgen_m.h", header}};
    const PlannedModule read = read_planned_module("m", files);
    CHECK(read.places.size() == 2);
    CHECK(read.places[1].pool == "flash");
    CHECK(std::to_string(read.places[1].offset) == second);
    CHECK(read.lost_constants.has_value() == (second != "4"));
    return read_module("m", files);
  };
  const tir::Module module = planned("4");
  const tir::Block& body = module.functions[*module.find("tvmgen_m_op")].body;
  CHECK(std::get<tir::AllocateConst>(body.at(0).node).data->bytes == "\x01\x02\x03\x04");
  CHECK(std::get<tir::AllocateConst>(body.at(1).node).data->bytes == "\x05\x06");
  const tir::Constant& first = *std::get<tir::AllocateConst>(body.at(0).node).data;
  CHECK(tir::to_string(first.type) == "int16");
  CHECK(first.shape == std::vector<std::int64_t>{2});
  CHECK_THROWS_WITH_AS(
      (void)planned("2"),
      "TVM's plan is wrong: constants at [0, 4) and [2, 4) of pool 'flash' overlap, so their values are lost; build "
      "the archive again without USMP",
      Error);
  CHECK_THROWS_WITH_AS(
      (void)planned("0"),
      "TVM's plan is wrong: constants 'a' and 'b' are both at 0 of pool 'flash', so their values are lost; build the "
      "archive again without USMP",
      Error);
}

TEST_CASE("constants of one name at one offset of two pools are two") {
  const std::string c =
      "static struct flash { int8_t a_let[1]; } flash = { .a_let = {5}, };\n"
      "static struct rom { int8_t a_let[1]; } rom = { .a_let = {7}, };\n"
      "int32_t tvmgen_m_op(int8_t* p, int8_t* q, uint8_t* flash_1_var, uint8_t* rom_2_var) {\n"
      "  for (int32_t i = 0; i < 2; ++i) {\n    void* a_let = (&(flash_1_var[0]));\n    q[i] = ((int8_t*)a_let)[0];\n  "
      "}\n"
      "  for (int32_t j = 0; j < 2; ++j) {\n    void* a_let = (&(rom_2_var[0]));\n    q[j] = ((int8_t*)a_let)[0];\n  "
      "}\n"
      "  return 0;\n}\n"
      "int32_t tvmgen_m___tvm_main__(int8_t* in_buffer_var, int8_t* output_buffer_var, uint8_t* flash_0_var, uint8_t* "
      "rom_1_var) {\n"
      "  if (tvmgen_m_op(in_buffer_var, output_buffer_var, flash_0_var, rom_1_var) != 0 ) return -1;\n  return 0;\n}\n";
  const tir::Module module = read(c);
  const tir::Block& body = module.functions[*module.find("tvmgen_m_op")].body;
  CHECK(std::get<tir::AllocateConst>(body.at(0).node).data->bytes == "\x05");
  CHECK(std::get<tir::AllocateConst>(body.at(1).node).data->bytes == "\x07");
  // Another definition may replace one.
  std::string weak = c;
  CHECK(error_of(weak.replace(0, std::string("static").size(), "__attribute__((weak))")) != "none");
}

TEST_CASE("constants in a pool of the application's, without the header that has their values") {
  const auto message = [](const std::string& body, const std::string& header, const std::string& arguments = "") {
    const std::string c =
        "int32_t tvmgen_m_op(int8_t* p, int8_t* q, int8_t* r, uint8_t* flash_1_var) {\n" + body +
        "  return 0;\n}\nint32_t tvmgen_m___tvm_main__(int8_t* in_buffer_var, int8_t* output_buffer_var, uint8_t* "
        "flash_0_var) {\n  void* c_let = (&(flash_0_var[16]));\n"
        "  if (tvmgen_m_op(in_buffer_var, " +
        (arguments.empty() ? "output_buffer_var, in_buffer_var" : arguments) +
        ", flash_0_var) != 0 ) return -1;\n  return 0;\n}\n";
    const std::vector<Source> files = {{"lib1.c", c}, {"tvmgen_m.h", header}};
    try {
      (void)read_module("m", files);
      return std::string("none");
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  const std::string own = "  void* a_let = (&(flash_1_var[8]));\n  q[0] = ((int8_t*)a_let)[1];\n";
  const std::string found =
      ", which is read and never written: a constant, whose value is not here; expected a struct "
      "'flash' with values in a C file or a header (.h) that it includes, or TVMGEN_M_FLASH_CONSTANT_POOL_DATA in a "
      "header, tvmgen_m.h";
  CHECK(message(own, "") ==
        "lib1.c: line 1, column 9: function 'tvmgen_m_op', offset 8 of pool 'flash': found 'a'" + found);
  CHECK(message(own, "#define TVMGEN_M_FLASH_CONSTANT_POOL_SIZE 16\n").ends_with(found));
  CHECK(message(own, "#define TVMGEN_M_FLASH_CONSTANT_POOL_DATA 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17\n") ==
        "none");
  // Passed by the entry, to what reads it; to what writes it; and workspace of the operator's own.
  const std::string reads = "  q[0] = r[0];\n";
  CHECK(message(reads, "", "output_buffer_var, c_let") ==
        "lib1.c: line 5, column 9: function 'tvmgen_m___tvm_main__', offset 16 of pool 'flash': found 'c'" + found);
  CHECK(message(reads + "  r[1] = p[0];\n", "", "output_buffer_var, c_let") == "none");
  CHECK(message(reads, "", "c_let, c_let") == "none");
  CHECK(message("  void* a_let = (&(flash_1_var[8]));\n  ((int8_t*)a_let)[1] = p[0];\n  q[0] = ((int8_t*)a_let)[1];\n",
                "") == "none");
}

TEST_CASE("files have tables of the same name, but not functions") {
  const auto file = [](const char* function, const char* value) {
    return std::string("static const int8_t c[1] = {") + value + "};\nint32_t tvmgen_m_" + function +
           "(int8_t* p, int8_t* q) { q[0] = ((int8_t*)c)[0]; return 0; }\n";
  };
  const std::string main =
      "int32_t tvmgen_m___tvm_main__(int8_t* in_buffer_var, int8_t* output_buffer_var) {\n"
      "  if (tvmgen_m_a(in_buffer_var, output_buffer_var) != 0 ) return -1;\n"
      "  if (tvmgen_m_b(in_buffer_var, output_buffer_var) != 0 ) return -1;\n  return 0;\n}\n";
  const std::string a = file("a", "1");
  const std::string b = file("b", "2");
  const std::vector<Source> files = {{"lib1.c", a}, {"lib2.c", b}, {"lib3.c", main}};
  const tir::Module module = read_module("m", files);
  const auto byte_of = [&](const char* name) {
    return std::get<tir::AllocateConst>(module.functions[*module.find(name)].body.at(0).node).data->bytes;
  };
  CHECK(byte_of("tvmgen_m_a") == "\x01");
  CHECK(byte_of("tvmgen_m_b") == "\x02");
  // A table of one other file is that, if others see it; of two it is neither.
  const std::string user = "int32_t tvmgen_m_b(int8_t* p, int8_t* q) { q[0] = ((int8_t*)c)[0]; return 0; }\n";
  const std::string visible = a.substr(std::string("static ").size());
  const std::vector<Source> shared = {{"lib1.c", visible}, {"lib2.c", user}, {"lib3.c", main}};
  CHECK(read_module("m", shared).functions.size() == 3);
  const std::string only_table = "static const int8_t c[1] = {3};";
  const std::vector<Source> several = {{"lib1.c", visible}, {"lib2.c", user}, {"lib3.c", main}, {"lib4.c", only_table}};
  CHECK_THROWS_WITH_AS((void)read_module("m", several),
                       "lib2.c: line 1, column 61: found 'c', which is not declared here", Error);
  const std::string again = file("a", "3");
  const std::string nothing = "\n" + a;
  const std::vector<Source> twice = {{"lib1.c", nothing}, {"lib2.c", again}, {"lib3.c", main}, {"lib4.c", b}};
  CHECK_THROWS_WITH_AS((void)read_module("m", twice),
                       "lib1.c: line 3, column 9: found 'tvmgen_m_a' in another file, too, expected one function of it",
                       Error);
}

TEST_CASE("numbers that no signed integer holds stay what they are") {
  CHECK(value_of("(int32_t)((float)18446744073709551615ULL)").find("18446744073709551615u64") != std::string::npos);
  CHECK(value_of("(int32_t)((float)16777216)") == "int32(16777216.0)");
}

TEST_CASE("a choice reads variables that are gone") {
  CHECK(body_of(
            "  int8_t v = p[2];\n  int8_t condval;\n  if (p[0] < 3) {\n    condval = v;\n  } else {\n    condval = 0;\n"
            "  }\n  int8_t w = condval;\n  q[0] = w;") == "  q[0] = tir.if_then_else(int32(p[0]) < 3, p[2], 0i8)\n");
}

TEST_CASE("loops whose end is loaded") {
  const std::string loop = "  for (int32_t i = 0; i < (int32_t)p[0]; ++i) {\n    ";
  CHECK(body_of("  int8_t own[1];\n" + loop + "own[0] = q[i];\n  }\n  q[0] = own[0];")
            .find("for i in [0, int32(p[0]))") != std::string::npos);
  CHECK(error_in(loop + "p[i] = 1;\n  }") == "lib1.c: line 1, column 9: found a loop that changes its own end");
}

TEST_CASE("the header says how large a pool is of which a buffer's bytes are not known") {
  const std::string c =
      "int32_t tvmgen_m_op(int8_t* p, int8_t* q, uint8_t* sram_1_var) {\n"
      "  void* s_let = (&(sram_1_var[8]));\n  ((int8_t*)s_let)[p[0]] = 1;\n  q[0] = ((int8_t*)s_let)[p[0]];\n"
      "  return 0;\n}\n"
      "int32_t tvmgen_m___tvm_main__(int8_t* in_buffer_var, int8_t* output_buffer_var, uint8_t* sram_0_var) {\n"
      "  if (tvmgen_m_op(in_buffer_var, output_buffer_var, sram_0_var) != 0 ) return -1;\n  return 0;\n}\n";
  const std::string header = "#define TVMGEN_M_SRAM_WORKSPACE_POOL_SIZE 40\n";
  const std::vector<Source> files = {{"lib1.c", c}, {"tvmgen_m.h", header}};
  const tir::Module module = read_module("m", files);
  CHECK(tir::print(module, module.functions[*module.find("tvmgen_m_op")]).find("allocate s: int8[32]") !=
        std::string::npos);
  CHECK_THROWS_WITH_AS((void)read_module("m", {files.data(), 1}),
                       "function 'tvmgen_m_op': how many bytes of 's' are used is not known, nor is the size of its "
                       "pool; expected the array in the C, or TVMGEN_…_WORKSPACE_POOL_SIZE in the header",
                       Error);
  // An array whose size is not known is named.
  const std::string conditional = "#ifndef N\n#define N 40\n#endif\nstatic uint8_t sram[N];\n" + c;
  const Source file{"lib1.c", conditional};
  CHECK_THROWS_WITH_AS((void)read_module("m", {&file, 1}),
                       doctest::Contains("do not determine the size of 'sram' (lib1.c: line 4, column 21)"), Error);
}

TEST_CASE("functions of other code generators are opaque") {
  const Source file{"lib1.c", entry};
  const Foreign kernel{"tvmgen_m_op", "int32_t tvmgen_m_op(int8_t* input_, int8_t* output_)"};
  const tir::Module module = read_module("m", {&file, 1}, {&kernel, 1});
  const tir::Function& op = module.functions[*module.find("tvmgen_m_op")];
  CHECK(tir::is_opaque(module, op));
  CHECK(op.params.size() == 2);
  CHECK(op.params[1].name == "output_");
  CHECK(op.body.empty());
  CHECK(tir::print(module, module.functions[module.entry]).find("\"tvmgen_m_op\", in_buffer_var, output_buffer_var") !=
        std::string::npos);
}

// What becomes of an operator with this body where functions beyond the subset are kept.
PlannedModule kept_in(const std::string& text) {
  const Source file{"lib1.c", text};
  return read_planned_module("m", {&file, 1}, {}, {}, Unread::kept);
}

const std::string operator_begin = "int32_t tvmgen_m_op(int8_t* p, int8_t* q) {\n";

TEST_CASE("a function beyond the subset is kept, with the reason and what it needs") {
  const std::string needed =
      "#define STEP 1\n#if (__ARM_FEATURE_DSP > 0)\n#endif\ntypedef struct { int a; } pair_t;\n"
      "static const int8_t gains[2] = {1, 2};\n"
      "static inline int32_t gain(int i) { return gains[i & 1]; }\n";
  const std::string body =
      "  int i = 0;\nagain:\n  q[i] = p[i] * gain(i);\n  if (++i < 4) goto again;\n  return 0;\n}\n";
  const PlannedModule read =
      kept_in(needed + "static const int8_t other[1] = {3};\nstatic int32_t unused(void) { return other[0]; }\n" +
              operator_begin + body + entry);
  REQUIRE(read.kept.size() == 2);
  CHECK(read.kept[0].name == "gain");
  CHECK(read.kept[0].prototype == "int32_t gain(int i)");
  CHECK(read.kept[0].reason.empty());
  CHECK(read.kept[1].name == "tvmgen_m_op");
  CHECK(read.kept[1].prototype == "int32_t tvmgen_m_op(int8_t* p, int8_t* q)");
  CHECK(read.kept[1].file == "lib1.c");
  CHECK(read.kept[1].reason == "line 11, column 1: found 'again', expected a statement of another kind");
  CHECK_FALSE(read.kept[1].allocates_workspace);
  const tir::Function& main = read.module.functions[read.module.entry];
  REQUIRE(main.imported_c.size() == 1);
  CHECK(main.imported_c[0] == needed + operator_begin + body);
  CHECK(tir::is_opaque(read.module, read.module.functions[*read.module.find("tvmgen_m_op")]));
}

TEST_CASE("operators that call helpers are read, and the helpers are kept") {
  const std::string helper =
      "static int32_t copy(int8_t* from, int8_t* to, int n) {\n  while (n--) *to++ = *from++;\n  return 0;\n}\n";
  const PlannedModule read =
      kept_in(helper + operator_begin +
              "  for (int32_t i = 0; i < 4; ++i) {\n    copy((&(p[(i * 4)])), (&(q[(i * 4)])), 4);\n  }\n"
              "  return 0;\n}\n" +
              entry);
  REQUIRE(read.kept.size() == 1);
  CHECK(read.kept[0].reason.empty());
  CHECK_FALSE(read.module.find("copy"));
  const tir::Function& op = read.module.functions[*read.module.find("tvmgen_m_op")];
  CHECK_FALSE(tir::is_opaque(read.module, op));
  CHECK(op.imported_c == std::vector<std::string>{helper});
  CHECK(tir::print(read.module, op)
            .find("tir.call_extern(\"copy\", tir.address_of<handle>(p[i * 4]), tir.address_of<handle>(q[i * 4]), 4)") !=
        std::string::npos);
}

TEST_CASE("functions that no file defines stay called, with what declares them") {
  const std::string head = "#include <timer.h>\nint32_t DeviceOpen(void* device, double factor);\n";
  const PlannedModule read =
      kept_in(head + operator_begin + "  q[0] = p[0];\n  return 0;\n}\n" +
              "int32_t tvmgen_m___tvm_main__(int8_t* in_buffer_var, int8_t* output_buffer_var, void* device) {\n"
              "  if (DeviceOpen(device, 1) != 0 ) return -1;\n  started(\"a\\tb\", 3);\n"
              "  if (TVMDeviceEthosUOpen(device) != 0 ) return -1;\n  if (is_busy(device)) { return -1; }\n"
              "  if (tvmgen_m_op(in_buffer_var, output_buffer_var) != 0 ) return -1;\n  return 0;\n}\n");
  CHECK(read.kept.empty());
  REQUIRE(read.external.size() == 4);
  CHECK(read.external[0].prototype == "int32_t DeviceOpen(void* device, double factor)");
  CHECK(read.external[1].name == "TVMDeviceEthosUOpen");
  CHECK(read.external[2].name == "is_busy");
  CHECK(read.external[3].name == "started");
  CHECK(read.external[3].prototype.empty());
  const tir::Function& main = read.module.functions[read.module.entry];
  CHECK(main.imported_c == std::vector<std::string>{head});
  CHECK(
      tir::print(read.module, main).find("tvm_check_return(0, -1, tir.call_extern(\"TVMDeviceEthosUOpen\", device))") !=
      std::string::npos);
  CHECK(tir::print(read.module, main).find("tir.call_extern(\"started\", \"a\\x09b\", 3)") != std::string::npos);
  CHECK(read.module.functions[*read.module.find("tvmgen_m_op")].imported_c.empty());
  // Conditions inside of the prototype that are not understood hold nowhere.
  const PlannedModule conditional =
      kept_in("int32_t tvmgen_m_op(int8_t* p,\n#if FAST > 1\n int8_t* r\n#else\n int8_t* q\n#endif\n);\n" + entry);
  REQUIRE(conditional.external.size() == 1);
  CHECK(conditional.external[0].prototype == "int32_t tvmgen_m_op(int8_t* p, int8_t* q)");
}

TEST_CASE("what a condition of the preprocessor leaves out of a function is not known, so it is kept") {
  const auto reasons = [](const std::string& line) {
    std::vector<std::string> result;
    for (const KeptFunction& one :
         kept_in(operator_begin + line + "\n  q[0] = p[0];\n#endif\n  return 0;\n}\n" + entry).kept) {
      result.push_back(one.reason);
    }
    return result;
  };
  const std::vector<std::string> expected = {"line 2, column 1: found a directive in a function, expected none"};
  CHECK(reasons("#ifndef NDEBUG") == expected);
  CHECK(reasons("  # if FOO > 1") != std::vector<std::string>{});
  CHECK(reasons("#if 1").empty());
  CHECK(reasons("#if 0\n#else").empty());
  // A table of which a part is conditional has no values.
  const PlannedModule read = kept_in("static const int8_t t[2] = {\n#if FOO > 1\n1, 2\n#else\n3, 4\n#endif\n};\n" +
                                     operator_begin + "  q[0] = ((int8_t*)t)[1];\n  return 0;\n}\n" + entry);
  REQUIRE(read.kept.size() == 1);
  CHECK(read.module.functions[read.module.entry].imported_c[0].find("1, 2\n#else\n3, 4") != std::string::npos);
}

TEST_CASE("the entry has to be read") {
  CHECK_THROWS_WITH_AS(
      (void)kept_in("int32_t tvmgen_m___tvm_main__(int8_t* a) {\n  goto x;\n}\n"),
      "lib1.c: line 2, column 3: found 'goto', expected a statement of another kind\n  move the addition out of "
      "'tvmgen_m___tvm_main__': it calls operators as TVM does, if (f(…) != 0) return -1;, and "
      "between these calls stand only calls of other functions, and statements that use nothing of "
      "the model's or only pass on its tensors and access their elements: this one has 'goto'",
      Error);
}

TEST_CASE("a function of another generator gets a buffer for what it takes of a pool") {
  const std::string kernel =
      "int32_t tvmgen_m_op(int8_t* a, int8_t* b, uint8_t* flash_1_var, uint8_t* sram_2_var) {\n"
      "  void* low_let = (&(sram_2_var[160]));\n  void* high_let = (&(sram_2_var[416]));\n"
      "  cmsis_nn_context c = {low_let,200};\n  cmsis_nn_context d = {high_let, 33};\n  return run(&c, &d, a, b);\n}\n";
  const std::string call =
      "static uint8_t sram[1024];\n"
      "int32_t tvmgen_m___tvm_main__(int8_t* in_buffer_var, int8_t* out_buffer_var, uint8_t* sram_0_var) {\n"
      "  void* sid_1_let = (&(sram_0_var[0]));\n  void* sid_2_let = (&(sram_0_var[32]));\n"
      "  void* sid_3_let = (&(sram_0_var[16]));\n"
      "  if (tvmgen_m_op(in_buffer_var, sid_1_let, sram_0_var, sram_0_var) != 0 ) return -1;\n"
      "  if (tvmgen_m_op(sid_1_let, sid_2_let, sram_0_var, sram_0_var) != 0 ) return -1;\n"
      "  if (tvmgen_m_op(sid_2_let, out_buffer_var, sram_0_var, sram_0_var) != 0 ) return -1;\n"
      "  if (tvmgen_m_op(in_buffer_var, sid_3_let, sram_0_var, sram_0_var) != 0 ) return -1;\n"
      "  if (tvmgen_m_op(sid_3_let, out_buffer_var, sram_0_var, sram_0_var) != 0 ) return -1;\n  return 0;\n}\n";
  const Source file{"lib1.c", call};
  const auto read = [&](const std::string& text) {
    const Foreign foreign{"tvmgen_m_op", "int32_t tvmgen_m_op(int8_t* a, int8_t* b, uint8_t* c, uint8_t* d)", "lib2.c",
                          text};
    return read_planned_module("m", {&file, 1}, {&foreign, 1});
  };
  const PlannedModule planned = read(kernel);
  REQUIRE(planned.changed.size() == 1);
  CHECK(planned.changed[0].file == "lib2.c");
  CHECK(planned.changed[0].text.find("low_let = (&(sram_2_var[0]));") != std::string::npos);
  CHECK(planned.changed[0].text.find("high_let = (&(sram_2_var[256]));") != std::string::npos);
  // 416 + 33 - 160; sid_1 ends where sid_2 begins, sid_2 where the scratch does.
  const std::string main = tir::print(planned.module, planned.module.functions[planned.module.entry]);
  CHECK(main.find("uint8[289]") != std::string::npos);
  CHECK(main.find("uint8[32]") != std::string::npos);
  CHECK(main.find("uint8[128]") != std::string::npos);
  const PlannedModule partly =
      read(kernel.substr(0, kernel.find("  cmsis_nn_context d")) + "  return run(&c, high_let, a, b);\n}\n");
  CHECK(tir::print(partly.module, partly.module.functions[partly.module.entry]).find("uint8[864]") !=
        std::string::npos);
  // Nothing else says how large a buffer is, and nothing else is done with it.
  for (const auto& [from, to] :
       {std::pair("cmsis_nn_context d", "vec_t d"), std::pair("  return", "  d.size = 34;\n  return"),
        std::pair("  return", "  memset(high_let, 0, 34);\n  return"), std::pair("run(&c, &d,", "run(&c, d,")}) {
    std::string other = kernel;
    other.replace(other.find(from), std::string(from).size(), to);
    CAPTURE(other);
    const PlannedModule more = read(other);
    CHECK(tir::print(more.module, more.module.functions[more.module.entry]).find("uint8[864]") != std::string::npos);
  }
  const std::string no_size = kernel.substr(0, kernel.find("  cmsis_nn_context d")) + "  return run(high_let);\n}\n";
  const PlannedModule unsized = read(no_size);
  CHECK(tir::print(unsized.module, unsized.module.functions[unsized.module.entry]).find("uint8[864]") !=
        std::string::npos);
  CHECK_THROWS_WITH_AS((void)read("int32_t tvmgen_m_op(int8_t* a, int8_t* b, uint8_t* c, uint8_t* sram_2_var) {\n"
                                  "  return run(sram_2_var + 8);\n}\n"),
                       doctest::Contains("lib2.c: line 2, column 14: found 'sram_2_var', expected (&(pool[offset]))"),
                       Error);
  const auto refused = [&](const std::string& statement) {
    std::string other = kernel;
    other.insert(other.find("  return"), "  " + statement + "\n");
    try {
      (void)read(other);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK(refused("asm(\"nop\");") == "no error");
  for (const char* statement :
       {"asm(\"\" : : \"r\"(sram_2_var));", "x = sizeof sram_2_var;", "x = &8[sram_2_var];", "x = sram_2_var[8];",
        "x = &(sram_2_var[n]);", "x = &(sram_2_var[(8)]);", "x = &(sram_2_var[8 + 8]);", "x = *(&sram_2_var);",
        "x = (uintptr_t)(sram_2_var + 8);", "run(n ? sram_2_var : 0);"}) {
    CAPTURE(statement);
    CHECK(refused(statement).find("found 'sram_2_var', expected (&(pool[offset]))") != std::string::npos);
  }
  CHECK(refused("x = ];").find("lib2.c: line") != std::string::npos);
}

// The entry, and a function of another generator that gets its pool.
PlannedModule with_kernel(const std::string& kernel, const std::string& first = "100") {
  const std::string main =
      "static uint8_t sram[1024];\n"
      "int32_t tvmgen_m___tvm_main__(int8_t* in_buffer_var, int8_t* out_buffer_var, uint8_t* sram_0_var) "
      "{\n  void* sid_1_let = (&(sram_0_var[" +
      first +
      "]));\n  void* sid_2_let = (&(sram_0_var[700]));\n"
      "  if (tvmgen_m_op(in_buffer_var, sid_1_let, sram_0_var) != 0 ) return -1;\n"
      "  if (tvmgen_m_op(sid_1_let, sid_2_let, sram_0_var) != 0 ) return -1;\n"
      "  if (tvmgen_m_op(sid_2_let, out_buffer_var, sram_0_var) != 0 ) return -1;\n  return 0;\n}\n";
  const Source file{"lib1.c", main};
  const Foreign foreign{"tvmgen_m_op", "int32_t tvmgen_m_op(int8_t* a, int8_t* b, uint8_t* c)", "lib2.c", kernel};
  return read_planned_module("m", {&file, 1}, {&foreign, 1});
}

std::string main_of(const PlannedModule& read) {
  return tir::print(read.module, read.module.functions[read.module.entry]);
}

TEST_CASE("scratch of unknown size that a function takes at several offsets holds all of them") {
  const std::string begin =
      "int32_t tvmgen_m_op(int8_t* a, int8_t* b, uint8_t* sram_2_var) {\n  void* low_let = (&(sram_2_var[0]));\n";
  // sid_1 lies between them: one ends there, both do not.
  CHECK(main_of(with_kernel(begin + "  return run(low_let, a, b);\n}\n")).find("uint8[100]") != std::string::npos);
  const std::string both = main_of(
      with_kernel(begin + "  void* high_let = (&(sram_2_var[400]));\n  return run(low_let, high_let, a, b);\n}\n"));
  CHECK(both.find("scratch_1: uint8[700]") != std::string::npos);
  CHECK(both.find("scratch: uint8[1024]") != std::string::npos);  // in the call where nothing is above
}

TEST_CASE("scratch that nothing reads takes no memory") {
  const std::string kernel =
      "int32_t tvmgen_m_op(int8_t* a, int8_t* b, uint8_t* sram_2_var) {\n  void* context_let = (&(sram_2_var[700]));\n"
      "  return run(a, b);\n}\n";
  const PlannedModule read = with_kernel(kernel);
  CHECK(main_of(read).find("scratch") == std::string::npos);
  REQUIRE(read.changed.size() == 1);
  CHECK(read.changed[0].text.find("void* context_let = ((sram_2_var));") != std::string::npos);
  CHECK(main_of(with_kernel("#define CONTEXT context_let\n" + kernel)).find("scratch") != std::string::npos);
  const PlannedModule again = with_kernel(read.changed[0].text);
  CHECK(main_of(again).find("scratch") == std::string::npos);
  CHECK(again.changed.empty());
  for (const char* other : {"((sram_2_var)) + 1", "(uint8_t*)((sram_2_var))", "((sram_2_var)"}) {
    std::string text = kernel;
    text.replace(text.find("(&(sram_2_var[700]))"), 20, other);
    CHECK_THROWS_AS((void)with_kernel(text), Error);
  }
  CHECK(main_of(with_kernel(kernel.substr(0, kernel.find("run")) + "run(context_let, a, b);\n}\n")).find("scratch") !=
        std::string::npos);
}

TEST_CASE("a device that gets the address of a pool as a number gets memory of the pool's size") {
  for (const std::string type : {"void* ", "uint8_t* "}) {
    const std::string kernel =
        "int32_t tvmgen_m_op(void* in, void* out, " + type +
        "sram_2_var) {\n  uint64_t addresses[2] = {0};\n  addresses[1] = (uintptr_t)(sram_2_var);\n"
        "  return launch(addresses);\n}\n";
    const PlannedModule read = with_kernel(kernel);
    CHECK(main_of(read).find("scratch: uint8[1024]") != std::string::npos);
    CHECK(read.changed.empty());
    REQUIRE(read.places.size() == 2);  // of the two tensors
    // A tensor at the pool's start, of unknown size, is all of it.
    const std::string main = main_of(with_kernel(kernel, "0"));
    CHECK(main.find("allocate sid_1: uint8[1024]") != std::string::npos);
    CHECK(main.find("in_buffer_var, sid_1, sid_1)") != std::string::npos);
    CHECK(main.find("sid_1, sid_2, sid_1)") != std::string::npos);
    CHECK(main.find("sid_2, out_buffer_var, scratch)") != std::string::npos);
  }
}

TEST_CASE("what a function may use of a pool has to be known") {
  const std::string call =
      "int32_t tvmgen_m___tvm_main__(int8_t* in_buffer_var, int8_t* out_buffer_var, uint8_t* sram_0_var) {\n"
      "  if (tvmgen_m_op(in_buffer_var, out_buffer_var, sram_0_var) != 0 ) return -1;\n  return 0;\n}\n";
  const std::string expected =
      "passes pool 'sram' to 'tvmgen_m_op', and what that uses of it is not known: expected a C file that defines "
      "'tvmgen_m_op' and takes addresses as (&(pool[offset])); with functions of other names than tvmgen_…, it has to "
      "begin with '// tvm target: c'";
  for (const char* params : {"", "int8_t* a, int8_t* b, uint8_t* c"}) {
    CHECK(error_of("int32_t tvmgen_m_op(" + std::string(params) + ");\n" + call).find(expected) != std::string::npos);
  }
  CHECK_THROWS_WITH_AS(
      (void)with_kernel("int32_t tvmgen_m_op(int8_t* a, int8_t* b, void* sram_2_var) {\n  use(sram_2_var);\n}\n"),
      doctest::Contains(expected.c_str()), Error);
}

TEST_CASE("layout means nothing") {
  const std::string one =
      "int32_t tvmgen_m_op(int8_t* p, int8_t* q) {\n  for (int32_t i = 0; i < 4; ++i) {\n    q[i] = p[i];\n  }\n  "
      "return 0;\n}\n";
  const std::string other =
      "/* a comment */ TVM_DLL\nint32_t\ntvmgen_m_op ( int8_t * p , int8_t * q )\n{ // here\n for(int32_t "
      "i=0;i<4;i++)\n"
      "q[ i ]=/* there */p\\\n[i] ; return 0 ; } ;\n";
  CHECK(tir::print(read(one + entry)) == tir::print(read(entry + "#include <x.h>\n" + other)));
}

TEST_CASE("results that are checked one statement later") {
  const auto main = [](const std::string& body) {
    const std::string text =
        "int32_t tvmgen_m_op(int8_t* p, int8_t* q) {\n  q[0] = p[0];\n  return 0;\n}\n"
        "int32_t tvmgen_m___tvm_main__(int8_t* in_buffer_var, int8_t* output_buffer_var) {\n" +
        body + "}\n";
    const std::string error = error_of(text);
    if (error != "none") return error;
    const tir::Module module = read(text);
    return tir::print(module, module.functions[module.entry]);
  };
  const std::string op = "tvmgen_m_op(in_buffer_var, output_buffer_var)";
  const std::string once = main("  if (" + op + " != 0 ) return -1;\n  return 0;\n");
  CHECK(main("  int ret = " + op + ";\n  if (ret != 0) {\n    return ret;\n  }\n  return 0;\n") == once);
  CHECK(main("  int32_t ret = " + op + ";\n  if (ret) return -1;\n  return ret;\n") == once);
  const std::string twice = main("  if (" + op + " != 0 ) return -1;\n  if (" + op + ") return -1;\n  return 0;\n");
  const std::string again = "  ret = " + op + ";\n  if (ret != 0) return ret;\n";
  CHECK(main("  int ret = " + op + ";\n  if (ret) return ret;\n" + again + "  return (ret);\n") == twice);
  CHECK(main("  int32_t ret = 0;\n" + again + again + "  return ret;\n") == twice);
  CHECK(main("  int32_t ret = 3;\n  if (" + op + ") return -1;\n  return ret;\n").find("found 'ret', expected '0'") !=
        std::string::npos);
  const std::string inside = "  if ((ret = " + op + ") != 0) return ret;\n";
  CHECK(main("  int32_t ret;\n" + inside + "  if ((ret = " + op + ")) {\n    return (ret);\n  }\n  return ret;\n") ==
        twice);
  for (const char* check :
       {"  if (ret != 1) return -1;\n", "  if (ret) ret = 0;\n", "  if (ret) return -1; else ret = 1;\n"}) {
    CHECK(main("  int ret = " + op + ";\n" + check + "  return 0;\n").find("found ") != std::string::npos);
  }
  const std::string branch = "  int32_t ret = in_buffer_var[0];\n  if (in_buffer_var[1] < 3) {\n" + again + "  }\n";
  for (const char* behind : {"  return ret;\n", "  output_buffer_var[1] = (int8_t)ret;\n  return 0;\n"}) {
    CHECK(main(branch + behind).find("found ") != std::string::npos);
  }
  CHECK(main("  int ret;\n  if ((ret = " + op + ") == 1) return -1;\n  return 0;\n").find("found ") !=
        std::string::npos);
  CHECK(main("  int8_t ret = " + op + ";\n  if (ret) return -1;\n  return 0;\n") == once);
  CHECK(main("  int ret = " + op + ";\n  return 0;\n").find("found a call of 'tvmgen_m_op' in an expression") !=
        std::string::npos);
}

TEST_CASE("what is not read is told with its place") {
  CHECK(error_of("int x;") == "no C file of module 'm' defines tvmgen_m___tvm_main__, the entry function");
  CHECK(error_of(entry) ==
        "lib1.c: line 2, column 7: found a call of 'tvmgen_m_op', which no C file of the model defines or declares\n  "
        "move the addition out of 'tvmgen_m___tvm_main__': it calls operators as TVM does, if (f(…) != 0) return -1;, "
        "and between these calls stand only calls of other functions");
  CHECK(error_in("  q[0] = unknown;") == "lib1.c: line 2, column 10: found 'unknown', which is not declared here");
  CHECK(error_in("  q[0] = p[1 + ];") == "lib1.c: line 2, column 16: found ']', expected an expression");
  CHECK(error_in("  goto x;").find("lib1.c: line 2, column 3: ") == 0);
  CHECK(error_in("  q[0] = p[0] p[1];") == "lib1.c: line 2, column 15: found 'p', expected ';'");
  const std::string attribute = ": found '__attribute__', expected no attribute but of an array";
  CHECK(error_in("  q[0] = ((int8_t __attribute__((vector_size(16)))*)p)[0];") ==
        "lib1.c: line 2, column 19" + attribute);
  CHECK(error_in("  int8_t* __attribute__((aligned(4))) r = p;") == "lib1.c: line 2, column 11" + attribute);
  CHECK(error_in("  return 0;\n  q[0] = 1;") ==
        "lib1.c: line 2, column 3: found 'return', expected one return, at the end of the function");
  CHECK(error_in("  q[0] = 99999999999999999999;") ==
        "lib1.c: line 2, column 10: found '99999999999999999999', expected an integer of at most 64 bits");
  // -3 % 7UL is 1 where long has 32 bits.
  CHECK(error_in("  q[0] = p[0] % 7UL;") ==
        "lib1.c: line 2, column 17: found '7UL', expected a number of one type on all machines, without l or ul");
  CHECK(error_of("int f() { /* ") == "lib1.c: line 1, column 11: the comment does not end, expected */");
  CHECK(error_of("int f() { (").find("the bracket ( is not closed") != std::string::npos);
  // A brace too many, or one that is missing.
  const std::string outside = ", expected a declaration outside of functions";
  CHECK(error_of("int f(void) {\n  }\n  return 0;\n}\n") == "lib1.c: line 3, column 3: found 'return'" + outside);
  CHECK(error_of("int f(void) {\n  return 0;\n}\n}\n") == "lib1.c: line 4, column 1: found '}'" + outside);
  CHECK(error_of("extern \"C\" {\nint f(void) {\n  return 0;\n}\n}\nfor (;;) { }\n") ==
        "lib1.c: line 6, column 1: found 'for'" + outside);
  CHECK(error_of("#if FOO\n#endif\n") == "lib1.c: line 1, column 1: found #if 'FOO', expected 0, 1 or defined(NAME)");
}

TEST_CASE("brackets may nest, expressions and blocks as deep as the limits say") {
  CHECK(value_of(std::string(20000, '(') + "1" + std::string(20000, ')')) == "1");
  std::string sum = "p[0]";
  for (int i = 0; i < 12000; ++i) sum += " + 1";
  CHECK(error_in("  q[0] = (int8_t)(" + sum + ");").find("nests deeper than 10000 levels") != std::string::npos);
  std::string blocks;
  for (int i = 0; i < 300; ++i) blocks += "if (p[0] < 1) {";
  CHECK(error_in(blocks + std::string(300, '}')).find("250") != std::string::npos);
}

TEST_CASE("declarations and directives have a limit") {
  const auto times = [](std::size_t count, const std::string& text) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += text;
    return all;
  };
  CHECK(
      error_of(times(200'001, "int a;\n")).find("line 200001, column 1: more than 200000 declarations stand outside") !=
      std::string::npos);
  CHECK(error_of(times(200'001, "  #\n")).find("more than 200000 lines begin with '#'") != std::string::npos);
  CHECK(error_of(times(200'000, "#\n a # a\n")).find("begin with") == std::string::npos);
}

TEST_CASE("each of two modules in a file is read on its own") {
  const auto module_named = [](const std::string& name, const std::string& value) {
    return "int32_t tvmgen_" + name +
           "_op(int8_t* p, int8_t* q) {\n  for (int32_t i = 0; i < 4; ++i) {\n    q[i] = " + value +
           ";\n  }\n  return 0;\n}\nint32_t tvmgen_" + name +
           "___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var) {\n  if (tvmgen_" + name +
           "_op(x_buffer_var, y_buffer_var) != 0 ) return -1;\n  return 0;\n}\n";
  };
  const std::string one = module_named("one", "p[i]");
  const std::string two = module_named("two", "p[(3 - i)]");
  const auto printed = [](const std::string& name, const std::string& text) {
    const Source file{"model.c", text};
    const PlannedModule read = read_planned_module(name, {&file, 1}, {}, {}, Unread::kept);
    CHECK(read.kept.empty());
    return tir::print(read.module);
  };
  for (const std::string& both : {one + two, two + one}) {
    CHECK(printed("one", both) == printed("one", one));
    CHECK(printed("two", both) == printed("two", two));
  }
}

}  // namespace
}  // namespace usmp::tvm_c::reader_test

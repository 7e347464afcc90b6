// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Places in pools that are not as TVM plans them.
#include "tvm_c/body/planned_memory.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>
#include <variant>

#include "usmp/support/error.hpp"
#include "usmp/tir/builder.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tir/visit.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c::planned_memory_test {
namespace {

// What is wrong with an entry and an operator op(p, q), which copies 16 bytes.
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
  const std::string all = loop("((int8_t*)a_let)[i] = x_buffer_var[i];");
  CHECK(error_of(all + loop("((int8_t*)b_let)[(i >> 1)] = 3;") + call("b_let, c_let") + out) == "none");
  CHECK(error_of(all + loop("((int8_t*)b_let)[((i >> 1) + 8)] = 3;") + call("b_let, c_let") + out)
            .find("found bytes [8, 16) of the pool, which 'b' reads") != std::string::npos);
  CHECK(error_of(both + loop("y_buffer_var[i] = ((int8_t*)b_let)[(i - 8)];"))
            .find("found 'b' with a negative index, expected none") != std::string::npos);
  // By one byte.
  const std::string d = "  void* d_let = (&(sram_0_var[23]));\n" + loop("((int8_t*)d_let)[i] = x_buffer_var[i];");
  CHECK(error_of(d + call("b_let, c_let") + out).find("found bytes [8, 24) of the pool, which 'b' reads") !=
        std::string::npos);
  // Offsets are bytes.
  CHECK(error_of("  void* d_let = (&(((int32_t*)sram_0_var)[8]));\n").find("expected (&(pool[offset]))") !=
        std::string::npos);
  CHECK(error_of("  void* d_let = (&(((uint8_t*)sram_0_var)[8]));\n") == "none");
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

namespace {

// Sizes of the buffers of an entry and of an operator "big" with statements of their own, in a pool of 256 bytes. ext()
// is in no file: it may use all of what it gets.
std::map<std::string, std::int64_t> sizes_in(const std::string& entry, const std::string& big) {
  const std::string text =
      "static uint8_t sram[256];\nint32_t ext(int8_t* p, int8_t* q);\n"
      "int32_t tvmgen_m_op(int8_t* p, int8_t* q) {\n  for (int32_t i = 0; i < 16; ++i) {\n    q[i] = p[i];\n  }\n"
      "  return 0;\n}\n"
      "int32_t tvmgen_m_big(int8_t* p, int8_t* q, uint8_t* sram_1_var) {\n" +
      big +
      "  return 0;\n}\n"
      "int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var, uint8_t* sram_0_var) {\n" +
      entry + "  return 0;\n}\n";
  const Source file{"lib1.c", text};
  const PlannedModule read = read_planned_module("m", {&file, 1});
  std::map<std::string, std::int64_t> sizes;
  for (const tir::Function& function : read.module.functions) {
    tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      if (allocate == nullptr) return;
      REQUIRE(allocate->extents.size() == 1);
      sizes[read.module.var(allocate->var).name] = *tir::as_int(*allocate->extents[0]) * allocate->type.bytes();
    });
  }
  return sizes;
}

std::string buffer(const std::string& name, int offset, const std::string& pool) {
  return "  void* " + name + "_let = (&(" + pool + "[" + std::to_string(offset) + "]));\n";
}

const std::string fill = "  for (int32_t i = 0; i < 16; ++i) {\n    ((int8_t*)t_let)[i] = p[i];\n  }\n";
const std::string use_all = "  ext(t_let, q);\n";

}  // namespace

TEST_CASE("what a function that is not read uses of an operator's buffer ends in front of what is live in TVM's plan") {
  const auto bytes_of_t = [](const std::string& entry, const std::string& big) {
    return sizes_in(entry, buffer("t", 64, "sram_1_var") + big).at("t");
  };
  const std::string run = call("x_buffer_var, a_let, sram_0_var", "big");
  const std::string a = buffer("a", 0, "sram_0_var");
  const std::string out = call("a_let, y_buffer_var");
  CHECK(bytes_of_t(a + run + out, fill + use_all) == 256 - 64);
  // A buffer of the entry that is written before the call and read behind it.
  const std::string b = buffer("b", 160, "sram_0_var");
  const std::string across = a + b + call("x_buffer_var, b_let") + run + call("b_let, y_buffer_var") + out;
  CHECK(bytes_of_t(across, fill + use_all) == 160 - 64);
  CHECK(sizes_in(across, buffer("t", 64, "sram_1_var") + fill + use_all).at("b") == 16);
  // It is of another time.
  CHECK(bytes_of_t(a + b + run + call("a_let, b_let") + call("b_let, y_buffer_var"), fill + use_all) == 256 - 64);
  CHECK(bytes_of_t(a + b + call("x_buffer_var, b_let") + call("b_let, y_buffer_var") + run + out, fill + use_all) ==
        256 - 64);
  // It is passed to the call itself.
  CHECK(bytes_of_t(b + call("x_buffer_var, b_let, sram_0_var", "big") + call("b_let, y_buffer_var"), fill + use_all) ==
        160 - 64);
  CHECK(bytes_of_t(b + call("x_buffer_var, b_let") + call("b_let, y_buffer_var, sram_0_var", "big"), fill + use_all) ==
        160 - 64);
  // A buffer of the operator's own.
  const std::string u = buffer("u", 128, "sram_1_var");
  const std::string fill_u = "  for (int32_t i = 0; i < 16; ++i) {\n    ((int8_t*)u_let)[i] = p[i];\n  }\n";
  const std::string read_u = "  for (int32_t i = 0; i < 16; ++i) {\n    q[i] = ((int8_t*)u_let)[i];\n  }\n";
  CHECK(bytes_of_t(a + run + out, u + fill_u + fill + use_all + read_u) == 128 - 64);
  CHECK(bytes_of_t(a + run + out, u + fill + use_all + fill_u + read_u) == 256 - 64);
  CHECK(bytes_of_t(a + run + out, u + fill_u + read_u + fill + use_all) == 256 - 64);
  // In one loop, one after the other: they need not be live together.
  const std::string one_loop =
      "  for (int32_t i = 0; i < 16; ++i) {\n    ((int8_t*)u_let)[0] = p[i];\n    q[i] = ((int8_t*)u_let)[0];\n"
      "    ((int8_t*)t_let)[0] = p[i];\n    ext(t_let, q);\n  }\n";
  CHECK(bytes_of_t(a + run + out, u + one_loop) == 256 - 64);
  CHECK(bytes_of_t(a + run + out, u + one_loop + read_u) == 128 - 64);
  // In one loop, both at one time.
  const auto in_loop = [&](const std::string& statements) {
    return bytes_of_t(a + run + out, u + "  for (int32_t i = 0; i < 16; ++i) {\n" + statements + "  }\n");
  };
  const std::string store_u = "    ((int8_t*)u_let)[0] = p[i];\n";
  const std::string load_u = "    q[i] = ((int8_t*)u_let)[0];\n";
  const std::string use_t = "    ((int8_t*)t_let)[0] = p[i];\n    ext(t_let, q);\n";
  CHECK(in_loop(store_u + use_t + load_u) == 128 - 64);
  CHECK(in_loop(use_t + store_u + load_u) == 256 - 64);
  CHECK(in_loop(store_u + "    ext(t_let, u_let);\n") == 128 - 64);
  CHECK(in_loop("    if (p[i] > 0) {\n" + store_u + use_t + load_u + "    }\n") == 128 - 64);
  CHECK(in_loop("    if (p[i] > 0) {\n" + store_u + load_u + use_t + "    }\n") == 256 - 64);
  CHECK(in_loop("    if (p[i] > 0) {\n" + store_u + load_u + "    } else {\n" + use_t + "    }\n") == 256 - 64);
  CHECK(in_loop(store_u + "    if (p[i] > 0) {\n" + use_t + "    }\n" + load_u) == 128 - 64);
  // One that a block declares.
  const std::string block = "  {\n" + buffer("t", 64, "sram_1_var") + fill + use_all + "  }\n";
  CHECK(sizes_in(a + run + out, u + fill_u + block + read_u).at("t") == 128 - 64);
  CHECK(sizes_in(a + run + out, u + block + fill_u + read_u).at("t") == 256 - 64);
}

TEST_CASE("what a function that is not read uses of the entry's buffer ends in front of operators' buffers") {
  const std::string a = buffer("a", 0, "sram_0_var");
  const std::string big = buffer("t", 64, "sram_1_var") + fill +
                          "  for (int32_t i = 0; i < 16; ++i) {\n    q[i] = ((int8_t*)t_let)[i];\n  }\n";
  const std::string run = call("a_let, y_buffer_var, sram_0_var", "big");
  const std::string ext = "  if (ext(x_buffer_var, a_let) != 0 ) return -1;\n";
  CHECK(sizes_in(a + ext + run, big).at("a") == 64);
  const std::string other_time =
      call("x_buffer_var, y_buffer_var, sram_0_var", "big") + ext + call("a_let, y_buffer_var");
  CHECK(sizes_in(a + other_time, big).at("a") == 256);
}

TEST_CASE("a device that gets a whole pool uses nothing of the buffer that is at its end during the call") {
  const std::string npu_text =
      "// tvm target: npu\nint32_t tvmgen_m_npu(void* input, void* output, void* sram_1_var) {\n"
      "  uint64_t base_addrs[2];\n  base_addrs[0] = (uintptr_t)(sram_1_var);\n  base_addrs[1] = (uintptr_t)(output);\n"
      "  return launch(base_addrs);\n}\n";
  const auto scratch = [&](int offset) {
    const std::string text =
        "__attribute__((aligned(16))) static uint8_t sram[208];\n"
        "int32_t tvmgen_m_op(int8_t* p, int8_t* q) {\n  for (int32_t i = 0; i < 10; ++i) {\n    q[i] = p[i];\n  }\n"
        "  return 0;\n}\n"
        "int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var, uint8_t* sram_0_var) {\n" +
        buffer("a", offset, "sram_0_var") + call("x_buffer_var, a_let, sram_0_var", "npu") +
        call("a_let, y_buffer_var") + "  return 0;\n}\n";
    const Source file{"lib1.c", text};
    const Foreign npu{"tvmgen_m_npu", "int32_t tvmgen_m_npu(void* input, void* output, void* sram_1_var)", "lib2.c",
                      npu_text};
    const PlannedModule read = read_planned_module("m", {&file, 1}, {&npu, 1});
    const std::string entry = tir::print(read.module, read.module.functions[read.module.entry]);
    const std::string name = "allocate scratch: uint8[";
    const std::size_t at = entry.find(name);
    REQUIRE_MESSAGE(at != std::string::npos, entry);
    return std::stoi(entry.substr(at + name.size()));
  };
  CHECK(scratch(192) == 192);  // [192, 202) of 208: the next one would be at 208
  CHECK(scratch(176) == 208);  // another may be behind it
}

}  // namespace usmp::tvm_c::planned_memory_test

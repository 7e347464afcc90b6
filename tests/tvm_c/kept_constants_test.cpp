// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Operators that stay as they are and take constants where TVM has planned them.
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "usmp/support/error.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c::kept_constants_test {
namespace {

const std::string constants =
    "static struct flash {\n  int8_t gain_let[4] __attribute__((aligned(16)));\n"
    "  int16_t bias_let[4] __attribute__((packed, aligned(16)));\n} flash = {\n"
    "  .gain_let = {\n    +0x01, +0x02, +0x03, +0x04\n  },\n  .bias_let = {\n    +0x0001, +0x0002, +0x0003, +0x0004\n  "
    "},\n"
    "};\n";
const std::string run =
    "int32_t tvmgen_m_run(struct tvmgen_m_inputs* inputs,struct tvmgen_m_outputs* outputs) {return "
    "tvmgen_m___tvm_main__(inputs->x,outputs->y,((uint8_t*)&flash));}\n";
const std::string operators =
    "int32_t tvmgen_m_op(int8_t* p, int8_t* q, uint8_t* flash_1_var) {\n  void* bias_let = (&(flash_1_var[16]));\n"
    "  for (int32_t i = 0; i < 4; ++i) {\n    if (p[i] > 100) break;\n    q[i] = (p[i] + "
    "((int16_t*)bias_let)[i]);\n  }\n  return 0;\n}\n"
    "int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var, uint8_t* flash_0_var) {\n"
    "  if (tvmgen_m_op(x_buffer_var, y_buffer_var, flash_0_var) != 0 ) return -1;\n  return 0;\n}\n";
const std::string named = "(&(((uint8_t*)(uintptr_t)&flash)[16]))";

// What stays, or why nothing is read.
std::string kept(const std::vector<Source>& files, const std::set<std::string>& rewritten = {}) {
  try {
    const PlannedModule read = read_planned_module("m", files, {}, {}, Unread::kept, rewritten);
    const auto& texts = read.module.functions[read.module.entry].imported_c;
    return texts.empty() ? std::string() : texts[0];
  } catch (const Error& error) {
    return error.what();
  }
}

// Whether the text has the constants in front of what names them, once, and not as TVM wrote them.
bool is_right(const std::string& text) {
  const std::string bytes = "{\n  1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0,\n};\n";
  const std::size_t at = text.find(bytes);
  return at != std::string::npos && text.find(bytes, at + 1) == std::string::npos && text.find(named) > at &&
         text.find(named) != std::string::npos && text.find("+0x0004") == std::string::npos;
}

}  // namespace

TEST_CASE("constants of a pool stay with an operator that stays, and nobody else names them") {
  for (const auto& [entry, file] : {std::pair("lib0.c", "lib1.c"), std::pair("lib1.c", "lib0.c")}) {
    std::vector<Source> files = {{entry, constants}, {file, operators}};
    const std::string text = constants + run;
    files[0].text = text;
    if (files[1].name < files[0].name) std::swap(files[0], files[1]);
    CHECK(is_right(kept(files)));
    CHECK(is_right(kept(files, {"lib0.c", "lib1.c"})));
  }
  const std::string together = operators + constants + run;
  CHECK(is_right(kept({{"lib.c", together}})));
  CHECK(is_right(kept({{"lib.c", together}}, {"lib.c"})));
  // Other functions have copies, which somebody's code would not change.
  const std::string set = together + "void set(int8_t v) { flash.gain_let[0] = v; }\n";
  const std::string refusal = "found 'flash' in code that somebody added";
  CHECK_MESSAGE(kept({{"lib.c", set}}, {"lib.c"}).find(refusal) != std::string::npos,
                kept({{"lib.c", set}}, {"lib.c"}));
  // In a section, beside planned constants, which are const.
  const std::string attribute = "__attribute__((section(\".rodata.tvm\"), ))\n";
  for (const std::string& text : {operators + attribute + constants + run, attribute + constants + run + operators}) {
    const std::string stays = kept({{"lib.c", text}});
    CHECK(is_right(stays));
    const std::string array =
        "static const uint8_t flash[24] __attribute__((aligned(16), section(\".rodata.tvm\"))) = {";
    CHECK_MESSAGE(stays.find(array) != std::string::npos, stays);
  }
  CHECK(kept({{"lib.c", together}}).find("static const uint8_t flash[24] __attribute__((aligned(16))) = {") !=
        std::string::npos);
  // As a number, too, and no other name is like the pool's.
  const auto with = [&](const std::string& statement) {
    std::string text = together;
    return kept({{"lib.c", text.insert(text.find("  void* bias_let"), statement)}});
  };
  const std::string number = with("  if ((uintptr_t)(flash_1_var) == 0) return -1;\n");
  CHECK_MESSAGE(number.find("if ((uintptr_t)(((uint8_t*)(uintptr_t)&flash)) == 0)") != std::string::npos, number);
  for (const char* other : {"  int flash = 3;\n  p += flash;\n", "  p += flash.gain_let[0];\n"}) {
    CHECK(with(other).find("found 'flash' in code that stays as it is, expected these constants from a parameter") !=
          std::string::npos);
  }
  // The application's have no name in the C.
  const std::string header = "#define TVMGEN_M_FLASH_CONSTANT_POOL_DATA 0x01,0x02,0x03,0x04\n";
  CHECK(kept({{"tvmgen_m.h", header}, {"lib.c", operators}})
            .find("found constants of pool 'flash' in a function whose C stays, expected workspace") !=
        std::string::npos);
}

TEST_CASE("a pool that a macro names is not one of a function that stays") {
  const std::string refusal = "found pool 'flash_1_var', which a macro of the file names, too";
  for (const char* macro : {"#define AT(n) (&(flash_1_var[n]))\n", "# define AT(n) \\\n  (&(flash_1_var[n]))\n"}) {
    std::string text = macro + operators;
    const std::size_t at = text.find("(&(flash_1_var[16]))");
    text.replace(at, 20, "AT(16)");
    const std::string all = constants + run + text;
    CHECK_MESSAGE(kept({{"lib.c", all}}).find(refusal) != std::string::npos, kept({{"lib.c", all}}));
  }
  // A macro that makes names, by itself or through another one.
  for (const char* macro : {"#define AT(k) (&(flash_##k##_var[16]))\n",
                            "#define CAT(a, b) a##b\n#define AT(k) (&(CAT(flash_1, _var)[16]))\n"}) {
    std::string text = macro + operators;
    text.replace(text.find("(&(flash_1_var[16]))"), 20, "AT(1)");
    const std::string all = constants + run + text;
    CHECK_MESSAGE(kept({{"lib.c", all}}).find("found 'AT', a macro that makes names") != std::string::npos,
                  kept({{"lib.c", all}}));
  }
  const std::string unused = "#define CAT(a, b) a##b\n" + constants + run + operators;
  CHECK(is_right(kept({{"lib.c", unused}})));
  const std::string other = "#define AT(n) (&(flash_7_var[n]))\n" + constants + run + operators;
  CHECK(is_right(kept({{"lib.c", other}})));
}

}  // namespace usmp::tvm_c::kept_constants_test

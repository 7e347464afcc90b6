// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The plan that TVM made, from the offsets in its C.
#include "usmp/pipeline/tvm_plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "usmp/support/error.hpp"

namespace usmp::pipeline::tvm_plan_test {
namespace {

using plan_file::PlanDocument;

const std::string copy =
    "int32_t tvmgen_m_copy(int8_t* p, int8_t* q) {\n"
    "  for (int32_t i = 0; i < 16; ++i) {\n    q[i] = p[i];\n  }\n  return 0;\n}\n";
const std::string one_buffer =
    "  void* a_let = (&(sram_0_var[0]));\n"
    "  if (tvmgen_m_copy(in_buffer_var, a_let) != 0 ) return -1;\n"
    "  if (tvmgen_m_copy(a_let, output_buffer_var) != 0 ) return -1;\n";

std::string entry(const std::string& params, const std::string& body) {
  return "int32_t tvmgen_m___tvm_main__(" + params + ") {\n" + body + "  return 0;\n}\n";
}

model::Description info_of_m() {
  model::Description info;
  info.name = "m";
  info.inputs = {{"in", "int8", 16}};
  info.outputs = {{"output", "int8", 16}};
  info.foreign_functions = {{"ext", "int32_t ext(int8_t* p, int8_t* q)", "lib2.c", false}};
  return info;
}

TvmPlan plan_of(const std::string& c, const std::string& header = "") {
  const model::Description info = info_of_m();
  const CFiles files{.own = {{"lib1.c", c}, {"tvmgen_m.h", header}}, .foreign = {}};
  return tvm_plan(info, "m.tar", files);
}

// in -> a -> b -> output, by `second`(a, b).
std::string chain_c(const std::string& b_offset, const std::string& second = "tvmgen_m_copy") {
  return "static uint8_t sram[64];\n" + copy +
         entry("int8_t* in_buffer_var, int8_t* output_buffer_var, uint8_t* sram_0_var",
               "  void* a_let = (&(sram_0_var[0]));\n  void* b_let = (&(sram_0_var[" + b_offset +
                   "]));\n  if (tvmgen_m_copy(in_buffer_var, a_let) != 0 ) return -1;\n  if (" + second +
                   "(a_let, b_let) != 0 ) return -1;\n"
                   "  if (tvmgen_m_copy(b_let, output_buffer_var) != 0 ) return -1;\n");
}

TvmPlan chain(const std::string& b_offset, const std::string& second = "tvmgen_m_copy") {
  return plan_of(chain_c(b_offset, second));
}

const PlanDocument::Buffer& named(const PlanDocument& plan, const std::string& name) {
  const auto found = std::find_if(plan.buffers.begin(), plan.buffers.end(),
                                  [&](const PlanDocument::Buffer& buffer) { return buffer.name == name; });
  REQUIRE(found != plan.buffers.end());
  return *found;
}

}  // namespace

TEST_CASE("TVM's plan: buffers with offsets, sizes and live ranges; the pool's size in the C") {
  const TvmPlan plan = chain("32");
  CHECK(plan.violations.empty());
  CHECK(plan.conflicts == 1);
  CHECK(plan.document.algorithm == "TVM");
  CHECK(plan.document.status == PlanStatus::feasible);
  CHECK(plan.document.module == "m");
  CHECK(plan.document.archive == "m.tar");
  CHECK(plan.document.workspace_io == false);
  REQUIRE(plan.document.pools.size() == 1);
  CHECK(plan.document.pools[0].name == "sram");
  CHECK(plan.document.pools[0].capacity == 64);
  CHECK(plan.document.pools[0].used == 48);
  CHECK(plan.document.pools[0].lower_bound == 32);
  REQUIRE(plan.document.buffers.size() == 2);
  const PlanDocument::Buffer& a = named(plan.document, "a");
  const PlanDocument::Buffer& b = named(plan.document, "b");
  CHECK(a.offset == 0);
  CHECK(a.size == 16);
  CHECK(b.offset == 32);
  CHECK(b.size == 16);
  REQUIRE(a.live->size() == 1);
  REQUIRE(b.live->size() == 1);
  CHECK(a.live->front().begin < b.live->front().begin);
  CHECK(a.live->front().end < b.live->front().end);
  CHECK(plan.document.calls.size() == 3);
}

TEST_CASE("TVM's plan: storage that several tensors share stays one buffer") {
  const TvmPlan plan = plan_of("static uint8_t sram[16];\n" + copy +
                               entry("int8_t* in_buffer_var, int8_t* output_buffer_var, uint8_t* sram_0_var",
                                     one_buffer + one_buffer.substr(one_buffer.find("  if"))));
  CHECK(plan.violations.empty());
  CHECK(plan.document.buffers.size() == 1);
}

TEST_CASE("TVM's plan is wrong: live buffers overlap") {
  const TvmPlan overlap = chain("8");
  REQUIRE(overlap.violations.size() == 1);
  CHECK(overlap.violations[0].find("buffers 'a' and 'b' overlap in pool 'sram': [0, 16) and [8, 24), both live at ") ==
        0);
  CHECK(!overlap.document.pools[0].lower_bound);
  CHECK(overlap.document.status == PlanStatus::feasible);
  CHECK(overlap.document.pools[0].status == PlanStatus::feasible);
  CHECK(chain("15").violations.size() == 1);
  CHECK(chain("16").violations.empty());
}

TEST_CASE("C whose buffers overlap while both are live is planned with a warning") {
  const auto warnings_of = [](const std::string& c, bool knows_shapes = true) {
    model::Description info = info_of_m();
    if (!knows_shapes) info.outputs = {{"output", "", {}}};
    std::vector<std::string> warnings = read_module(info, CFiles{.own = {{"lib1.c", c}}, .foreign = {}}).warnings;
    std::erase_if(warnings, [](const std::string& one) {
      return one.starts_with("no file of the model defines") || one.find(" may keep addresses ") != std::string::npos;
    });
    return warnings;
  };
  CHECK(warnings_of(chain_c("16")).empty());
  CHECK(warnings_of(chain_c("16", "ext"), false).empty());  // of which nobody knows how much is used
  const std::vector<std::string> found = warnings_of(chain_c("8"));
  REQUIRE(found.size() == 1);
  CHECK(
      found[0].find("TVM's plan is wrong, or somebody changed it: buffers 'a' and 'b' overlap in pool 'sram': [0, 16) "
                    "and [8, 24), both live at ") == 0);
  // A part of b is written by another name, and then read as b.
  const std::string part =
      "int32_t tvmgen_m_part(int8_t* q) {\n  for (int32_t i = 0; i < 4; ++i) {\n    q[i] = ((int8_t)3);\n  }\n"
      "  return 0;\n}\n";
  std::string c = chain_c("16");
  const std::string last = "  if (tvmgen_m_copy(b_let, output";
  c.insert(c.find(last), "  void* c_let = (&(sram_0_var[20]));\n  if (tvmgen_m_part(c_let) != 0 ) return -1;\n");
  REQUIRE(warnings_of(part + c).size() == 1);
  CHECK(warnings_of(part + c)[0].find("buffers 'b' and 'c' overlap") != std::string::npos);
}

TEST_CASE("TVM's plan: what an external function uses ends at the next live buffer") {
  const TvmPlan plan = chain("24", "ext");
  CHECK(plan.violations.empty());
  CHECK(named(plan.document, "a").size == 24);
  CHECK(named(plan.document, "b").size == 40);  // the rest of the pool
  CHECK(chain("0", "ext").violations.size() == 1);
  // Between a and b there is one that lives later.
  const TvmPlan later = plan_of(
      "static uint8_t sram[64];\n" + copy +
      entry("int8_t* in_buffer_var, int8_t* output_buffer_var, uint8_t* sram_0_var",
            "  void* a_let = (&(sram_0_var[0]));\n  void* c_let = (&(sram_0_var[8]));\n"
            "  void* b_let = (&(sram_0_var[24]));\n  if (tvmgen_m_copy(in_buffer_var, a_let) != 0 ) return -1;\n"
            "  if (ext(a_let, b_let) != 0 ) return -1;\n  if (tvmgen_m_copy(b_let, c_let) != 0 ) return -1;\n"
            "  if (tvmgen_m_copy(c_let, output_buffer_var) != 0 ) return -1;\n"));
  CHECK(later.violations.empty());
  CHECK(named(later.document, "a").size == 24);
}

TEST_CASE("TVM's plan: inputs and outputs in a pool are live from the beginning and to the end") {
  const auto plan = [](const std::string& output, const std::string& a) {
    return plan_of("static uint8_t sram[64];\n" + copy +
                   entry("uint8_t* sram_0_var",
                         "  void* output_buffer_var_let = (&(sram_0_var[" + output +
                             "]));\n  void* in_buffer_var_let = (&(sram_0_var[0]));\n  void* a_let = (&(sram_0_var[" +
                             a +
                             "]));\n  if (tvmgen_m_copy(in_buffer_var_let, a_let) != 0 ) return -1;\n"
                             "  if (tvmgen_m_copy(a_let, output_buffer_var_let) != 0 ) return -1;\n"));
  };
  const TvmPlan good = plan("0", "16");
  CHECK(good.violations.empty());
  CHECK(good.document.workspace_io == true);
  CHECK(good.document.inputs.at(0).in_pool);
  CHECK(good.document.outputs.at(0).in_pool);
  CHECK(named(good.document, "in").kind == BufferKind::input);
  CHECK(named(good.document, "in").live->front().begin == 0);
  CHECK(named(good.document, "output").live->back().end == good.document.horizon);
  CHECK(plan("0", "8").violations.size() == 2);
  CHECK(plan("32", "8").violations.size() == 1);
}

TEST_CASE("TVM's plan: constants that overlap are wrong, one constant of two functions is not") {
  const auto plan = [](const std::string& second, const std::string& second_name = "l") {
    const auto op = [](const std::string& name, const std::string& constant, const std::string& offset) {
      return "int32_t tvmgen_m_" + name + "(int8_t* p, int8_t* q, uint8_t* flash_1_var) {\n  void* " + constant +
             "_let = (&(flash_1_var[" + offset + "]));\n  q[0] = (int8_t)(p[0] + ((int16_t*)" + constant +
             "_let)[1]);\n  return 0;\n}\n";
    };
    return plan_of(op("one", "k", "0") + op("two", second_name, second) +
                       entry("int8_t* in_buffer_var, int8_t* output_buffer_var, uint8_t* flash_0_var",
                             "  if (tvmgen_m_one(in_buffer_var, output_buffer_var, flash_0_var) != 0 ) return -1;\n"
                             "  if (tvmgen_m_two(in_buffer_var, output_buffer_var, flash_0_var) != 0 ) return -1;\n"),
                   "#define TVMGEN_M_FLASH_CONSTANT_POOL_SIZE 8\n#define TVMGEN_M_FLASH_CONSTANT_POOL_DATA \\\n"
                   "  0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08\n");
  };
  CHECK(plan("4").violations.empty());
  CHECK(plan("4").document.buffers.size() == 2);
  CHECK(plan("0", "k").violations.empty());
  CHECK(plan("0", "k").document.buffers.size() == 1);
  const TvmPlan both = plan("0");
  REQUIRE(both.violations.size() == 1);
  CHECK(both.violations[0].find("overlap in pool 'flash': [0, 4) and [0, 4)") != std::string::npos);
  const TvmPlan wrong = plan("2");
  REQUIRE(wrong.violations.size() == 1);
  CHECK(wrong.violations[0].find("overlap in pool 'flash': [0, 4) and [2, 6)") != std::string::npos);
}

TEST_CASE("TVM's plan: memory that the header asks for beside a pool in the C is named") {
  const auto warnings = [](const std::string& pool, const std::string& header) {
    return plan_of(
               pool + copy + entry("int8_t* in_buffer_var, int8_t* output_buffer_var, uint8_t* sram_0_var", one_buffer),
               header)
        .document.warnings;
  };
  const std::string pool = "static uint8_t sram[16];\n";
  const std::string macro = "#define TVMGEN_M_WORKSPACE_SIZE 4096\n";
  const std::vector<std::string> named = warnings(pool, macro);
  REQUIRE(named.size() == 1);
  CHECK(named[0] ==
        "TVM's C defines its workspace itself (pool 'sram'): memory that the firmware reserves with "
        "TVMGEN_M_WORKSPACE_SIZE (4096 bytes) is not used");
  CHECK(warnings(pool, "").empty());
  CHECK(warnings(pool, "#define TVMGEN_M_WORKSPACE_SIZE 0\n").empty());
  CHECK(warnings(pool, "#define TVMGEN_M_OTHER_WORKSPACE_SIZE 4096\n").empty());
  // The application's pool is what the macro is for.
  CHECK(warnings("", macro + "#define TVMGEN_M_SRAM_WORKSPACE_POOL_SIZE 16\n").empty());
}

TEST_CASE("TVM's plan: C that TVM has not planned") {
  const std::string c = copy + entry("int8_t* in_buffer_var, int8_t* output_buffer_var",
                                     "  if (tvmgen_m_copy(in_buffer_var, output_buffer_var) != 0 ) return -1;\n");
  CHECK_THROWS_WITH_AS((void)plan_of(c),
                       "TVM has not planned module 'm': found no offsets in pools in its C, which takes workspace at "
                       "run time",
                       Error);
}

}  // namespace usmp::pipeline::tvm_plan_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// --tvm-plan of report, verify and diff.
#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "files.hpp"
#include "two_modules.hpp"
#include "usmp/driver/driver.hpp"

namespace usmp::driver::tvm_plan_test {
namespace {

using nlohmann::json;

// in -> a -> b -> output, of 64 bytes each.
std::string model_c(const std::string& b_offset) {
  return "static uint8_t sram[256];\n"
         "int32_t tvmgen_m_copy(int8_t* p, int8_t* q) {\n  for (int32_t i = 0; i < 64; ++i) {\n    q[i] = p[i];\n  }\n"
         "  return 0;\n}\n"
         "int32_t tvmgen_m_turn(int8_t* p, int8_t* q) {\n  for (int32_t i = 0; i < 64; ++i) {\n"
         "    q[i] = p[(63 - i)];\n  }\n  return 0;\n}\n"
         "int32_t tvmgen_m___tvm_main__(int8_t* in_buffer_var, int8_t* output_buffer_var, uint8_t* sram_0_var) {\n"
         "  void* a_let = (&(sram_0_var[0]));\n  void* b_let = (&(sram_0_var[" +
         b_offset +
         "]));\n  if (tvmgen_m_copy(in_buffer_var, a_let) != 0 ) return -1;\n"
         "  if (tvmgen_m_turn(a_let, b_let) != 0 ) return -1;\n"
         "  if (tvmgen_m_copy(b_let, output_buffer_var) != 0 ) return -1;\n  return 0;\n}\n"
         "int32_t tvmgen_m_run(struct tvmgen_m_inputs* inputs, struct tvmgen_m_outputs* outputs) {\n"
         "  return tvmgen_m___tvm_main__(inputs->in, outputs->output, ((uint8_t*)&sram));\n}\n";
}

struct Models {
  TemporaryDirectory directory;
  std::string good = directory.file("good.c");
  std::string wrong = directory.file("wrong.c");
  Models() {
    write(good, model_c("192"));
    write(wrong, model_c("32"));
  }
};

Outcome verified(const std::string& model, bool as_json = false) {
  VerifyOptions options;
  options.model.model = model;
  options.model.json = as_json;
  options.tvm_plan = true;
  return outcome_of(verify, options);
}

ReportOptions report_of(const std::string& model) {
  ReportOptions options;
  options.model.model = model;
  options.tvm_plan = true;
  return options;
}

}  // namespace

TEST_CASE("verify --tvm-plan: a correct plan, and one that lets live buffers overlap") {
  const Models models;
  const Outcome good = verified(models.good);
  CHECK(good.code == exit_ok);
  CHECK(contains(good.out, "module m of good.c, planned by TVM"));
  CHECK(contains(good.out, "verified: 2 buffers, 1 pair live together, 1 pool"));
  CHECK(contains(good.out, "sram: 256 of 256 bytes"));
  CHECK(json::parse(verified(models.good, true).out).is_object());

  const Outcome wrong = verified(models.wrong);
  CHECK(wrong.code == exit_usage);
  CHECK(wrong.out.empty());
  CHECK(contains(wrong.err,
                 "wrong.c: TVM's plan of module 'm' is wrong:\n  buffers 'a' and 'b' overlap in pool "
                 "'sram': [0, 64) and [32, 96), both live at "));
}

TEST_CASE("report --tvm-plan: TVM's plan with what is wrong as warnings") {
  const Models models;
  const Outcome good = outcome_of(report, report_of(models.good));
  CHECK(good.code == exit_ok);
  CHECK(contains(good.out, "planned by TVM"));
  CHECK(!contains(good.out, "warning"));
  const Outcome wrong = outcome_of(report, report_of(models.wrong));
  CHECK(wrong.code == exit_ok);
  CHECK(contains(wrong.out, "warning: TVM's plan is wrong: buffers 'a' and 'b' overlap"));
  ReportOptions csv = report_of(models.wrong);
  csv.format = ReportFormat::csv;
  const Outcome table = outcome_of(report, csv);
  CHECK(contains(table.err, "warning: module 'm': TVM's plan is wrong: buffers 'a' and 'b' overlap"));
  CHECK(contains(table.out, "b,"));
  // In every format there is, also of a plan that overlaps.
  for (const ReportFormat format :
       {ReportFormat::json, ReportFormat::markdown, ReportFormat::svg, ReportFormat::html}) {
    ReportOptions options = report_of(models.wrong);
    options.format = format;
    CHECK(outcome_of(report, options).code == exit_ok);
  }
}

TEST_CASE("diff --tvm-plan: TVM's plan against a new one") {
  const Models models;
  DiffOptions options;
  options.before = models.good;
  options.after = models.good;
  options.tvm_plan = true;
  options.model.transform = "none";
  const Outcome outcome = outcome_of(diff, options);
  CHECK(outcome.code == exit_different);
  CHECK(contains(outcome.out, "256"));
  CHECK(contains(outcome.out, "128"));
}

TEST_CASE("init offers the pools that firmware passes to what TVM planned") {
  const Models models;
  InitOptions options;
  options.model.model = models.good;  // its pool is an array of the C
  options.model.json = true;
  CHECK(outcome_of(init, options).out == "{\"workspace_pools\": [{\"name\": \"sram\"}]}\n");
  std::string passed = renamed(model_c("192"), "struct tvmgen_m_outputs* outputs)",
                               "struct tvmgen_m_outputs* outputs, struct tvmgen_m_workspace_pools* pools)");
  passed = renamed(passed, "((uint8_t*)&sram)", "((uint8_t*)pools->fast)");
  passed = renamed(passed, "sram_0_var", "fast_0_var");
  write(models.good, passed);
  CHECK(outcome_of(init, options).out == "{\"workspace_pools\": [{\"name\": \"fast\"}]}\n");
  options.tvmc = {"--workspace-pools=mine"};
  CHECK(outcome_of(init, options).out == "{\"workspace_pools\": [{\"name\": \"mine\"}]}\n");
  options.output = models.directory.file("pools.yaml");
  options.model.json = false;
  const Outcome written = outcome_of(init, options);
  CHECK(written.out.empty());
  CHECK(contains(read(*options.output), "\n  - name: mine\n"));
}

TEST_CASE("planning says what TVM's plan takes") {
  const Models models;
  PlanOptions options;
  options.model.model = models.good;
  options.model.transform = "none";
  options.dry_run = true;
  CHECK(
      contains(outcome_of(plan, options).out, "workspace: 128 bytes, 128 (50.00%) fewer than the 256 of TVM's plan\n"));
  options.model.json = true;
  const json totals = json::parse(outcome_of(plan, options).out)["modules"][0]["totals"];
  CHECK(totals["tvm_workspace"] == 256);
  CHECK(totals["workspace_used"] == 128);
  options.workspace_io = true;  // inputs and outputs are not in TVM's pools: other things would be compared
  CHECK(!json::parse(outcome_of(plan, options).out)["modules"][0]["totals"].contains("tvm_workspace"));
}

namespace {

// in -> a -> b -> c -> output, of 20 bytes each; `b` and `c` need a. TVM has aligned them to 4 bytes.
std::string tight_c(const std::string& c_offset) {
  const std::string head = "  for (int32_t i = 0; i < 20; ++i) {\n    ";
  return "__attribute__((aligned(16))) static uint8_t sram[60];\n"
         "int32_t tvmgen_m_copy(int8_t* p, int8_t* q) {\n" +
         head + "q[i] = p[(19 - i)];\n  }\n  return 0;\n}\n" +
         "int32_t tvmgen_m_add(int8_t* p, int8_t* q, int8_t* r) {\n" + head +
         "r[i] = (int8_t)(p[i] + q[(19 - i)]);\n  }\n  return 0;\n}\n" +
         "int32_t tvmgen_m___tvm_main__(int8_t* in_buffer_var, int8_t* output_buffer_var, uint8_t* sram_0_var) {\n"
         "  void* a_let = (&(sram_0_var[0]));\n  void* b_let = (&(sram_0_var[20]));\n"
         "  void* c_let = (&(sram_0_var[" +
         c_offset +
         "]));\n  if (tvmgen_m_copy(in_buffer_var, a_let) != 0 ) return -1;\n"
         "  if (tvmgen_m_copy(a_let, b_let) != 0 ) return -1;\n"
         "  if (tvmgen_m_add(a_let, b_let, c_let) != 0 ) return -1;\n"
         "  if (tvmgen_m_add(a_let, c_let, output_buffer_var) != 0 ) return -1;\n  return 0;\n}\n"
         "int32_t tvmgen_m_run(struct tvmgen_m_inputs* inputs, struct tvmgen_m_outputs* outputs) {\n"
         "  return tvmgen_m___tvm_main__(inputs->in, outputs->output, ((uint8_t*)&sram));\n}\n";
}

}  // namespace

TEST_CASE("TVM's plan is taken if ours needs more, with a warning that check --strict fails for") {
  const Models models;
  write(models.good, tight_c("40"));
  PlanOptions options;
  options.model.model = models.good;
  options.model.transform = "none";
  options.dry_run = true;
  const std::string taken = outcome_of(plan, options).out;
  CHECK(contains(taken, "workspace: 60 bytes, as many as TVM's plan\n"));
  CHECK(
      contains(taken,
               "warning: TVM's own plan is taken, which needs 60 bytes of workspace; that of usmp-plan would need 84, "
               "as it aligns buffers that TVM does not align\n"));
  options.model.json = true;
  const json buffers = json::parse(outcome_of(plan, options).out)["modules"][0]["buffers"];
  REQUIRE(buffers.size() == 3);
  CHECK(buffers[2]["offset"] == 40);
  CHECK(buffers[2]["alignment"] == 8);
  options.model.json = false;

  // Its plan is wrong, ours needs less, or is asked for something else.
  const auto is_ours = [&] {
    const Outcome outcome = outcome_of(plan, options);
    CHECK_MESSAGE(outcome.code == exit_ok, outcome.err);
    return contains(outcome.out, "workspace: ") && !contains(outcome.out, "own plan");
  };
  write(models.good, tight_c("32"));
  CHECK(is_ours());
  write(models.good, tight_c("40"));
  options.model.transform = "all";
  CHECK(is_ours());
  options.model.transform = "none";
  options.pools_file = models.directory.file("pools.yaml");
  write(*options.pools_file, "workspace_pools:\n  - {name: other}\npinned:\n  - {buffer: a, pool: other, offset: 0}\n");
  CHECK(is_ours());
  write(*options.pools_file, "workspace_pools:\n  - {name: other}\n");
  CHECK(contains(outcome_of(plan, options).out, "other: 60 bytes"));
}

TEST_CASE("TVM's plan is shown where the C does not say how large an output is") {
  const Models models;
  const fs::path directory = models.directory.path / "kept";
  fs::create_directories(directory);
  write(directory / "npu.c",
        "// tvm target: npu\nint32_t tvmgen_m_npu(int8_t* input, int8_t* output) {\n  return 0;\n}\n");
  write(directory / "m.c", "// tvm target: c\n" + renamed(model_c("192"), "tvmgen_m_copy(b_let", "tvmgen_m_npu(b_let"));
  const Outcome shown = outcome_of(report, report_of(directory.string()));
  CHECK_MESSAGE(shown.code == exit_ok, shown.err);
  CHECK(contains(shown.out, "sram: 256"));
}

TEST_CASE("a member of the inputs that only an addition uses is no input of TVM's") {
  const Models models;
  const fs::path directory = models.directory.path / "added";
  fs::create_directories(directory);
  const std::string call = "  return tvmgen_m___tvm_main__(";
  write(directory / "m.c", renamed(model_c("192"), call, "  if (inputs->gain) set_gain(inputs->gain);\n" + call));
  write(directory / "tvmgen_m.h",
        "struct tvmgen_m_inputs {\n  void* in;\n  void* gain;\n};\nstruct tvmgen_m_outputs {\n  void* output;\n};\n"
        "int32_t tvmgen_m_run(struct tvmgen_m_inputs* inputs, struct tvmgen_m_outputs* outputs);\n");
  PlanOptions options;
  options.model.model = directory.string();
  options.dry_run = true;
  const Outcome refused = outcome_of(plan, options);
  CHECK(refused.code == exit_archive);
  CHECK_MESSAGE(contains(refused.err, "m.c: line 23, column 3: found 'if' in 'tvmgen_m_run', which is written anew"),
                refused.err);
  write(directory / "m.c", model_c("192"));
  CHECK(contains(outcome_of(plan, options).err, "the archive names an input 'gain', which is not a parameter"));
}

TEST_CASE("TVM's plan is taken if it has a tensor inside of the pool that a device gets whole") {
  const Models models;
  const fs::path directory = models.directory.path / "device";
  fs::create_directories(directory);
  write(directory / "npu.c",
        "// tvm target: npu\n"
        "int32_t tvmgen_m_npu(void* input, void* output, void* sram_2_var, void* resource_handle) {\n"
        "  uint64_t base_addrs[3] = {0};\n  base_addrs[0] = (uintptr_t)(sram_2_var);\n"
        "  base_addrs[1] = (uintptr_t)(input);\n  base_addrs[2] = (uintptr_t)(output);\n"
        "  return TVMEthosULaunch(resource_handle, base_addrs);\n}\n");
  // in -> the device -> a of 64 bytes -> b -> output
  const auto planned_with = [&](const std::string& a_offset, const std::string& b_offset, const std::string& also) {
    const std::string copy = "  for (int32_t i = 0; i < 64; ++i) {\n    q[i] = p[(63 - i)];\n  }\n  return 0;\n}\n";
    write(directory / "m.c",
          "// tvm target: c\nstatic uint8_t sram[1024];\nint32_t tvmgen_m_turn(int8_t* p, int8_t* q) {\n" + copy +
              "int32_t tvmgen_m___tvm_main__(int8_t* in_buffer_var, int8_t* output_buffer_var, uint8_t* sram_0_var, "
              "void* device) {\n"
              "  void* a_let = (&(sram_0_var[" +
              a_offset + "]));\n  void* b_let = (&(sram_0_var[" + b_offset + "]));\n" + also +
              "  if (tvmgen_m_npu(in_buffer_var, a_let, sram_0_var, device) != 0 ) return -1;\n"
              "  if (tvmgen_m_turn(a_let, b_let) != 0 ) return -1;\n"
              "  if (tvmgen_m_turn(b_let, output_buffer_var) != 0 ) return -1;\n  return 0;\n}\n"
              "int32_t tvmgen_m_run(struct tvmgen_m_inputs* inputs, struct tvmgen_m_outputs* outputs, "
              "struct tvmgen_m_devices* devices) {\n  return tvmgen_m___tvm_main__(inputs->in, outputs->output, "
              "((uint8_t*)&sram), devices->npu);\n}\n");
    PlanOptions options;
    options.model.model = directory.string();
    options.model.transform = "none";
    options.model.json = true;
    options.dry_run = true;
    return json::parse(outcome_of(plan, options).out)["modules"][0];
  };
  const json taken = planned_with("512", "0", "");
  CHECK(taken["totals"]["workspace_used"] == 1024);
  REQUIRE(taken["buffers"].size() == 3);
  std::map<std::string, int> offsets;
  for (const json& buffer : taken["buffers"]) offsets[buffer["name"]] = buffer["offset"];
  CHECK(offsets == std::map<std::string, int>{{"a", 512}, {"b", 0}, {"scratch", 0}});
  const std::string warning = taken["warnings"].dump();
  CHECK_MESSAGE(contains(warning,
                         "TVM's own plan is taken, which needs 1024 bytes of workspace; that of usmp-plan "
                         "would need 1536, as it keeps buffers out of the pool that a device gets whole"),
                warning);
  // Ours does not fit a pool of TVM's size.
  const std::string pools = models.directory.file("bounded.yaml");
  write(pools, "workspace_pools:\n  - {name: sram, size_hint_bytes: 1024}\n");
  PlanOptions bounded;
  bounded.model.model = directory.string();
  bounded.model.transform = "none";
  bounded.dry_run = true;
  bounded.pools_file = pools;
  CHECK(contains(outcome_of(plan, bounded).out, "that of usmp-plan does not fit the pools, as it keeps buffers out"));
  write(pools, "workspace_pools:\n  - {name: sram, size_hint_bytes: 1023}\n");
  CHECK(outcome_of(plan, bounded).code == exit_infeasible);
  // What is at the pool's end bounds the device's part: ours needs no more than TVM's.
  const json own = planned_with("960", "0", "");
  CHECK(own["totals"]["workspace_used"] == 1024);
  CHECK(!contains(own["warnings"].dump(), "own plan"));
  // TVM's plan is wrong elsewhere.
  const json wrong = planned_with("512", "544", "");
  CHECK(wrong["totals"]["workspace_used"] == 1088);
  CHECK(!contains(wrong["warnings"].dump(), "own plan"));
}

TEST_CASE("a tensor that a driver may keep is not said to overlap one whose size is not known") {
  const Models models;
  const fs::path directory = models.directory.path / "bounded";
  fs::create_directories(directory);
  write(
      directory / "npu.c",
      "// tvm target: npu\nint32_t tvmgen_m_npu(int8_t* input, int8_t* output) {\n  return start(input, output);\n}\n");
  // in -> driver -> a at 64 -> c at 192 -> driver -> b at 0, which ends in front of c at the latest -> output. The
  // driver may keep a, which TVM does not think of.
  const auto write_c = [&](const std::string& last, const std::string& read) {
    const auto function = [](const std::string& name, const std::string& bytes) {
      return "int32_t tvmgen_m_" + name + "(int8_t* p, int8_t* q) {\n  for (int32_t i = 0; i < " + bytes +
             "; ++i) {\n    q[i] = p[i];\n  }\n  return 0;\n}\n";
    };
    write(directory / "m.c",
          "// tvm target: c\n__attribute__((aligned(16))) static uint8_t sram[256];\n" + function("turn", "64") +
              function("last", read) +
              "int32_t tvmgen_m___tvm_main__(int8_t* in_buffer_var, int8_t* output_buffer_var, uint8_t* sram_0_var) {\n"
              "  void* a_let = (&(sram_0_var[64]));\n  void* b_let = (&(sram_0_var[0]));\n"
              "  void* c_let = (&(sram_0_var[192]));\n"
              "  if (tvmgen_m_npu(in_buffer_var, a_let) != 0 ) return -1;\n"
              "  if (tvmgen_m_turn(a_let, c_let) != 0 ) return -1;\n"
              "  if (tvmgen_m_npu(c_let, b_let) != 0 ) return -1;\n"
              "  if (tvmgen_m_" +
              last +
              "(b_let, output_buffer_var) != 0 ) return -1;\n  return 0;\n}\n"
              "int32_t tvmgen_m_run(struct tvmgen_m_inputs* inputs, struct tvmgen_m_outputs* outputs) {\n"
              "  return tvmgen_m___tvm_main__(inputs->in, outputs->output, ((uint8_t*)&sram));\n}\n");
  };
  PlanOptions options;
  options.model.model = directory.string();
  options.model.transform = "none";
  options.dry_run = true;
  write_c("npu", "64");
  const std::string planned = outcome_of(plan, options).out;
  CHECK_MESSAGE(contains(planned, "workspace: 256 bytes, as many as TVM's plan\n"), planned);
  CHECK(contains(planned,
                 "warning: TVM's own plan is taken, which needs 256 bytes of workspace; that of usmp-plan would need "
                 "384, as it does not know how large buffers are that others' functions get\n"));
  CHECK(!contains(planned, "TVM's plan is wrong"));
  CHECK(verified(directory.string()).code == exit_ok);
  // What is accessed of b is known to be there.
  write_c("last", "64");
  CHECK(verified(directory.string()).code == exit_ok);
  write_c("last", "65");
  CHECK(contains(outcome_of(plan, options).out,
                 "warning: TVM's plan is wrong, or somebody changed it: buffers 'a' and "
                 "'b' overlap"));
  CHECK(verified(directory.string()).code == exit_usage);
}

TEST_CASE("a section of workspace that planned C does not have is named, TVM's own is not") {
  const Models models;
  const auto planned_with = [&](const std::string& section, const std::string& pools) {
    const std::string array = "static uint8_t sram[256]";
    write(models.good, renamed(model_c("192"), array, "__attribute__((section(\"" + section + "\"))) " + array));
    PlanOptions options;
    options.model.model = models.good;
    options.dry_run = true;
    if (!pools.empty()) {
      options.pools_file = models.directory.file("pools.yaml");
      write(*options.pools_file, pools);
    }
    return outcome_of(plan, options).out;
  };
  const std::string warning =
      "warning: section '.data.tvm' of pool 'sram' is not in planned C; --pools can give it (section: .data.tvm)\n";
  CHECK(contains(planned_with(".data.tvm", ""), warning));
  CHECK(contains(planned_with(".data.tvm", "workspace_pools:\n  - {name: sram, section: .bss.other}\n"), warning));
  const std::string given = planned_with(".data.tvm", "workspace_pools:\n  - {name: fast, section: .data.tvm}\n");
  CHECK(contains(given, "fast: "));
  CHECK(!contains(given, "is not in planned C"));
  CHECK(!contains(planned_with(".bss.noinit.tvm", ""), "section"));
}

TEST_CASE("headers of TVM that copied C includes are in the plan") {
  const Models models;
  fs::create_directories(models.directory.path / "kept");
  const std::string c =
      "#include \"tvm/runtime/crt/error_codes.h\"\nint counter;\n"
      "static int32_t helper(int8_t* p) {\n  counter = p[0];\n  return 0;\n}\n"
      "int32_t tvmgen_m_op(int8_t* p, int8_t* q) {\n  helper(p);\n  q[0] = p[0];\n  return 0;\n}\n"
      "int32_t tvmgen_m___tvm_main__(int8_t* in_buffer_var, int8_t* output_buffer_var) {\n"
      "  if (tvmgen_m_op(in_buffer_var, output_buffer_var) != 0 ) return -1;\n  return 0;\n}\n";
  write(models.directory.path / "kept/m_lib0.c", c);
  write(models.directory.path / "kept/tvmgen_m.h",
        "struct tvmgen_m_inputs {\n  void* in;\n};\nstruct tvmgen_m_outputs {\n  void* output;\n};\n"
        "int32_t tvmgen_m_run(struct tvmgen_m_inputs* inputs, struct tvmgen_m_outputs* outputs);\n");
  PlanOptions options;
  options.model.json = true;
  options.dry_run = true;
  const auto headers = [&] { return json::parse(outcome_of(plan, options).out)["modules"][0]["tvm_headers"]; };
  options.model.model = models.directory.file("kept");
  CHECK(headers() == json{"tvm/runtime/crt/error_codes.h"});
  // Where C is read, nothing is copied.
  for (const std::string path : {"/arm_cpu/ds_cnn.tar.xz", "/cast_subtract.tar"}) {
    options.model.model = USMP_TESTDATA + path;
    CHECK(headers().is_null());
  }
}

TEST_CASE("archives of TVM's Cortex-M target need no more than those of its plain one") {
  PlanOptions options;
  options.model.json = true;
  options.dry_run = true;
  const auto workspace = [&](const std::string& path) {
    options.model.model = USMP_TESTDATA + path;
    return json::parse(outcome_of(plan, options).out)["modules"][0]["totals"]["workspace_used"].get<std::int64_t>();
  };
  for (const std::string name : {"/ds_cnn.tar", "/resnet8.tar"}) {
    CHECK(workspace("/arm_cpu" + name + ".xz") <= workspace(name));
  }
}

TEST_CASE("planning refuses constants that TVM has lost, inspect warns") {
  const Models models;
  fs::create_directories(models.directory.path / "lost");
  std::string c =
      "int32_t tvmgen_m_op(int8_t* p, int8_t* q, uint8_t* flash_1_var) {\n  void* a_let = (&(flash_1_var[0]));\n"
      "  void* b_let = (&(flash_1_var[2]));\n"
      "  q[0] = (int8_t)(p[0] + ((int16_t*)a_let)[1] + ((int16_t*)b_let)[0]);\n  return 0;\n}\n"
      "int32_t tvmgen_m___tvm_main__(int8_t* in_buffer_var, int8_t* output_buffer_var, uint8_t* flash_0_var) {\n"
      "  if (tvmgen_m_op(in_buffer_var, output_buffer_var, flash_0_var) != 0 ) return -1;\n  return 0;\n}\n";
  write(models.directory.path / "lost/m_lib0.c", c);
  write(models.directory.path / "lost/tvmgen_m.h",
        "struct tvmgen_m_inputs {\n  void* in;\n};\nstruct tvmgen_m_outputs {\n  void* output;\n};\n"
        "struct tvmgen_m_workspace_pools {\n  void* flash;\n};\n"
        "int32_t tvmgen_m_run(struct tvmgen_m_inputs* inputs, struct tvmgen_m_outputs* outputs, "
        "struct tvmgen_m_workspace_pools* workspace_pools);\n"
        "#define TVMGEN_M_FLASH_CONSTANT_POOL_SIZE 4\n"
        "#define TVMGEN_M_FLASH_CONSTANT_POOL_DATA \\\n  0x01, 0x02, 0x03, 0x04\n");
  const std::string message = "TVM's plan is wrong: constants at [0, 4) and [2, 4) of pool 'flash' overlap";
  PlanOptions options;
  options.model.model = models.directory.file("lost");
  options.dry_run = true;
  const Outcome planned = outcome_of(plan, options);
  CHECK(planned.code == exit_archive);
  CHECK_MESSAGE(contains(planned.err, message), planned.err);
  InspectOptions inspected;
  inspected.model.model = options.model.model;
  const Outcome listed = outcome_of(inspect, inspected);
  CHECK(listed.code == exit_ok);
  CHECK_MESSAGE(contains(listed.err, "warning: module 'm': " + message), listed.err);
  const Outcome wrong = verified(options.model.model);
  CHECK(wrong.code == exit_usage);
  CHECK_MESSAGE(contains(wrong.err, "overlap in pool 'flash': [0, 4) and [2, 4)"), wrong.err);
}

TEST_CASE("--tvm-plan: what does not go with it") {
  const Models models;
  const auto refused = [](const Outcome& outcome, const std::string& message) {
    CHECK(outcome.code == exit_usage);
    CHECK(outcome.out.empty());
    CHECK_MESSAGE(contains(outcome.err, message), outcome.err);
  };
  ReportOptions from_tir = report_of(models.good);
  from_tir.model.from = "tir";
  refused(outcome_of(report, from_tir), "--from tir: TVM's plan is in its C; leave --from or --tvm-plan out");
  ReportOptions planning = report_of(models.good);
  planning.algorithm = "hill_climb";
  refused(outcome_of(report, planning), "--tvm-plan plans nothing: --algorithm applies to models only");
  VerifyOptions several;
  several.model.model = models.good;
  several.more_models = {models.wrong};
  several.tvm_plan = true;
  refused(outcome_of(verify, several), "wrong.c: --tvm-plan: expected one model");
  ReportOptions plan_file = report_of(models.directory.file("m.plan.json"));
  write(plan_file.model.model, "{}");
  refused(outcome_of(report, plan_file), "is a plan: --tvm-plan asks for a model that TVM planned");
  DiffOptions difference;
  difference.before = plan_file.model.model;
  difference.after = models.good;
  difference.tvm_plan = true;
  refused(outcome_of(diff, difference), "is a plan: --tvm-plan asks for a model that TVM planned");
}

}  // namespace usmp::driver::tvm_plan_test

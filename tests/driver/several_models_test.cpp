// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Several models that are linked together: names, shared pools, directories. tests/e2e/several_models.py runs them.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "files.hpp"
#include "two_modules.hpp"
#include "usmp/driver/driver.hpp"
#include "usmp/support/checked.hpp"

namespace usmp::driver::several_models_test {
namespace {

PlanOptions two(const std::string& output) {
  PlanOptions options;
  options.model.model = testdata + "/lstm.tar";
  options.more_models = {testdata + "/cast_subtract.tar"};
  options.output = output;
  return options;
}

std::set<std::string> expected_files(const std::string& first, const std::string& second) {
  std::set<std::string> files = {"codegen/host/include/metadata.h", "codegen/host/src/usmp_pools.c"};
  for (const std::string& module : {first, second}) {
    files.insert(module + ".plan.json");
    files.insert("codegen/host/include/tvmgen_" + module + ".h");
    for (const char* number : {"0", "1"}) files.insert("codegen/host/src/" + module + "_lib" + number + ".c");
  }
  return files;
}

// Files of a source tree of the module, whose operator is another code generator's.
void write_foreign_module(const fs::path& tree, const std::string& name) {
  const std::string text =
      "// tvm target: c\n#include \"tvmgen_M.h\"\nint32_t tvmgen_M_ext(int8_t* p, int8_t* q);\n"
      "int32_t tvmgen_M___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var) {\n"
      "  if (tvmgen_M_ext(x_buffer_var, y_buffer_var) != 0 ) return -1;\n  return 0;\n}\n"
      "int32_t tvmgen_M_run(struct tvmgen_M_inputs* inputs, struct tvmgen_M_outputs* outputs) {\n"
      "  return tvmgen_M___tvm_main__(inputs->x, outputs->y);\n}\n";
  const std::string header =
      "#include <stdint.h>\nstruct tvmgen_M_inputs { void* x; };\nstruct tvmgen_M_outputs { void* y; };\n"
      "int32_t tvmgen_M_run(struct tvmgen_M_inputs* inputs, struct tvmgen_M_outputs* outputs);\n";
  write(tree / (name + ".c"), renamed(text, "_M_", "_" + name + "_"));
  write(tree / ("tvmgen_" + name + ".h"), renamed(renamed(header, "_M_", "_" + name + "_"), "_M.", "_" + name + "."));
}

std::string foreign_kernel(const std::string& name) {
  return "int32_t tvmgen_" + name +
         "_ext(int8_t* p, int8_t* q) {\n  void* a = TVMBackendAllocWorkspace(1, 0, (uint64_t)20, 0, 8);\n"
         "  q[0] = p[0];\n  return TVMBackendFreeWorkspace(1, 0, a);\n}\n";
}

}  // namespace

TEST_CASE("models of one name get that of their file, and share the pools") {
  const TemporaryDirectory temporary;
  PlanOptions options = two(temporary.file("out"));
  options.linker_script = true;
  REQUIRE(outcome_of(plan, options).code == exit_ok);
  CHECK(files_below(temporary.path / "out").contains("codegen/host/usmp_memory.ld"));
  const Outcome outcome = outcome_of(plan, two(temporary.file("out")));
  REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
  CHECK(files_below(temporary.path / "out") == expected_files("lstm", "cast_subtract"));
  for (const std::string& name : files_below(temporary.path / "out")) {
    const std::string text = read(temporary.path / "out" / name);
    CHECK_MESSAGE(
        (text.find("tvmgen_default") == std::string::npos && text.find("TVMGEN_DEFAULT") == std::string::npos), name);
  }
  const auto used = [&](const char* module) {
    return nlohmann::json::parse(
               read(temporary.path / "out" / (std::string(module) + ".plan.json")))["totals"]["workspace_used"]
        .dump();
  };
  CHECK(outcome.out.find("Pools of both modules\n  global_workspace: " + used("lstm") +
                         " bytes, set by lstm; cast_subtract needs " + used("cast_subtract") + "\n") !=
        std::string::npos);
}

TEST_CASE("states of several models stand one behind the other in their pool") {
  const TemporaryDirectory temporary;
  PlanOptions options;
  options.model.model = testdata + "/tflite/svdf_int8_1001.tflite";
  options.more_models = {testdata + "/tflite/svdf_int8_1005.tflite"};
  options.output = temporary.file("out");
  options.pools_file = temporary.file("pools.yaml");
  write(temporary.path / "pools.yaml", "workspace_pools:\n  - {name: backup, state: true}\n  - {name: sram}\n");
  REQUIRE(outcome_of(plan, options).code == exit_ok);
  const auto number_behind = [](const std::string& text, const std::string& macro) {
    const std::size_t at = text.find("#define " + macro + " ");
    REQUIRE(at != std::string::npos);
    return std::stol(text.substr(at + macro.size() + 9));
  };
  const std::string header = read(temporary.path / "out/codegen/host/include/metadata.h");
  const long first = number_behind(header, "TVM_SVDF_INT8_1001_BACKUP_WORKSPACE_BUFFER_SIZE");
  const long second = number_behind(header, "TVM_SVDF_INT8_1005_BACKUP_WORKSPACE_BUFFER_SIZE");
  CHECK(number_behind(header, "TVM_COMMON_BACKUP_WORKSPACE_BUFFER_SIZE") == second);
  const auto begin = align_up(first, 16);
  const std::string code = read(temporary.path / "out/codegen/host/src/svdf_int8_1005_lib1.c");
  CHECK(code.find("backup[" + std::to_string(begin) + ", " + std::to_string(second) + ")") != std::string::npos);
  write(temporary.path / "pools.yaml", "workspace_pools:\n  - {name: backup, state: true, size_hint_bytes: " +
                                           std::to_string(second - 1) + "}\n  - {name: sram}\n");
  options.output = temporary.file("none");
  const Outcome refused = outcome_of(plan, options);
  CHECK(refused.code == exit_usage);
  CHECK(refused.err.find("needs " + std::to_string(second) + " bytes, with that of the modules before it") !=
        std::string::npos);
  CHECK_FALSE(fs::exists(temporary.path / "none"));
}

TEST_CASE("plans, reports, differences and checks say which model sets a pool's size") {
  const TemporaryDirectory temporary;
  PlanOptions options = two(temporary.file("out"));
  options.workspace_io = true;  // else one of them needs nothing
  options.pools_file = temporary.file("pools.yaml");
  const std::string pools =
      "workspace_pools:\n  - {name: sram, budget: {max: 1MiB}}\nparameter_pools:\n  - name: flash\n";
  write(temporary.path / "pools.yaml", pools);
  REQUIRE(outcome_of(plan, options).code == exit_ok);
  const auto pool_of = [&](const std::string& module, std::size_t pool) {
    return nlohmann::json::parse(read(temporary.path / "out" / (module + ".plan.json")))["pools"][pool];
  };
  const Bytes lstm = pool_of("lstm", 0)["used"].get<Bytes>();
  const Bytes cast = pool_of("cast_subtract", 0)["used"].get<Bytes>();
  REQUIRE(cast > lstm);
  // Those of lstm may stand behind the others, at a multiple of 16.
  const Bytes constants =
      pool_of("lstm", 1)["used"].get<Bytes>() + align_up(pool_of("cast_subtract", 1)["used"].get<Bytes>(), 16);
  for (const char* module : {"lstm", "cast_subtract"}) {
    CHECK(pool_of(module, 0)["all_modules"] == nlohmann::json({{"used", cast}, {"set_by", {"cast_subtract"}}}));
    CHECK(pool_of(module, 1)["all_modules"]["used"] == constants);
  }

  ReportOptions reported;
  reported.model.model = temporary.file("out/lstm.plan.json");
  const std::string line = std::to_string(cast) + " bytes, set by cast_subtract";
  CHECK(contains(outcome_of(report, reported).out, "Pools of all modules\n  sram: " + line + "\n"));

  CheckOptions checked;
  static_cast<PlanningOptions&>(checked) = options;
  const Outcome text = outcome_of(check, checked);
  CHECK(text.code == exit_ok);
  CHECK(contains(text.out, "Pools of both modules\n  sram: " + line + "; lstm needs " + std::to_string(lstm) + "\n"));
  checked.model.json = true;
  const auto shared = nlohmann::json::parse(outcome_of(check, checked).out)["shared_pools"];
  CHECK(shared[0]["set_by"] == nlohmann::json({"cast_subtract"}));
  CHECK(shared[1]["used"] == constants);
  checked.more_models.clear();
  CHECK(nlohmann::json::parse(outcome_of(check, checked).out)["shared_pools"].empty());
  checked.more_models = {checked.model.model};
  CHECK(outcome_of(check, checked).err ==
        "usmp-plan: error: " + checked.model.model + ": is given twice, expected each model once\n");

  // Side by side, and then what is different.
  write(temporary.path / "pools.yaml", pools + "concurrent: [[lstm, cast_subtract]]\n");
  options.output = temporary.file("beside");
  const Outcome beside = outcome_of(plan, options);
  REQUIRE(beside.code == exit_ok);
  const Bytes both =
      nlohmann::json::parse(read(temporary.path / "beside/cast_subtract.plan.json"))["pools"][0]["used"].get<Bytes>();
  CHECK(both >= lstm + cast);
  const std::string together = std::to_string(both) + " bytes, set by lstm and cast_subtract side by side";
  CHECK(contains(beside.out, "Pools of both modules\n  sram: " + together + "\n"));
  DiffOptions differences;
  differences.before = temporary.file("out/lstm.plan.json");
  differences.after = temporary.file("beside/lstm.plan.json");
  const Outcome diffed = outcome_of(diff, differences);
  CHECK(diffed.code == exit_ok);
  CHECK(contains(diffed.out, "; of all modules " + line + " -> " + together + "\n"));

  // Commands that take one model take it as if it were alone.
  ReportOptions alone;
  alone.model.model = options.model.model;
  alone.pools_file = options.pools_file;
  CHECK(outcome_of(report, alone).code == exit_ok);

  // A model that is planned alone.
  options.more_models.clear();
  options.output = temporary.file("alone");
  options.names = {"lstm=" + options.model.model};
  write(temporary.path / "pools.yaml", pools);
  REQUIRE(outcome_of(plan, options).code == exit_ok);
  CHECK_FALSE(contains(read(temporary.path / "alone/lstm.plan.json"), "all_modules"));
}

TEST_CASE("chosen names, of one model or some") {
  const TemporaryDirectory temporary;
  PlanOptions options = two(temporary.file("out"));
  options.names = {"kws=" + testdata + "/cast_subtract.tar"};
  REQUIRE(outcome_of(plan, options).code == exit_ok);
  CHECK(files_below(temporary.path / "out") == expected_files("default", "kws"));
  options.names.push_back("kws=" + testdata + "/lstm.tar");
  CHECK(outcome_of(plan, options).err == "usmp-plan: error: " + testdata +
                                             "/cast_subtract.tar: its module 'kws' has the name of one of " + testdata +
                                             "/lstm.tar in C, expected --name NAME=MODEL to give it another\n");
  write_two_modules(temporary.path / "both", "lstm.tar", "cast_subtract.tar");
  options.model.model = temporary.file("both");
  options.more_models.clear();
  options.names = {"a=" + temporary.file("both")};
  options.output = temporary.file("of_both");
  CHECK(outcome_of(plan, options).err ==
        "usmp-plan: error: " + temporary.file("both") +
            ": has the modules default, second, expected one that can be called 'a'\n");
}

TEST_CASE("a directory that has other modules is refused, and stays") {
  const TemporaryDirectory temporary;
  REQUIRE(outcome_of(plan, two(temporary.file("out"))).code == exit_ok);
  PlanOptions one = two(temporary.file("out"));
  one.more_models.clear();
  one.names = {"lstm=" + testdata + "/lstm.tar"};
  const Outcome refused = outcome_of(plan, one);
  CHECK(refused.code == exit_usage);
  CHECK(refused.err.find("holds the plan of cast_subtract.tar (cast_subtract.plan.json)") != std::string::npos);
  CHECK(files_below(temporary.path / "out") == expected_files("lstm", "cast_subtract"));

  write_two_modules(temporary.path / "both", "lstm.tar", "cast_subtract.tar");
  PlanOptions both = two(temporary.file("of_both"));
  both.model.model = temporary.file("both");
  both.more_models.clear();
  REQUIRE(outcome_of(plan, both).code == exit_ok);
  CHECK(files_below(temporary.path / "of_both") == expected_files("default", "second"));
  both.model.module = "second";
  const Outcome part = outcome_of(plan, both);
  CHECK(part.code == exit_usage);
  CHECK(part.err.find("holds the plan of module 'default' (default.plan.json), which is not planned now") !=
        std::string::npos);
  CHECK(files_below(temporary.path / "of_both") == expected_files("default", "second"));
}

TEST_CASE("constants of all models fit a parameter pool together, or there is no plan") {
  const TemporaryDirectory temporary;
  PlanOptions options = two(temporary.file("out"));
  const auto code = [&](const std::string& size) {
    write(temporary.path / "pools.yaml",
          "workspace_pools:\n  - name: sram\nparameter_pools:\n  - {name: flash, size_hint_bytes: " + size + "}\n");
    options.pools_file = temporary.file("pools.yaml");
    return outcome_of(plan, options).code;
  };
  REQUIRE(code("-1") == exit_ok);
  Bytes sum = 0;
  for (const char* module : {"lstm", "cast_subtract"}) {
    sum += align_up(nlohmann::json::parse(
                        read(temporary.path / "out" / (std::string(module) + ".plan.json")))["totals"]["constants_used"]
                        .get<Bytes>(),
                    16);
  }
  CHECK(code(std::to_string(sum)) == exit_ok);
  CHECK(code(std::to_string(sum - 1)) == exit_infeasible);
  const std::string size = std::to_string(sum);
  CHECK(contains(outcome_of(plan, options).err,
                 "pools.yaml:4:36: flash is too small for the constants of all modules: " + size + " bytes needed, " +
                     std::to_string(sum - 1) + " available, 1 missing ("));
  VerifyOptions verified;
  static_cast<PlanningOptions&>(verified) = options;
  CHECK(outcome_of(verify, verified).code == exit_infeasible);
}

TEST_CASE("models side by side share no byte, and all others do") {
  const TemporaryDirectory temporary;
  PlanOptions options = two(temporary.file("out"));
  options.more_models.push_back(testdata + "/narrow.tar");
  options.workspace_io = true;
  options.pools_file = temporary.file("pools.yaml");
  const std::string pools = "workspace_pools:\n  - {name: dtcm, size_hint_bytes: SIZE}\n  - name: sram\n";
  const auto used = [&](const char* module, std::size_t pool) {
    const auto plan = nlohmann::json::parse(read(temporary.path / "out" / (std::string(module) + ".plan.json")));
    return plan["pools"][pool]["used"].get<Bytes>();
  };
  const auto lowest = [&](const char* module, const char* pool) {
    const auto plan = nlohmann::json::parse(read(temporary.path / "out" / (std::string(module) + ".plan.json")));
    Bytes offset = 1 << 30;
    for (const auto& buffer : plan["buffers"]) {
      if (buffer["pool"] == pool) offset = std::min(offset, buffer["offset"].get<Bytes>());
    }
    return offset;
  };
  write(temporary.path / "pools.yaml",
        renamed(pools, "SIZE", "64KiB") + "concurrent: [[lstm, cast_subtract], [cast_subtract, narrow]]\n");
  REQUIRE(outcome_of(plan, options).code == exit_ok);
  CHECK(lowest("lstm", "dtcm") == 0);
  CHECK(lowest("cast_subtract", "dtcm") >= used("lstm", 0));
  CHECK(lowest("narrow", "dtcm") >= used("cast_subtract", 0));
  // What lies in front belongs to the other module.
  const auto middle = nlohmann::json::parse(read(temporary.path / "out/cast_subtract.plan.json"));
  CHECK(middle["pools"][0]["beside"] == used("lstm", 0));
  CHECK(middle["pools"][0]["reserved"] == used("lstm", 0));
  CHECK(middle["totals"]["workspace_used"] == used("cast_subtract", 0) - used("lstm", 0));
  // No room beside the first one: everything goes to the second pool.
  const Bytes first = used("lstm", 0);
  write(temporary.path / "pools.yaml",
        renamed(pools, "SIZE", std::to_string(first)) + "concurrent: [[lstm, cast_subtract]]\n");
  REQUIRE(outcome_of(plan, options).code == exit_ok);
  CHECK(used("lstm", 0) == first);
  CHECK(used("cast_subtract", 0) == 0);
  CHECK(lowest("cast_subtract", "sram") == 0);
  CHECK(lowest("narrow", "dtcm") == 0);

  // Plans that were made without it.
  VerifyOptions verified;
  static_cast<PlanningOptions&>(verified) = options;
  write(temporary.path / "pools.yaml", renamed(pools, "SIZE", "64KiB"));
  REQUIRE(outcome_of(plan, options).code == exit_ok);
  for (const char* module : {"lstm", "cast_subtract", "narrow"}) {
    verified.plans.push_back(temporary.file(std::string("out/") + module + ".plan.json"));
  }
  CHECK(outcome_of(verify, verified).code == exit_ok);
  write(temporary.path / "pools.yaml", renamed(pools, "SIZE", "64KiB") + "concurrent: [[lstm, narrow]]\n");
  const Outcome wrong = outcome_of(verify, verified);
  CHECK(wrong.code == exit_usage);
  CHECK(wrong.err.find("modules 'lstm' and 'narrow' run side by side, but both use bytes 0 to ") != std::string::npos);

  write(temporary.path / "pools.yaml", renamed(pools, "SIZE", "64KiB") + "concurrent: [[lstm, narow]]\n");
  CHECK(outcome_of(plan, options)
            .err.find(
                "line 4, column 14: concurrent names module 'narow', which is not planned (did you mean 'narrow'?)") !=
        std::string::npos);
}

TEST_CASE("C of another code generator that two modules share stays as it is") {
  const std::string target = "// tvm target: cmsis-nn\n";
  for (const bool is_shared : {false, true}) {
    CAPTURE(is_shared);
    const TemporaryDirectory temporary;
    const fs::path tree = temporary.path / "tree";
    fs::create_directories(tree);
    for (const std::string name : {"one", "two"}) {
      write_foreign_module(tree, name);
      if (!is_shared) write(tree / ("kernel_" + name + ".c"), target + foreign_kernel(name));
    }
    if (is_shared) write(tree / "kernels.c", target + foreign_kernel("one") + foreign_kernel("two"));
    PlanOptions options;
    options.model.model = tree.string();
    options.output = temporary.file("out");
    const Outcome outcome = outcome_of(plan, options);
    REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
    CHECK(contains(outcome.out, "allocates workspace at run time") == is_shared);
    const fs::path sources = temporary.path / "out/codegen/host/src";
    if (is_shared) CHECK(read(sources / "kernels.c") == read(tree / "kernels.c"));
    if (!is_shared) CHECK(contains(read(sources / "kernel_two.c"), "usmp_workspace"));
  }
}

TEST_CASE("several models need a directory, and no choice of a module") {
  const TemporaryDirectory temporary;
  PlanOptions options = two(temporary.file("out.tar"));
  CHECK(outcome_of(plan, options).err == "usmp-plan: error: " + temporary.file("out.tar") +
                                             ": an archive has one model, expected a directory for several\n");
  options = two(temporary.file("out"));
  options.model.module = "default";
  CHECK(outcome_of(plan, options).err ==
        "usmp-plan: error: --module chooses a module of one model, but there are several\n");
}

}  // namespace usmp::driver::several_models_test

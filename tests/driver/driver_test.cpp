// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The commands as a user meets them: exit codes, messages, files. The emitted C is run by tests/e2e.
#include "usmp/driver/driver.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "driver/planning.hpp"
#include "files.hpp"
#include "usmp/mlf/archive.hpp"
#include "usmp/support/text.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::driver::driver_test {
namespace {

Outcome run_plan(const PlanOptions& options) { return outcome_of(plan, options); }

PlanOptions options_for(const std::string& model, const std::string& output) {
  PlanOptions options;
  options.model.model = model;
  options.output = output;
  return options;
}

const std::set<std::string> expected_files = {
    "codegen/host/include/metadata.h", "codegen/host/include/tvmgen_default.h", "codegen/host/src/default_lib0.c",
    "codegen/host/src/default_lib1.c", "default.plan.json"};

std::string names_of_steps(std::string_view separator, std::optional<transform::Step> left_out = {}) {
  std::vector<std::string> names;
  for (const transform::Step step : transform::all_steps) {
    if (step != left_out) names.emplace_back(transform::name_of(step));
  }
  return joined(names, separator);
}

}  // namespace

TEST_CASE("a directory gets the archive's layout and the plan, and nothing else") {
  const TemporaryDirectory temporary;
  const Outcome outcome = run_plan(options_for(testdata + "/ds_cnn.tar", temporary.file("out")));
  CHECK_MESSAGE(outcome.code == exit_ok, outcome.err);
  CHECK(outcome.err.empty());
  CHECK(outcome.out.find("Memory region") != std::string::npos);
  CHECK(files_below(temporary.path / "out") == expected_files);
  std::set<std::string> beside;
  for (const auto& entry : fs::directory_iterator(temporary.path)) beside.insert(entry.path().filename().string());
  CHECK(beside == std::set<std::string>{"out"});
}

TEST_CASE("the summary says what inputs and outputs in the workspace save, where it is 5 %") {
  const auto said = [](const std::string& archive, const auto& change) {
    PlanOptions options;
    options.model.model = testdata + archive;
    options.dry_run = true;
    change(options);
    const Outcome outcome = run_plan(options);
    CHECK_MESSAGE(outcome.code == exit_ok, outcome.err);
    const std::size_t at = outcome.out.find("\n\nwith --workspace-io: ");
    return at == std::string::npos ? std::string() : outcome.out.substr(at + 2);
  };
  const auto as_it_is = [](const PlanOptions& /*options*/) {};
  CHECK(said("/lstm.tar", as_it_is) == "with --workspace-io: 896 bytes of RAM instead of 1216\n");
  CHECK(said("/ds_cnn.tar", as_it_is).empty());  // 4650 instead of 4662
  CHECK(said("/lstm.tar", [](PlanOptions& options) { options.workspace_io = true; }).empty());
  CHECK(said("/lstm.tar", [](PlanOptions& options) { options.verbosity = Verbosity::quiet; }).empty());
  CHECK(said("/lstm.tar", [](PlanOptions& options) { options.model.json = true; }).empty());
}

TEST_CASE("the same input gives the same bytes, in a fresh directory, over an old one and in another locale") {
  const TemporaryDirectory temporary;
  for (const char* name : {"a", "b", "b"}) {
    PlanOptions options = options_for(testdata + "/lstm.tar", temporary.file(name));
    options.pools_file = testdata + "/pools/dtcm_sram.yaml";
    const Outcome outcome = run_plan(options);
    REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
  }
  for (const std::string& name : files_below(temporary.path / "a")) {
    CHECK_MESSAGE(read(temporary.path / "a" / name) == read(temporary.path / "b" / name), name);
  }
}

TEST_CASE("an extracted archive and the tar give the same C") {
  const TemporaryDirectory temporary;
  for (const usmp::mlf::Member& member : usmp::mlf::read_archive(testdata + "/resnet8.tar").members) {
    const fs::path path = temporary.path / "model" / member.name;
    fs::create_directories(path.parent_path());
    write(path, member.bytes);
  }
  REQUIRE(run_plan(options_for(testdata + "/resnet8.tar", temporary.file("tar_out"))).code == exit_ok);
  const Outcome outcome = run_plan(options_for(temporary.file("model") + "/", temporary.file("directory_out")));
  REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
  for (const std::string& name : files_below(temporary.path / "tar_out" / "codegen")) {
    CHECK(read(temporary.path / "tar_out" / "codegen" / name) ==
          read(temporary.path / "directory_out" / "codegen" / name));
  }
}

TEST_CASE("firmware that calls the entry does not link with it, whose parameters are others") {
  const TemporaryDirectory temporary;
  const auto is_renamed = [&](const std::string& model, const std::string& name) {
    const std::string file = temporary.file(model);
    REQUIRE(run_plan(options_for(testdata + "/" + model + ".tar", file)).code == exit_ok);
    const std::string line = "#define tvmgen_default___tvm_main__ usmp_tvmgen_default___tvm_main__\n";
    return contains(read(file + "/codegen/host/src/" + name), line);
  };
  for (const std::string name : {"default_lib0.c", "default_lib1.c"}) {
    CHECK(is_renamed("ds_cnn", name));
    CHECK_FALSE(is_renamed("cast_subtract", name));  // there is nothing to plan
  }
}

TEST_CASE("other files of an existing target directory stay") {
  const TemporaryDirectory temporary;
  fs::create_directories(temporary.path / "firmware");
  write(temporary.path / "firmware" / "main.c", "int main(void) { return 0; }\n");
  REQUIRE(run_plan(options_for(testdata + "/cast_subtract.tar", temporary.file("firmware"))).code == exit_ok);
  std::set<std::string> expected = expected_files;
  expected.insert("main.c");
  CHECK(files_below(temporary.path / "firmware") == expected);
}

TEST_CASE("planning into a copy of the extracted archive leaves none of its own operators' files") {
  const TemporaryDirectory temporary;
  usmp::mlf::Archive archive = usmp::mlf::read_archive(testdata + "/cast_subtract.tar");
  archive.members.push_back(
      {"codegen/host/src/default_lib2.c", "// tvm target: c -keys=cpu\nint f(void) { return 0; }\n"});
  std::vector<usmp::mlf::TarEntry> entries;
  for (const usmp::mlf::Member& member : archive.members) {
    const fs::path path = temporary.path / "model" / member.name;
    fs::create_directories(path.parent_path());
    write(path, member.bytes);
    entries.push_back({member.name, member.bytes, {}, member.mode});
  }
  usmp::mlf::write_tar(temporary.file("model.tar"), entries);
  write(temporary.path / "model/mine.c", "");
  const Outcome outcome = run_plan(options_for(temporary.file("model.tar"), temporary.file("model")));
  REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
  const std::set<std::string> files = files_below(temporary.path / "model");
  CHECK_FALSE(files.contains("codegen/host/src/default_lib2.c"));
  CHECK(files.contains("mine.c"));
  CHECK(files.contains("src/default.tir.json"));
}

TEST_CASE("the figures of an archive that is planned already are not those of an unplanned build") {
  const TemporaryDirectory temporary;
  const std::string output = temporary.file("replanned.tar");
  REQUIRE(run_plan(options_for(testdata + "/ds_cnn.tar", output)).code == exit_ok);
  PlanOptions options = options_for(output, temporary.file("again"));
  options.model.json = true;
  const Outcome outcome = run_plan(options);
  REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
  CHECK(nlohmann::json::parse(outcome.out).at("modules").at(0).at("totals").at("unplanned_workspace").is_null());
}

TEST_CASE("constants of an external pool have a header, which goes with the pool") {
  const TemporaryDirectory temporary;
  PlanOptions options = options_for(testdata + "/cast_subtract.tar", temporary.file("out"));
  options.pools_file = testdata + "/pools/dtcm_sram.yaml";
  REQUIRE(run_plan(options).code == exit_ok);
  std::set<std::string> expected = expected_files;
  expected.insert("codegen/host/include/tvmgen_default.constants.h");
  CHECK(files_below(temporary.path / "out") == expected);
  const fs::path include = temporary.path / "out/codegen/host/include";
  CHECK_FALSE(contains(read(include / "tvmgen_default.h"), "POOL_DATA"));
  CHECK(contains(read(include / "tvmgen_default.constants.h"), "#define TVMGEN_DEFAULT_FLASH_CONSTANT_POOL_DATA \\\n"));
  options.pools_file.reset();
  REQUIRE(run_plan(options).code == exit_ok);
  CHECK(files_below(temporary.path / "out") == expected_files);
}

TEST_CASE("a linker script gives sizes and gets the pools' sections, which go with the option") {
  const TemporaryDirectory temporary;
  write(temporary.path / "board.ld", "MEMORY { DTCM : ORIGIN = 0, LENGTH = 4K  SRAM : ORIGIN = 1M, LENGTH = 1M / 2 }");
  write(temporary.path / "pools.yaml",
        "workspace_pools:\n  - name: dtcm\n  - {name: slow, size_hint_bytes: ld:SRAM}\n");
  PlanOptions options = options_for(testdata + "/ds_cnn.tar", temporary.file("out"));
  options.pools_file = temporary.file("pools.yaml");
  options.memory_file = temporary.file("board.ld");
  options.linker_script = true;
  REQUIRE(run_plan(options).code == exit_ok);
  const auto pools = nlohmann::json::parse(read(temporary.path / "out/default.plan.json"))["pools"];
  CHECK(pools[0]["capacity"] == 4096);
  CHECK(pools[1]["capacity"] == 524288);
  const std::string script = read(temporary.path / "out/codegen/host/default_memory.ld");
  CHECK(script.find("} > SRAM\nASSERT(SIZEOF(.usmp_slow) >= " + pools[1]["used"].dump() + ",") != std::string::npos);
  options.linker_script = false;
  REQUIRE(run_plan(options).code == exit_ok);
  CHECK(files_below(temporary.path / "out") == expected_files);

  options.pools_file.reset();
  CHECK(run_plan(options).err == "usmp-plan: error: " + temporary.file("board.ld") +
                                     ": --memory gives sizes to pools, expected --pools as well\n");
  options.pools_file = temporary.file("pools.yaml");
  write(temporary.path / "board.ld", "MEMORY { DTCM : ORIGIN = 0, LENGTH = 4KB }");
  const Outcome outcome = run_plan(options);
  CHECK(outcome.code == exit_usage);
  CHECK(outcome.err == "usmp-plan: error: " + temporary.file("board.ld") +
                           ": line 1, column 38: found '4KB', expected a number below 2^64 such as 65536, 0x10000, 64K "
                           "or 2M\n");
}

TEST_CASE("a link to a directory stays a link, and what it names is written") {
  const TemporaryDirectory temporary;
  fs::create_directories(temporary.path / "real");
  fs::create_directory_symlink(temporary.path / "real", temporary.path / "link");
  REQUIRE(run_plan(options_for(testdata + "/cast_subtract.tar", temporary.file("link"))).code == exit_ok);
  CHECK(fs::is_symlink(temporary.path / "link"));
  CHECK(files_below(temporary.path / "real") == expected_files);
}

TEST_CASE("a re-planned archive is complete, plannable again and states its new memory") {
  const TemporaryDirectory temporary;
  const std::string output = temporary.file("replanned.tar");
  PlanOptions options = options_for(testdata + "/ds_cnn.tar", output);
  options.model.json = true;
  const Outcome outcome = run_plan(options);
  REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
  const auto plan_value = nlohmann::json::parse(outcome.out).at("modules").at(0);
  const usmp::mlf::Archive original = usmp::mlf::read_archive(testdata + "/ds_cnn.tar");
  const usmp::mlf::Archive replanned = usmp::mlf::read_archive(output);
  for (const usmp::mlf::Member& member : original.members) CHECK_MESSAGE(replanned.find(member.name), member.name);
  const auto metadata = nlohmann::json::parse(replanned.find("metadata.json")->bytes);
  CHECK(metadata.at("modules").at("default").at("memory").at("functions").at("main").at(0).at("workspace_size_bytes") ==
        plan_value.at("totals").at("workspace_used"));
  const Outcome again = run_plan(options_for(output, temporary.file("replanned_again.tar")));
  REQUIRE_MESSAGE(again.code == exit_ok, again.err);
  const usmp::mlf::Archive second = usmp::mlf::read_archive(temporary.file("replanned_again.tar"));
  REQUIRE(second.members.size() == replanned.members.size());
  for (const usmp::mlf::Member& member : replanned.members) {
    // The plan names the archive that it was made from, and that archive's own memory.
    if (!member.name.ends_with(".plan.json"))
      CHECK_MESSAGE(second.find(member.name)->bytes == member.bytes, member.name);
  }
}

TEST_CASE("a dry run writes nothing") {
  const TemporaryDirectory temporary;
  PlanOptions options = options_for(testdata + "/ds_cnn.tar", temporary.file("out"));
  options.dry_run = true;
  CHECK(run_plan(options).code == exit_ok);
  CHECK(fs::is_empty(temporary.path));
}

TEST_CASE("quiet prints nothing, JSON is JSON") {
  const TemporaryDirectory temporary;
  PlanOptions options = options_for(testdata + "/ds_cnn.tar", temporary.file("out"));
  options.verbosity = Verbosity::quiet;
  Outcome outcome = run_plan(options);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.empty());
  options.model.json = true;
  outcome = run_plan(options);
  const auto value = nlohmann::json::parse(outcome.out);
  CHECK(value.at("modules").size() == 1);
  CHECK(nlohmann::json::parse(read(temporary.path / "out" / "default.plan.json")) == value.at("modules").at(0));
}

TEST_CASE("an output that the network never writes is named") {
  PlanOptions options;
  options.model.model = testdata + "/unwritten_output.tar";
  options.dry_run = true;
  const Outcome done = outcome_of(plan, options);
  CHECK(done.code == 0);
  CHECK(contains(done.out, "warning: output 'output2' is never written"));
  CHECK_FALSE(contains(done.out, "output 'output' "));
  options.model.model = testdata + "/narrow.tar";
  CHECK_FALSE(contains(outcome_of(plan, options).out, "never written"));
}

TEST_CASE("what recomputing costs stands in the report, in the plan and in the C") {
  const TemporaryDirectory temporary;
  PlanOptions options = options_for(testdata + "/resnet8.tar", temporary.file("out"));
  options.model.transform = "fuse,merge";
  options.model.recompute_percent = 50;
  const Outcome outcome = run_plan(options);
  REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
  CHECK(outcome.out.find("3 changes, 3.7% more work") != std::string::npos);
  const auto plan = nlohmann::json::parse(read(temporary.path / "out" / "default.plan.json"));
  const auto& steps = plan.at("transformed");
  const auto step = std::find_if(steps.begin(), steps.end(), [](const auto& s) { return s.at("step") == "recompute"; });
  REQUIRE(step != steps.end());
  CHECK(step->at("extra_work_permille") == 37);
  CHECK(step->at("load_after") < step->at("load_before"));
  CHECK(read(temporary.path / "out" / "codegen" / "host" / "src" / "default_lib1.c").find("% more work") !=
        std::string::npos);
  options.model.recompute_percent = 2;
  CHECK(run_plan(options).out.find("recompute") == std::string::npos);
}

TEST_CASE("a step that makes no plan smaller is left out, and said to be") {
  const TemporaryDirectory temporary;
  PlanOptions options = options_for(testdata + "/repeated_op.tar", temporary.file("out"));
  options.model.transform = names_of_steps(",", transform::Step::rolling);
  REQUIRE(run_plan(options).code == exit_ok);
  options.output = temporary.file("asked");
  options.model.recompute_percent = 50;
  const Outcome outcome = run_plan(options);
  REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
  CHECK(outcome.out.find("recompute     11072 ->    11072 bytes  left out, the plan is as small without it\n") !=
        std::string::npos);
  for (const std::string& name : expected_files) {
    if (name.ends_with(".json")) continue;
    CHECK_MESSAGE(read(temporary.path / "out" / name) == read(temporary.path / "asked" / name), name);
  }
  const auto plan = nlohmann::json::parse(read(temporary.path / "asked" / "default.plan.json"));
  const auto& steps = plan.at("transformed");
  const auto step = std::find_if(steps.begin(), steps.end(), [](const auto& s) { return s.at("step") == "recompute"; });
  REQUIRE(step != steps.end());
  CHECK(step->at("left_out") == true);
  CHECK(step->at("changes").empty());
}

TEST_CASE("the schema of plans names the steps that there are") {
  const auto schema = nlohmann::json::parse(read(fs::path(testdata) / "../docs/schema/plan.schema.json"));
  const auto& step = schema["properties"]["transformed"]["items"]["properties"]["step"];
  std::set<std::string> names = {std::string(transform::name_of(transform::Step::recompute))};
  for (const transform::Step one : transform::all_steps) names.emplace(transform::name_of(one));
  CHECK(step["enum"].get<std::set<std::string>>() == names);
}

TEST_CASE("usage errors: exit code 2, one message, nothing written") {
  const TemporaryDirectory temporary;
  PlanOptions options = options_for(testdata + "/ds_cnn.tar", temporary.file("out"));
  std::string expected;
  SUBCASE("algorithm") {
    options.algorithm = "hill_clim";
    expected =
        "usmp-plan: error: unknown algorithm 'hill_clim' (did you mean 'hill_climb'?); --list-algorithms lists them\n";
  }
  SUBCASE("module") {
    options.model.module = "defualt";
    expected = "usmp-plan: error: " + testdata +
               "/ds_cnn.tar: no module 'defualt' (did you mean 'default'?); the archive holds: default\n";
  }
  SUBCASE("pools file that does not exist") {
    options.pools_file = temporary.file("none.yaml");
    expected = "usmp-plan: error: " + temporary.file("none.yaml") + ": cannot be read: no such file or directory\n";
  }
  SUBCASE("algorithm in the pools file") {
    options.pools_file = temporary.file("pools.yaml");
    write(*options.pools_file, "workspace_pools:\n  - name: sram\nalgorithm: greedy\n");
    expected = "usmp-plan: error: " + *options.pools_file +
               ": line 3, column 12: unknown algorithm 'greedy' (did you mean one of greedy_by_size, "
               "greedy_by_conflicts, greedy_by_breadth?); --list-algorithms lists them\n";
  }
  SUBCASE("transformation") {
    options.model.transform = "fuse,narow";
    expected =
        "usmp-plan: error: --transform: unknown transformation 'narow' (did you mean 'narrow'?); expected none, all "
        "or " +
        names_of_steps(", ") + "\n";
  }
  SUBCASE("a word that stands alone among transformations") {
    options.model.transform = "fuse,all";
    expected =
        "usmp-plan: error: --transform: 'all' stands alone, without other names: expected none, all or some of " +
        names_of_steps(", ") + "\n";
  }
  SUBCASE("none and a transformation") {
    options.model.transform = "none,fuse";
    expected =
        "usmp-plan: error: --transform: 'none' stands alone, without other names: expected none, all or some of " +
        names_of_steps(", ") + "\n";
  }
  SUBCASE("an empty word among transformations") {
    options.model.transform = "fuse,,narrow";
    expected = "usmp-plan: error: --transform: a name in 'fuse,,narrow' is empty: expected none, all or some of " +
               names_of_steps(", ") + ", separated by commas\n";
  }
  SUBCASE("a model that is not there") {
    options.model.model = temporary.file("none.tar");
    expected = "usmp-plan: error: " + temporary.file("none.tar") + ": no such file or directory\n";
  }
  SUBCASE("a bare module that is not there") {
    options.model.model = temporary.file("none.json");
    expected = "usmp-plan: error: " + temporary.file("none.json") + ": cannot be read: no such file or directory\n";
  }
  SUBCASE("an output without a name") {
    options.output = "";
    expected = "usmp-plan: error: -o: the name is empty\n";
  }
  SUBCASE("an output in a directory that is not there") {
    options.output = temporary.file("build/out");
    expected = "usmp-plan: error: " + temporary.file("build/out") + ": there is no directory " +
               temporary.file("build") + " to write it in\n";
  }
  SUBCASE("archive of another kind") {
    options.output = temporary.file("out.zip");
    expected =
        "usmp-plan: error: " + *options.output + ": archives are written as .tar, .tar.gz, .tgz, .tar.xz or .tar.zst\n";
  }
  const Outcome outcome = run_plan(options);
  CHECK(outcome.code == exit_usage);
  CHECK(outcome.err == expected);
  CHECK(outcome.out.empty());
  CHECK_FALSE(fs::exists(temporary.path / "out"));
}

namespace {

// ds_cnn without its TIR, and without or with other C of its operators.
std::string archive_without_tir(const TemporaryDirectory& temporary, bool has_c, const std::string& operators = {}) {
  const usmp::mlf::Archive original = usmp::mlf::read_archive(testdata + "/ds_cnn.tar");
  std::vector<usmp::mlf::TarEntry> entries;
  for (const usmp::mlf::Member& member : original.members) {
    if (member.name == "src/default.tir.json" || (!has_c && member.name.starts_with("codegen/"))) continue;
    const bool is_changed = !operators.empty() && member.name.ends_with("_lib1.c");
    entries.push_back({member.name, is_changed ? operators : member.bytes, {}, member.mode});
  }
  usmp::mlf::write_tar(temporary.file("bare.tar"), entries);
  return temporary.file("bare.tar");
}

}  // namespace

TEST_CASE("an archive without TIR is read from its C") {
  const TemporaryDirectory temporary;
  const std::string bare = archive_without_tir(temporary, true);
  const Outcome outcome = run_plan(options_for(bare, temporary.file("out")));
  CHECK(outcome.code == exit_ok);
  CHECK(outcome.out.find("3904 bytes") != std::string::npos);
}

TEST_CASE("--from chooses between C and TIR; inspect says which was read, and the version by the style of the C") {
  const TemporaryDirectory temporary;
  const auto inspected = [&](const std::string& model, const std::optional<std::string>& from) {
    InspectOptions options;
    options.model.model = model;
    options.model.from = from;
    std::ostringstream out;
    std::ostringstream err;
    const int code = inspect(options, out, err);
    return Outcome{code, out.str(), err.str()};
  };
  const std::string both = USMP_TESTDATA "/ds_cnn.tar";
  CHECK(inspected(both, std::nullopt).out.starts_with("module default, TVM 0.12.0, unpacked interface\n"));
  CHECK(inspected(both, "tir").out.starts_with("module default, TVM 0.12.0, unpacked interface\n"));
  CHECK(inspected(both, "c").out.starts_with(
      "module default, TVM 0.11 to 0.15 by its style, unpacked interface, read from its\n    C\n"));
  const std::string bare = archive_without_tir(temporary, true);
  CHECK(inspected(bare, "c").code == exit_ok);
  const Outcome without = inspected(bare, "tir");
  CHECK(without.code == exit_usage);
  CHECK(without.err.find("--from tir: there is no TIR of module 'default'; apps/export_tir.py") != std::string::npos);
  CHECK(inspected(both, "relay").err.find("--from: found 'relay', expected c or tir") != std::string::npos);
}

TEST_CASE("an archive with neither TIR nor C that is understood: exit code 3 and how to export TIR") {
  const TemporaryDirectory temporary;
  const Outcome without = run_plan(options_for(archive_without_tir(temporary, false), temporary.file("out")));
  CHECK(without.code == exit_archive);
  CHECK(without.err.find("src/default.tir.json: the archive has neither TIR nor C of module 'default'") !=
        std::string::npos);
  CHECK(without.err.find("export_tir.py") != std::string::npos);

  const std::string edited = "// tvm target: c\nint32_t tvmgen_default___tvm_main__(void* a) {\n  goto end;\n}\n";
  const Outcome other = run_plan(options_for(archive_without_tir(temporary, true, edited), temporary.file("out")));
  CHECK(other.code == exit_archive);
  CHECK(other.err.find("codegen/host/src/default_lib1.c: line 3, column 3: ") != std::string::npos);
  CHECK(other.err.find("so its C is read; apps/export_tir.py") != std::string::npos);
  CHECK_FALSE(fs::exists(temporary.path / "out"));

  // Who has a source tree has no archive to export.
  fs::create_directories(temporary.path / "tree");
  write(temporary.path / "tree/model.c", edited);
  const Outcome tree = run_plan(options_for(temporary.file("tree"), temporary.file("out")));
  CHECK(tree.code == exit_archive);
  CHECK(tree.err.find("model.c: line 3, column 3: ") != std::string::npos);
  CHECK(tree.err.find("TIR") == std::string::npos);
}

TEST_CASE("no plan fits: exit code 4, and how large which pool has to be") {
  const TemporaryDirectory temporary;
  PlanOptions options = options_for(testdata + "/ds_cnn.tar", temporary.file("out"));
  options.pools_file = temporary.file("pools.yaml");
  write(*options.pools_file,
        "workspace_pools:\n  - name: dtcm\n    size_hint_bytes: 2KiB\n  - name: sram\n    size_hint_bytes: 1KiB\n");
  const Outcome outcome = run_plan(options);
  CHECK(outcome.code == exit_infeasible);
  CHECK(outcome.err ==
        "usmp-plan: error: module 'default': no plan fits the pools\n"
        "  one of these is enough, with the other pools unchanged:\n"
        "    dtcm: 3136 bytes needed, 2048 available, 1088 missing\n"
        "    sram: 2112 bytes needed, 1024 available, 1088 missing\n");
  CHECK_FALSE(fs::exists(temporary.path / "out"));
}

TEST_CASE("no plan fits what was transformed before Ctrl-C: none was found, nothing is proved") {
  const TemporaryDirectory temporary;
  PlanOptions options = options_for(testdata + "/ds_cnn.tar", temporary.file("out"));
  options.pools_file = temporary.file("pools.yaml");
  write(*options.pools_file, "workspace_pools:\n  - name: sram\n    size_hint_bytes: 1KiB\n");
  Planning planning = assemble_all(options, true, nullptr);
  std::raise(SIGINT);
  plan_all(planning, options, nullptr);
  CHECK(planning.modules.front()->result.status == PlanStatus::not_found);
  CHECK(planning.modules.front()->result.stopped == StopReason::interrupted);
}

TEST_CASE("a directory is no archive to be replaced: exit code 2, and it stays") {
  const TemporaryDirectory temporary;
  const std::string output = temporary.file("out.tar");
  fs::create_directory(output);
  write(output + "/mine", "");
  const Outcome outcome = run_plan(options_for(testdata + "/cast_subtract.tar", output));
  CHECK(outcome.code == exit_usage);
  CHECK(outcome.err ==
        "usmp-plan: error: " + output + ": is not a regular file, expected one or a new name for the archive\n");
  CHECK(files_below(temporary.path) == std::set<std::string>{"out.tar/mine"});
}

TEST_CASE("output that cannot be written: exit code 5, nothing left") {
  const TemporaryDirectory temporary;
  PlanOptions options = options_for(testdata + "/cast_subtract.tar", temporary.file("file"));
  write(temporary.path / "file", "mine");
  SUBCASE("parent is a file") { options.output = temporary.file("file/out"); }
  SUBCASE("archive in a place that is a file") { options.output = temporary.file("file/out.tar"); }
  const Outcome outcome = run_plan(options);
  CHECK(outcome.code == exit_output);
  CHECK(outcome.err.starts_with("usmp-plan: error: " + temporary.file("file")));
  CHECK(read(temporary.path / "file") == "mine");
  CHECK(files_below(temporary.path) == std::set<std::string>{"file"});
}

TEST_CASE("the default output is in the current directory") {
  CHECK(default_output("models/kws.tar.gz") == "kws_planned");
  CHECK(default_output("kws.tar") == "kws_planned");
  CHECK(default_output("models/kws/") == "kws_planned");
  CHECK(default_output("/models/kws.tgz") == "kws_planned");
  CHECK(default_output(".tar") == ".tar_planned");
  for (const char* nameless : {"/dev/stdin", "/dev/fd/63", "/proc/self/fd/0", "nothing/../..", "/"}) {
    CHECK_MESSAGE(default_output(nameless) == "model_planned", nameless);
  }
  CHECK(default_output(".") == fs::current_path().filename().string() + "_planned");
}

TEST_CASE("inspect and init describe a model") {
  std::ostringstream out;
  std::ostringstream err;
  InspectOptions options;
  options.model.model = testdata + "/repeated_op.tar";
  REQUIRE(inspect(options, out, err) == exit_ok);
  for (const char* part : {"tvmgen_default_fused_nn_softmax", "sid_1", "data_pad"}) {
    CHECK_MESSAGE(out.str().find(part) != std::string::npos, part);
  }
  out.str("");
  REQUIRE(init({.model = options.model, .tvmc = {}, .tvmc_file = {}}, out, err) == exit_ok);
  const TemporaryDirectory temporary;
  write(temporary.path / "pools.yaml", out.str());
  PlanOptions planning = options_for(options.model.model, temporary.file("out"));
  planning.pools_file = temporary.file("pools.yaml");
  const Outcome outcome = run_plan(planning);
  CHECK_MESSAGE(outcome.code == exit_ok, outcome.err);
}

TEST_CASE("init takes the pools of tvmc's options, and the model is planned into them") {
  const TemporaryDirectory temporary;
  InitOptions options;
  options.model.model = testdata + "/repeated_op.tar";
  options.tvmc = {"--usmp-workspace-pools=dtcm,sram", "--usmp-workspace-pool-dtcm=target=c;size=4096",
                  "--usmp-parameter-pools=flash", "--pass-config=tir.usmp.use_workspace_io=1",
                  "--pass-config=tir.usmp.algorithm=greedy_by_size"};
  for (const bool json : {false, true}) {
    options.model.json = json;
    const Outcome file = outcome_of(init, options);
    REQUIRE(file.code == exit_ok);
    CHECK(file.err.empty());
    write(temporary.path / "pools.yaml", file.out);
    PlanOptions planning = options_for(options.model.model, temporary.file(json ? "json" : "yaml"));
    planning.pools_file = temporary.file("pools.yaml");
    REQUIRE(run_plan(planning).code == exit_ok);
    const nlohmann::json plan = nlohmann::json::parse(read(fs::path(*planning.output) / "default.plan.json"));
    CHECK(plan["algorithm"] == "greedy_by_size");
    REQUIRE(plan["pools"].size() == 3);
    CHECK(plan["pools"][0]["name"] == "dtcm");
    CHECK(plan["pools"][0]["capacity"] == 4096);
    CHECK(plan["pools"][2]["name"] == "flash");
    CHECK(plan["pools"][2]["used"] > 0);
    CHECK(std::any_of(plan["buffers"].begin(), plan["buffers"].end(),
                      [](const nlohmann::json& buffer) { return buffer["kind"] == "input"; }));
  }
}

TEST_CASE("init tells what of tvmc's options cannot be") {
  InitOptions options;
  options.model.model = testdata + "/repeated_op.tar";
  options.tvmc = {"--workspace-pools=a,b", "--workspace-pools-targets=a:llvm,accel,b:accel,c", "--pass-config=tir.x=1"};
  const Outcome foreign = outcome_of(init, options);
  CHECK(foreign.code == exit_ok);
  CHECK(foreign.err ==
        "usmp-plan: warning: --pass-config tir.x=1 is ignored: it shapes code that the archive already has\n"
        "usmp-plan: warning: pool 'a' is for the target accel, llvm, but the model's code is for c\n");
  options.tvmc = {"--pass-config=tir.usmp.algorithm=greedy"};
  const Outcome unknown = outcome_of(init, options);
  CHECK(unknown.code == exit_usage);
  CHECK(unknown.out.empty());
  CHECK(contains(unknown.err, "--pass-config tir.usmp.algorithm=greedy: unknown algorithm 'greedy'"));
  const TemporaryDirectory temporary;
  options.tvmc.clear();
  options.tvmc_file = temporary.file("line");
  write(temporary.path / "line", "tvmc compile --target=c model.tflite");
  CHECK(outcome_of(init, options).err ==
        "usmp-plan: warning: " + *options.tvmc_file + " has no pool options of tvmc\n");
  write(temporary.path / "line", "tvmc --pass-config=tir.usmp.algorithm=greedy");
  CHECK(contains(outcome_of(init, options).err, *options.tvmc_file + ": --pass-config tir.usmp.algorithm=greedy:"));
  options.tvmc_file = temporary.file("missing");
  CHECK(outcome_of(init, options).code == exit_usage);
}

namespace {

// {name, function} → offset of the plan that a run wrote.
std::map<std::string, nlohmann::json> buffers_of(const fs::path& plan) {
  std::map<std::string, nlohmann::json> buffers;
  const nlohmann::json value = nlohmann::json::parse(read(plan));
  std::map<std::string, int> seen;
  for (const nlohmann::json& buffer : value["buffers"]) {
    const std::string name = buffer["name"].get<std::string>() + "/" + buffer["function"].get<std::string>();
    buffers[name + "/" + std::to_string(seen[name]++)] = buffer;
  }
  return buffers;
}

}  // namespace

TEST_CASE("reserved bytes and pins of the pools file are in the plan and in the C") {
  const TemporaryDirectory temporary;
  PlanOptions options = options_for(testdata + "/ds_cnn.tar", temporary.file("out"));
  options.model.transform = "none";  // the pinned tensor is one that transformations do without
  options.pools_file = testdata + "/pools/pinned.yaml";
  const Outcome outcome = run_plan(options);
  REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
  const auto buffers = buffers_of(temporary.path / "out/default.plan.json");
  const auto& sid = buffers.at("sid_1/tvmgen_default___tvm_main__/0");
  CHECK(sid["offset"] == 4096);
  CHECK(sid["pinned"] == true);
  const std::string add =
      "T_add/tvmgen_default_fused_nn_conv2d_add_fixed_point_multiply_per_axis_add_clip_cast_cast_subtract_1/";
  CHECK(buffers.at(add + "0")["pinned"] == false);
  CHECK(buffers.at(add + "1")["offset"] == 40000);
  for (const auto& [name, buffer] : buffers) {
    CHECK_MESSAGE(buffer["offset"].get<long>() >= (buffer["pool"] == "sram" ? 1024 : 64), name);
  }
  const nlohmann::json plan = nlohmann::json::parse(read(temporary.path / "out/default.plan.json"));
  const std::string header = read(temporary.path / "out/codegen/host/include/tvmgen_default.h");
  const std::string macro = "TVMGEN_DEFAULT_SRAM_WORKSPACE_POOL_SIZE ";
  CHECK(header.find(macro + std::to_string(plan["pools"][0]["used"].get<long>())) != std::string::npos);
}

TEST_CASE("pins that cannot stand: exit code 2, the pools file and the place") {
  const TemporaryDirectory temporary;
  PlanOptions options = options_for(testdata + "/cast_subtract.tar", temporary.file("out"));
  options.model.transform = "none";  // the two constants are equal and would have one place
  options.pools_file = temporary.file("pools.yaml");
  const auto message = [&](const std::string& pins) {
    write(*options.pools_file, "workspace_pools: [{name: sram}]\nparameter_pools: [{name: flash}]\npinned:\n" + pins);
    const Outcome outcome = run_plan(options);
    CHECK(outcome.code == exit_usage);
    const std::string start = "usmp-plan: error: " + *options.pools_file + ": ";
    CHECK(outcome.err.starts_with(start));
    return outcome.err.substr(std::min(start.size(), outcome.err.size()));
  };
  CHECK(message("  - {buffer: fused_cast_constant, pool: flash, offset: 8}\n") ==
        "line 4, column 5: buffer 'fused_cast_constant' is pinned to offset 8 of pool 'flash', which is not a multiple "
        "of its alignment 16\n");
  CHECK(message("  - {buffer: fused_cast_constant, pool: flash, offset: 0}\n"
                "  - {buffer: fused_cast_constant_1, pool: flash, offset: 0}\n") ==
        "line 5, column 5: buffer 'fused_cast_constant_1' is pinned to offset 0 of pool 'flash' and overlaps buffer "
        "'fused_cast_constant', pinned to offset 0 and live at the same time\n");
  CHECK(
      message("  - {buffer: fused_cast_constnat, pool: flash, offset: 0}\n") ==
      "line 4, column 5: unknown buffer 'fused_cast_constnat' (did you mean 'fused_cast_constant'?); usmp-plan inspect "
      "--transform all lists the buffers that the transformations leave\n");
  CHECK(message("  - {buffer: fused_cast_constant, pool: sram, offset: 0}\n").find("expected one of flash") !=
        std::string::npos);
  CHECK_FALSE(fs::exists(temporary.path / "out"));
}

TEST_CASE("an earlier plan keeps its buffers where they are, through a change of the pools") {
  const TemporaryDirectory temporary;
  PlanOptions options = options_for(testdata + "/ds_cnn.tar", temporary.file("first"));
  options.pools_file = testdata + "/pools/sram.yaml";
  options.algorithm = "greedy_by_conflicts";
  REQUIRE(run_plan(options).code == exit_ok);
  const auto first = buffers_of(temporary.path / "first/default.plan.json");
  options.pools_file = testdata + "/pools/flash.yaml";
  options.algorithm = "none";
  options.pins = {temporary.file("first/default.plan.json")};
  options.output = temporary.file("second");
  Outcome outcome = run_plan(options);
  REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
  const auto second = buffers_of(temporary.path / "second/default.plan.json");
  CHECK(second.size() > first.size());  // the constants have a pool now
  for (const auto& [name, buffer] : first) {
    CHECK_MESSAGE(second.at(name)["offset"] == buffer["offset"], name);
    CHECK(second.at(name)["pinned"] == true);
  }
  CHECK(outcome.out.find("the earlier plan is of") == std::string::npos);
  options.model.model = temporary.file("other.tar");
  fs::copy_file(testdata + "/ds_cnn.tar", options.model.model);
  options.output = temporary.file("other");
  CHECK(run_plan(options).out.find("warning: the earlier plan is of ds_cnn.tar, not of other.tar\n") !=
        std::string::npos);
  options.model.model = testdata + "/ds_cnn.tar";
  // Buffers that reach into what is reserved now are planned anew, which is said.
  options.pools_file = temporary.file("pools.yaml");
  write(*options.pools_file, "workspace_pools: [{name: sram, pool_offset: 64}]\n");
  options.output = temporary.file("third");
  outcome = run_plan(options);
  REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
  CHECK(outcome.out.find("warning: not pinned as in the earlier plan, the place is taken or no longer in the pool: ") !=
        std::string::npos);
  for (const auto& [name, buffer] : buffers_of(temporary.path / "third/default.plan.json")) {
    const long before = first.at(name)["offset"].get<long>();
    CHECK(buffer["pinned"] == (before >= 64));
    if (before >= 64) CHECK(buffer["offset"] == before);
  }
}

TEST_CASE("what is no earlier plan of the model: exit code 2 and the file") {
  const TemporaryDirectory temporary;
  PlanOptions options = options_for(testdata + "/lstm.tar", temporary.file("out"));
  const std::string file = temporary.file("earlier.plan.json");
  options.pins = {file};
  const auto message = [&](const std::string& text) {
    write(file, text);
    const Outcome outcome = run_plan(options);
    CHECK(outcome.code == exit_usage);
    return outcome.err;
  };
  CHECK(message("[") == "usmp-plan: error: " + file + ": byte 2: is not JSON: expected a plan of usmp-plan\n");
  const std::string plan = R"({"schema": "usmp-plan/plan", "schema_version": 2, "module": "defautl", "buffers": []})";
  CHECK(message(plan) == "usmp-plan: error: " + file +
                             ": is a plan of module 'defautl', which is not among those planned (did you mean "
                             "'default'?): expected default, or --name defautl=MODEL\n");
  options.pins = {file, file};
  CHECK(message(plan) == "usmp-plan: error: " + file + ": a second plan of module 'defautl'\n");
  options.pins = {temporary.file("nowhere")};
  CHECK(message(plan) ==
        "usmp-plan: error: " + temporary.file("nowhere") + ": cannot be read: no such file or directory\n");
}

TEST_CASE("one pool made small before everything else") {
  const TemporaryDirectory temporary;
  PlanOptions options = options_for(testdata + "/resnet8.tar", temporary.file("out"));
  options.model.transform = "none";
  options.pools_file = temporary.file("pools.yaml");
  write(*options.pools_file, "workspace_pools: [{name: sram}, {name: dtcm, size_hint_bytes: 64KiB}]\n");
  const auto used = [&](const std::optional<std::string>& minimize) {
    options.minimize = minimize;
    const Outcome outcome = run_plan(options);
    REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
    const nlohmann::json plan = nlohmann::json::parse(read(temporary.path / "out/default.plan.json"));
    CHECK(plan["search"]["minimized"] == (minimize ? nlohmann::json(*minimize) : nlohmann::json(nullptr)));
    return std::pair(plan["pools"][0]["used"].get<long>(), plan["pools"][1]["used"].get<long>());
  };
  const auto usual = used(std::nullopt);
  CHECK(usual == std::pair(86148L, 0L));
  CHECK(used("dtcm") == usual);
  const auto [sram, dtcm] = used("sram");
  CHECK(sram < usual.first / 2);
  CHECK(sram >= usual.first - 65536);
  CHECK(dtcm <= 65536);
  options.minimize = "flash";
  const Outcome outcome = run_plan(options);
  CHECK(outcome.code == exit_usage);
  CHECK(outcome.err == "usmp-plan: error: --minimize: unknown pool 'flash'; the pools are: sram, dtcm\n");
}

}  // namespace usmp::driver::driver_test

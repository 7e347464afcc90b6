// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Outputs that would destroy something, and inputs of another command: refused before anything is computed or written.
#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "driver/output_path.hpp"
#include "files.hpp"
#include "usmp/driver/driver.hpp"
#include "usmp/mlf/archive.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/input_file.hpp"

namespace usmp::driver::output_path_test {
namespace {

const std::string instance = testdata + "/instances/five.csv";

PlanOptions planning(const std::string& model, const std::string& output) {
  PlanOptions options;
  options.model.model = model;
  options.output = output;
  options.algorithm = "fast";
  options.model.transform = "none";
  return options;
}

void copy_model(const std::string& name, const std::string& to) { fs::copy_file(testdata + "/" + name, to); }

void extract(const std::string& name, const fs::path& to) {
  for (const mlf::Member& member : mlf::read_archive(testdata + "/" + name).members) {
    fs::create_directories((to / member.name).parent_path());
    write(to / member.name, member.bytes);
  }
}

}  // namespace

TEST_CASE("the input is not overwritten, by whatever name") {
  const TemporaryDirectory temporary;
  const std::string model = temporary.file("model.tar");
  copy_model("cast_subtract.tar", model);
  fs::create_symlink(model, temporary.path / "link.tar");
  fs::create_hard_link(model, temporary.path / "hard.tar");
  const std::string before = read(model);
  for (const char* name : {"model.tar", "link.tar", "hard.tar", "./model.tar"}) {
    const std::string output = temporary.file(name);
    const Outcome outcome = outcome_of(plan, planning(model, output));
    CHECK(outcome.code == exit_usage);
    CHECK(outcome.err ==
          "usmp-plan: error: " + output + ": would overwrite the input " + model + ", expected another place\n");
    CHECK(read(model) == before);
  }
  CHECK(outcome_of(plan, planning(model, temporary.file("other.tar"))).code == exit_ok);
}

TEST_CASE("nothing is written into the extracted archive that is read") {
  const TemporaryDirectory temporary;
  extract("cast_subtract.tar", temporary.path / "model");
  fs::create_directory_symlink(temporary.path / "model", temporary.path / "link");
  const std::string model = temporary.file("model");
  const auto before = files_below(model);
  for (const char* name : {"model", "model/", "link", "model/out", "link/codegen", "model/out.tar"}) {
    CHECK_MESSAGE(outcome_of(plan, planning(model, temporary.file(name))).code == exit_usage, name);
    CHECK(files_below(model) == before);
  }
  CHECK(outcome_of(plan, planning(model, temporary.file("model_planned"))).code == exit_ok);
  CHECK(outcome_of(plan, planning(model, temporary.path.string())).code == exit_ok);
}

TEST_CASE("no file that was read is replaced, whatever path or link leads to it") {
  const TemporaryDirectory temporary;
  extract("cast_subtract.tar", temporary.path / "ex");
  fs::remove_all(temporary.path / "ex/src");  // with TIR it is an archive
  fs::remove(temporary.path / "ex/metadata.json");
  const std::string ex = temporary.file("ex");
  const std::string entry = ex + "/codegen/host/src/default_lib1.c";
  fs::create_directory_symlink(ex, temporary.path / "link");
  fs::create_directories(temporary.path / "linked/codegen/host");
  fs::create_directory_symlink(ex + "/codegen/host/src", temporary.path / "linked/codegen/host/src");
  fs::create_directories(temporary.path / "hard/codegen/host/src");
  fs::create_hard_link(entry, temporary.path / "hard/codegen/host/src/default_lib1.c");
  fs::create_directories(temporary.path / "from/codegen");
  fs::create_directory_symlink(ex + "/codegen/host", temporary.path / "from/codegen/host");
  write(entry, "// an edit\n" + read(entry));
  const auto state = [&] {
    std::string all;
    for (const std::string& name : files_below(temporary.path)) all += name + "\n" + read(temporary.path / name);
    return all;
  };
  const std::string before = state();
  const auto refused = [&](const std::string& model, const std::string& output) {
    const Outcome outcome = outcome_of(plan, planning(model, output));
    CHECK_MESSAGE(outcome.code == exit_usage, model << " -o " << output << ": " << outcome.out << outcome.err);
    CHECK_MESSAGE(state() == before, model << " -o " << output);
    return outcome.err;
  };
  for (const std::string& model : {ex + "/codegen", ex + "/codegen/host/src", entry, temporary.file("link/codegen")}) {
    for (const char* output : {"ex", "link", "ex/../ex/", "linked", "hard"}) refused(model, temporary.file(output));
  }
  refused(temporary.file("from/codegen/host/src"), ex);
  refused(temporary.file("from/codegen/host/src/default_lib1.c"), temporary.file("from"));
  CHECK(refused(entry, ex) ==
        "usmp-plan: error: " + entry + ": was read as input and would be overwritten, expected another place\n");
  // Nothing that is read would be replaced, but what lies beside it.
  fs::create_directories(temporary.path / "beside/codegen/host/src");
  fs::copy_file(entry, temporary.path / "beside/codegen/host/src/model.c");
  write(temporary.path / "beside/codegen/host/src/default_lib1.c", "int mine;\n");
  const Outcome beside =
      outcome_of(plan, planning(temporary.file("beside/codegen/host/src/model.c"), temporary.file("beside")));
  CHECK(beside.err == "usmp-plan: error: " + temporary.file("beside") + ": would be written into " +
                          temporary.file("beside/codegen") + ", which files were read from, expected another place\n");
  CHECK(read(temporary.path / "beside/codegen/host/src/default_lib1.c") == "int mine;\n");
  fs::remove_all(temporary.path / "beside");
  // Single files, through links and in the place of what no model is read from by its name.
  ReportOptions reported;
  reported.model.model = ex + "/codegen";
  fs::create_symlink(entry, temporary.path / "report.txt");
  for (const std::string& output : {temporary.file("report.txt"), entry}) {
    reported.output = output;
    CHECK(outcome_of(report, reported).code == exit_usage);
    CHECK(state() == before);
  }
  CHECK(outcome_of(plan, planning(ex + "/codegen", temporary.file("other"))).code == exit_ok);
  CHECK(outcome_of(plan, planning(ex + "/codegen", temporary.file("other"))).code == exit_ok);
}

TEST_CASE("a plan whose places are kept is not replaced by the plan that keeps them") {
  const TemporaryDirectory temporary;
  copy_model("cast_subtract.tar", temporary.file("model.tar"));
  const std::string out = temporary.file("out");
  REQUIRE(outcome_of(plan, planning(temporary.file("model.tar"), out)).code == exit_ok);
  PlanOptions pinned = planning(temporary.file("model.tar"), out);
  pinned.pins = {out + "/default.plan.json"};
  CHECK(outcome_of(plan, pinned).err == "usmp-plan: error: " + out + "/default.plan.json: was read as input and " +
                                            "would be overwritten, expected another place\n");
  pinned.output = temporary.file("next");
  CHECK(outcome_of(plan, pinned).code == exit_ok);
}

TEST_CASE("no large file that was read is replaced") {
  const TemporaryDirectory temporary;
  extract("cast_subtract.tar", temporary.path / "ex");
  const std::string entry = temporary.file("ex/codegen/host/src/default_lib1.c");
  write(entry, read(entry) + "/*" + std::string(std::size_t{5} << 20, ' ') + "*/\n");
  fs::create_symlink(entry, temporary.path / "plan.json");
  PlanOptions options = planning(temporary.file("ex/codegen"), temporary.file("out"));
  options.plan_json = temporary.file("plan.json");
  const std::string before = read(entry);
  CHECK(contains(outcome_of(plan, options).err, "plan.json: was read as input and would be overwritten"));
  CHECK(read(entry) == before);
}

TEST_CASE("only regular files are read, and none is waited for") {
  const TemporaryDirectory temporary;
  extract("cast_subtract.tar", temporary.path / "ex");
  const std::string src = temporary.file("ex/codegen/host/src");
  REQUIRE(::mkfifo((src + "/pipe.c").c_str(), 0600) == 0);
  Outcome outcome = outcome_of(plan, planning(temporary.file("ex"), temporary.file("out")));
  CHECK(outcome.code == exit_archive);
  CHECK(contains(outcome.err, "codegen/host/src/pipe.c: a device, pipe or socket, expected a regular file"));
  fs::remove_all(temporary.path / "ex/src");
  fs::create_symlink("/dev/zero", src + "/zeros.c");
  CHECK_MESSAGE(outcome_of(plan, planning(temporary.file("ex/codegen"), temporary.file("out"))).code == exit_ok,
                "a source tree's links and pipes are no files of the model");
  const std::string tar = testdata + "/cast_subtract.tar";
  const auto refused = [&](const PlanOptions& options) { return outcome_of(plan, options).err; };
  for (const auto& [path, kind] : {std::pair(src + "/pipe.c", "pipe"), std::pair(src + "/zeros.c", "device")}) {
    const std::string expected = path + ": cannot be read: is a " + kind + ", expected a regular file\n";
    PlanOptions options = planning(path, temporary.file("new"));
    CHECK(contains(refused(options), expected));
    options = planning(tar, temporary.file("new"));
    options.pools_file = path;
    CHECK(contains(refused(options), expected));
    options = planning(tar, temporary.file("new"));
    options.pins = {path};
    CHECK(contains(refused(options), expected));
  }
}

TEST_CASE("a second model does not replace the first one's plan") {
  const TemporaryDirectory temporary;
  const std::string out = temporary.file("out");
  const std::string first = temporary.file("first.tar");
  const std::string second = temporary.file("second.tar");
  copy_model("cast_subtract.tar", first);
  copy_model("repeated_op.tar", second);
  REQUIRE(outcome_of(plan, planning(first, out)).code == exit_ok);
  write(temporary.path / "out/mine.plan.json", read(temporary.path / "out/default.plan.json"));
  const std::string before = read(temporary.path / "out/default.plan.json");
  const Outcome outcome = outcome_of(plan, planning(second, out));
  CHECK(outcome.code == exit_usage);
  CHECK(outcome.err == "usmp-plan: error: " + out +
                           ": holds the plan of first.tar (default.plan.json), expected another directory for " +
                           second + ", such as " + out + "_2\n");
  PlanOptions both = planning(first, out);
  both.more_models = {second};
  CHECK(contains(outcome_of(plan, both).err, out + ": holds the plan of module 'default'"));
  CHECK(contains(outcome_of(plan, both).err, "expected all modules, or another directory, such as " + out + "_2\n"));
  fs::create_directory(out + "_2");
  CHECK(contains(outcome_of(plan, both).err, "such as " + out + "_3\n"));
  both.output = out + "_3";
  CHECK(outcome_of(plan, both).code == exit_ok);
  CHECK(read(temporary.path / "out/default.plan.json") == before);
  CHECK(outcome_of(plan, planning(first, out)).code == exit_ok);
  extract("cast_subtract.tar", temporary.path / "first");
  CHECK_MESSAGE(outcome_of(plan, planning(temporary.file("first"), out)).code == exit_ok,
                "the same archive, extracted");
  fs::remove(temporary.path / "out/default.plan.json");
  CHECK_MESSAGE(outcome_of(plan, planning(second, out)).code == exit_ok, "mine.plan.json is not a name of plan's own");
}

TEST_CASE("of plans that compare keeps, neither are those of another model replaced") {
  const TemporaryDirectory temporary;
  CompareOptions options;
  options.model.model = testdata + "/cast_subtract.tar";
  options.model.transform = "none";
  options.algorithms = "fast,none";
  options.save = temporary.file("plans");
  REQUIRE(outcome_of(compare, options).code == exit_ok);
  CHECK(outcome_of(compare, options).code == exit_ok);
  options.model.model = testdata + "/repeated_op.tar";
  const Outcome outcome = outcome_of(compare, options);
  CHECK(outcome.code == exit_usage);
  CHECK(contains(outcome.err,
                 "holds the plan of cast_subtract.tar (default.fast.plan.json), expected another directory for "
                 "repeated_op.tar, such as "));
  options.save = "";
  CHECK(outcome_of(compare, options).err == "usmp-plan: error: --save: the name is empty\n");
}

TEST_CASE("plans that compare keeps may lie in the source tree that is read, C not") {
  const TemporaryDirectory temporary;
  fs::create_directories(temporary.path / "tree/model");
  write(temporary.path / "tree/main.c", "int main(void) { return 0; }\n");
  const std::string tree = temporary.file("tree");
  CHECK_NOTHROW(check_output_path("--save", tree + "/plans", {tree}, OutputKind::plans));
  CHECK_THROWS_AS(check_output_path("--keep", tree + "/kept", {tree}, OutputKind::directory), Error);
}

TEST_CASE("a link to standard output is standard output") {
  const TemporaryDirectory temporary;
  fs::create_symlink("/dev/stdout", temporary.path / "first");
  fs::create_symlink("first", temporary.path / "second");
  fs::create_symlink("main.c", temporary.path / "other");
  fs::create_symlink("endless", temporary.path / "endless");
  CHECK(names_open_file("/dev/stdout"));
  CHECK(names_open_file(temporary.file("first")));
  CHECK(names_open_file(temporary.file("second")));
  CHECK_FALSE(names_open_file(temporary.file("other")));
  CHECK_FALSE(names_open_file(temporary.file("endless")));
  CHECK_FALSE(names_open_file(temporary.file("none")));
}

TEST_CASE("output files: not the input, not in a directory that is not there") {
  const TemporaryDirectory temporary;
  const std::string csv = temporary.file("five.csv");
  write(csv, read(instance));
  SolveOptions options;
  options.instance = csv;
  options.output = csv;
  CHECK(outcome_of(solve, options).err ==
        "usmp-plan: error: " + csv + ": would overwrite the input " + csv + ", expected another place\n");
  CHECK(read(csv) == read(instance));
  for (const std::string& name : {std::string(), temporary.file("none/plan.csv")}) {
    options.output = name;
    CHECK(outcome_of(solve, options).code == exit_usage);
  }
  ProblemOptions problem_options;
  problem_options.model.model = temporary.file("model.tar");
  copy_model("cast_subtract.tar", problem_options.model.model);
  problem_options.output = problem_options.model.model;
  CHECK(outcome_of(problem, problem_options).code == exit_usage);
  ReportOptions report_options;
  report_options.model.model = problem_options.model.model;
  report_options.output = problem_options.model.model;
  CHECK(outcome_of(report, report_options).code == exit_usage);
  CheckOptions check_options;
  check_options.model.model = problem_options.model.model;
  check_options.pools_file = temporary.file("pools.yaml");
  write(*check_options.pools_file, "workspace_pools: [{name: sram, size_hint_bytes: 1MiB}]\n");
  check_options.junit = check_options.pools_file;
  CHECK(outcome_of(check, check_options).code == exit_usage);
}

// A model that is not there shows that the output was looked at first: with its message nothing was planned either.
TEST_CASE("outputs that cannot be written are refused before anything is computed, and nothing is left behind") {
  const std::string nowhere = "/proc/usmp-plan-test";  // no file can be made there, by nobody
  const std::string model = "/nonexistent/model.tar";
  const TemporaryDirectory temporary;
  const std::string pools = temporary.file("pools.yaml");
  write(pools, "workspace_pools: [{name: sram, size_hint_bytes: 1MiB}]\n");
  const auto refused = [&](const Outcome& outcome, const std::string& message) {
    CHECK(outcome.code == exit_output);
    CHECK(outcome.err.starts_with("usmp-plan: error: " + message));
    CHECK(outcome.out.empty());
  };
  const std::string unwritable = "/proc: is not writable: ";
  CompareOptions compared;
  compared.model.model = model;
  compared.save = nowhere;
  refused(outcome_of(compare, compared), unwritable);
  CheckOptions checked;
  checked.model.model = model;
  checked.pools_file = pools;
  checked.junit = nowhere;
  refused(outcome_of(check, checked), unwritable);
  checked.junit = temporary.file("results.xml");
  checked.step_summary = temporary.file("none/summary.md");
  refused(outcome_of(check, checked), temporary.file("none") + ": cannot be written: ");
  PlanOptions planned = planning(model, nowhere);
  refused(outcome_of(plan, planned), unwritable);
  ReportOptions reported;
  reported.model.model = model;
  reported.output = nowhere;
  refused(outcome_of(report, reported), unwritable);
  VerifyOptions verified;
  verified.model.model = model;
  verified.keep = nowhere;
  refused(outcome_of(verify, verified), unwritable);
  CHECK(files_below(temporary.path) == std::set<std::string>{"pools.yaml"});

  // With a place to write to, the model is what is wrong.
  checked.step_summary = temporary.file("summary.md");
  compared.save = temporary.file("plans");
  CHECK(outcome_of(check, checked).err == "usmp-plan: error: " + model + ": no such file or directory\n");
  CHECK(outcome_of(compare, compared).err == "usmp-plan: error: " + model + ": no such file or directory\n");
  // Only the reports of check say so, too.
  CHECK(files_below(temporary.path) == std::set<std::string>{"pools.yaml", "results.xml", "summary.md"});
}

TEST_CASE("a directory for a file, and a file for a directory, are refused before anything is computed") {
  const TemporaryDirectory temporary;
  const std::string model = "/nonexistent/model.tar";
  const std::string pools = temporary.file("pools.yaml");
  write(pools, "workspace_pools: [{name: sram, size_hint_bytes: 1MiB}]\n");
  CheckOptions checked;
  checked.model.model = model;
  checked.pools_file = pools;
  checked.junit = temporary.path.string();
  CHECK(outcome_of(check, checked).err ==
        "usmp-plan: error: " + temporary.path.string() + ": is a directory, expected a file\n");
  CompareOptions compared;
  compared.model.model = model;
  compared.save = pools;
  CHECK(outcome_of(compare, compared).err ==
        "usmp-plan: error: " + pools + ": is a file, expected a directory or a new name\n");
}

TEST_CASE("what belongs to another command is told so") {
  const TemporaryDirectory temporary;
  ProblemOptions making;
  making.model.model = testdata + "/cast_subtract.tar";
  making.output = temporary.file("problem.json");
  REQUIRE(outcome_of(problem, making).code == exit_ok);
  REQUIRE(outcome_of(plan, planning(making.model.model, temporary.file("out"))).code == exit_ok);
  extract("cast_subtract.tar", temporary.path / "model");
  const auto message = [](const auto& outcome) {
    CHECK(outcome.code == exit_usage);
    return outcome.err;
  };
  const auto solved = [&](const std::string& file) {
    SolveOptions options;
    options.instance = file;
    return message(outcome_of(solve, options));
  };
  const auto planned = [&](const std::string& file) {
    return message(outcome_of(plan, planning(file, temporary.file("other"))));
  };
  CHECK(contains(solved(making.model.model), "is an archive, expected an instance"));
  CHECK(contains(solved(temporary.file("model")), "is an archive, expected an instance"));
  CHECK(contains(solved(temporary.file("model/src/default.tir.json")), "is a TIR module, expected an instance"));
  CHECK(contains(solved(temporary.file("out/default.plan.json")), "is a plan, expected an instance"));
  CHECK(contains(planned(*making.output), "is a planning problem, expected a model; usmp-plan solve plans it"));
  CHECK(contains(planned(instance), "is an instance in CSV, expected a model; usmp-plan solve plans it"));
  CHECK(contains(planned(temporary.file("out/default.plan.json")), "is a plan, expected a model; usmp-plan report"));
  fs::rename(temporary.file("out/default.plan.json"), temporary.file("plan"));
  ReportOptions reported;
  reported.model.model = temporary.file("plan");
  CHECK_MESSAGE(outcome_of(report, reported).code == exit_ok, "a plan of any name is a plan");
}

TEST_CASE("what is far away in a pool whose contents are written is an error, and nothing is written") {
  const TemporaryDirectory temporary;
  const std::string pools = temporary.file("pools.yaml");
  const auto outcome_with = [&](const std::string& keys, const std::string& offset, bool dry) {
    write(pools, "workspace_pools:\n  - {name: sram}\nparameter_pools:\n  - {name: flash" + keys +
                     "}\npinned:\n  - {buffer: fused_cast_constant, pool: flash, offset: " + offset + "}\n");
    PlanOptions options = planning(testdata + "/cast_subtract.tar", temporary.file("out"));
    options.pools_file = pools;
    options.dry_run = dry;
    if (dry) options.output.reset();
    return outcome_of(plan, options);
  };
  for (const char* keys : {"", ", internal: true", ", emit: binary"}) {
    for (const bool dry : {false, true}) {
      const Outcome outcome = outcome_with(keys, "281474976710656", dry);
      CHECK(outcome.code == exit_usage);
      CHECK_MESSAGE(contains(outcome.err, "pool 'flash': buffer 'fused_cast_constant' of "), outcome.err);
      CHECK(contains(outcome.err, " is pinned to offset 281474976710656, and the gap of "));
      CHECK_FALSE(fs::exists(temporary.path / "out"));
    }
  }
  CHECK(contains(outcome_with("", "2MiB", true).err, "would be written as zeros: expected at most 1048576"));
  CHECK(outcome_with("", "1MiB", true).code == exit_ok);
  CHECK(contains(outcome_with(", pool_offset: 65MiB", "65MiB", true).err,
                 "pool 'flash': pool_offset is 68157440 bytes, which would be written as zeros"));
  VerifyOptions verified;
  verified.model.model = testdata + "/cast_subtract.tar";
  write(pools,
        "workspace_pools:\n  - {name: sram}\nparameter_pools:\n  - {name: flash}\npinned:\n  - {buffer: "
        "fused_cast_constant, pool: flash, offset: 281474976710656}\n");
  verified.pools_file = pools;
  verified.model.transform = "none";
  verified.execute = true;
  CHECK(contains(outcome_of(verify, verified).err, "is pinned to offset 281474976710656, and the gap of "));
}

TEST_CASE("links to nothing and long names are refused as what they are") {
  const TemporaryDirectory temporary;
  copy_model("cast_subtract.tar", temporary.file("model.tar"));
  fs::create_symlink("nowhere", temporary.path / "out");
  fs::create_symlink("nowhere.tar", temporary.path / "out.tar");
  for (const char* name : {"out", "out.tar"}) {
    const Outcome outcome = outcome_of(plan, planning(temporary.file("model.tar"), temporary.file(name)));
    CHECK(outcome.code == exit_usage);
    CHECK_MESSAGE(contains(outcome.err, std::string(name) + ": is a symbolic link to nowhere"), outcome.err);
    CHECK(fs::is_symlink(temporary.path / name));
  }
  const Outcome outcome =
      outcome_of(plan, planning(temporary.file("model.tar"), temporary.file(std::string(256, 'n'))));
  CHECK(outcome.code == exit_usage);
  CHECK(contains(outcome.err, ": the name has 256 bytes, expected at most 255"));
  CHECK(outcome_of(plan, planning(temporary.file("model.tar"), temporary.file(std::string(255, 'n')))).code == exit_ok);
}

TEST_CASE("warnings are printed also by runs that print nothing else") {
  PlanOptions options;
  options.model.model = testdata + "/unwritten_output.tar";
  options.dry_run = true;
  options.verbosity = Verbosity::quiet;
  const auto is_warned = [](const Outcome& outcome) {
    CHECK(outcome.code == exit_ok);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.starts_with("usmp-plan: warning: module 'default': output 'output2' is never written"));
  };
  is_warned(outcome_of(plan, options));
  VerifyOptions verified;
  verified.model = options.model;
  verified.verbosity = Verbosity::quiet;
  is_warned(outcome_of(verify, verified));
  options.model.json = true;
  CHECK_MESSAGE(outcome_of(plan, options).err.empty(), "JSON has them");
  const TemporaryDirectory temporary;
  write(temporary.path / "pools.yaml", "workspace_pools: [{name: dtcm, section: .dtcm}]\n");
  PlanOptions sectioned = planning(testdata + "/cast_subtract.tar", temporary.file("out"));
  sectioned.pools_file = temporary.file("pools.yaml");
  sectioned.verbosity = Verbosity::quiet;
  CHECK(
      outcome_of(plan, sectioned).err.starts_with("usmp-plan: warning: module 'default': pool 'dtcm': section .dtcm"));
}

}  // namespace usmp::driver::output_path_test

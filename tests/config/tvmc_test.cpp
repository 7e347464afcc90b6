// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Pools in tvmc's options.
#include "usmp/config/tvmc.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"

namespace usmp::config::tvmc_test {

using Words = std::vector<std::string>;

namespace {

// What a reader of the pools files would see: of the one with comments and of the JSON, which say the same.
std::string pools_text(const PoolsConfig& config) {
  std::string text;
  for (const auto* pools : {&config.workspace_pools, &config.parameter_pools}) {
    for (const PoolSpec& pool : *pools) {
      text += (pool.kind == PoolKind::constant ? "constants " : "workspace ") + pool.name;
      if (pool.size_hint) text += " " + std::to_string(*pool.size_hint);
      for (const auto& [target, access] : pool.targets) {
        text += " " + target + (access == Access::read_write ? ":rw" : ":ro");
      }
      text += "\n";
    }
  }
  if (config.algorithm) text += "algorithm " + *config.algorithm + "\n";
  if (config.workspace_io) text += *config.workspace_io ? "io\n" : "no io\n";
  return text;
}

std::string pools_of(const Words& words) {
  const TvmcSettings settings = tvmc_settings(words);
  ModelSummary model;
  model.archive = "m.tar";
  const std::string file = starter_file(model, settings);
  CAPTURE(file);
  const std::string text = pools_text(parse_pools(file));
  CHECK(pools_text(parse_pools(starter_json(settings))) == text);
  return text;
}

nlohmann::json json_of(const Words& words) { return nlohmann::json::parse(starter_json(tvmc_settings(words))); }

std::string error_of(const Words& words) {
  try {
    (void)tvmc_settings(words);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("tvmc's options become pools, in tvmc's order of preference") {
  CHECK(pools_of({"--workspace-pools=dtcm,sram", "--workspace-pools-targets=dtcm:c",
                  "--workspace-pools-targets=sram:c,accel", "--workspace-pools-size-hint-bytes=dtcm:65536",
                  "--constant-pools=itcm,flash", "--constant-pools-size-hint-bytes=itcm:4096",
                  "--constant-pools-targets=itcm:c"}) ==
        "workspace dtcm 65536 c:rw\nworkspace sram accel:rw c:rw\nconstants itcm 4096 c:ro\nconstants flash\n");
  // An option a pool or one for all, as releases differ in it; the value as the next word; whatever order.
  CHECK(pools_of({"--workspace-pools-targets", "dtcm:c,sram:c,accel", "--workspace-pools-size-hint-bytes",
                  "dtcm:1,sram:2", "--workspace-pools", "dtcm,sram"}) ==
        "workspace dtcm 1 c:rw\nworkspace sram 2 accel:rw c:rw\n");
  CHECK(pools_of({"--workspace-pools=sram"}) == "workspace sram\n");
  // Constants alone: the workspace is a pool as in any starter file.
  CHECK(pools_of({"--constant-pools=flash"}) == "workspace sram\nconstants flash\n");
  CHECK(pools_of({"--constant-pools=Sram"}) == "workspace sram_workspace\nconstants Sram\n");
  CHECK(pools_of({}) == "workspace sram\n");
}

TEST_CASE("tvmc: the last value of a property counts, and -1 is no value") {
  const Words start = {"--workspace-pools=sram,flash", "--workspace-pools-size-hint-bytes=sram:800",
                       "--workspace-pools-targets=sram:c,accel", "--workspace-pools-size-hint-bytes=flash:1200"};
  const auto with = [&](const Words& more) {
    Words words = start;
    words.insert(words.end(), more.begin(), more.end());
    return pools_of(words);
  };
  CHECK(with({"--workspace-pools-size-hint-bytes=sram:400", "--workspace-pools-targets=sram:llvm"}) ==
        "workspace sram 400 llvm:rw\nworkspace flash 1200\n");
  CHECK(with({"--workspace-pools-size-hint-bytes=sram:-1"}) == "workspace sram accel:rw c:rw\nworkspace flash 1200\n");
  CHECK(with({"--workspace-pools=sram,flash"}) == with({}));
}

TEST_CASE("tvmc's properties of memories keep their names") {
  const nlohmann::json file = json_of(
      {"--workspace-pools=sram", "--workspace-pools-clock-frequency-hz=sram:70000000",
       "--workspace-pools-read-bandwidth-bytes-per-cycle=sram:4",
       "--workspace-pools-write-bandwidth-bytes-per-cycle=sram:8", "--workspace-pools-read-latency-cycles=sram:2",
       "--workspace-pools-write-latency-cycles=sram:0", "--workspace-pools-target-burst-bytes=sram:accel:1",
       "--workspace-pools-target-burst-bytes=sram:c:2,sram:llvm:3", "--constant-pools=flash",
       "--constant-pools-read-latency-cycles=flash:40", "--constant-pools-clock-frequency-hz=flash:-1"});
  CHECK(file == nlohmann::json::parse(R"({
    "workspace_pools": [{"name": "sram", "clock_frequency_hz": 70000000, "read_bandwidth_bytes_per_cycle": 4,
                         "write_bandwidth_bytes_per_cycle": 8, "read_latency_cycles": 2, "write_latency_cycles": 0,
                         "target_burst_bytes": {"accel": 1, "c": 2, "llvm": 3}}],
    "parameter_pools": [{"name": "flash", "read_latency_cycles": 40}]})"));
}

TEST_CASE("tvmc: access of older releases, before or behind the targets") {
  CHECK(pools_of({"--workspace-pools=a,b", "--workspace-pools-target-access=a:accel:ro,a:c:rw,b:c:rw"}) ==
        "workspace a accel:ro c:rw\nworkspace b c:rw\n");
  CHECK(pools_of({"--workspace-pools=a", "--workspace-pools-target-access=a:accel:ro",
                  "--workspace-pools-targets=a:c,accel"}) == "workspace a accel:ro c:rw\n");
}

TEST_CASE("tvmc in the spelling of the USMP design") {
  const std::string expected =
      "workspace dtcm 1000 c:rw\nworkspace sram accel:rw c:rw\nconstants itcm 5000 c:ro\nconstants flash accel:ro "
      "c:ro\n";
  CHECK(pools_of({"--usmp-workspace-pools=dtcm,sram", "--usmp-parameter-pools=itcm,flash",
                  "--usmp-workspace-pool-dtcm=target=c;size=1000", "--usmp-workspace-pool-sram=target=c,accel",
                  "--usmp-parameter-pool-itcm=target=c;size=5000", "--usmp-parameter-pool-flash=target=c,accel"}) ==
        expected);
  // With a blank behind the sign, as the design has it.
  CHECK(pools_of({"--usmp-workspace-pools=dtcm,sram", "--usmp-parameter-pools=itcm,flash",
                  "--usmp-workspace-pool-dtcm=", "target=c;size=1000", "--usmp-workspace-pool-sram",
                  "target=c:rw,accel:rw", "--usmp-parameter-pool-itcm=", "size=5000; target=c",
                  "--usmp-parameter-pool-flash=target=c:ro,accel:ro;"}) == expected);
  CHECK(pools_of({"--usmp-workspace-pools=sram", "--usmp-workspace-pool-sram=target=c:rw,accel:ro"}) ==
        "workspace sram accel:ro c:rw\n");
  CHECK(pools_of({"--usmp-workspace-pools=sram", "--usmp-parameter-pools=p", "--usmp-parameter-pool-p=target=c:rw"}) ==
        "workspace sram\nconstants p c:rw\n");
}

TEST_CASE("tvmc's pass configuration") {
  const Words pools = {"--workspace-pools=sram"};
  const auto with = [&](const std::string& config) { return pools_of({pools[0], "--pass-config", config}); };
  CHECK(with("tir.usmp.use_workspace_io=1") == "workspace sram\nio\n");
  CHECK(with("tir.usmp.use_workspace_io=True") == "workspace sram\nio\n");
  CHECK(with("tir.usmp.use_workspace_io=0") == "workspace sram\nno io\n");
  CHECK(with("tir.usmp.use_workspace_io=false") == "workspace sram\nno io\n");
  CHECK(with("tir.usmp.algorithm=hill_climb") == "workspace sram\nalgorithm hill_climb\n");
  CHECK(pools_of({"--pass-config=tir.usmp.algorithm = greedy_by_size"}) ==
        "workspace sram\nalgorithm greedy_by_size\n");
  CHECK(tvmc_settings({"--pass-config=tir.usmp.enable=1"}).notes.empty());
  CHECK(tvmc_settings({"--pass-config=tir.usmp.enable=0", "--pass-config", "tir.disable_storage_rewrite=1",
                       "--pass-config", "tir.disable_vectorize=true", "--pass-config=tir.usmp.custom_algorithm=f"})
            .notes ==
        Words{"--pass-config tir.usmp.enable=0 is ignored: usmp-plan always plans",
              "--pass-config tir.disable_storage_rewrite=1 is ignored: it shapes code that the archive already has",
              "--pass-config tir.disable_vectorize=true is ignored: it shapes code that the archive already has",
              "--pass-config tir.usmp.custom_algorithm=f is ignored: it names a function inside TVM; --algorithm "
              "exec:PROGRAM runs a program"});
}

TEST_CASE("what else stands in a tvmc command line is skipped") {
  CHECK(
      pools_of({"python3", "-m", "tvm.driver.tvmc", "compile", "--target=ethos-u -accelerator_config=ethos-u55-256, c",
                "--runtime=crt", "--executor=aot", "--executor-aot-unpacked-api=1", "-f", "mlf", "-o", "kws.tar",
                "--workspace-pools=sram", "--input-shapes", "x:[1,49]", "kws.tflite"}) == "workspace sram\n");
}

TEST_CASE("mistakes in tvmc's options") {
  const Words pools = {"--workspace-pools=dtcm,sram", "--constant-pools=flash", "--usmp-workspace-pools=dtcm,sram"};
  const auto with = [&](const std::string& word) {
    Words words = pools;
    words.push_back(word);
    return error_of(words);
  };
  CHECK(with("--workspace-pools-size-hint-bytes=drcm:65536") ==
        "--workspace-pools-size-hint-bytes=drcm:65536: the pool 'drcm' is not in --workspace-pools (did you mean "
        "'dtcm'?)");
  CHECK(with("--constant-pools-size-hint-bytes=dtcm:1") ==
        "--constant-pools-size-hint-bytes=dtcm:1: the pool 'dtcm' is not in --constant-pools");
  CHECK(with("--usmp-parameter-pool-dtcm=size=1") ==
        "--usmp-parameter-pool-dtcm=size=1: the pool 'dtcm' is not in --usmp-parameter-pools");
  CHECK(with("--workspace-pools-size-hint=dtcm:1") ==
        "--workspace-pools-size-hint=dtcm:1: tvmc has no such option (did you mean "
        "'--workspace-pools-size-hint-bytes'?)");
  CHECK(with("--workspace-pools-size_hint_bytes=dtcm:1").find("no such option") != std::string::npos);
  CHECK(with("--usmp-workspace-pols=dtcm") ==
        "--usmp-workspace-pols=dtcm: tvmc has no such option (did you mean '--usmp-workspace-pools'?)");
  CHECK(with("--workspace-pool=dtcm").find("(did you mean '--workspace-pools'?)") != std::string::npos);
  CHECK(with("--pass-configs=a=1").find("(did you mean '--pass-config'?)") != std::string::npos);
  CHECK(with("--workspace-pools-is-internal=dtcm:0") ==
        "--workspace-pools-is-internal=dtcm:0: tvmc has no such option");
  CHECK(with("--workspace-pools=sram,dtcm") ==
        "--workspace-pools=sram,dtcm: a second list of other pools: expected one command line, with one list");
  CHECK(with("--usmp-workspace-pools=dtcm").find("a second list") != std::string::npos);
  CHECK(with("--workspace-pools-targets") == "--workspace-pools-targets=: has no value");
  CHECK(error_of({"--workspace-pools", "--target=c"}) == "--workspace-pools=: has no value");
  CHECK(with("--workspace-pools-size-hint-bytes=dtcm") ==
        "--workspace-pools-size-hint-bytes=dtcm: 'dtcm': expected POOL:NUMBER");
  for (const char* size : {"0", "-2", "1.5", "64KB", "", "1e3", "99999999999999999999", "0x10", "$SIZE"}) {
    CHECK(with(std::string("--workspace-pools-size-hint-bytes=dtcm:") + size) ==
          std::string("--workspace-pools-size-hint-bytes=dtcm:") + size + ": the size '" + size +
              "': expected bytes such as 65536 or 64KiB, or -1 for an unbounded pool");
  }
  for (const char* number : {"-2", "1.5", "", "4k", "99999999999999999999"}) {
    CHECK(with(std::string("--workspace-pools-read-latency-cycles=dtcm:") + number) ==
          std::string("--workspace-pools-read-latency-cycles=dtcm:") + number + ": '" + number +
              "': expected a whole number from 0, or -1 for unknown");
  }
  CHECK(with("--workspace-pools-targets=c") == "--workspace-pools-targets=c: 'c': expected POOL:TARGET,TARGET");
  CHECK(with("--workspace-pools-targets=dtcm:").find("the target '': expected a name") != std::string::npos);
  CHECK(with("--workspace-pools-targets=dtcm:c:rw").find("the target 'c:rw': expected a name") != std::string::npos);
  CHECK(with("--workspace-pools-target-burst-bytes=dtcm:4") ==
        "--workspace-pools-target-burst-bytes=dtcm:4: 'dtcm:4': expected POOL:TARGET:BYTES");
  CHECK(with("--workspace-pools-target-access=dtcm:c") ==
        "--workspace-pools-target-access=dtcm:c: 'dtcm:c': expected POOL:TARGET:ACCESS");
  CHECK(with("--workspace-pools-target-access=dtcm:c:wo") ==
        "--workspace-pools-target-access=dtcm:c:wo: the access 'wo': expected ro or rw");
  CHECK(with("--workspace-pools-target-access=dtcm:c:ro") ==
        "--workspace-pools-target-access=dtcm:c:ro: no target may write the workspace pool 'dtcm': expected rw for at "
        "least one target");
  CHECK(with("--usmp-workspace-pool-dtcm=target=c:ro").find("no target may write") != std::string::npos);
  CHECK(with("--usmp-workspace-pool-dtcm=target=c,size=1000").find("the target 'size=1000'") != std::string::npos);
  CHECK(with("--usmp-workspace-pool-dtcm=targets=c") ==
        "--usmp-workspace-pool-dtcm=targets=c: 'targets=c': expected target=TARGET,TARGET or size=BYTES, with ';' "
        "between them");
  CHECK(with("--pass-config=tir.usmp.use_workspace_io") ==
        "--pass-config tir.usmp.use_workspace_io: expected NAME=VALUE");
  CHECK(with("--pass-config=tir.usmp.use_workspace_io=yes") ==
        "--pass-config tir.usmp.use_workspace_io=yes: 'yes': expected 1 or 0, or true or false");
  CHECK(with("--pass-config=tir.usmp.algorithm=a: b").find("the algorithm 'a: b'") != std::string::npos);
  CHECK(with("--pass-config=tir.usmp.algorith=x") ==
        "--pass-config tir.usmp.algorith=x: TVM has no such setting (did you mean 'tir.usmp.algorithm'?)");
}

TEST_CASE("names of tvmc's pools must be names in C") {
  CHECK(error_of({"--workspace-pools=my-sram"}) ==
        "--workspace-pools=my-sram: the pool 'my-sram': expected a C identifier (letters, digits and '_', not starting "
        "with a digit)");
  CHECK(error_of({"--workspace-pools=sram,"}).find("the pool '': expected a C identifier") != std::string::npos);
  CHECK(error_of({"--workspace-pools=union"}).find("not a keyword") != std::string::npos);
  CHECK(error_of({"--workspace-pools=" + std::string(101, 'a')}).find("at most 100 characters") != std::string::npos);
  CHECK(error_of({"--workspace-pools=sram,SRAM"}).find("a second pool 'SRAM'") != std::string::npos);
  CHECK(error_of({"--workspace-pools=sram", "--constant-pools=sram"}).find("a second pool 'sram'") !=
        std::string::npos);
  Words many = {"--workspace-pools=p0"};
  for (int i = 1; i < 64; ++i) many[0] += ",p" + std::to_string(i);
  CHECK(error_of(many) == "accepted");
  CHECK(error_of({many[0] + ",more"}).find("more than 64 pools") != std::string::npos);
  // Words with a meaning in YAML.
  for (const std::string name : {"null", "NULL", "yes", "no", "on", "y", "Null"}) {
    CHECK(pools_of({"--workspace-pools=" + name, "--workspace-pools-targets=" + name + ":" + name}) ==
          "workspace " + name + " " + name + ":rw\n");
  }
}

TEST_CASE("a command line in a file") {
  CHECK(shell_words("tvmc compile \\\n  --a=1 \\\r\n --b\tc\n# --not=1\n--d#e # no\n") ==
        Words{"tvmc", "compile", "--a=1", "--b", "c", "--d#e"});
  CHECK(shell_words(R"(a "b c"d 'e "f' "g\"h\n" i\ j "")") == Words{"a", "b cd", "e \"f", "g\"h\\n", "i j", ""});
  CHECK(shell_words("") == Words{});
  CHECK(shell_words("a\\") == Words{"a"});
  CHECK(shell_words("\"a\\\nb\"") == Words{"ab"});
  CHECK_THROWS_WITH_AS((void)shell_words("tvmc \\\n --x=\"a"),
                       "line 2, column 6: an unterminated quote, expected another \"", Error);
  CHECK(pools_of(shell_words("tvmc compile my_model.tflite \\\n --usmp-workspace-pools=dtcm,sram # fast first\n"
                             "    --usmp-workspace-pool-dtcm= \"target=c;size=1000\"\n")) ==
        "workspace dtcm 1000 c:rw\nworkspace sram\n");
}

}  // namespace usmp::config::tvmc_test

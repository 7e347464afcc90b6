// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The file that `usmp-plan init` writes.
#include <doctest/doctest.h>

#include <sstream>

#include "files.hpp"
#include "usmp/config/pools.hpp"
#include "usmp/config/tvmc.hpp"

namespace usmp::config::starter_test {

using usmp::Bytes;
using usmp::config::ModelSummary;
using usmp::config::parse_pools;
using usmp::config::PoolsConfig;
using usmp::config::starter_file;

namespace {

// With every setting switched on: the '#' in front is removed. Comments have one blank behind it.
std::string uncommented(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    const bool setting = line.size() > 1 && line[0] == '#' && (line[1] != ' ' || line[2] == ' ');
    result += (setting ? line.substr(1) : line) + "\n";
  }
  return result;
}

ModelSummary resnet() {
  return {.archive = "resnet8.tar",
          .targets = {"c", "cmsis-nn"},
          .workspace_load = 60416,
          .constant_bytes = 80000,
          .unplanned_workspace = 123456};
}

}  // namespace

TEST_CASE("the starter file as it is: one pool without bound") {
  const PoolsConfig config = parse_pools(starter_file(resnet()));
  REQUIRE(config.workspace_pools.size() == 1);
  CHECK(config.workspace_pools[0].name == "sram");
  CHECK_FALSE(config.workspace_pools[0].size_hint.has_value());
  CHECK_FALSE(config.workspace_pools[0].internal);
  CHECK(config.parameter_pools.empty());
  CHECK_FALSE(config.algorithm.has_value());
  CHECK_FALSE(config.workspace_io.has_value());
}

TEST_CASE("the starter file with every setting switched on") {
  const PoolsConfig config = parse_pools(uncommented(starter_file(resnet())));
  REQUIRE(config.workspace_pools.size() == 2);
  CHECK(config.workspace_pools[0].name == "dtcm");
  CHECK(config.workspace_pools[0].size_hint == Bytes{64} * 1024);
  CHECK(config.workspace_pools[0].reserved == 256);
  CHECK(config.workspace_pools[0].internal);
  CHECK(config.workspace_pools[0].section == ".bss.dtcm");
  CHECK(config.workspace_pools[0].targets.size() == 2);
  CHECK(config.workspace_pools[1].name == "sram");
  REQUIRE(config.parameter_pools.size() == 1);
  CHECK(config.parameter_pools[0].targets.at("cmsis-nn") == usmp::config::Access::read_only);
  CHECK(config.algorithm == "optimal");
  CHECK(config.workspace_io == false);
}

TEST_CASE("the starter file tells the model's figures") {
  const std::string text = starter_file(resnet());
  CHECK(text.find("# Memory pools for resnet8.tar,") == 0);
  CHECK(text.find("60416 bytes") != std::string::npos);
  CHECK(text.find("123456 bytes") != std::string::npos);
  CHECK(text.find("80000 bytes") != std::string::npos);
  ModelSummary unknown = resnet();
  unknown.unplanned_workspace.reset();
  CHECK(starter_file(unknown).find("unplanned") == std::string::npos);
}

TEST_CASE("pools of TVM's plan stand there with its sizes") {
  TvmcSettings settings;
  settings.workspace_pools.emplace_back().name = "fast";
  settings.workspace_pools.back().planned = 86148;
  settings.parameter_pools.emplace_back().name = "flash";
  const std::string text = starter_file(resnet(), settings);
  CHECK(text.find("\n  - name: fast  # TVM's plan: 86148 bytes\n") != std::string::npos);
  CHECK(text.find("\n  - name: flash\n") != std::string::npos);
  const PoolsConfig config = parse_pools(text);
  CHECK(config.workspace_pools.at(0).name == "fast");
  CHECK_FALSE(config.workspace_pools.at(0).size_hint.has_value());
}

TEST_CASE("a pool for each region of a linker script, of the kind that its attributes say") {
  const std::vector<MemoryRegion> regions = parse_memory(
      "MEMORY { FLASH (rx) : ORIGIN = 0x8000000, LENGTH = 1M\nDTCM (xrw) : ORIGIN = 0x20000000, LENGTH = 64K\n"
      "default (W!x) : ORIGIN = 0, LENGTH = 100\nROM (r!w) : ORIGIN = 0x1000, LENGTH = 8\n"
      "dtcm (rw) : ORIGIN = 0x30000000, LENGTH = 3\nRAM.2 (!rx!w) : ORIGIN = 0x2000, LENGTH = 5\n"
      "OTHER : ORIGIN = 0, LENGTH = 1K }\nREGION_ALIAS(\"RAM\", DTCM)");
  const TvmcSettings settings = pools_of_regions(regions);
  const std::string text = starter_file(resnet(), settings);
  CAPTURE(text);
  CHECK(text.find("\n  - name: dtcm  # a region of 64KiB\n    size_hint_bytes: ld:DTCM\n") != std::string::npos);
  const PoolsConfig config = parse_pools(text, &regions);
  const auto listed = [](const std::vector<PoolSpec>& pools) {
    std::string names;
    for (const PoolSpec& pool : pools)
      names += pool.name + "=" + pool.region + ":" + std::to_string(*pool.size_hint) + " ";
    return names;
  };
  CHECK(listed(config.workspace_pools) ==
        "dtcm=DTCM:65536 default_memory=default:100 dtcm_memory=dtcm:3 ram_2=RAM.2:5 ");
  CHECK(listed(config.parameter_pools) == "flash=FLASH:1048576 rom=ROM:8 ");
  REQUIRE(settings.notes.size() == 1);
  CHECK(settings.notes[0].find("region OTHER (1KiB) has no pool") == 0);
  const PoolsConfig as_json = parse_pools(starter_json(settings), &regions);
  CHECK(listed(as_json.workspace_pools) == listed(config.workspace_pools));
}

TEST_CASE("no more pools of regions than a pools file may have") {
  std::string script = "MEMORY {";
  for (int i = 0; i < 66; ++i)
    script += " R" + std::to_string(i) + " (rw) : ORIGIN = " + std::to_string(i * 8) + ", LENGTH = 8";
  const std::vector<MemoryRegion> regions = parse_memory(script + " }");
  const TvmcSettings settings = pools_of_regions(regions);
  CHECK(settings.notes.size() == 2);
  CHECK(parse_pools(starter_file(resnet(), settings), &regions).workspace_pools.size() == 64);
}

TEST_CASE("the line for editors names the schema, which is that of the documents") {
  const std::string text = starter_file(resnet(), {}, "./a\nb.json");
  CHECK(text.starts_with("# yaml-language-server: $schema=./a?b.json\n# Memory pools for"));
  CHECK_NOTHROW(static_cast<void>(parse_pools(text)));
  CHECK(pools_schema == read_file(USMP_TESTDATA "/../docs/schema/pools.schema.json"));
}

TEST_CASE("nothing that a model is called breaks the starter file") {
  ModelSummary model;
  model.archive = "a\nworkspace_pools: 3\n\xff\x07.tar";
  model.targets = {"", "c: rw}\nx", "-", "- c", "é"};
  const std::string text = starter_file(model);
  for (const std::string& file : {text, uncommented(text)}) {
    CAPTURE(file);
    CHECK_NOTHROW(static_cast<void>(parse_pools(file)));
  }
  CHECK(parse_pools(uncommented(text)).workspace_pools[0].targets.size() == 1);
  CHECK(parse_pools(uncommented(text)).workspace_pools[0].size_hint == Bytes{64} * 1024);
}

}  // namespace usmp::config::starter_test

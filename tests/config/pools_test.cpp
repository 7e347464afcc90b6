// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// parse_pools on files that are right: every key, every default, the fixtures, the documentation's examples.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "files.hpp"
#include "usmp/config/pools.hpp"

namespace usmp::config::pools_test {

using usmp::Bytes;
using usmp::PoolKind;
using usmp::config::Access;
using usmp::config::parse_pools;
using usmp::config::PoolsConfig;
using usmp::config::PoolSpec;

namespace {

PoolSpec only_pool(const std::string& keys) {
  const PoolsConfig config = parse_pools("workspace_pools:\n  - name: p\n" + keys);
  REQUIRE(config.workspace_pools.size() == 1);
  return config.workspace_pools[0];
}

std::optional<Bytes> size_of(const std::string& size) { return only_pool("    size_hint_bytes: " + size).size_hint; }

}  // namespace

TEST_CASE("an example with every key") {
  const PoolsConfig config = parse_pools(R"(
workspace_pools:
  - name: dtcm
    size_hint_bytes: 64KiB        # absent: unbounded. Plain numbers, KiB, MiB
    alignment: 16
    targets: {c: rw, cmsis-nn: ro}
    section: ".dtcm"
    internal: false
    clock_frequency_hz: 480000000
    read_bandwidth_bytes_per_cycle: 8
    write_bandwidth_bytes_per_cycle: 4
    read_latency_cycles: 0
    write_latency_cycles: -1
    target_burst_bytes: {c: 32, cmsis-nn: -1}
  - name: sram
parameter_pools:
  - name: flash
    targets: {c: ro}
algorithm: greedy_by_size
objective: accesses
workspace_io: false
)");
  CHECK(config.objective == Objective::accesses);
  REQUIRE(config.workspace_pools.size() == 2);
  const PoolSpec& dtcm = config.workspace_pools[0];
  CHECK(dtcm.name == "dtcm");
  CHECK(dtcm.kind == PoolKind::workspace);
  CHECK(dtcm.size_hint == Bytes{65536});
  CHECK(dtcm.alignment == 16);
  CHECK(dtcm.targets == std::map<std::string, Access>{{"c", Access::read_write}, {"cmsis-nn", Access::read_only}});
  CHECK(dtcm.section == ".dtcm");
  CHECK_FALSE(dtcm.internal);
  CHECK((dtcm.speed == Speed{.clock_hz = 480000000,
                             .read_bytes_per_cycle = 8,
                             .write_bytes_per_cycle = 4,
                             .read_latency_cycles = 0,
                             .write_latency_cycles = std::nullopt}));
  const PoolSpec& sram = config.workspace_pools[1];
  CHECK(sram.name == "sram");
  CHECK(sram.size_hint == std::nullopt);
  CHECK(sram.alignment == 1);
  CHECK(sram.targets.empty());
  CHECK(sram.section.empty());
  CHECK_FALSE(sram.internal);
  REQUIRE(config.parameter_pools.size() == 1);
  CHECK(config.parameter_pools[0].name == "flash");
  CHECK(config.parameter_pools[0].kind == PoolKind::constant);
  CHECK(config.parameter_pools[0].targets == std::map<std::string, Access>{{"c", Access::read_only}});
  CHECK(config.algorithm == "greedy_by_size");
  CHECK(config.workspace_io == false);
}

TEST_CASE("the smallest file leaves everything open") {
  const PoolsConfig config = parse_pools("workspace_pools: [{name: sram}]");
  CHECK(config.workspace_pools.size() == 1);
  CHECK(config.parameter_pools.empty());
  CHECK_FALSE(config.algorithm.has_value());
  CHECK_FALSE(config.workspace_io.has_value());
}

TEST_CASE("speeds: what is -1 is not known, nor is a clock or a bandwidth of 0") {
  CHECK_FALSE(only_pool("    clock_frequency_hz: 5").speed.is_known());
  CHECK((only_pool("    clock_frequency_hz: 0\n    read_bandwidth_bytes_per_cycle: 0").speed == Speed{}));
  CHECK((only_pool("    read_latency_cycles: -1").speed == Speed{}));
  CHECK(only_pool("    write_latency_cycles: 0").speed.is_known());
  CHECK(only_pool("    write_bandwidth_bytes_per_cycle: 1").speed.is_known());
}

TEST_CASE("emit decides whose the contents of a parameter pool are") {
  const auto flash = [](const std::string& keys) {
    return parse_pools("workspace_pools: [{name: sram}]\nparameter_pools:\n  - name: flash\n" + keys)
        .parameter_pools[0];
  };
  CHECK_FALSE(flash("").is_binary);
  CHECK(flash("    emit: array").internal);
  CHECK_FALSE(flash("    emit: header").internal);
  CHECK_FALSE(flash("    emit: header\n    section: .rodata.flash").internal);
  const PoolSpec binary = flash("    section: .qspi\n    emit: binary");
  CHECK(binary.is_binary);
  CHECK_FALSE(binary.internal);
  CHECK(binary.section == ".qspi");
  CHECK(flash("    internal: false\n    emit: binary").is_binary);
}

TEST_CASE("sizes") {
  CHECK(size_of("1") == Bytes{1});
  CHECK(size_of("65536") == Bytes{65536});
  CHECK(size_of("\"65536\"") == Bytes{65536});
  CHECK(size_of("64KiB") == Bytes{65536});
  CHECK(size_of("'2MiB'") == Bytes{2} * 1024 * 1024);
  CHECK(size_of("3GiB") == Bytes{3} * 1024 * 1024 * 1024);
  CHECK(size_of("9223372036854775807") == Bytes{9223372036854775807});
  CHECK(size_of("8589934591GiB") == Bytes{8589934591} * 1024 * 1024 * 1024);
  CHECK(size_of("-1") == std::nullopt);
}

TEST_CASE("alignments up to a mebibyte") {
  for (Bytes alignment = 1; alignment <= 1048576; alignment *= 2) {
    CHECK(only_pool("    alignment: " + std::to_string(alignment)).alignment == alignment);
  }
}

TEST_CASE("a section makes a pool internal unless the file says otherwise") {
  CHECK(only_pool("    section: .dtcm").internal);
  CHECK(only_pool("    section: .dtcm\n    internal: true").internal);
  CHECK_FALSE(only_pool("    section: .dtcm\n    internal: false").internal);
  CHECK_FALSE(only_pool("    internal: false\n    section: .dtcm").internal);
  CHECK(only_pool("    internal: true").internal);
}

TEST_CASE("the pool of the state stands beside those that are planned") {
  const PoolsConfig config = parse_pools(
      "workspace_pools:\n  - name: dtcm\n  - {name: backup, state: true, size_hint_bytes: 4KiB, alignment: 32}\n"
      "  - {name: sram, state: false}\n");
  REQUIRE(config.state_pool.has_value());
  CHECK(config.state_pool->name == "backup");
  CHECK(config.state_pool->size_hint == 4096);
  CHECK(config.state_pool->alignment == 32);
  CHECK_FALSE(config.state_pool->internal);
  REQUIRE(config.workspace_pools.size() == 2);
  CHECK(config.workspace_pools[0].name == "dtcm");
  CHECK(config.workspace_pools[1].name == "sram");
  CHECK_FALSE(parse_pools("workspace_pools: [{name: sram}]").state_pool.has_value());
}

TEST_CASE("parameter pools take every key, and either access") {
  const PoolsConfig config = parse_pools(R"(
parameter_pools:
  - {name: a, targets: {c: ro}, section: .rodata.a, internal: true, alignment: 32, size_hint_bytes: 1MiB}
  - {name: b, targets: {c: rw}}
workspace_pools:
  - name: sram
workspace_io: true
)");
  REQUIRE(config.parameter_pools.size() == 2);
  CHECK(config.parameter_pools[0].section == ".rodata.a");
  CHECK(config.parameter_pools[0].internal);
  CHECK(config.parameter_pools[0].alignment == 32);
  CHECK(config.parameter_pools[0].size_hint == Bytes{1048576});
  CHECK(config.parameter_pools[1].targets.at("c") == Access::read_write);
  CHECK(config.workspace_io == true);
}

TEST_CASE("an empty list of parameter pools is none") {
  CHECK(parse_pools("workspace_pools: [{name: sram}]\nparameter_pools: []\n").parameter_pools.empty());
}

TEST_CASE("layouts of YAML that mean the same") {
  const std::string lines = "workspace_pools:\n- name: sram\n  alignment: 8\n";
  std::string carriage_returns = lines;
  for (std::size_t at = 0; (at = carriage_returns.find('\n', at)) != std::string::npos; at += 2) {
    carriage_returns.insert(at, 1, '\r');
  }
  for (const std::string& text :
       {lines, carriage_returns, "\xef\xbb\xbf" + lines, "%YAML 1.2\n---\n" + lines + "...\n",
        "\t# tab in front of a comment\n \t\n" + lines, std::string("{workspace_pools: [{name: sram, alignment: 8}]}"),
        std::string("workspace_pools: # fast\n  - name:\t'sram'  \n    \"alignment\": 8")}) {
    CAPTURE(text);
    const PoolsConfig config = parse_pools(text);
    REQUIRE(config.workspace_pools.size() == 1);
    CHECK(config.workspace_pools[0].name == "sram");
    CHECK(config.workspace_pools[0].alignment == 8);
  }
}

TEST_CASE("no pools file is one internal pool without bound") {
  const PoolsConfig config = usmp::config::default_pools();
  REQUIRE(config.workspace_pools.size() == 1);
  CHECK(config.workspace_pools[0].name == "global_workspace");
  CHECK(config.workspace_pools[0].internal);
  CHECK(config.workspace_pools[0].size_hint == std::nullopt);
  CHECK(config.parameter_pools.empty());
}

TEST_CASE("every pools file in testdata is accepted") {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(USMP_TESTDATA "/pools")) {
    if (entry.path().extension() != ".yaml") continue;
    CAPTURE(entry.path());
    CHECK_NOTHROW(static_cast<void>(parse_pools(read_file(entry.path()))));
    names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"binary", "budget", "budgets", "dtcm_sram", "flash", "internal", "io",
                                          "pinned", "sram", "tight"});
}

TEST_CASE("the pools files in testdata say what their users expect") {
  const auto load = [](const char* name) {
    return parse_pools(read_file(std::filesystem::path(USMP_TESTDATA "/pools") / name));
  };
  const PoolsConfig two = load("dtcm_sram.yaml");
  REQUIRE(two.workspace_pools.size() == 2);
  CHECK(two.workspace_pools[0].size_hint.has_value());
  CHECK_FALSE(two.workspace_pools[1].size_hint.has_value());
  CHECK(two.parameter_pools.size() == 1);
  CHECK(load("internal.yaml").workspace_pools[0].internal);
  CHECK(load("flash.yaml").parameter_pools[0].internal);
  CHECK(load("io.yaml").workspace_io == true);
  CHECK(load("tight.yaml").workspace_pools[0].size_hint == Bytes{16});
}

TEST_CASE("the examples in docs/pools.md are accepted") {
  const std::vector<std::string> examples = yaml_blocks(read_file(USMP_TESTDATA "/../docs/pools.md"));
  CHECK(examples.size() >= 3);
  for (const std::string& example : examples) {
    CAPTURE(example);
    CHECK_NOTHROW(static_cast<void>(parse_pools(example)));
  }
}

TEST_CASE("format_size is exact and reads back") {
  using usmp::config::format_size;
  CHECK(format_size(0) == "0");
  CHECK(format_size(1) == "1");
  CHECK(format_size(1023) == "1023");
  CHECK(format_size(1024) == "1KiB");
  CHECK(format_size(1025) == "1025");
  CHECK(format_size(65536) == "64KiB");
  CHECK(format_size(1536 * 1024) == "1536KiB");
  CHECK(format_size(2 * 1024 * 1024) == "2MiB");
  CHECK(format_size(Bytes{5} << 30) == "5GiB");
  for (const Bytes size : {Bytes{1}, Bytes{1000}, Bytes{4096}, Bytes{1} << 20, Bytes{3} << 30, (Bytes{1} << 62) + 1}) {
    CHECK(size_of(format_size(size)) == size);
  }
}

TEST_CASE("bytes at a pool's start that stay reserved") {
  CHECK(only_pool("").reserved == 0);
  CHECK(only_pool("    pool_offset: 0").reserved == 0);
  CHECK(only_pool("    pool_offset: 4KiB").reserved == 4096);
  CHECK(only_pool("    size_hint_bytes: 101\n    pool_offset: 100").reserved == 100);
  CHECK(only_pool("    pool_offset: 8388608GiB").reserved == usmp::Problem::max_total_bytes / 8);
}

TEST_CASE("pins with and without what names a buffer more closely") {
  const PoolsConfig config = parse_pools(R"(
workspace_pools: [{name: sram}]
pinned:
  - {buffer: sid_1, pool: sram, offset: 0}
  - buffer: "a b.c"
    function: f
    occurrence: 2
    pool: elsewhere
    offset: 64KiB
)");
  REQUIRE(config.pinned.size() == 2);
  CHECK(config.pinned[0].buffer == "sid_1");
  CHECK_FALSE(config.pinned[0].function.has_value());
  CHECK_FALSE(config.pinned[0].occurrence.has_value());
  CHECK(config.pinned[0].pool == "sram");
  CHECK(config.pinned[0].offset == 0);
  CHECK(config.pinned[0].place == "line 4, column 5");
  CHECK(config.pinned[1].buffer == "a b.c");
  CHECK(config.pinned[1].function == "f");
  CHECK(config.pinned[1].occurrence == std::size_t{2});
  CHECK(config.pinned[1].pool == "elsewhere");
  CHECK(config.pinned[1].offset == 65536);
  CHECK(config.pinned[1].place == "line 5, column 5");
  CHECK(parse_pools("workspace_pools: [{name: sram}]\npinned: []").pinned.empty());
}

}  // namespace usmp::config::pools_test

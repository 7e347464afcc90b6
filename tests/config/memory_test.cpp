// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// MEMORY of linker scripts, and pools that take their sizes from there.
#include "usmp/config/memory.hpp"

#include <doctest/doctest.h>

#include "usmp/config/pools.hpp"
#include "usmp/config/tvmc.hpp"
#include "usmp/support/error.hpp"

namespace usmp::config::memory_test {

namespace {

Bytes length_of(const std::string& expression, const std::string& before = "") {
  const auto regions =
      parse_memory(before + "MEMORY { A : ORIGIN = 16, LENGTH = 4K\nR : o = 0, l = " + expression + " }");
  REQUIRE(regions.size() == 2);
  return regions[1].length;
}

std::string fault_of(const std::string& script) {
  try {
    (void)parse_memory(script);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    return error.what();
  }
  return "none";
}

std::string fault_of_length(const std::string& expression) {
  return fault_of("MEMORY { R : o = 0, l = " + expression + " }");
}

std::string fault_of_pools(const std::string& yaml, const std::vector<MemoryRegion>* memory) {
  try {
    (void)parse_pools(yaml, memory);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("a script of a board") {
  const auto regions = parse_memory(R"(
/* MEMORY { */
ENTRY(Reset_Handler)
_Min_Stack_Size = 0x400;
MEMORY
{
  DTCM   (xrw)    : ORIGIN = 0x20000000,   LENGTH = 128K
  RAM_D1 (!rx)    : org = 0x24000000 len = 512k - _Min_Stack_Size
  FLASH  (rx)     : o = 0x8000000, l = 2M
}
REGION_ALIAS("RAM", RAM_D1);
SECTIONS { .isr : { . = ALIGN(4); KEEP(*(.isr)) } >FLASH  MEMORY { } }
MEMORY { LATE : ORIGIN = ORIGIN(FLASH) + LENGTH(FLASH), LENGTH = 1 }
)");
  REQUIRE(regions.size() == 5);
  CHECK(regions[0].name == "DTCM");
  CHECK(regions[0].origin == 0x20000000);
  CHECK(regions[0].length == 128 * 1024);
  CHECK(regions[1].name == "RAM_D1");
  CHECK(regions[1].length == 512 * 1024 - 0x400);
  CHECK(regions[2].length == 2 * 1024 * 1024);
  CHECK(regions[3].name == "RAM");
  CHECK(regions[3].length == regions[1].length);
  CHECK(regions[4].origin == 0x8000000 + 0x200000);
}

TEST_CASE("expressions mean what they mean to ld") {
  CHECK(length_of("1 + 2 * 3") == 7);
  CHECK(length_of("(1 + 2) * 3") == 9);
  CHECK(length_of("10 - 4 - 3") == 3);
  CHECK(length_of("64 / 4 / 2") == 8);
  CHECK(length_of("1 << 4 + 1") == 32);
  CHECK(length_of("7 & 3 | 8") == 11);
  CHECK(length_of("~0 & 0xff") == 255);
  CHECK(length_of("~(1 | 2) & 15") == 12);
  CHECK(length_of("010") == 8);
  CHECK(length_of("0x1K") == 1024);
  CHECK(length_of("17 % 5 >> 1") == 1);
  CHECK(length_of("LENGTH(A) - ORIGIN(A)") == 4080);
  CHECK(length_of("size * 2", "size = 2K;") == 4096);
  CHECK(length_of("size", "size = 1; size = size + 4;") == 5);
  CHECK(length_of("x", "x = 3; ASSERT(x == 3, \"text\")") == 3);
  CHECK(length_of(std::string(100000, '(') + "5" + std::string(100000, ')')) == 5);
}

TEST_CASE("what is wrong is said with its place") {
  CHECK(fault_of("SECTIONS { }") == "the script has no MEMORY command");
  CHECK(fault_of("INCLUDE memory.x").find("such as 'memory.x', are not read") != std::string::npos);
  CHECK(fault_of("MEMORY { R : LENGTH = 1 }") == "line 1, column 14: found 'LENGTH', expected ORIGIN = …");
  CHECK(fault_of("MEMORY { R : ORIGIN = 1 }") == "line 1, column 25: found '}', expected LENGTH = …");
  CHECK(fault_of("MEMORY {\n R : o = 0, l = 1\n R : o = 0, l = 1 }") == "line 3, column 2: a second region 'R'");
  CHECK(fault_of("MEMORY { R (rx : o = 0") == "line 1, column 23: found the end of the script, expected ')'");
  CHECK(fault_of("MEMORY { R : o = 0, l = 1") ==
        "line 1, column 26: found the end of the script, expected the name of a region, or '}'");
  CHECK(fault_of("MEMORY { INCLUDE regions.ld }").find("are not read") != std::string::npos);
  CHECK(fault_of("MEMORY { /* } ").find("an unterminated comment") != std::string::npos);
  CHECK(fault_of("REGION_ALIAS(\"A\", B)").find("expected an alias and a region that is defined above") !=
        std::string::npos);
  CHECK(fault_of_length("0").find("region 'R' has 0 bytes, expected from 1 to 2^48") != std::string::npos);
  CHECK(fault_of_length("0x1000000000001").find("expected from 1 to 2^48") != std::string::npos);
  CHECK(fault_of_length("4 - 5").find("the result of '-' is negative") != std::string::npos);
  CHECK(fault_of_length("1 / 0").find("the result of '/' is negative, above 2^64 or not defined") != std::string::npos);
  CHECK(fault_of_length("0xffffffffffffffff * 2").find("the result of '*'") != std::string::npos);
  CHECK(fault_of_length("64KB").find("found '64KB', expected a number below 2^64") != std::string::npos);
  CHECK(fault_of_length("99999999999999999999").find("expected a number below 2^64") != std::string::npos);
  CHECK(fault_of_length("size").find("symbol 'size' has no value here") != std::string::npos);
  CHECK(fault_of_length("MAX(1, 2)").find("the function 'MAX', expected ORIGIN or LENGTH") != std::string::npos);
  CHECK(fault_of_length("LENGTH(X)").find("found 'X', expected a region that is defined above") != std::string::npos);
  CHECK(fault_of_length("(1").find("expected an operator or ')'") != std::string::npos);
  CHECK(fault_of_length("1 +").find("found '}', expected a number") != std::string::npos);
  for (const char* change : {"x = 1; x += 2;", "x = 1 ? 2 : 3;", "PROVIDE(x = 1);"}) {
    CHECK(fault_of(change + std::string("MEMORY { R : o = 0, l = x }")).find("has a value that is not understood") !=
          std::string::npos);
  }
  CHECK(fault_of(std::string((1U << 20) + 1, ' ')).find("more than 1048576 bytes") != std::string::npos);
  std::string many = "MEMORY {";
  for (int i = 0; i < 1000; ++i) many += " R" + std::to_string(i) + " : o = 0, l = 1";
  CHECK(fault_of(many + "}") == "none");
  CHECK(fault_of(many + " S : o = 0, l = 1 }").find("more than 1000 regions") != std::string::npos);
}

TEST_CASE("pools take sizes from regions, by name or by their own name") {
  const auto memory = parse_memory("MEMORY { DTCM : o = 0, l = 64K  RAM : o = 1M, l = 256K  flash : o = 8M, l = 2M }");
  const PoolsConfig config = parse_pools(
      "workspace_pools:\n  - name: dtcm\n  - {name: sram, size_hint_bytes: ld:RAM, pool_offset: 1KiB}\n"
      "  - {name: RAM, size_hint_bytes: -1}\n  - {name: other}\nparameter_pools:\n  - {name: FLASH, size_hint_bytes: "
      "1KiB}\n",
      &memory);
  const auto& pools = config.workspace_pools;
  CHECK(pools[0].size_hint == Bytes{65536});
  CHECK(pools[0].region == "DTCM");
  CHECK(pools[1].size_hint == Bytes{262144});
  CHECK(pools[1].region == "RAM");
  CHECK(pools[1].size_position.line == 3);
  CHECK_FALSE(pools[2].size_hint);
  CHECK_FALSE(pools[3].size_hint);
  CHECK(pools[3].region.empty());
  CHECK(config.parameter_pools[0].size_hint == Bytes{1024});
  CHECK(config.parameter_pools[0].region.empty());
}

TEST_CASE("regions that overlap are counted twice: warnings say so") {
  const MemoryRegion top{.name = "TOP", .origin = ~std::uint64_t{0} - 9, .length = 100};
  const auto shared = [](std::uint64_t a, Bytes a_length, std::uint64_t b, Bytes b_length) {
    const MemoryRegion one{.name = "A", .origin = a, .length = a_length};
    const MemoryRegion other{.name = "B", .origin = b, .length = b_length};
    CHECK(overlap_of(one, other) == overlap_of(other, one));
    return overlap_of(one, other);
  };
  CHECK(shared(0, 10, 10, 10) == 0);
  CHECK(shared(0, 11, 10, 10) == 1);
  CHECK(shared(0, 100, 10, 20) == 20);
  CHECK(shared(5, 10, 5, 10) == 10);
  CHECK(overlap_of(top, top) == 100);
  CHECK(shared(0, 100, top.origin, 100) == 0);

  const auto memory = parse_memory(
      "MEMORY { A (rw) : o = 0, l = 64K  B (rw) : o = 63K, l = 64K  C (rx) : o = 127K, l = 1K  D (rx) : o = 64K, l = "
      "1K }\n"
      "REGION_ALIAS(\"E\", A)\n");
  const auto warned = [&](const std::string& workspace, const std::string& parameters) {
    return warnings_of(
        parse_pools("workspace_pools: [" + workspace + "]\nparameter_pools: [" + parameters + "]\n", &memory));
  };
  const std::string of_a_and_b =
      "pools 'a' and 'b': regions 'A' and 'B' of the linker script overlap in 1024 bytes, which are counted for both";
  CHECK(warned("{name: a}, {name: b}", "{name: c}") == std::vector<std::string>{of_a_and_b});
  CHECK(warned("{name: a}, {name: b, size_hint_bytes: 1KiB}", "{name: c}").empty());
  CHECK(warned("{name: a}, {name: same, size_hint_bytes: 'ld:A'}, {name: e}", "{name: c}, {name: d}").empty());
  CHECK(warned("{name: e}, {name: b}", "{name: d}") ==
        std::vector<std::string>{
            "pools 'e' and 'b': regions 'A' and 'B' of the linker script overlap in 1024 bytes, which are counted for "
            "both",
            "pools 'b' and 'd': regions 'B' and 'D' of the linker script overlap in 1024 bytes, which are counted for "
            "both"});
  CHECK(pools_of_regions(memory).notes ==
        std::vector<std::string>{
            "regions A and B overlap in 1024 bytes, which their pools count both: keep one of the pools",
            "regions B and D overlap in 1024 bytes, which their pools count both: keep one of the pools"});
}

TEST_CASE("regions that are not there") {
  const auto memory = parse_memory("MEMORY { DTCM : o = 0, l = 1K  RAM : o = 1M, l = 256K }");
  const std::string named = "workspace_pools:\n  - {name: p, size_hint_bytes: ld:DTMC}\n";
  CHECK(fault_of_pools(named, &memory) ==
        "line 2, column 32: size_hint_bytes names region 'DTMC', which the linker script does not have (did you mean "
        "'DTCM'?): expected one of DTCM, RAM");
  CHECK(fault_of_pools(named, nullptr) ==
        "line 2, column 32: size_hint_bytes is 'ld:DTMC', the size of a region of a linker script: expected --memory "
        "with the script");
  CHECK(
      fault_of_pools("workspace_pools:\n  - name: p\n", &memory) ==
      "line 1, column 1: no pool takes its size from the linker script: expected a pool with the name of a region, or "
      "size_hint_bytes: ld:REGION; the regions are DTCM, RAM");
  CHECK(
      fault_of_pools("workspace_pools:\n  - {name: dtcm, pool_offset: 1KiB}\n", &memory).find("which leaves nothing") !=
      std::string::npos);
}

}  // namespace usmp::config::memory_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// tvmgen_M.h and M_lib0.c: their text, that they compile, and that the compiled code does what the interface says. The
// entry function, which M_lib1.c would define, is written by hand here.
#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "codegen/c_compiler.hpp"
#include "codegen/planned_module.hpp"
#include "usmp/support/crc32.hpp"

namespace usmp::codegen::testing::interface_files_test {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// in → x (in sram) → out, with a constant of four floats and one of three int8.
struct Network {
  ModuleBuilder builder;
  model::Description info = info_of("net", {{"in.1", "int8", 8}}, {{"out", "int8", 8}});

  Network() {
    const auto in = builder.pointer("in_1");
    const auto out = builder.pointer("output");
    const auto x = builder.pointer("x");
    const auto w = builder.pointer("w", float32_type);
    const auto v = builder.pointer("v");
    tir::Stmt weights = builder.constant(w, std::string("\0\0\x80\x3f\0\0\0\xc0\xcd\xcc\xcc\x3d\0\0\x20\x41", 16));
    std::get<tir::AllocateConst>(weights.node).type = float32_type;
    tir::Constant floats = *std::get<tir::AllocateConst>(weights.node).data;
    floats.type = float32_type;
    floats.shape = {4};
    std::get<tir::AllocateConst>(weights.node).data = std::make_shared<const tir::Constant>(floats);
    builder.entry({in, out}, block(std::move(weights), builder.constant(v, std::string("\x05\xff\x80", 3)),
                                   builder.allocate(x, 8), builder.copy(x, in),
                                   ModuleBuilder::store(out, 0, tir::make_cast(int8_type, builder.load(w, 0))),
                                   builder.copy(x, v), builder.copy(out, x)));
  }
};

config::PoolsConfig pools(bool internal_workspace, bool internal_parameters) {
  config::PoolsConfig result;
  result.workspace_pools = {pool("sram", PoolKind::workspace, internal_workspace, 32),
                            pool("dram", PoolKind::workspace)};
  result.parameter_pools = {pool("flash", PoolKind::constant, internal_parameters, 64)};
  return result;
}

const std::map<std::string, Allocation> places = {{"x", {PoolId(0), 32}},
                                                  {"v", {PoolId(2), 0}},
                                                  {"w", {PoolId(2), 16}},
                                                  {"in_1", {PoolId(0), 64}},
                                                  {"output", {PoolId(0), 0}}};

// A test program's head and the checks it makes.
constexpr const char* program_head = R"(
#include "metadata.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#define CHECK(condition) if (!(condition)) { printf("line %d: %s\n", __LINE__, #condition); failures++; }
)";

// A header or M_lib0.c, without what belongs to tvmgen_M_check_constants.
std::string without_check(std::string text) {
  const auto cut = [&](const std::string& from, const std::string& to) {
    const std::size_t begin = text.find(from);
    if (begin != std::string::npos) text.erase(begin, text.find(to, begin) + to.size() - begin);
  };
  cut("/*!\n * \\brief Compares", ";\n\n");
  cut("/*! \\brief CRC-32", "_CRC32 ");
  if (const std::size_t crc = text.find("0x"); crc != std::string::npos && text.starts_with("/* Interface"))
    text.erase(crc, 11);
  cut("/* CRC-32", "  return ~crc;\n}\n\n");
  cut("int32_t tvmgen_net_check_constants", "}\n\n");
  return text;
}

TEST_CASE("the header, with every kind of pool outside") {
  Network net;
  const Planned planned(net.info, net.builder, pools(false, false), places);
  CHECK(planned.header() == R"(/* Interface of module "net". Written by usmp-plan; do not edit. */
/* It may be used without conditions; text copied from the archive keeps its own licence. */
#ifndef TVMGEN_NET_H_
#define TVMGEN_NET_H_
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*! \brief Bytes of input "in.1". */
#define TVMGEN_NET_IN_1_SIZE 8
/*! \brief Bytes of output "out". */
#define TVMGEN_NET_OUT_SIZE 8

/*! \brief Addresses of the inputs. */
struct tvmgen_net_inputs {
  void* in_1;
};

/*! \brief Addresses of the outputs. */
struct tvmgen_net_outputs {
  void* out;
};

/*! \brief Addresses of the memory pools that the application provides. */
struct tvmgen_net_workspace_pools {
  void* dram;
  const void* flash;
  void* sram;
};

/*!
 * \brief Runs the model once.
 * \param inputs The inputs, which are not modified.
 * \param outputs The outputs.
 * \param workspace_pools The memory pools, of the sizes and alignments below.
 * \return 0, or -1 if a pool in use is missing or misaligned or an operator failed.
 */
int32_t tvmgen_net_run(
    struct tvmgen_net_inputs* inputs,
    struct tvmgen_net_outputs* outputs,
    struct tvmgen_net_workspace_pools* workspace_pools);

/*! \brief Bytes in use in all workspace pools together. */
#define TVMGEN_NET_WORKSPACE_SIZE 40
/*! \brief Bytes in use in workspace pool "sram". */
#define TVMGEN_NET_SRAM_WORKSPACE_POOL_SIZE 40
/*! \brief Bytes of an array for workspace pool "sram": at least 1, which C asks for. */
#define TVMGEN_NET_SRAM_WORKSPACE_POOL_ARRAY_SIZE 40
/*! \brief Required alignment of workspace pool "sram", in bytes. */
#define TVMGEN_NET_SRAM_WORKSPACE_POOL_ALIGNMENT 32
/*! \brief Bytes in use in workspace pool "dram". */
#define TVMGEN_NET_DRAM_WORKSPACE_POOL_SIZE 0
/*! \brief Bytes of an array for workspace pool "dram": at least 1, which C asks for. */
#define TVMGEN_NET_DRAM_WORKSPACE_POOL_ARRAY_SIZE 1
/*! \brief Required alignment of workspace pool "dram", in bytes. */
#define TVMGEN_NET_DRAM_WORKSPACE_POOL_ALIGNMENT 1
/*! \brief Bytes in use in parameter pool "flash". */
#define TVMGEN_NET_FLASH_CONSTANT_POOL_SIZE 32
/*! \brief Required alignment of parameter pool "flash", in bytes. */
#define TVMGEN_NET_FLASH_CONSTANT_POOL_ALIGNMENT 64

#ifdef __cplusplus
}
#endif

#endif /* TVMGEN_NET_H_ */
)");
  CHECK(planned.constants() == R"(/* Constants of module "net". Written by usmp-plan; do not edit. */
/* It may be used without conditions; text copied from the archive keeps its own licence. */
#ifndef TVMGEN_NET_CONSTANTS_H_
#define TVMGEN_NET_CONSTANTS_H_

/*! \brief Contents of parameter pool "flash": initialiser of a uint8_t array. */
#define TVMGEN_NET_FLASH_CONSTANT_POOL_DATA \
  0x05,0xff,0x80,0x00,0x00,0x00,0x00,0x00,0x00,0x00,0x00,0x00,0x00,0x00,0x00,0x00,0x00,0x00,0x80,0x3f,\
  0x00,0x00,0x00,0xc0,0xcd,0xcc,0xcc,0x3d,0x00,0x00,0x20,0x41

#endif /* TVMGEN_NET_CONSTANTS_H_ */
)");
}

TEST_CASE("constants as a binary file: the bytes of the macro, and assembler that includes them") {
  Network net;
  const Planned with_macro(net.info, net.builder, pools(true, false), places);
  config::PoolsConfig binary = pools(true, false);
  binary.parameter_pools[0].is_binary = true;
  binary.parameter_pools[0].section = ".qspi";
  const Planned planned(net.info, net.builder, binary, places);
  std::map<std::string, std::string> files;
  for (const OutputFile& file : module_files(planned.view())) files[file.path] = text_of(file.write);
  CHECK(files.size() == 6);
  CHECK(files["codegen/host/src/net_flash.bin"] ==
        std::string("\x05\xff\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\0\xc0\xcd\xcc\xcc\x3d\0\0\x20\x41", 32));
  CHECK(files["codegen/host/src/net_flash.S"] ==
        R"(/* Parameter pool "flash" of module "net". Written by usmp-plan; do not edit.
   It may be used without conditions; text copied from the archive keeps its own licence.
   For GNU as or clang, ELF. The directory of net_flash.bin has to be an include path: -IDIRECTORY. */
  .section ".qspi", "a", %progbits
  .balign 64
  .global tvmgen_net_flash_pool
  .type tvmgen_net_flash_pool, %object
tvmgen_net_flash_pool:
  .incbin "net_flash.bin"
  .size tvmgen_net_flash_pool, . - tvmgen_net_flash_pool
#if defined(__linux__) && defined(__ELF__)
  .section .note.GNU-stack, "", %progbits
#endif
)");
  const std::string header = files["codegen/host/include/tvmgen_net.constants.h"];
  CHECK(contains(header, "#include <stdint.h>\n"));
  CHECK(contains(header, "const uint8_t tvmgen_net_flash_pool[32];\n"));
  CHECK_FALSE(contains(header, "POOL_DATA"));
  CHECK(planned.header() != with_macro.header());
  CHECK(without_check(planned.header()) == with_macro.header());
  CHECK(without_check(planned.entry()) == with_macro.entry());
  binary.parameter_pools[0].section.clear();
  binary.parameter_pools[0].address = 0x90000000;
  const Planned placed(net.info, net.builder, binary, places);
  files.clear();
  for (const OutputFile& file : module_files(placed.view())) files[file.path] = text_of(file.write);
  CHECK(files.size() == 4);
  CHECK(files.contains("codegen/host/src/net_flash.bin"));
  CHECK(contains(placed.header(),
                 "#define TVMGEN_NET_FLASH_CONSTANT_POOL_ADDRESS ((const void*)(uintptr_t)0x90000000)\n"));
  CHECK_FALSE(contains(planned.header(), "_ADDRESS"));
}

TEST_CASE("constants as a binary file: what is in memory is compared with the file's CRC-32") {
  Network net;
  config::PoolsConfig binary = pools(true, false);
  binary.parameter_pools[0].is_binary = true;
  const Planned planned(net.info, net.builder, binary, places);
  const std::string crc = hex_text(crc_of_contents(planned.view(), planned.layout(), PoolId(2)));
  CHECK(contains(planned.header(), "#define TVMGEN_NET_FLASH_CONSTANT_POOL_CRC32 " + crc + "\n"));
  const CompilerSandbox sandbox;
  for (const OutputFile& file : module_files(planned.view()))
    sandbox.add(file.path.substr(file.path.rfind('/') + 1), text_of(file.write));
  sandbox.add("metadata.h", "#include \"tvmgen_net.h\"\n");
  sandbox.expect_clean("net_lib0.c");
  sandbox.add("main.c", std::string(program_head) + R"(
int main(void) {
  int failures = 0;
  static uint8_t flash[] = {5, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                            0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0, 0xcd, 0xcc, 0xcc, 0x3d, 0, 0, 0x20, 0x41};
  CHECK(tvmgen_net_check_constants(flash) == 0);
  CHECK(tvmgen_net_check_constants(NULL) == -1);
  for (size_t i = 0; i < sizeof flash; ++i) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      flash[i] ^= (uint8_t)(1u << bit);
      CHECK(tvmgen_net_check_constants(flash) == -1);
      flash[i] ^= (uint8_t)(1u << bit);
    }
  }
  CHECK(tvmgen_net_check_constants(flash) == 0);
  return failures;
}
)");
  const auto outcome = sandbox.build_and_run("net_lib0.c net_lib1.c main.c");
  CHECK_MESSAGE(outcome.status == 0, outcome.output);
  ModuleBuilder b;
  b.entry({}, {});
  CHECK_FALSE(contains(Planned(info_of("net", {}, {}), b, binary, {}).header(), "check_constants"));
}

TEST_CASE("M_memory.ld and the table of files: contents that a programmer writes") {
  Network net;
  config::PoolsConfig spec = pools(true, false);
  spec.parameter_pools[0].is_binary = true;
  spec.parameter_pools[0].address = 0x90000000;
  const auto script = [&](Bytes second_address) {
    const Planned first(net.info, net.builder, spec, places);
    config::PoolsConfig other = spec;
    other.parameter_pools[0].address = second_address;
    Network net2;
    net2.info.name = "two";
    const Planned second(net2.info, net2.builder, other, places);
    return text_of(memory_script({first.view(), second.view()}).write) +
           text_of(flash_table({first.view(), second.view()})->write);
  };
  const std::string symbols = script(0x90000040);
  CHECK(contains(symbols, "\nusmp_flash_start = 0x90000000;\nusmp_flash_end = 0x90000060;\n"));
  CHECK_FALSE(contains(symbols, "usmp-plan: pool flash"));
  const std::string crc = hex_text(crc32(
      std::string("\x05\xff\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\0\xc0\xcd\xcc\xcc\x3d\0\0\x20\x41", 32)));
  CHECK(contains(symbols, "file,address,bytes,crc32\nsrc/net_flash.bin,0x90000000,32," + crc +
                              "\nsrc/two_flash.bin,0x90000040,32," + crc + "\n"));
  spec.parameter_pools[0].region = "QSPI";
  CHECK(contains(script(0x90000040),
                 "\n.usmp_flash 0x90000000 (NOLOAD) :\n{\n  usmp_flash_start = .;\n  . += 96;\n  usmp_flash_end = "
                 ".;\n} > QSPI\n"));
  spec.parameter_pools[0].address.reset();
  const Planned linked(net.info, net.builder, spec, places);
  CHECK_FALSE(flash_table({linked.view()}));
  CHECK(contains(text_of(memory_script({linked.view()}).write), "  KEEP(*(.rodata.flash))\n"));
}

TEST_CASE("constants as a binary file: gaps of pages are zeros, and an empty pool is a byte") {
  Network net;
  config::PoolsConfig binary = pools(true, false);
  binary.parameter_pools[0].is_binary = true;
  std::map<std::string, Allocation> apart = places;
  apart["w"].offset = 10000;
  const Planned planned(net.info, net.builder, binary, apart);
  const auto contents = [](const Planned& module) {
    return text_of([&](TextSink& sink) { write_binary(module.view(), module.layout(), PoolId(2), sink); });
  };
  const std::string bytes = contents(planned);
  REQUIRE(bytes.size() == 10016);
  CHECK(bytes.substr(0, 3) == "\x05\xff\x80");
  CHECK(bytes.substr(3, 9997) == std::string(9997, '\0'));
  CHECK(bytes.substr(10000, 4) == std::string("\0\0\x80\x3f", 4));
  ModuleBuilder b;
  b.entry({}, {});
  CHECK(contents(Planned(info_of("net", {}, {}), b, binary, {})) == std::string(1, '\0'));
}

TEST_CASE("constants have a header of their own only where the application provides a pool for them") {
  Network net;
  CHECK(Planned(net.info, net.builder, pools(true, false), places).constants() != "");
  CHECK(Planned(net.info, net.builder, pools(false, true), places).constants() == "");
  CHECK(constants_header_path("My-Net") == "codegen/host/include/tvmgen_my_net.constants.h");
}

TEST_CASE("an entry with another name: the old one is the firmware's") {
  Network net;
  const Planned planned(net.info, net.builder, pools(true, true), places);
  EmissionInput input = planned.view();
  input.renames_entry = true;
  const CompilerSandbox sandbox;
  for (const OutputFile& file : module_files(input))
    sandbox.add(file.path.substr(file.path.rfind('/') + 1), text_of(file.write));
  sandbox.add("metadata.h", "#include \"tvmgen_net.h\"\n");
  sandbox.expect_clean("net_lib0.c");
  sandbox.add("main.c", std::string(program_head) + R"(
int32_t tvmgen_net___tvm_main__(void);
int32_t tvmgen_net___tvm_main__(void) { return 7; }
int main(void) {
  int failures = 0;
  int8_t in[TVMGEN_NET_IN_1_SIZE] = {0};
  int8_t out[TVMGEN_NET_OUT_SIZE];
  struct tvmgen_net_inputs inputs = {in};
  struct tvmgen_net_outputs outputs = {out};
  struct tvmgen_net_workspace_pools dram = {NULL};
  CHECK(tvmgen_net_run(&inputs, &outputs, &dram) == 0);
  CHECK(tvmgen_net___tvm_main__() == 7);
  return failures;
}
)");
  const auto outcome = sandbox.build_and_run("net_lib0.c net_lib1.c main.c");
  CHECK_MESSAGE(outcome.status == 0, outcome.output);
}

TEST_CASE("external pools: run checks their addresses and hands them on") {
  Network net;
  const Planned planned(net.info, net.builder, pools(false, false), places);
  const CompilerSandbox sandbox;
  sandbox.add("tvmgen_net.h", planned.header());
  sandbox.add("net_lib0.c", planned.entry());
  sandbox.expect_clean("net_lib0.c");
  sandbox.add("metadata.h", "#include \"tvmgen_net.h\"\n#include \"tvmgen_net.constants.h\"\n");
  sandbox.add("tvmgen_net.constants.h", planned.constants());
  sandbox.add("main.c", std::string(program_head) + R"(
static const void* seen[4];
int32_t tvmgen_net___tvm_main__(const int8_t* in, int8_t* out, uint8_t* sram, const uint8_t* flash);
int32_t tvmgen_net___tvm_main__(const int8_t* in, int8_t* out, uint8_t* sram, const uint8_t* flash) {
  seen[0] = in; seen[1] = out; seen[2] = sram; seen[3] = flash;
  return 7;
}
int main(void) {
  int failures = 0;
  static __attribute__((aligned(64))) uint8_t sram[TVMGEN_NET_SRAM_WORKSPACE_POOL_SIZE + 64];
  static const __attribute__((aligned(64))) uint8_t flash[] = {TVMGEN_NET_FLASH_CONSTANT_POOL_DATA};
  static __attribute__((aligned(64))) uint8_t other[256];
  int8_t in[TVMGEN_NET_IN_1_SIZE];
  int8_t out[TVMGEN_NET_OUT_SIZE];
  struct tvmgen_net_inputs inputs = {in};
  struct tvmgen_net_outputs outputs = {out};
  struct tvmgen_net_workspace_pools pools = {NULL, flash, sram};
  CHECK(sizeof(flash) == TVMGEN_NET_FLASH_CONSTANT_POOL_SIZE);
  CHECK(tvmgen_net_run(&inputs, &outputs, &pools) == 7);
  CHECK(seen[0] == in && seen[1] == out && seen[2] == sram && seen[3] == flash);
  seen[0] = NULL;
  pools.sram = sram + 16;
  CHECK(tvmgen_net_run(&inputs, &outputs, &pools) == -1);
  pools.sram = sram + 32;
  CHECK(tvmgen_net_run(&inputs, &outputs, &pools) == 7);
  pools.sram = NULL;
  CHECK(tvmgen_net_run(&inputs, &outputs, &pools) == -1);
  pools.sram = sram;
  pools.flash = other + 32;
  CHECK(tvmgen_net_run(&inputs, &outputs, &pools) == -1);
  pools.flash = other + 64;
  CHECK(tvmgen_net_run(&inputs, &outputs, &pools) == 7);
  CHECK(tvmgen_net_run(&inputs, &outputs, NULL) == -1);
  return failures;
}
)");
  const auto outcome = sandbox.build_and_run("net_lib0.c main.c");
  CHECK_MESSAGE(outcome.status == 0, outcome.output);
}

TEST_CASE("internal pools: arrays in their sections, constants typed at their offsets, gaps zero") {
  Network net;
  config::PoolsConfig spec = pools(true, true);
  spec.workspace_pools[0].section = ".sr\"am\\";
  spec.workspace_pools.pop_back();
  std::map<std::string, Allocation> moved = places;
  moved["v"].pool = PoolId(1);
  moved["w"].pool = PoolId(1);
  SUBCASE("text") {
    const Planned planned(net.info, net.builder, spec, moved);
    const std::string entry = planned.entry();
    CHECK(contains(entry, R"(USMP_ALIGNED(32) USMP_SECTION(".sr\"am\\") static uint8_t tvmgen_net_sram_pool[40];)"));
    CHECK(contains(entry, R"(struct tvmgen_net_flash_pool_layout {
  int8_t at_0[3]; /* v of tvmgen_net___tvm_main__ */
  uint8_t gap_3[13];
  float at_16[4]; /* w of tvmgen_net___tvm_main__ */
};
)"));
    CHECK(contains(entry, R"(USMP_ALIGNED(64) static const struct tvmgen_net_flash_pool_layout tvmgen_net_flash_pool = {
  {
    5,-1,-128
  },
  {0},
  {
    1.0f,-2.0f,0.1f,10.0f
  },
};
)"));
    const std::string header = planned.header();
    CHECK(!contains(header, "workspace_pools"));
    CHECK(!contains(header, "_DATA"));
    CHECK(contains(header, "#define TVMGEN_NET_FLASH_CONSTANT_POOL_SIZE 32\n"));
  }
  SUBCASE("compiled and run") {
    spec.workspace_pools[0].section = ".sram";
    const Planned planned(net.info, net.builder, spec, moved);
    const CompilerSandbox sandbox;
    sandbox.add("tvmgen_net.h", planned.header());
    sandbox.add("net_lib0.c", planned.entry());
    sandbox.expect_clean("net_lib0.c");
    sandbox.add("metadata.h", "#include \"tvmgen_net.h\"\n");
    sandbox.add("main.c", std::string(program_head) + R"(
int32_t tvmgen_net___tvm_main__(const int8_t* in, int8_t* out, uint8_t* sram, const uint8_t* flash);
int32_t tvmgen_net___tvm_main__(const int8_t* in, int8_t* out, uint8_t* sram, const uint8_t* flash) {
  (void)in;
  memset(sram, 1, TVMGEN_NET_SRAM_WORKSPACE_POOL_SIZE);
  memcpy(out, flash, TVMGEN_NET_FLASH_CONSTANT_POOL_SIZE);
  return (uintptr_t)sram % 32 == 0 && (uintptr_t)flash % 64 == 0 ? 0 : 1;
}
int main(void) {
  int failures = 0;
  static const uint8_t expected[] = {5, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                     0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0, 0xcd, 0xcc, 0xcc, 0x3d, 0, 0, 0x20, 0x41};
  uint8_t out[32];
  struct tvmgen_net_inputs inputs = {NULL};
  struct tvmgen_net_outputs outputs = {out};
  CHECK(tvmgen_net_run(&inputs, &outputs) == 0);
  CHECK(memcmp(out, expected, sizeof(expected)) == 0);
  return failures;
}
)");
    const auto outcome = sandbox.build_and_run("net_lib0.c main.c");
    CHECK_MESSAGE(outcome.status == 0, outcome.output);
  }
}

TEST_CASE("workspace_io: map functions say where inputs and outputs are") {
  Network net;
  config::PoolsConfig spec = pools(false, false);
  std::map<std::string, Allocation> io_places = places;
  SUBCASE("in external pools") {
    const Planned planned(net.info, net.builder, spec, io_places, true);
    const CompilerSandbox sandbox;
    sandbox.add("tvmgen_net.h", planned.header());
    sandbox.add("net_lib0.c", planned.entry());
    sandbox.expect_clean("net_lib0.c");
    sandbox.add("metadata.h", "#include \"tvmgen_net.h\"\n");
    sandbox.add("main.c", std::string(program_head) + R"(
int32_t tvmgen_net___tvm_main__(uint8_t* sram, const uint8_t* flash);
int32_t tvmgen_net___tvm_main__(uint8_t* sram, const uint8_t* flash) { return sram[0] + flash[0]; }
int main(void) {
  int failures = 0;
  static __attribute__((aligned(64))) uint8_t sram[TVMGEN_NET_SRAM_WORKSPACE_POOL_SIZE];
  static __attribute__((aligned(64))) uint8_t flash[TVMGEN_NET_FLASH_CONSTANT_POOL_SIZE];
  struct tvmgen_net_workspace_pools pools = {NULL, flash, sram};
  struct tvmgen_net_inputs inputs = tvmgen_net_map_inputs(&pools);
  struct tvmgen_net_outputs outputs = tvmgen_net_map_outputs(&pools);
  CHECK(inputs.in_1 == sram + 64);
  CHECK(outputs.out == sram);
  CHECK(sizeof(sram) == 72);
  sram[0] = 3;
  flash[0] = 4;
  CHECK(tvmgen_net_run(&pools) == 7);
  return failures;
}
)");
    const auto outcome = sandbox.build_and_run("net_lib0.c main.c");
    CHECK_MESSAGE(outcome.status == 0, outcome.output);
  }
  SUBCASE("in internal pools, beside an external one") {
    spec.workspace_pools[0].internal = true;
    const Planned planned(net.info, net.builder, spec, io_places, true);
    CHECK(contains(planned.entry(), "  (void)workspace_pools;\n  inputs.in_1 = tvmgen_net_sram_pool + 64;\n"));
    const CompilerSandbox sandbox;
    sandbox.add("tvmgen_net.h", planned.header());
    sandbox.add("net_lib0.c", planned.entry());
    sandbox.expect_clean("net_lib0.c");
  }
  SUBCASE("without any external pool the functions take nothing") {
    spec.workspace_pools = {pool("sram", PoolKind::workspace, true)};
    spec.parameter_pools.clear();
    const Planned planned(net.info, net.builder, spec, io_places, true);
    CHECK(contains(planned.header(), "struct tvmgen_net_inputs tvmgen_net_map_inputs(void);\n"));
    CHECK(contains(planned.header(), "int32_t tvmgen_net_run(void);\n"));
    const CompilerSandbox sandbox;
    sandbox.add("tvmgen_net.h", planned.header());
    sandbox.add("net_lib0.c", planned.entry());
    sandbox.expect_clean("net_lib0.c");
  }
  SUBCASE("a tensor of unknown size cannot be placed") {
    Planned planned(net.info, net.builder, spec, io_places, true);
    planned.table.storages[0].kind = BufferKind::tensor;  // as if the input had not been planned
    CHECK_THROWS_WITH_AS((void)planned.layout(),
                         "workspace_io: the size of input 'in.1' is not known, so it cannot be placed in a pool",
                         Error);
  }
}

// The layout of TVM's types is repeated by hand: no TVM header is needed to call the entry point.
constexpr const char* tvm_types = R"(
typedef struct { int device_type; int device_id; } DLDevice;
typedef struct { uint8_t code; uint8_t bits; uint16_t lanes; } DLDataType;
typedef struct { void* data; DLDevice device; int ndim; DLDataType dtype; int64_t* shape; int64_t* strides;
                 uint64_t byte_offset; } DLTensor;
typedef union { int64_t v_int64; double v_float64; void* v_handle; const char* v_str; } TVMValue;
)";

TEST_CASE("packed interface: tensors and pools arrive as TVM passes them") {
  Network net;
  net.info.packed_interface = true;
  const Planned planned(net.info, net.builder, pools(false, false), places);
  CHECK(!contains(planned.header(), "struct"));
  const CompilerSandbox sandbox;
  sandbox.add("tvmgen_net.h", planned.header());
  sandbox.add("net_lib0.c", planned.entry());
  sandbox.expect_clean("net_lib0.c");
  sandbox.add("metadata.h", "#include \"tvmgen_net.h\"\n");
  sandbox.add("main.c", std::string(program_head) + tvm_types + R"(
static const void* seen[4];
int32_t tvmgen_net___tvm_main__(const int8_t* in, int8_t* out, uint8_t* sram, const uint8_t* flash);
int32_t tvmgen_net___tvm_main__(const int8_t* in, int8_t* out, uint8_t* sram, const uint8_t* flash) {
  seen[0] = in; seen[1] = out; seen[2] = sram; seen[3] = flash;
  return 7;
}
int main(void) {
  int failures = 0;
  static __attribute__((aligned(64))) uint8_t sram[128];
  static __attribute__((aligned(64))) uint8_t flash[128];
  int8_t in[16];
  int8_t out[8];
  DLTensor tensors[2];
  TVMValue values[5];
  int codes[5] = {7, 7, 3, 3, 3};
  memset(tensors, 0, sizeof(tensors));
  tensors[0].data = in;
  tensors[0].byte_offset = 8;
  tensors[1].data = out;
  values[0].v_handle = &tensors[0];
  values[1].v_handle = &tensors[1];
  values[2].v_handle = NULL; /* dram, unused */
  values[3].v_handle = flash;
  values[4].v_handle = sram;
  CHECK(tvmgen_net_run(values, codes, 5, NULL, NULL, NULL) == 7);
  CHECK(seen[0] == in + 8 && seen[1] == out && seen[2] == sram && seen[3] == flash);
  CHECK(tvmgen_net_run(values, codes, 4, NULL, NULL, NULL) == -1);
  CHECK(tvmgen_net_run(values, codes, 6, NULL, NULL, NULL) == -1);
  CHECK(tvmgen_net_run(NULL, codes, 5, NULL, NULL, NULL) == -1);
  values[4].v_handle = sram + 1;
  CHECK(tvmgen_net_run(values, codes, 5, NULL, NULL, NULL) == -1);
  values[4].v_handle = sram;
  values[0].v_handle = NULL;
  CHECK(tvmgen_net_run(values, codes, 5, NULL, NULL, NULL) == -1);
  values[0].v_handle = &tensors[0];
  tensors[1].data = NULL;
  CHECK(tvmgen_net_run(values, codes, 5, NULL, NULL, NULL) == -1);
  return failures;
}
)");
  const auto outcome = sandbox.build_and_run("net_lib0.c main.c");
  CHECK_MESSAGE(outcome.status == 0, outcome.output);
}

TEST_CASE("packed interface with workspace_io: only pools are passed, maps say where the tensors are") {
  Network net;
  net.info.packed_interface = true;
  for (const bool internal : {false, true}) {
    config::PoolsConfig spec = pools(internal, internal);
    if (internal) spec.workspace_pools[1].internal = true;
    const Planned planned(net.info, net.builder, spec, places, true);
    CHECK(contains(planned.header(), "_map_inputs("));
    CHECK(contains(planned.entry(), internal ? "if (num_args != 0)" : "if (num_args != 3 || values == NULL)"));
    const CompilerSandbox sandbox;
    sandbox.add("tvmgen_net.h", planned.header());
    sandbox.add("net_lib0.c", planned.entry());
    sandbox.expect_clean("net_lib0.c");
  }
}

TEST_CASE("tables for TVM's runtimes: what the application passes, in the order of the arguments") {
  Network net;
  const Planned planned(net.info, net.builder, pools(false, false), places);
  const OutputFile file = runtime_metadata(planned.view());
  CHECK(file.path == "codegen/host/src/net_metadata.c");
  const std::string text = text_of(file.write);
  CHECK(contains(text, "{\"in_1\", inputs_shape_0, 1, {0, 8, 1}},\n"));
  CHECK(contains(text, "{\"sram\", workspace_pools_shape_0, 1, {1, 8, 1}},\n"));  // dram is not in use
  CHECK(contains(text, "workspace_pools_shape_0[1] = {40};\n"));
  CHECK(contains(text, "  {\"v\", 0, 51, constant_0},\n  {\"w\", 16, 64, constant_1},\n"));
  CHECK(contains(text, "constant_1[64] = {\n  0x3f,0xa1,0xb4,0x96,0xf0,0x40,0x5e,0xdd,0x00"));
  CHECK(contains(text, "if (num_args != 4) return -1;\n"));
  CHECK(contains(text, "to_outputs.out = data_of(&args[1]);\n"));
  CHECK(contains(text, "pools.flash = data_of(&args[2]);\n"));
  CHECK(contains(text, "pools.sram = data_of(&args[num_args - 1]);\n"));
  CHECK(contains(text, "pools.dram = NULL;\n"));
  // An array of no constants may stand in front of the workspace.
  const Planned internal(net.info, net.builder, pools(false, true), places);
  CHECK(contains(text_of(runtime_metadata(internal.view()).write), "if (num_args != 3 && num_args != 4) return -1;\n"));
}

TEST_CASE("tables for TVM's runtimes: what they cannot say") {
  Network net;
  const auto refused = [&](const config::PoolsConfig& spec, bool io, const char* message) {
    const Planned planned(net.info, net.builder, spec, places, io);
    CHECK_THROWS_WITH_AS((void)runtime_metadata(planned.view()), message, Error);
  };
  refused(pools(true, true), true,
          "TVM's runtimes pass inputs and outputs as arguments, but workspace_io puts them into pools: expected no "
          "workspace_io, or --emit-metadata=info");
  refused(pools(true, false), false,
          "TVM's runtime provides constants only along with workspace, but parameter pool 'flash' alone is the "
          "application's: expected emit: array for it, or workspace in use that is the application's, too");
}

TEST_CASE("tvmgen_M_info: tensors, pools and constants with their places") {
  Network net;
  const Planned planned(net.info, net.builder, pools(true, false), places, true);
  std::map<std::string, std::string> files;
  for (const OutputFile& file : info_files(planned.view())) files[file.path] = text_of(file.write);
  REQUIRE(files.size() == 3);
  const std::string& text = files["codegen/host/src/net_info.c"];
  CHECK(contains(text, "  {\"sram\", 72, 32, 0, 1},\n  {\"dram\", 0, 1, 0, 0},\n  {\"flash\", 32, 64, 1, 0},\n"));
  CHECK(contains(text, "{\"in_1\", \"int8\", inputs_shape_0, 1, 8, &pools[0], 64},\n"));
  CHECK(contains(text, "{\"v\", \"int8\", constants_shape_0, 1, 3, &pools[2], 0},\n"));
  CHECK(contains(text, "{\"w\", \"float32\", constants_shape_1, 1, 16, &pools[2], 16},\n"));
  CHECK(contains(text, "  \"net\",\n  inputs, 1,\n  outputs, 1,\n  pools, 3,\n  constants, 2,\n  72};\n"));
  const CompilerSandbox sandbox;
  sandbox.add("usmp_info.h", files[info_types_path]);
  sandbox.add("tvmgen_net.info.h", files["codegen/host/include/tvmgen_net.info.h"]);
  sandbox.add("net_info.c", text);
  sandbox.expect_clean("net_info.c");
  // A module without anything.
  ModuleBuilder b;
  b.entry({}, {});
  const Planned empty(info_of("net", {}, {}), b, {}, {});
  sandbox.add("empty_info.c", text_of(info_files(empty.view()).at(2).write));
  sandbox.expect_clean("empty_info.c");
}

TEST_CASE("a module without any pool, tensor or use compiles") {
  ModuleBuilder b;
  b.entry({}, {});
  for (const bool packed : {false, true}) {
    model::Description info = info_of("net", {}, {});
    info.packed_interface = packed;
    const Planned planned(info, b, pools(false, true), {});
    const CompilerSandbox sandbox;
    sandbox.add("tvmgen_net.h", planned.header());
    sandbox.add("net_lib0.c", planned.entry());
    sandbox.expect_clean("net_lib0.c");
    CHECK(contains(planned.header(), "#define TVMGEN_NET_WORKSPACE_SIZE 0\n"));
    sandbox.add("use.c", "#include \"tvmgen_net.h\"\nextern const uint8_t unused[];\nextern void* const unused_2;\n");
    sandbox.expect_clean("use.c");
  }
}

TEST_CASE("an external parameter pool without constants still has an initialiser") {
  ModuleBuilder b;
  b.entry({}, {});
  const Planned planned(info_of("net", {}, {}), b, pools(false, false), {});
  CHECK(contains(planned.header(), "FLASH_CONSTANT_POOL_SIZE 0\n"));
  CHECK(contains(planned.constants(), "FLASH_CONSTANT_POOL_DATA \\\n  0x00\n"));
}

TEST_CASE("device contexts are passed on, in TVM's order") {
  ModuleBuilder b;
  const auto in = b.pointer("in");
  const auto out = b.pointer("output");
  const auto device = b.pointer("device_context_npu", tir::void_type);
  b.entry({in, out, device}, block(b.copy(out, in)));
  tir::Param& param = b.module().functions[0].params[2];
  param.is_tensor = false;
  const Planned planned(info_of("net", {{"in", "", {}}}, {{"out", "", {}}}), b, pools(false, false), {});
  CHECK(contains(planned.header(), "struct tvmgen_net_devices {\n  void* npu;\n};\n"));
  CHECK(contains(planned.header(), R"(int32_t tvmgen_net_run(
    struct tvmgen_net_inputs* inputs,
    struct tvmgen_net_outputs* outputs,
    struct tvmgen_net_workspace_pools* workspace_pools,
    struct tvmgen_net_devices* devices);
)"));
  CHECK(contains(planned.entry(), "devices->npu"));
  const CompilerSandbox sandbox;
  sandbox.add("tvmgen_net.h", planned.header());
  sandbox.add("net_lib0.c", planned.entry());
  sandbox.expect_clean("net_lib0.c");
  sandbox.add("metadata.h", "#include \"tvmgen_net.h\"\n");
  sandbox.add("main.c", std::string(program_head) + R"(
static int failures;
static struct { int state; } npu;
static int result, calls;
int32_t tvmgen_net___tvm_main__(uint8_t* in, uint8_t* output, void* device_context_npu);
int32_t tvmgen_net___tvm_main__(uint8_t* in, uint8_t* output, void* device_context_npu) {
  CHECK(device_context_npu == &npu);
  *output = *in;
  ++calls;
  return result;
}
int main(void) {
  static uint8_t in[1] = {7}, out[1];
  struct tvmgen_net_inputs inputs = {.in = in};
  struct tvmgen_net_outputs outputs = {.out = out};
  struct tvmgen_net_workspace_pools pools = {0};
  struct tvmgen_net_devices devices = {.npu = &npu};
  CHECK(tvmgen_net_run(&inputs, &outputs, &pools, &devices) == 0 && out[0] == 7);
  result = -1;
  CHECK(tvmgen_net_run(&inputs, &outputs, &pools, &devices) == -1 && calls == 2);
  return failures;
}
)");
  const auto outcome = sandbox.build_and_run("net_lib0.c main.c");
  CHECK_MESSAGE(outcome.status == 0, outcome.output);

  model::Description packed = planned.info;
  packed.packed_interface = true;
  const Planned refused(packed, b, pools(false, false), {});
  CHECK_THROWS_WITH_AS((void)refused.layout(),
                       "the packed interface has no device contexts, but the entry function takes 'npu'", Error);
}

TEST_CASE("a pool is as aligned as it asks for and as the buffers in it do") {
  for (const auto& [own, expected] : {std::pair(Bytes{4}, "16"), std::pair(Bytes{64}, "64")}) {
    Network net;
    net.builder.module().workspace_alignment = 16;
    config::PoolsConfig spec = pools(false, false);
    spec.workspace_pools[0].alignment = own;
    const Planned planned(net.info, net.builder, spec, places);
    CHECK(contains(planned.header(), std::string("TVMGEN_NET_SRAM_WORKSPACE_POOL_ALIGNMENT ") + expected + "\n"));
    CHECK(contains(planned.entry(), std::string("(workspace_pools->sram, ") + expected + "U)"));
  }
}

TEST_CASE("an internal pool that only an untouched input lies in is there for map_inputs") {
  ModuleBuilder b;
  const auto in = b.pointer("in");
  const auto out = b.pointer("output");
  b.entry({in, out}, block(b.set(out)));
  config::PoolsConfig spec = pools(true, true);
  spec.workspace_pools[1].internal = true;
  const Planned planned(info_of("net", {{"in", "", {}}}, {{"out", "", {}}}), b, spec,
                        {{"in", {PoolId(1), 16}}, {"output", {PoolId(0), 0}}}, true);
  const std::string entry = planned.entry();
  CHECK(contains(entry, "tvmgen_net___tvm_main__(uint8_t* sram);\n"));
  CHECK(contains(entry, "static uint8_t tvmgen_net_dram_pool[24];\n"));
  const CompilerSandbox sandbox;
  sandbox.add("tvmgen_net.h", planned.header());
  sandbox.add("net_lib0.c", entry);
  sandbox.expect_clean("net_lib0.c");
}

TEST_CASE("macros never collide") {
  ModuleBuilder b;
  const auto a = b.pointer("workspace");
  const auto c = b.pointer("sram_workspace_pool");
  const auto d = b.pointer("X");
  const auto e = b.pointer("x");
  b.entry({a, c, d, e}, block(b.copy(e, a)));
  config::PoolsConfig spec = pools(false, false);
  spec.workspace_pools[1].name = "SRAM";
  const Planned planned(
      info_of("net", {{"workspace", "", {}}, {"sram_workspace_pool", "", {}}, {"X", "", {}}}, {{"x", "", {}}}), b, spec,
      {});
  const std::string header = planned.header();
  CHECK(contains(header, "TVMGEN_NET_WORKSPACE_2_SIZE 8\n"));
  CHECK(contains(header, "TVMGEN_NET_SRAM_WORKSPACE_POOL_2_SIZE 8\n"));
  CHECK(contains(header, "TVMGEN_NET_X_SIZE 8\n"));
  CHECK(contains(header, "TVMGEN_NET_X_2_SIZE 8\n"));
  CHECK(contains(header, "TVMGEN_NET_SRAM_2_WORKSPACE_POOL_SIZE 0\n"));
  const CompilerSandbox sandbox;
  sandbox.add("tvmgen_net.h", header);
  sandbox.add("net_lib0.c", planned.entry());
  sandbox.expect_clean("net_lib0.c");
}

TEST_CASE("names from the archive cannot break out of comments, macros or paths") {
  ModuleBuilder b;
  const auto in = b.pointer("in");
  const auto out = b.pointer("out");
  b.entry({in, out}, block(b.copy(out, in)));
  Planned planned(info_of("My*/Net", {{"in", "", {}}}, {{"o*/\n#error \\", "", {}}}), b, pools(false, true), {});
  planned.lowered.module.functions[planned.lowered.module.entry].name = "f";
  CHECK(module_symbol(planned.info.name) == "tvmgen_my__net");
  const CompilerSandbox sandbox;
  sandbox.add("tvmgen_my__net.h", planned.header());
  sandbox.add("lib0.c", planned.entry());
  sandbox.expect_clean("lib0.c");
  CHECK(contains(planned.header(), "TVMGEN_MY__NET_WORKSPACE_SIZE"));
}

TEST_CASE("module_files gives the files their places") {
  Network net;
  net.info.name = "../Net";
  Planned planned(net.info, net.builder, pools(false, false), places);
  std::vector<std::string> paths;
  for (const OutputFile& file : module_files(planned.view())) paths.push_back(file.path);
  CHECK(paths == std::vector<std::string>{"codegen/host/include/tvmgen____net.h", "codegen/host/src/_.._Net_lib0.c",
                                          "codegen/host/src/_.._Net_lib1.c",
                                          "codegen/host/include/tvmgen____net.constants.h"});
}

TEST_CASE("metadata.h: sizes under the RFC's names, maxima over the modules") {
  Network small;
  Network large;
  large.info.name = "big";
  std::map<std::string, Allocation> far = places;
  far["x"].offset = 320;
  const Planned first(small.info, small.builder, pools(false, false), places);
  config::PoolsConfig wide = pools(false, false);
  wide.workspace_pools[0].alignment = 64;
  const Planned second(large.info, large.builder, wide, far);
  const auto text = [](const std::vector<EmissionInput>& modules) {
    const OutputFile file = metadata_header(modules);
    CHECK(file.path == "codegen/host/include/metadata.h");
    return text_of(file.write);
  };
  CHECK(text({first.view()}) == R"(/* All modules and their pools. Written by usmp-plan; do not edit. */
/* It may be used without conditions; text copied from the archive keeps its own licence. */
#ifndef USMP_METADATA_H_
#define USMP_METADATA_H_

#include "tvmgen_net.h"

/* Bytes in use in each pool. */
#define TVM_NET_SRAM_WORKSPACE_BUFFER_SIZE 40
#define TVM_NET_DRAM_WORKSPACE_BUFFER_SIZE 0
#define TVM_NET_FLASH_PARAMETER_BUFFER_SIZE 32

#endif /* USMP_METADATA_H_ */
)");
  const std::string both = text({first.view(), second.view()});
  CHECK(contains(both, "#include \"tvmgen_net.h\"\n#include \"tvmgen_big.h\"\n"));
  CHECK(contains(both, "#define TVM_BIG_SRAM_WORKSPACE_BUFFER_SIZE 328\n"));
  CHECK(contains(both, "#define TVM_COMMON_SRAM_WORKSPACE_BUFFER_SIZE 328\n"));
  CHECK(contains(both, "#define TVM_COMMON_SRAM_WORKSPACE_BUFFER_ARRAY_SIZE 328\n"));
  CHECK(contains(both, "#define TVM_COMMON_DRAM_WORKSPACE_BUFFER_ARRAY_SIZE 1\n"));
  CHECK(contains(both, "#define TVM_COMMON_SRAM_WORKSPACE_BUFFER_ALIGNMENT 64\n"));
  CHECK(contains(both, "#define TVM_COMMON_FLASH_PARAMETER_BUFFER_SIZE 96\n"));  // each at a multiple of 64
  CHECK(contains(text({second.view(), first.view()}), "#define TVM_COMMON_SRAM_WORKSPACE_BUFFER_SIZE 328\n"));
  const CompilerSandbox sandbox;
  sandbox.add("metadata.h", both);
  sandbox.add("tvmgen_net.h", first.header());
  sandbox.add("tvmgen_big.h", second.header());
  sandbox.add("use.c",
              "#include \"metadata.h\"\n#include \"metadata.h\"\nextern uint8_t "
              "pool[TVM_COMMON_SRAM_WORKSPACE_BUFFER_SIZE];\n");
  sandbox.expect_clean("use.c");
  CHECK_THROWS_WITH_AS((void)text({first.view(), first.view()}),
                       "two modules have the C name 'tvmgen_net', one of them 'net'", Error);
}

TEST_CASE("internal workspace pools of several modules: one array, as large as the largest needs it") {
  Network small;
  Network large;
  large.info.name = "big";
  std::map<std::string, Allocation> far = places;
  far["x"].offset = 320;
  config::PoolsConfig config = pools(true, true);
  config.workspace_pools[0].section = ".bss.fast";
  const Planned first(small.info, small.builder, config, places);
  const Planned second(large.info, large.builder, config, far);
  CHECK_FALSE(shared_pools_file({first.view(), second.view()}));
  std::vector<EmissionInput> modules = {first.view(), second.view()};
  for (EmissionInput& module : modules) module.shares_pools = true;
  const auto file = shared_pools_file(modules);
  REQUIRE(file);
  CHECK(file->path == "codegen/host/src/usmp_pools.c");
  const std::string text = text_of(file->write);
  CHECK(contains(text, R"(/* Workspace pool "sram", as large as tvmgen_big needs it. */
extern uint8_t usmp_sram_pool[328];
USMP_ALIGNED(32) USMP_SECTION(".bss.fast") uint8_t usmp_sram_pool[328];
)"));
  CHECK_FALSE(contains(text, "flash"));
  CHECK_FALSE(contains(text, "dram"));
  const std::string entry = text_of([&](TextSink& sink) { module_parts(modules[0]).entry("", sink); });
  CHECK(contains(entry, "extern uint8_t usmp_sram_pool[];"));
  CHECK_FALSE(contains(entry, "static uint8_t"));
  CHECK(contains(entry, "static const struct tvmgen_net_flash_pool_layout"));
  const CompilerSandbox sandbox;
  sandbox.add("pools.c", text);
  sandbox.expect_clean("pools.c");
}

// in -> keep -> out, where the module keeps `keep`, in a pool of its own.
Planned with_state_pool(const std::string& name, bool internal) {
  ModuleBuilder b;
  const auto in = b.pointer("in");
  const auto out = b.pointer("out");
  const auto keep = b.pointer("keep");
  b.entry({in, out, keep}, block(b.copy(out, keep), b.copy(keep, in)));
  model::Description info = info_of(name, {{"in", "", {}}}, {{"out", "", {}}});
  info.states = {{"keep", "int8", "\x01\x02\x03\x04\x05\x06\x07\x08"}};
  Planned planned(info, b, pools(false, false), {});
  placement::Pool pool;
  pool.name = "backup";
  pool.internal = internal;
  pool.alignment = 16;
  pool.holds_state = true;
  const PoolId id(planned.table.pools.size());
  planned.table.pools.push_back(pool);
  const tir::Function& entry = planned.source.functions[planned.source.entry];
  planned.table.storages.push_back({.name = "keep",
                                    .declarations = {{entry.params[2].var, planned.source.entry}},
                                    .size = 8,
                                    .alignment = 16,
                                    .live = {{0, 1}},
                                    .place = {id, 32}});
  planned.lowered = lower::lower(planned.source, planned.table);
  return planned;
}

TEST_CASE("state in a pool: set by reset, counted apart") {
  for (const bool internal : {false, true}) {
    CAPTURE(internal);
    const Planned planned = with_state_pool("net", internal);
    const Planned other = with_state_pool("other", internal);
    const std::string header = planned.header();
    CHECK(contains(header, "#define TVMGEN_NET_WORKSPACE_SIZE 0\n"));
    CHECK(contains(header, "#define TVMGEN_NET_STATE_SIZE 8\n"));
    CHECK(contains(header, "#define TVMGEN_NET_BACKUP_WORKSPACE_POOL_SIZE 40\n"));
    CHECK(contains(header, internal ? "void tvmgen_net_reset(void);"
                                    : "void tvmgen_net_reset(struct tvmgen_net_workspace_pools* workspace_pools);"));
    CHECK(contains(header, "to be called before the first run"));
    const std::string entry = planned.entry();
    CHECK_FALSE(contains(entry, "usmp_keep[8]"));
    CHECK(contains(entry, internal
                              ? "((int8_t*)(void*)(tvmgen_net_backup_pool + 32))[i] = usmp_keep_first[i];"
                              : "((int8_t*)(void*)((uint8_t*)workspace_pools->backup + 32))[i] = usmp_keep_first[i];"));
    const std::string both = text_of(metadata_header({planned.view(), other.view()}).write);
    CHECK(contains(both, "#define TVM_COMMON_BACKUP_WORKSPACE_BUFFER_SIZE 40\n"));  // their places differ
    CHECK(contains(both, "#define TVM_COMMON_BACKUP_WORKSPACE_BUFFER_ALIGNMENT 16\n"));
    std::vector<EmissionInput> modules = {planned.view(), other.view()};
    for (EmissionInput& module : modules) module.shares_pools = true;
    CHECK(shared_pools_file(modules).has_value() == internal);
    CHECK_THROWS_WITH_AS(
        (void)runtime_metadata(planned.view()),
        "TVM's runtimes do not call tvmgen_net_reset, which state in a pool needs before the first run: "
        "expected no pool with state: true, or --emit-metadata=info",
        Error);
    const CompilerSandbox sandbox;
    sandbox.add("tvmgen_net.h", header);
    sandbox.add("net_lib0.c", entry);
    sandbox.expect_clean("net_lib0.c");
  }
}

TEST_CASE("M_memory.ld: a section for each pool in use, large enough for every module, and assertions") {
  Network small;
  Network large;
  large.info.name = "big";
  std::map<std::string, Allocation> far = places;
  far["x"].offset = 320;
  config::PoolsConfig config = pools(false, true);
  config.workspace_pools[0].section = ".bss.fast";
  config.workspace_pools[0].region = "RAM_D1";
  const Planned first(small.info, small.builder, config, places);
  const Planned second(large.info, large.builder, config, far);
  const auto text = [](const std::vector<EmissionInput>& modules) {
    const OutputFile file = memory_script(modules);
    CHECK(file.path == (modules.size() == 1 ? "codegen/host/net_memory.ld" : "codegen/host/usmp_memory.ld"));
    return text_of(file.write);
  };
  const std::string one = text({first.view()});
  CHECK(one.substr(one.find("\n\n")) == R"(

.usmp_sram (NOLOAD) : ALIGN(32)
{
  usmp_sram_start = .;
  *(.bss.fast)
  usmp_sram_end = .;
} > RAM_D1
ASSERT(SIZEOF(.usmp_sram) >= 40, "usmp-plan: pool sram has fewer than its 40 bytes: its array belongs in section .bss.fast, which no output section above may take")
ASSERT(SIZEOF(.usmp_sram) <= LENGTH(RAM_D1), "usmp-plan: pool sram is larger than region RAM_D1")

.usmp_flash : ALIGN(64)
{
  usmp_flash_start = .;
  *(.rodata.flash)
  usmp_flash_end = .;
} > FLASH
ASSERT(SIZEOF(.usmp_flash) >= 32, "usmp-plan: pool flash has fewer than its 32 bytes: its array belongs in section .rodata.flash, which no output section above may take")
ASSERT(SIZEOF(.usmp_flash) <= LENGTH(FLASH), "usmp-plan: pool flash is larger than region FLASH")
)");
  CHECK(contains(text({first.view(), second.view()}), "SIZEOF(.usmp_sram) >= 328"));
  CHECK(contains(text({second.view(), first.view()}), "SIZEOF(.usmp_sram) >= 328"));
}

}  // namespace
}  // namespace usmp::codegen::testing::interface_files_test

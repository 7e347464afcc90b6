// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The interface of real archives: the names of TVM's own headers, and firmware written for them.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "codegen/c_compiler.hpp"
#include "codegen/planned_module.hpp"
#include "usmp/mlf/archive.hpp"
#include "usmp/mlf/metadata.hpp"
#include "usmp/tir_json/reader.hpp"

namespace usmp::codegen::testing::archives_test {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE_MESSAGE(file.good(), path.string());
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// "void* a;" lines of a struct in one of TVM's headers.
std::vector<std::string> members_of(const std::string& header, const std::string& tag) {
  const std::size_t begin = header.find("struct " + tag + " {");
  std::vector<std::string> members;
  if (begin == std::string::npos) return members;
  const std::string body = header.substr(begin, header.find('}', begin) - begin);
  const std::regex member(R"(void\* (\w+);)");
  for (std::sregex_iterator i(body.begin(), body.end(), member); i != std::sregex_iterator(); ++i) {
    members.push_back((*i)[1]);
  }
  return members;
}

std::vector<std::string> members_of(const std::vector<InterfaceTensor>& tensors) {
  std::vector<std::string> members;
  for (const InterfaceTensor& tensor : tensors) members.push_back(tensor.member);
  return members;
}

// True if the archive has a header to compare with.
bool check_against_header(const fs::path& path) {
  const mlf::Archive archive = mlf::read_archive(path.string());
  bool has_header = false;
  for (const model::Description& info : mlf::read_metadata(archive).modules) {
    const mlf::Member* const tir = archive.find(info.tir_member);
    if (tir == nullptr) continue;  // as TVM writes archives
    const tir::Module module = tir_json::read_module(tir->bytes);
    const Interface interface = interface_of(info, module);
    const std::string symbol = module_symbol(info.name);
    CHECK_MESSAGE(interface.devices.empty(), path.string());
    const mlf::Member* header = archive.find("codegen/host/include/" + symbol + ".h");
    CHECK_MESSAGE(info.packed_interface == (header == nullptr), path.string());
    if (header == nullptr) continue;
    has_header = true;
    CHECK_MESSAGE(members_of(interface.inputs) == members_of(header->bytes, symbol + "_inputs"), path.string());
    CHECK_MESSAGE(members_of(interface.outputs) == members_of(header->bytes, symbol + "_outputs"), path.string());
    std::size_t tensors = 0;
    for (const auto* list : {&interface.inputs, &interface.outputs}) {
      for (const InterfaceTensor& tensor : *list) CHECK_MESSAGE(tensor.size > 0, tensor.name);
      tensors += list->size();
    }
    CHECK(tensors == module.functions[module.entry].params.size());
  }
  return has_header;
}

TEST_CASE("struct members are those of the archive's own header, in its order") {
  for (const char* name : {"ds_cnn", "resnet8", "lstm", "repeated_op", "cast_subtract"}) {
    CHECK(check_against_header(fs::path(USMP_TESTDATA) / (std::string(name) + ".tar")));
  }
}

TEST_CASE("the same over all shared archives") {
  const fs::path shared = fs::path(USMP_SHARED) / "archives";
  if (!fs::exists(shared)) {
    MESSAGE("no shared archives");
    return;
  }
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(shared)) {
    if (entry.path().extension() != ".tar") continue;
    if (check_against_header(entry.path())) ++count;
  }
  CHECK(count >= 25);
}

// All buffers above one another: constants in "flash", the rest in "dtcm" up to its capacity, then in "sram".
class StackedPlan {
 public:
  StackedPlan(const mlf::Archive& archive, const config::PoolsConfig& pools, bool io) {
    const std::vector<model::Description> modules = mlf::read_metadata(archive).modules;
    REQUIRE(modules.size() == 1);
    info_ = modules.front();
    source_ = tir_json::read_module(archive.find(info_.tir_member)->bytes);
    liveness::Options options;
    options.workspace_io = io;
    const liveness::Analysis analysis = liveness::analyse(source_, options);
    const assemble::Assembly assembly = assemble::assemble(source_, analysis, pools);
    const Problem& problem = assembly.problem;
    std::vector<Bytes> ends(problem.pools.size(), 0);
    Plan plan;
    for (const Buffer& buffer : problem.buffers) plan.allocations.push_back(place(problem, buffer, ends));
    placements_ = assemble::placements_of(analysis, assembly, plan);
    lowered_ = lower::lower(source_, placements_);
    io_ = io;
  }

  [[nodiscard]] EmissionInput view() const {
    return {.info = info_, .source = source_, .placements = placements_, .lowered = lowered_, .workspace_io = io_};
  }

 private:
  static Allocation place(const Problem& problem, const Buffer& buffer, std::vector<Bytes>& ends) {
    for (const PoolId pool : buffer.candidates) {
      const Bytes offset = align_up(ends[pool.index()], buffer.alignment);
      const auto capacity = problem.pool(pool).capacity;
      if (capacity && offset + buffer.size > *capacity) continue;
      ends[pool.index()] = offset + buffer.size;
      return {pool, offset};
    }
    return {};
  }

  model::Description info_;
  tir::Module source_;
  placement::Table placements_;
  lower::Lowered lowered_;
  bool io_ = false;
};

// Written against the header that TVM made for resnet8 with pools dtcm, sram, itcm and flash and I/O in the workspace;
// it names nothing that is not in there.
constexpr const char* firmware = R"(
#include <stdio.h>
#include <string.h>
#include <tvmgen_default.constants.h>
#include <tvmgen_default.h>

#define ALIGNED __attribute__((aligned(16)))
static ALIGNED uint8_t dtcm[TVMGEN_DEFAULT_DTCM_WORKSPACE_POOL_SIZE];
static ALIGNED uint8_t sram[TVMGEN_DEFAULT_SRAM_WORKSPACE_POOL_SIZE];
static ALIGNED uint8_t flash[TVMGEN_DEFAULT_FLASH_CONSTANT_POOL_SIZE] = {TVMGEN_DEFAULT_FLASH_CONSTANT_POOL_DATA};
static uint8_t itcm[1];

int main(void) {
  struct tvmgen_default_workspace_pools pools;
  struct tvmgen_default_inputs inputs;
  struct tvmgen_default_outputs outputs;
  if (sizeof(dtcm) + sizeof(sram) != TVMGEN_DEFAULT_WORKSPACE_SIZE) return 2;
  memset(dtcm, 0xa5, sizeof(dtcm));
  memset(sram, 0x5a, sizeof(sram));
  pools.dtcm = dtcm;
  pools.sram = sram;
  pools.flash = flash;
  pools.itcm = itcm;
  inputs = tvmgen_default_map_inputs(&pools);
  outputs = tvmgen_default_map_outputs(&pools);
  if (fread(inputs.input_1, 1, TVMGEN_DEFAULT_INPUT_1_SIZE, stdin) != TVMGEN_DEFAULT_INPUT_1_SIZE) return 3;
  if (tvmgen_default_run(&pools) != 0) return 4;
  return fwrite(outputs.output, 1, TVMGEN_DEFAULT_OUTPUT_SIZE, stdout) == TVMGEN_DEFAULT_OUTPUT_SIZE ? 0 : 5;
}
)";

config::PoolsConfig firmware_pools() {
  config::PoolsConfig pools;
  pools.workspace_pools = {pool("dtcm", PoolKind::workspace), pool("sram", PoolKind::workspace)};
  pools.workspace_pools[0].size_hint = 65536;
  pools.parameter_pools = {pool("itcm", PoolKind::constant), pool("flash", PoolKind::constant)};
  pools.parameter_pools[0].size_hint = 0;
  return pools;
}

TEST_CASE("firmware written for TVM's header runs resnet8 with pools and I/O in the workspace") {
  const fs::path testdata(USMP_TESTDATA);
  const mlf::Archive archive = mlf::read_archive((testdata / "resnet8.tar").string());
  const StackedPlan planned(archive, firmware_pools(), true);
  const CompilerSandbox sandbox;
  for (const OutputFile& file : module_files(planned.view())) {
    sandbox.add(fs::path(file.path).filename().string(), text_of(file.write));
  }
  sandbox.expect_clean("default_lib0.c");
  sandbox.add("main.c", firmware);
  sandbox.expect_silence(
      "gcc -std=c99 -Wall -Wextra -Werror -pedantic -O1 -fsanitize=address,undefined "
      "-fno-sanitize-recover=all -I. main.c default_lib0.c default_lib1.c -lm -o program");
  sandbox.add("in.bin", read_file(testdata / "resnet8.golden" / "input_1.in.bin"));
  const auto outcome = sandbox.run("./program < in.bin");
  CHECK_MESSAGE(outcome.status == 0, outcome.output);
  CHECK(outcome.output == read_file(testdata / "resnet8.golden" / "output.out.bin"));
}

TEST_CASE("the same firmware compiles against the header that TVM made") {
  const fs::path path = fs::path(USMP_SHARED) / "archives/variants/resnet8_pools_io.hill_climb.tvm_planned.tar";
  if (!fs::exists(path)) {
    MESSAGE("no shared archives");
    return;
  }
  const mlf::Archive archive = mlf::read_archive(path.string());
  const CompilerSandbox sandbox;
  sandbox.add("tvmgen_default.h", archive.find("codegen/host/include/tvmgen_default.h")->bytes);
  sandbox.add("tvmgen_default.constants.h", "");  // TVM's header has them itself
  sandbox.add("main.c", firmware);
  sandbox.expect_silence("gcc -std=c99 -Wall -Wextra -Werror -pedantic -I. -fsyntax-only main.c");
}

}  // namespace
}  // namespace usmp::codegen::testing::archives_test

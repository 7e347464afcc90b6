// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Problems made of sites and pools put down by hand: what each buffer becomes, and where it may go.
#include "usmp/assemble/assemble.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace usmp::assemble::assemble_test {
namespace {

using config::Access;
using config::PoolSpec;
using Ids = std::vector<PoolId>;

PoolSpec pool(std::string name, PoolKind kind = PoolKind::workspace) {
  PoolSpec spec;
  spec.name = std::move(name);
  spec.kind = kind;
  return spec;
}

liveness::Site site(std::string name, BufferKind kind, std::set<std::string> targets = {"c"}) {
  liveness::Site result;
  result.var = tir::VarId(0);
  result.name = std::move(name);
  result.kind = kind;
  result.size = 64;
  result.alignment = 16;
  result.live = {{1, 3}};
  result.targets = std::move(targets);
  return result;
}

// A module of two functions and an analysis to put sites into.
struct Fixture {
  tir::Module module;
  liveness::Analysis analysis;
  config::PoolsConfig pools;

  Fixture() {
    module.functions.resize(2);
    module.functions[0].name = "main";
    module.functions[1].name = "operator";
    analysis.horizon = 9;
  }
  Assembly run() const { return assemble(module, analysis, pools); }

  std::string message(ErrorKind kind) const {
    try {
      (void)run();
    } catch (const Error& error) {
      CHECK(error.kind() == kind);
      return error.what();
    }
    return "no error";
  }
};

TEST_CASE("pools: workspace pools of the file, its parameter pools, then annotated ones that a buffer names") {
  Fixture f;
  f.pools.workspace_pools = {pool("fast"), pool("slow")};
  f.pools.workspace_pools[0].size_hint = 100;
  f.pools.workspace_pools[0].alignment = 32;
  f.pools.workspace_pools[0].reserved = 24;
  f.pools.parameter_pools = {pool("flash", PoolKind::constant)};
  tir::AnnotatedPool own;
  own.name = "own";
  own.size_hint = 7;
  own.is_internal = true;
  own.targets = {"c"};
  tir::AnnotatedPool idle;
  idle.name = "idle";
  tir::AnnotatedPool slow;
  slow.name = "slow";
  slow.size_hint = 1;
  f.module.annotated_pools = {idle, slow, own};
  f.analysis.sites = {site("x", BufferKind::tensor)};
  f.analysis.sites[0].candidate_pools = {"own", "slow"};

  const Assembly assembly = f.run();
  REQUIRE(assembly.pools.size() == 4);
  CHECK(assembly.pools[0].name == "fast");
  CHECK(assembly.pools[1].name == "slow");
  CHECK_MESSAGE(!assembly.pools[1].size_hint, "the file's description wins over the module's");
  CHECK(assembly.pools[2].name == "flash");
  CHECK(assembly.pools[3].name == "own");
  CHECK(assembly.pools[3].internal);
  CHECK(assembly.pools[3].size_hint == 7);
  CHECK(assembly.pools[3].targets == std::map<std::string, Access>{{"c", Access::read_write}});

  const Problem& problem = assembly.problem;
  REQUIRE(problem.pools.size() == 4);
  CHECK(problem.pools[0].capacity == 100);
  CHECK(problem.pools[0].alignment == 32);
  CHECK(problem.pools[0].reserved == 24);
  CHECK(problem.pools[1].reserved == 0);
  CHECK(problem.pools[0].kind == PoolKind::workspace);
  CHECK(problem.pools[2].kind == PoolKind::constant);
  CHECK(problem.pools[3].name == "own");
  CHECK_MESSAGE((problem.buffers[0].candidates == Ids{PoolId(3), PoolId(1)}), "the annotation's order wins");
}

TEST_CASE("a buffer takes everything from its site") {
  Fixture f;
  f.pools.workspace_pools = {pool("sram")};
  f.analysis.sites = {site("x", BufferKind::scratch), site("y", BufferKind::output), site("dead", BufferKind::tensor)};
  f.analysis.sites[0].function = 1;
  f.analysis.sites[2].live.clear();
  const Assembly assembly = f.run();
  REQUIRE(assembly.problem.buffers.size() == 3);
  const Buffer& x = assembly.problem.buffers[0];
  CHECK(x.name == "x");
  CHECK(x.function == "operator");
  CHECK(x.kind == BufferKind::scratch);
  CHECK(x.size == 64);
  CHECK(x.alignment == 16);
  CHECK(x.live == std::vector<LiveRange>{{1, 3}});
  CHECK(assembly.problem.buffers[1].function == "main");
  CHECK(assembly.problem.buffers[1].kind == BufferKind::output);
  CHECK_MESSAGE(assembly.problem.buffers[2].live.empty(), "never accessed, but still a buffer");
  CHECK(assembly.problem.horizon == 9);
  CHECK(assembly.sites == std::vector<liveness::SiteId>{liveness::SiteId(0), liveness::SiteId(1), liveness::SiteId(2)});
}

TEST_CASE("constants become buffers only if they have a pool to go to") {
  Fixture f;
  f.pools.workspace_pools = {pool("sram")};
  f.analysis.sites = {site("w", BufferKind::constant), site("x", BufferKind::tensor), site("v", BufferKind::constant)};

  SUBCASE("no parameter pool: they stay in the code") {
    const Assembly assembly = f.run();
    REQUIRE(assembly.problem.buffers.size() == 1);
    CHECK(assembly.problem.buffers[0].name == "x");
    CHECK(assembly.sites == std::vector<liveness::SiteId>{liveness::SiteId(1)});
  }
  SUBCASE("a parameter pool of the file takes all of them, and workspace buffers never") {
    f.pools.parameter_pools = {pool("itcm", PoolKind::constant), pool("flash", PoolKind::constant)};
    const Assembly assembly = f.run();
    REQUIRE(assembly.problem.buffers.size() == 3);
    CHECK(assembly.problem.buffers[0].candidates == Ids{PoolId(1), PoolId(2)});
    CHECK(assembly.problem.buffers[1].candidates == Ids{PoolId(0)});
  }
  SUBCASE("an annotated pool takes those that name it") {
    tir::AnnotatedPool rom;
    rom.name = "rom";
    rom.is_constant = true;
    f.module.annotated_pools = {rom};
    f.analysis.sites[2].candidate_pools = {"rom"};
    const Assembly assembly = f.run();
    REQUIRE(assembly.problem.buffers.size() == 2);
    CHECK(assembly.problem.buffers[1].name == "v");
    CHECK(assembly.problem.buffers[1].candidates == Ids{PoolId(1)});
  }
}

TEST_CASE("candidates are the pools that every accessing target may use") {
  Fixture f;
  f.pools.workspace_pools = {pool("shared"), pool("cpu"), pool("readable")};
  f.pools.workspace_pools[0].targets = {{"c", Access::read_write}, {"npu", Access::read_write}};
  f.pools.workspace_pools[1].targets = {{"c", Access::read_write}};
  f.pools.workspace_pools[2].targets = {{"c", Access::read_write}, {"npu", Access::read_only}};
  f.pools.parameter_pools = {pool("rom", PoolKind::constant), pool("cpu_rom", PoolKind::constant)};
  f.pools.parameter_pools[0].targets = {{"c", Access::read_only}, {"npu", Access::read_only}};
  f.pools.parameter_pools[1].targets = {{"c", Access::read_only}};

  f.analysis.sites = {site("both", BufferKind::tensor, {"c", "npu"}), site("cpu", BufferKind::tensor, {"c"}),
                      site("nobody", BufferKind::tensor, {}), site("unsaid", BufferKind::tensor, {""}),
                      site("w", BufferKind::constant, {"npu"})};
  const Assembly assembly = f.run();
  const std::vector<Buffer>& buffers = assembly.problem.buffers;
  CHECK(buffers[0].candidates == Ids{PoolId(0)});
  CHECK(buffers[1].candidates == Ids{PoolId(0), PoolId(1), PoolId(2)});
  CHECK(buffers[2].candidates == Ids{PoolId(0), PoolId(1), PoolId(2)});
  CHECK(buffers[3].candidates == Ids{PoolId(0), PoolId(1), PoolId(2)});
  CHECK_MESSAGE(buffers[4].candidates == Ids{PoolId(3)}, "reading is enough for constants");
}

TEST_CASE("an annotation is filtered by kind and target and freed of repetitions") {
  Fixture f;
  f.pools.workspace_pools = {pool("a"), pool("b")};
  f.pools.workspace_pools[1].targets = {{"npu", Access::read_write}};
  f.pools.parameter_pools = {pool("rom", PoolKind::constant)};
  f.analysis.sites = {site("x", BufferKind::tensor)};
  f.analysis.sites[0].candidate_pools = {"rom", "b", "a", "a"};
  CHECK(f.run().problem.buffers[0].candidates == Ids{PoolId(0)});
}

TEST_CASE("a buffer without a candidate names its targets and the pools that were looked at") {
  Fixture f;
  SUBCASE("no pool of the kind at all") {
    f.pools.parameter_pools = {pool("rom", PoolKind::constant)};
    f.analysis.sites = {site("x", BufferKind::tensor)};
    CHECK(f.message(ErrorKind::usage) == "buffer 'x' of 'main' has no pool: there is no workspace pool");
  }
  SUBCASE("one pool, one target") {
    f.pools.workspace_pools = {pool("sram")};
    f.pools.workspace_pools[0].targets = {{"c", Access::read_only}};
    f.pools.workspace_pools[0].position = {2, 5};
    f.analysis.sites = {site("x", BufferKind::tensor)};
    CHECK(f.message(ErrorKind::usage) ==
          "line 2, column 5: buffer 'x' of 'main' has no pool: it needs a workspace pool that the target 'c' may read "
          "and write, unlike "
          "'sram'; add the missing targets to a pool, or leave its key targets out to let every target use it");
  }
  SUBCASE("several pools and targets") {
    f.pools.parameter_pools = {pool("rom", PoolKind::constant), pool("flash", PoolKind::constant)};
    f.pools.parameter_pools[0].targets = {{"c", Access::read_only}};
    f.pools.parameter_pools[1].targets = {{"npu", Access::read_only}};
    f.analysis.sites = {site("w", BufferKind::constant, {"npu", "c"})};
    f.analysis.sites[0].function = 1;
    CHECK(
        f.message(ErrorKind::usage) ==
        "buffer 'w' of 'operator' has no pool: it needs a parameter pool that the targets 'c', 'npu' may read, unlike "
        "'rom', 'flash'; add the missing targets to a pool, or leave its key targets out to let every target use it");
  }
}

TEST_CASE("what the module claims is checked") {
  Fixture f;
  f.pools.workspace_pools = {pool("sram")};
  f.analysis.sites = {site("x", BufferKind::tensor), site("y", BufferKind::tensor)};
  SUBCASE("a pool that nobody describes") {
    f.analysis.sites[0].candidate_pools = {"ghost"};
    CHECK(f.message(ErrorKind::archive) ==
          "main: buffer 'x' names the pool 'ghost' as a candidate, which neither the pools file nor the module "
          "describes");
  }
  SUBCASE("a pool that could not be named in C") {
    tir::AnnotatedPool odd;
    odd.name = "a-b";
    f.module.annotated_pools = {odd};
    f.analysis.sites[0].candidate_pools = {"a-b"};
    CHECK(f.message(ErrorKind::archive) == "the module's memory pool 'a-b' is not a C identifier");
  }
  SUBCASE("an alignment that is no power of two") {
    f.analysis.sites[1].alignment = 24;
    CHECK(f.message(ErrorKind::archive) ==
          "main: buffer 'y' requires an alignment of 24, which is not a power of two up to 1073741824");
    f.analysis.sites[1].alignment = 0;
    CHECK(f.message(ErrorKind::archive) ==
          "main: buffer 'y' requires an alignment of 0, which is not a power of two up to 1073741824");
    f.analysis.sites[1].alignment = Bytes{1} << 31;
    CHECK(f.message(ErrorKind::archive).find("alignment of 2147483648") != std::string::npos);
  }
  SUBCASE("sizes that no planner can add up") {
    f.analysis.sites[0].size = Problem::max_total_bytes;
    CHECK(f.message(ErrorKind::too_large) == "the module's buffers take more than 72057594037927936 bytes in total");
    f.analysis.sites[0].size = INT64_MAX;
    CHECK(f.message(ErrorKind::too_large) == "the module's buffers take more than 72057594037927936 bytes in total");
  }
  SUBCASE("alignments of the file that do so") {
    f.pools.workspace_pools[0].alignment = Bytes{1} << 55;
    CHECK(f.message(ErrorKind::usage) == "the buffers need more than 72057594037927936 bytes in total");
  }
}

}  // namespace
}  // namespace usmp::assemble::assemble_test

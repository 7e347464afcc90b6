// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Real modules: all archives at hand can be read, and the smallest one gives the text written out here.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tir_json/reading.hpp"
#include "usmp/mlf/archive.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::testing::archives_test {
namespace {

std::vector<std::string> files_below(const std::string& directory, const std::string& ending) {
  std::vector<std::string> paths;
  if (!std::filesystem::is_directory(directory)) return paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file() && entry.path().string().ends_with(ending)) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// The TIR members of an archive.
std::vector<std::string> modules_of(const std::string& path) {
  std::vector<std::string> modules;
  for (mlf::Member& member : mlf::read_archive(path).members) {
    if (member.name.ends_with(".tir.json")) modules.push_back(std::move(member.bytes));
  }
  return modules;
}

void check_module(const std::string& json) {
  const tir::Module module = read(json);
  const tir::Function& entry = module.functions[module.entry];
  CHECK(entry.is_entry);
  CHECK((entry.name.ends_with("__tvm_main__") || entry.name.ends_with("run_model")));
  CHECK(std::is_sorted(module.functions.begin(), module.functions.end(),
                       [](const auto& a, const auto& b) { return a.name < b.name; }));
  CHECK_FALSE(module.tvm_version.empty());
  std::size_t calls = 0;
  std::size_t allocations = 0;
  for (const tir::Function& function : module.functions) {
    CHECK_FALSE(function.target.empty());
    tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
      if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) {
        ++allocations;
        CHECK(tir::allocation_size(*allocate).bytes.has_value());
      }
      tir::for_each_expr_of(stmt, [&](const tir::ExprRef& expr) {
        tir::for_each_expr(*expr, [&](const tir::Expr& e) {
          if (&function == &entry && e.kind == tir::ExprKind::string_imm && module.find(e.text)) ++calls;
        });
      });
    });
  }
  CHECK(calls >= 2);
  CHECK(allocations + entry.params.size() > calls / 2);
  CHECK(tir::print(module) == tir::print(read(json)));
}

TEST_CASE("the test archives are read") {
  const auto paths = files_below(USMP_TESTDATA, ".tar");
  CHECK(paths.size() >= 5);
  for (const std::string& path : paths) {
    INFO(path);
    const auto modules = modules_of(path);
    CHECK(modules.size() == 1);
    for (const std::string& json : modules) check_module(json);
  }
}

TEST_CASE("the reference archives and modules are read") {
  const auto archives = files_below(std::string(USMP_SHARED) + "/archives", ".tar");
  const auto modules = files_below(std::string(USMP_SHARED) + "/modules", ".tir.json");
  if (archives.empty()) {
    MESSAGE("no reference archives beside the project: skipped");
    return;
  }
  CHECK(archives.size() >= 25);
  for (const std::string& path : archives) {
    INFO(path);
    for (const std::string& json : modules_of(path)) check_module(json);
  }
  for (const std::string& path : modules) {
    INFO(path);
    std::ifstream file(path, std::ios::binary);
    const std::string json((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    check_module(json);
    CHECK_FALSE(read(json).annotated_pools.empty());
  }
}

TEST_CASE("cast_subtract in full") {
  const auto modules = modules_of(std::string(USMP_TESTDATA) + "/cast_subtract.tar");
  REQUIRE(modules.size() == 1);
  const tir::Module module = read(modules[0]);
  CHECK(module.tvm_version == "0.12.0");
  CHECK(module.workspace_alignment == 16);
  CHECK(module.constant_alignment == 16);
  CHECK(
      tir::print(module) ==
      R"(primfn tvmgen_default___tvm_main__(input1_buffer_var: uint8*, input2_buffer_var: uint8*, output_buffer_var: int16*, output2_buffer_var: int16*) target c entry {
  tir.tvm_check_return(0, -1, tir.call_extern("tvmgen_default_fused_cast_subtract", input1_buffer_var, output_buffer_var))
  tir.tvm_check_return(0, -1, tir.call_extern("tvmgen_default_fused_cast_subtract_1", input2_buffer_var, output2_buffer_var))
}

primfn tvmgen_default_fused_cast_subtract(p0: uint8*, T_subtract: int16*) target c {
  constant fused_cast_constant: int16[3] of 6 bytes
  for ax0.ax1.fused in [0, 32) {
    for ax2 in [0, 32) {
      for ax3.inner in [0, 3) {
        let cse_var_1: int32 = ax0.ax1.fused * 96 + ax2 * 3 + ax3.inner
        T_subtract[cse_var_1] = int16(p0[cse_var_1]) - fused_cast_constant[ax3.inner]
      }
    }
  }
}

primfn tvmgen_default_fused_cast_subtract_1(p0: uint8*, T_subtract: int16*) target c {
  constant fused_cast_constant_1: int16[3] of 6 bytes
  for ax0.ax1.fused in [0, 32) {
    for ax2 in [0, 32) {
      for ax3.inner in [0, 3) {
        let cse_var_1: int32 = ax0.ax1.fused * 96 + ax2 * 3 + ax3.inner
        T_subtract[cse_var_1] = int16(p0[cse_var_1]) - fused_cast_constant_1[ax3.inner]
      }
    }
  }
}
)");
  const tir::Function& op = module.functions[*module.find("tvmgen_default_fused_cast_subtract")];
  CHECK(op.params[0].name == "p0");
  CHECK(op.params[0].shape == std::vector<std::int64_t>{1, 32, 32, 3});
  const auto& one = std::get<tir::AllocateConst>(op.body[0].node);
  CHECK(one.data->bytes == std::string("\x25\0\xEB\0\x8C\0", 6));
  // Both operators use the same constant.
  const tir::Function& other = module.functions[*module.find("tvmgen_default_fused_cast_subtract_1")];
  CHECK(std::get<tir::AllocateConst>(other.body[0].node).data == one.data);
}

}  // namespace
}  // namespace usmp::testing::archives_test

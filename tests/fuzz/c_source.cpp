// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads C in both modes and checks each module; planned workspace has to be found again.
#include "c_source.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "fuzz.hpp"
#include "modules.hpp"
#include "usmp/storage/split.hpp"
#include "usmp/tir/verify.hpp"
#include "usmp/tvm_c/taken_workspace.hpp"

namespace usmp::fuzz {

void check_c(std::span<const tvm_c::Source> files) {
  for (const tvm_c::Unread unread : {tvm_c::Unread::refused, tvm_c::Unread::kept}) check_c(files, unread);
  check_foreign_c(files);
}

// What gets a parameter for its workspace has it when it is planned again.
void check_foreign_c(std::span<const tvm_c::Source> files) {
  const std::vector<std::string> names = {"kernel", "tvmgen_default_op"};
  const std::vector<tvm_c::TakenWorkspace> taken = tvm_c::taken_workspace(names, files, 16);
  std::vector<tvm_c::Source> planned(files.begin(), files.end());
  const std::vector<tvm_c::ChangedFile> changed = tvm_c::with_workspace_params(taken, files, 16);
  for (tvm_c::Source& file : planned) {
    for (const tvm_c::ChangedFile& one : changed) {
      if (one.file == file.name) file.text = one.text;
    }
  }
  const std::vector<tvm_c::TakenWorkspace> again = tvm_c::taken_workspace(names, planned, 16);
  if (again.size() != taken.size()) fail("planned C of another code generator takes workspace otherwise");
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (!again[i].has_param || again[i].bytes != taken[i].bytes || again[i].parameters != taken[i].parameters) {
      fail("a parameter for workspace is not found again");
    }
  }
}

void check_c(std::span<const tvm_c::Source> files, tvm_c::Unread unread) {
  constexpr tvm_c::Foreign kernel{"kernel", "int32_t kernel(int8_t* from, void* to, int32_t n)"};
  accepts({ErrorKind::archive}, [&] {
    tvm_c::PlannedModule read = tvm_c::read_planned_module("default", files, {&kernel, 1}, {}, unread);
    tvm_c::require_constants(read.lost_constants);
    tir::Module& module = read.module;
    for (tir::Param& param : module.functions[module.entry].params) {
      if (param.is_tensor) param.shape = std::vector<std::int64_t>{4096};  // an archive's metadata says it
    }
    const auto check = [&](std::string_view when) {
      if (const auto fault = tir::find_fault(module)) fail(std::string(when) + tir::to_string(module, *fault));
    };
    check("read: ");
    storage::split(module, storage::Where::between_tensors);
    check("split: ");
    check_module(module);
    storage::split(module, storage::Where::in_place);
    check("split in place: ");
  });
}

}  // namespace usmp::fuzz

// SPDX-License-Identifier: Apache-2.0
#include "c_source.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "fuzz.hpp"
#include "modules.hpp"
#include "usmp/storage/split.hpp"
#include "usmp/tir/verify.hpp"

namespace usmp::fuzz {

void check_c(std::span<const tvm_c::Source> files) {
  for (const tvm_c::Unread unread : {tvm_c::Unread::refused, tvm_c::Unread::kept}) check_c(files, unread);
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

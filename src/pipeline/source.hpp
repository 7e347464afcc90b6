// SPDX-License-Identifier: Apache-2.0
// A module from C as TVM wrote it: storage that several tensors share is not taken apart.
#pragma once

#include <span>

#include "usmp/pipeline/program.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::pipeline {

struct WrittenModule {
  SourceModule source;
  tvm_c::PlannedModule plan;  // without the module, which is the source's
};

// `files` are info.c_members. Throws as read_module does.
[[nodiscard]] WrittenModule as_written(const mlf::ModuleInfo& info, std::span<const tvm_c::Source> files);

}  // namespace usmp::pipeline

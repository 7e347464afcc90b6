// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A module from C as TVM wrote it: storage that several tensors share is not taken apart.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "usmp/pipeline/program.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::pipeline {

struct WrittenModule {
  SourceModule source;
  tvm_c::PlannedModule plan;  // without the module, which is the source's
};

// Throws as read_module does.
[[nodiscard]] WrittenModule as_written(const model::Description& info, const CFiles& files);

// Memory that the header asks firmware for, and that no code uses as the C has its own; nothing: there is none.
[[nodiscard]] std::optional<std::string> unused_workspace(const SourceModule& source);

// Buffers that TVM's plan puts over one another while both are live, which planned C does not; nothing: there are none.
[[nodiscard]] std::optional<std::string> overlaps_in_plan(const WrittenModule& written);

}  // namespace usmp::pipeline

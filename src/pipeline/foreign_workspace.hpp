// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "usmp/pipeline/program.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::pipeline {

// Workspace that functions of other code generators take at run time, in constant sizes, becomes a buffer of each call,
// and a parameter in their C (SourceModule::changed). `files`: info.foreign_members. Functions whose C or calls are not
// understood stay. O(size of the module + bytes · (log names + such functions)).
void plan_foreign_workspace(SourceModule& source, std::span<const tvm_c::Source> files);

}  // namespace usmp::pipeline

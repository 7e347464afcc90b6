// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
#pragma once

#include "usmp/pipeline/program.hpp"

namespace usmp::pipeline {

// Workspace that functions of other code generators take at run time, in constant sizes, becomes a buffer of each call,
// and a parameter in their C (SourceModule::changed). Of `files` only `foreign` and `shared` count. Functions whose C
// or calls are not understood stay, and those in files of other modules. O(size of the module + bytes · (log names +
// such functions)).
void plan_foreign_workspace(SourceModule& source, const CFiles& files);

}  // namespace usmp::pipeline

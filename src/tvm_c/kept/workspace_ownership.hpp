// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Who gives workspace back to TVM's runtime: what is planned, the runtime has not given.
#pragma once

#include "tvm_c/text/files_read.hpp"
#include "tvm_c/text/macros.hpp"

namespace usmp::tvm_c {

// Functions whose C stays: what they give back is a variable, of one of them or of the files, that they set to
// nothing but workspace that they take. Else Error. `macros`: of all files and headers. O(bytes · log names).
void require_workspace_ownership(const Names& functions, const AllDefinitions& macros, const FilesRead& read);

}  // namespace usmp::tvm_c

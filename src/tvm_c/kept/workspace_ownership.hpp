// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Who gives workspace back to TVM's runtime: what is planned, the runtime has not given.
#pragma once

#include <cstddef>
#include <span>

#include "tvm_c/text/file_scope.hpp"

namespace usmp::tvm_c {

struct WorkspaceMacros {
  Names takes;  // in whose definitions TVMBackendAllocWorkspace stands, or another of them
  Names gives;  // TVMBackendFreeWorkspace
};

// Functions whose C stays: what they give back is a variable, of one of them or of the files, that they set to
// nothing but workspace that they take. Else SyntaxError, in functions[*at]. O(bytes · log names).
void require_workspace_ownership(std::span<const FunctionText* const> functions, const WorkspaceMacros& macros,
                                 std::size_t* at);

}  // namespace usmp::tvm_c

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Constants that TVM has planned into a pool, for functions that stay and take them from there.
#pragma once

#include <string>
#include <string_view>

#include "tvm_c/text/file_scope.hpp"

namespace usmp::tvm_c {

// An array of the pool's bytes with its name, static and const, in the section that `declaration` names, aligned like
// the pool up to 64 bytes. O(bytes).
[[nodiscard]] std::string text_of_constants(const std::string& name, const ConstantPool& pool,
                                            std::string_view declaration);

}  // namespace usmp::tvm_c

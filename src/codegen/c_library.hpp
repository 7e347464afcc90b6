// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Functions of C's library that emitted code may call.
#pragma once

#include <string_view>

namespace usmp::codegen {

// The standard header that declares a C function ("memcpy" → "string.h"); empty if it is in none of those that emitted
// code may include. A call_extern of such a function needs no declaration.
[[nodiscard]] std::string_view standard_header_of(std::string_view c_function);

}  // namespace usmp::codegen

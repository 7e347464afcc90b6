// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Tests: tests/tvm_c/spelling_test.cpp.
#pragma once

#include <string_view>

namespace usmp::tvm_c {

// Throws a SyntaxError where the file has what compilers do not agree on, or would read otherwise than a reader that
// takes a line splice for a blank: also in text that conditional groups leave out.
void check_spelling(std::string_view text);

}  // namespace usmp::tvm_c

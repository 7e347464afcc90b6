// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// SyntaxError at a token.
#pragma once

#include <string>
#include <utility>

#include "usmp/c/token.hpp"

namespace usmp::c {

[[noreturn]] inline void fail_at(const Token& token, std::string message) {
  throw SyntaxError{token.file, token.offset, std::move(message)};
}

}  // namespace usmp::c

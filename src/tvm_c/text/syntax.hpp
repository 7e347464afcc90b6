// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Types as the reader knows them, and refusals.
#pragma once

#include <optional>
#include <string_view>

#include "tvm_c/text/lexer.hpp"
#include "usmp/c/tree.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {

// An element, with so many stars.
struct CType {
  tir::DataType element;  // void_type: void, or a struct
  int stars = 0;
};

// A number's type, a struct or void, with stars; nothing: another one, or one that has another size elsewhere.
[[nodiscard]] std::optional<CType> known_type(const c::Tree& tree, c::TypeId id);

[[noreturn]] void fail_at(const Token& found, std::string_view expected);

}  // namespace usmp::tvm_c

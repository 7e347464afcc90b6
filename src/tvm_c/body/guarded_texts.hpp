// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What somebody does if an operator fails, as the entry's reader meets it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tvm_c/body/checks.hpp"
#include "tvm_c/kept/added_statements.hpp"
#include "tvm_c/text/lexer.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {

class GuardedTexts {
 public:
  GuardedTexts() = default;
  // `file`: the whole text, whose places `texts` have. Both outlive this.
  GuardedTexts(std::string_view file, std::span<const GuardedText> texts) : file_(file), texts_(texts) {}

  // That may stay as text, and that the place is in; null: none.
  [[nodiscard]] const GuardedText* at(std::size_t offset) const;
  [[nodiscard]] std::string text_of(const GuardedText& text) const;

  // These return nothing where something else stands there.

  // Under a condition: what may stay. `leaves`: it has to leave the function. `declared`: "int ret", which it may use,
  // or which `is_tested` because the call gives other values than it has.
  [[nodiscard]] std::optional<OnFailure> find(const Expressions& code, c::StmtId failure, bool leaves,
                                              const std::string& declared = {}, bool is_tested = false) const;
  // As failure_code; a conditional group in front of the return is no part of it.
  [[nodiscard]] tir::ExprRef code_in(const Expressions& code, const c::Stmt& check, std::string_view name) const;

 private:
  std::string_view file_;
  std::span<const GuardedText> texts_;
};

}  // namespace usmp::tvm_c

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Matches the places of texts that stay with the tokens that stand next.
#include "tvm_c/body/guarded_texts.hpp"

#include <algorithm>
#include <utility>

#include "tvm_c/text/syntax.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {

const GuardedText* GuardedTexts::at(std::size_t offset) const {
  const auto found = std::find_if(texts_.begin(), texts_.end(), [&](const GuardedText& one) {
    return one.reason.empty() && one.place.begin <= offset && offset < one.place.end;
  });
  return found == texts_.end() ? nullptr : &*found;
}

std::string GuardedTexts::text_of(const GuardedText& text) const {
  return std::string(trimmed(file_.substr(text.place.begin, text.place.end - text.place.begin)));
}

std::optional<OnFailure> GuardedTexts::find(const Expressions& code, c::StmtId failure, bool leaves,
                                            const std::string& declared, bool is_tested) const {
  const c::Stmt& stmt = code[failure];
  const std::uint32_t brace = stmt.kind == c::StmtKind::block ? 1 : 0;
  // Conditions of the preprocessor may leave nothing of it.
  const GuardedText* text = at(code.front(failure).offset + brace);
  if (text == nullptr || (leaves && !text->leaves)) return std::nullopt;
  const bool uses_variable = !text->variable.empty();
  if (uses_variable && !declared.ends_with(" " + text->variable)) return std::nullopt;
  if (code.token(stmt.tokens.end - 1 - brace).offset >= text->place.end) return std::nullopt;
  return OnFailure{tir::make_kept_failure({uses_variable || is_tested ? declared : "", text_of(*text)}), text->place};
}

tir::ExprRef GuardedTexts::code_in(const Expressions& code, const c::Stmt& check, std::string_view name) const {
  const bool is_block = code[check.body[0]].kind == c::StmtKind::block;
  const GuardedText* text = is_block ? at(code.front(check.body[0]).offset + std::size_t{1}) : nullptr;
  if (text != nullptr && text_of(*text).find('#') != std::string::npos) return nullptr;
  return failure_code(code, check, name);
}

}  // namespace usmp::tvm_c

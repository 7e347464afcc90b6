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

void skip_to(Lexer& tokens, std::size_t end) {
  while (tokens.peek().kind != TokenKind::end && tokens.peek().offset < end) (void)tokens.next();
}

const GuardedText* GuardedTexts::at(std::size_t offset) const {
  const auto found = std::find_if(texts_.begin(), texts_.end(), [&](const GuardedText& one) {
    return one.reason.empty() && one.place.begin <= offset && offset < one.place.end;
  });
  return found == texts_.end() ? nullptr : &*found;
}

std::string GuardedTexts::text_of(const GuardedText& text) const {
  return std::string(trimmed(file_.substr(text.place.begin, text.place.end - text.place.begin)));
}

std::optional<OnFailure> GuardedTexts::take(Lexer& tokens, bool leaves, const std::string& declared,
                                            bool is_tested) const {
  Lexer ahead = tokens;
  const bool has_braces = tvm_c::take(ahead, "{");
  // Conditions of the preprocessor may leave nothing of it.
  const GuardedText* text = at(has_braces ? ahead.end() : ahead.peek().offset);
  if (text == nullptr || (leaves && !text->leaves)) return std::nullopt;
  const bool uses_variable = !text->variable.empty();
  if (uses_variable && !declared.ends_with(" " + text->variable)) return std::nullopt;
  skip_to(ahead, text->place.end);
  if (has_braces && !tvm_c::take(ahead, "}")) return std::nullopt;
  tokens = std::move(ahead);
  return OnFailure{tir::make_kept_failure({uses_variable || is_tested ? declared : "", text_of(*text)}), text->place};
}

std::optional<OnFailure> GuardedTexts::take_call(Lexer& tokens, bool never_fails) const {
  Lexer ahead = tokens;
  skip_bracketed(ahead, "(");
  if (!take_not_zero(ahead, never_fails) || !tvm_c::take(ahead, ")")) return std::nullopt;
  Lexer plain = ahead;
  if (take_code(plain, {}) != nullptr) return std::nullopt;
  auto failure = take(ahead, false);
  if (failure) tokens = std::move(ahead);
  return failure;
}

tir::ExprRef GuardedTexts::take_code(Lexer& tokens, std::string_view name) const {
  Lexer ahead = tokens;
  const GuardedText* text = tvm_c::take(ahead, "{") ? at(ahead.end()) : nullptr;
  if (text != nullptr && text_of(*text).find('#') != std::string::npos) return nullptr;
  return take_failure_code(tokens, name);
}

}  // namespace usmp::tvm_c

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Makes a file of C of a piece and the definitions of the macros that it names.
#include "tvm_c/text/macro_expansion.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "tvm_c/text/function_tokens.hpp"
#include "usmp/c/preprocessor.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {

MadeTokens made_tokens(const std::vector<Token>& tokens) {
  MadeTokens result;
  const auto add = [&](const Token& token) {
    require_ended(token);
    result.push_back({token.kind, std::string(token.text), token.has_gap});
  };
  for (const Token& token : tokens) {
    if (token.kind == TokenKind::end) continue;
    if (token.kind != TokenKind::numbers) {
      add(token);
      continue;
    }
    for (const Token& number : c::lex_text(token.text)) add(number);
  }
  return result;
}

MadeTokens made_tokens(std::string_view text) { return made_tokens(split(text).lexed->tokens); }

std::size_t behind_bracket(const MadeTokens& tokens, std::size_t open) {
  return behind_bracketed(tokens, open).value_or(tokens.size());
}

std::optional<std::string> definitions_of(
    std::string_view text, std::size_t most,
    const std::function<std::optional<std::string_view>(std::string_view name)>& definition) {
  std::string result;
  std::set<std::string, std::less<>> seen;
  std::vector<std::string_view> texts = {text};
  while (!texts.empty()) {
    const std::string_view one = texts.back();
    texts.pop_back();
    for_each_identifier(one, [&](std::string_view name) {
      if (!seen.emplace(name).second) return;
      const auto found = definition(name);
      if (!found) return;
      result.append("#define ").append(name).append(*found).append("\n");
      texts.push_back(*found);
    });
    if (result.size() + text.size() > most) return std::nullopt;
  }
  return result;
}

std::optional<MadeTokens> expanded(const MadeTokens& tokens, const Definitions& macros) {
  constexpr std::size_t most_text = std::size_t{1} << 22;
  std::string text;
  for (const MadeToken& token : tokens) text.append(token.is_apart ? " " : "").append(token.text);
  const auto definitions = definitions_of(text, most_text, [&](std::string_view name) {
    const auto found = macros.find(name);
    return found == macros.end() ? std::nullopt : std::optional(found->second);
  });
  if (!definitions) return std::nullopt;
  const std::string file = *definitions + text;
  try {
    c::Files files;
    c::Environment environment;
    environment.most_expanded = 100'000;
    const c::Unit unit = c::preprocess(files, files.add({{}, file}), environment);
    const auto is_painted = [](const Token& token) { return token.is_painted; };
    if (std::any_of(unit.tokens.begin(), unit.tokens.end(), is_painted)) return std::nullopt;
    return made_tokens(unit.tokens);
  } catch (const c::SyntaxError&) {
    return std::nullopt;
  } catch (const SyntaxError&) {  // a literal that does not end
    return std::nullopt;
  }
}

}  // namespace usmp::tvm_c

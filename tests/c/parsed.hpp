// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A text as a tree, and trees as text: (kind text operands…).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/c/parser.hpp"
#include "usmp/c/preprocessor.hpp"

struct ParsedText {
  std::unique_ptr<std::string> text;
  std::map<std::string, std::string, std::less<>> headers;
  usmp::c::Files files;
  usmp::c::Unit unit;
  usmp::c::Tree tree;
};

// `known`: no name is defined outside.
inline std::unique_ptr<ParsedText> parsed(std::string_view text, bool known = true,
                                          const std::map<std::string, std::string, std::less<>>& headers = {},
                                          bool parses = true) {
  using namespace usmp::c;
  auto result = std::make_unique<ParsedText>();
  result->text = std::make_unique<std::string>(text);
  result->headers = headers;
  const std::uint32_t file = result->files.add({"f.c", *result->text});
  std::map<std::string, std::uint32_t, std::less<>> indices;
  for (const auto& [name, header] : result->headers) indices[name] = result->files.add({name, header});
  Environment environment;
  environment.include = [&](std::string_view name, bool, std::uint32_t) -> std::optional<std::uint32_t> {
    const auto found = indices.find(name);
    return found == indices.end() ? std::nullopt : std::optional(found->second);
  };
  if (known) environment.is_undefined = [](std::string_view) { return true; };
  result->unit = preprocess(result->files, file, environment);
  if (parses) result->tree = parse(result->unit.tokens);
  return result;
}

// The tokens behind the preprocessor; of groups "#if".
inline std::string tokens_of(const usmp::c::Unit& unit) {
  using namespace usmp::c;
  std::string tokens;
  for (const Token& token : unit.tokens) {
    if (token.kind == TokenKind::end) break;
    if (!tokens.empty()) tokens += ' ';
    if (token.kind == TokenKind::group) tokens += '#';
    if (token.kind == TokenKind::opaque) tokens += '?';
    tokens += token.text;
  }
  return tokens;
}

inline std::string preprocessed(std::string_view text, bool known = true,
                                const std::map<std::string, std::string, std::less<>>& headers = {}) {
  return tokens_of(parsed(text, known, headers, false)->unit);
}

// Why the text is refused: "offset: message".
inline std::string refused(std::string_view text, bool known = true,
                           const std::map<std::string, std::string, std::less<>>& headers = {}) {
  try {
    (void)parsed(text, known, headers);
  } catch (const usmp::c::SyntaxError& error) {
    return std::to_string(error.offset) + ": " + error.message;
  }
  return "";
}

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds declarations by the brackets and semicolons around them.
#include "mlf/c_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "usmp/support/number_list.hpp"
#include "usmp/support/text.hpp"

namespace usmp::mlf {
namespace {

using c::Token;
using c::TokenKind;

constexpr std::size_t npos = std::string_view::npos;

// Behind the bracket that closes the one at `open`; the number of tokens: none does.
std::size_t behind_bracket(std::span<const Token> tokens, std::size_t open) {
  std::size_t depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].is("(")) ++depth;
    if (tokens[i].is(")") && --depth == 0) return i + 1;
  }
  return tokens.size();
}

// Without TVM_DLL, extern "C" and attributes, which say how to compile the definition: a caller's declaration does
// without.
std::vector<Token> without_linkage(std::span<const Token> declaration) {
  std::vector<Token> result;
  bool has_gap = false;
  for (std::size_t i = 0; i < declaration.size(); ++i) {
    const Token& token = declaration[i];
    const bool is_attribute = token.is("__attribute__") && i + 1 < declaration.size() && declaration[i + 1].is("(");
    has_gap = has_gap || token.has_gap;
    if (is_attribute) {
      i = behind_bracket(declaration, i + 1) - 1;
    } else if (!token.is("TVM_DLL") && !token.is("extern") && token.text != "\\" && token.kind != TokenKind::string) {
      result.push_back(token);
      result.back().has_gap = has_gap;
      has_gap = false;
    }
  }
  return result;
}

// Without macros in front of a function's name that only say where it is to be, which other files may not have:
// "int32_t " of "IRAM_ATTR int32_t ". The same tokens if that is not sure.
std::vector<Token> without_placements(std::span<const Token> front) {
  constexpr std::string_view types[] = {"int", "unsigned", "signed", "long", "short", "char", "void", "bool", "float"};
  std::vector<Token> result;
  for (const Token& word : front) {
    if (!word.is_identifier() || word.is("struct") || word.is("enum")) return {front.begin(), front.end()};
    const bool is_type =
        std::find(std::begin(types), std::end(types), word.text) != std::end(types) || word.text.ends_with("_t");
    if (is_type) result.push_back(word);
  }
  return result.empty() ? std::vector<Token>(front.begin(), front.end()) : result;
}

// The function that `declaration`, the tokens before a brace, introduces; nothing if it is something else (a struct, an
// initialiser, a static helper that no other file can call).
std::optional<CFunction> function_of(std::span<const Token> declaration) {
  constexpr std::array<std::string_view, 5> not_external = {"static", "inline", "__STATIC_FORCEINLINE",
                                                            "__STATIC_INLINE", "="};  // CMSIS's too
  const auto hides = [&](const Token& token) {
    const bool is_literal = token.kind == TokenKind::other && token.text.size() > 1;  // that does not end
    const bool is_odd = is_literal || token.kind == TokenKind::numbers;
    return is_odd || std::find(not_external.begin(), not_external.end(), token.text) != not_external.end();
  };
  const std::vector<Token> tokens = without_linkage(declaration);
  if (tokens.empty() || !tokens.back().is(")") || std::any_of(tokens.begin(), tokens.end(), hides)) return std::nullopt;
  std::size_t open = tokens.size() - 1;
  for (std::size_t depth = 1; depth > 0;) {
    if (open-- == 0) return std::nullopt;
    if (tokens[open].is(")")) ++depth;
    if (tokens[open].is("(")) --depth;
  }
  if (open < 2 || !tokens[open - 1].is_identifier()) return std::nullopt;
  const auto all = std::span(tokens);
  std::vector<Token> prototype = without_placements(all.first(open - 1));
  const auto rest = all.subspan(open - 1);
  prototype.insert(prototype.end(), rest.begin(), rest.end());
  const bool is_always_inline = std::any_of(declaration.begin(), declaration.end(), [](const Token& token) {
    return token.is("always_inline") || token.is("__always_inline__");
  });
  return CFunction{std::string(tokens[open - 1].text), spelled(prototype), is_always_inline};
}

// The brackets of the first function that is defined with a name of which `is_one` holds.
template <class IsOne>
std::optional<std::pair<std::size_t, std::size_t>> brackets_of_definition(const std::vector<Token>& code,
                                                                          const IsOne& is_one) {
  // A list of parameters never names its own function: each search ends where the next one begins.
  const auto names = [&](std::size_t i) { return code[i].is_identifier() && is_one(code[i].text); };
  for (std::size_t i = 0; i + 1 < code.size(); ++i) {
    if (!names(i) || !code[i + 1].is("(")) continue;
    std::size_t depth = 0;
    std::size_t end = i + 1;
    for (; end < code.size() && !names(end); ++end) {
      if (code[end].is("(")) ++depth;
      if (code[end].is(")") && --depth == 0) break;
    }
    if (end + 1 < code.size() && code[end].is(")") && code[end + 1].is("{")) return std::pair(i + 1, end);
    i = end - 1;
  }
  return std::nullopt;
}

}  // namespace

CText::CText(std::string_view text) : text_(text), lexed_(c::lex({{}, text}, 0, c::Odd::taken)) {
  const std::vector<Token>& all = lexed_.tokens;
  bool has_gap = false;  // a directive stands in front
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    if (!all[i].begins_line || !all[i].is("#")) {
      code_.push_back(all[i]);
      code_.back().has_gap = code_.back().has_gap || has_gap;
      has_gap = false;
      continue;
    }
    const std::size_t first = i + 1;
    while (!all[i + 1].begins_line) ++i;
    const auto line = std::span(all).subspan(first, i + 1 - first);
    if (!line.empty()) directives_.push_back({line[0].text, line.subspan(1)});
    has_gap = true;
  }
}

std::string spelled(std::span<const Token> tokens) {
  std::string result;
  for (const Token& token : tokens) {
    if (token.has_gap && !result.empty()) result += ' ';
    const bool is_literal = token.kind == TokenKind::string || token.kind == TokenKind::character;
    result += is_literal ? std::string(2, token.text.back()) : std::string(token.text);
  }
  return result;
}

std::vector<CFunction> CText::functions(std::string_view end) const {
  std::vector<CFunction> result;
  std::size_t begin = 0;  // of a declaration
  std::size_t depth = 0;  // of braces, not counting those of extern "C"
  for (std::size_t i = 0; i < code_.size(); ++i) {
    const bool opens = code_[i].is("{");
    if (depth > 0) {
      if (opens) ++depth;
      if (code_[i].is("}") && --depth == 0) begin = i + 1;
      continue;
    }
    if (!opens && !code_[i].is(";") && !code_[i].is("}")) continue;
    const auto declaration = std::span(code_).subspan(begin, i - begin);
    begin = i + 1;
    const bool is_linkage = opens && declaration.size() > 1 && declaration.back().kind == TokenKind::string &&
                            declaration[declaration.size() - 2].is("extern");
    if (is_linkage) continue;
    if (opens) depth = 1;
    if (!code_[i].is(end)) continue;
    if (auto function = function_of(declaration)) result.push_back(*std::move(function));
  }
  return result;
}

bool CText::mentions(std::string_view name) const {
  return std::any_of(tokens().begin(), tokens().end(),
                     [&](const Token& token) { return token.is_identifier() && token.text == name; });
}

std::vector<std::string> CText::includes() const {
  std::vector<std::string> result;
  for (const Directive& one : directives_) {
    if (one.word != "include" || one.rest.empty()) continue;
    if (one.rest[0].kind == TokenKind::string) result.emplace_back(one.rest[0].text);
    if (!one.rest[0].is("<")) continue;
    const std::string_view name = text_.substr(one.rest[0].offset);
    const std::size_t end = name.find_first_of(">\n");
    if (end != npos && name[end] == '>') result.emplace_back(name.substr(0, end + 1));
  }
  return result;
}

std::vector<CMacro> CText::macros() const {
  std::vector<CMacro> result;
  for (const Directive& one : directives_) {
    if (one.word != "define" || one.rest.empty() || !one.rest[0].is_identifier()) continue;
    const auto value = one.rest.subspan(1);
    result.push_back(
        {one.rest[0].text, one.rest[0].offset, !value.empty() && value[0].is("(") && !value[0].has_gap, value});
  }
  return result;
}

std::vector<std::string_view> CText::guards() const {
  std::vector<std::string_view> result;
  for (const Directive& one : directives_) {
    if (one.word == "ifndef" && !one.rest.empty()) result.push_back(one.rest[0].text);
  }
  return result;
}

std::optional<std::vector<std::string>> CText::struct_members(std::string_view name) const {
  for (std::size_t i = 0; i + 2 < code_.size(); ++i) {
    if (!code_[i].is("struct") || code_[i + 1].text != name || !code_[i + 2].is("{")) continue;
    std::vector<std::string> members;
    for (std::size_t k = i + 3; k < code_.size() && !code_[k].is("}"); ++k) {
      if (code_[k].is(";") && code_[k - 1].is_identifier()) members.emplace_back(code_[k - 1].text);
    }
    return members;
  }
  return std::nullopt;
}

std::map<std::string, Bytes, std::less<>> CText::number_macros() const {
  std::map<std::string, Bytes, std::less<>> result;
  for (const CMacro& macro : macros()) {
    if (macro.value.size() != 1) continue;
    const std::string_view text = macro.value[0].text;
    Bytes value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault == std::errc() && end == text.data() + text.size() && value >= 0) result.emplace(macro.name, value);
  }
  return result;
}

std::optional<std::string> without_tables(std::string_view text, const MappedFile& file, std::size_t most) {
  std::string result;
  std::size_t copied = 0;
  // Where more than `most` would be left.
  const auto limit = [&] {
    const std::size_t room = most - result.size();
    return text.size() - copied > room ? copied + room + 1 : text.size();
  };
  const auto brace = [&](std::size_t from) { return text.substr(0, std::max(from, limit())).find('{', from); };
  for (std::size_t at = brace(0); at != npos; at = brace(at)) {
    std::size_t end = ++at;
    for_numbers_behind(text, at, [&](std::string_view piece) {
      end += piece.size();
      file.release(piece);
    });
    // A line's beginning stays one, and a comment's end.
    const std::size_t line = text.substr(at, end - at).rfind('\n');
    if (at - copied > most - result.size()) return std::nullopt;
    result += text.substr(copied, at - copied);
    copied = line == npos ? end : at + line;
    at = end;
  }
  if (text.size() - copied > most - result.size()) return std::nullopt;
  return result += text.substr(copied);
}

bool is_c_source(std::string_view name) { return ends_with_any(name, {".c", ".cc", ".cpp", ".cxx"}); }

std::vector<CFunction> functions_of_file(std::string_view text) { return CText(text).defined_functions(); }

std::vector<std::string> included_headers(std::string_view text) {
  std::vector<std::string> result = CText(text).includes();
  for (std::string& name : result) name = name.substr(1, name.size() - 2);
  return result;
}

bool defines_ending_in(std::string_view text, std::string_view suffix) {
  if (text.find(suffix) == npos) return false;
  const CText scanned(text);
  const auto is_one = [&](std::string_view name) { return name.ends_with(suffix); };
  return brackets_of_definition(scanned.code(), is_one).has_value();
}

std::optional<std::string_view> defined_parameters(std::string_view text, std::string_view name) {
  if (text.find(name) == npos) return std::nullopt;
  const CText scanned(text);
  const auto found = brackets_of_definition(scanned.code(), [&](std::string_view one) { return one == name; });
  if (!found) return std::nullopt;
  const std::size_t begin = scanned.code()[found->first].offset + std::size_t{1};
  return text.substr(begin, scanned.code()[found->second].offset - begin);
}

bool mentions(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool begins = at == 0 || !is_identifier_char(text[at - 1]);
    if (begins && (end == text.size() || !is_identifier_char(text[end]))) return true;
  }
  return false;
}

}  // namespace usmp::mlf

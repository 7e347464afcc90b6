// SPDX-License-Identifier: Apache-2.0
// Tests: tests/tvm_c/pool_access_test.cpp.
#include "tvm_c/pool_access.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "tvm_c/lexer.hpp"

namespace usmp::tvm_c {
namespace {

// Of C and of its headers that planned C includes: it has no other types.
bool is_word_of_types(std::string_view name) {
  constexpr std::array<std::string_view, 21> words = {
      "void",     "char",     "int",     "long",      "unsigned", "signed",    "const",
      "volatile", "short",    "size_t",  "ptrdiff_t", "intptr_t", "uintptr_t", "uint8_t",
      "int8_t",   "uint16_t", "int16_t", "uint32_t",  "int32_t",  "uint64_t",  "int64_t"};
  return std::find(words.begin(), words.end(), name) != words.end();
}

// Where the text of an address or a size begins: behind `f(void) { return`, or behind the =.
std::optional<std::size_t> value_at(const Item& item, const std::vector<Token>& tokens) {
  const auto name = std::find_if(tokens.begin(), tokens.end(), [&](const Token& token) { return token.is(item.name); });
  if (std::any_of(tokens.begin(), name, [](const Token& token) {
        return !token.is("*") && !(token.is_identifier() && is_word_of_types(token.text));
      })) {
    return std::nullopt;
  }
  std::vector<std::string_view> expected = {item.name, "=", ""};
  if (item.kind == Item::Kind::function) {
    const bool has_void = tokens.end() - name > 2 && (name + 2)->is("void");
    expected = {item.name, "(", ")", "{", "return"};
    if (has_void) expected.insert(expected.begin() + 2, "void");
  } else {
    expected.pop_back();
  }
  if (static_cast<std::size_t>(tokens.end() - name) < expected.size()) return std::nullopt;
  const bool is_alike = std::equal(expected.begin(), expected.end(), name,
                                   [](std::string_view word, const Token& token) { return token.is(word); });
  if (!is_alike) return std::nullopt;
  return static_cast<std::size_t>(name - tokens.begin()) + expected.size();
}

std::optional<std::vector<Token>> tokens_of(const Item& item, std::string_view text) {
  Lexer lexer(text.substr(item.begin, item.end - item.begin));
  std::vector<Token> tokens;
  try {
    for (Token token = lexer.next(); token.kind != TokenKind::end; token = lexer.next()) {
      token.offset += item.begin;
      tokens.push_back(token);
    }
  } catch (const SyntaxError&) {
    return std::nullopt;
  }
  if (lexer.directives() > 0) return std::nullopt;
  return tokens;
}

// In `(uint32_t)&sram[0]` and `sizeof(sram)`: nothing that computes with the address or looks at what is there.
bool may_stand(const std::vector<Token>& tokens, std::size_t i, const Names& pools) {
  const auto is_pool = [&](std::size_t at) { return at < tokens.size() && pools.contains(tokens[at].text); };
  const Token& token = tokens[i];
  if (token.is_identifier()) return is_word_of_types(token.text) || token.is("sizeof") || is_pool(i);
  if (token.is("(") || token.is(")")) return true;
  if (token.is("*")) return tokens[i - 1].is("*") || is_word_of_types(tokens[i - 1].text);
  if (token.is("&")) return (is_pool(i + 1) || (tokens[i + 1].is("(") && is_pool(i + 2)));
  if (token.is("["))
    return is_pool(i - 1) && (tokens[i - 2].is("&") || (tokens[i - 2].is("(") && tokens[i - 3].is("&")));
  if (token.text == "0") return tokens[i - 1].is("[") && tokens[i + 1].is("]");
  return token.is("]");
}

}  // namespace

std::optional<PoolAccess> pool_access_of(const Item& item, std::string_view text, const Names& pools) {
  if (item.is_local || item.has_several) return std::nullopt;
  if (item.kind != Item::Kind::function && item.kind != Item::Kind::data) return std::nullopt;
  const auto tokens = tokens_of(item, text);
  if (!tokens) return std::nullopt;
  const auto value = value_at(item, *tokens);
  if (!value) return std::nullopt;
  PoolAccess access{.name = std::string(item.name), .file = {}, .pool = {}, .text = {}};
  const bool is_function = item.kind == Item::Kind::function;
  std::size_t done = item.begin;
  std::size_t i = *value;
  for (; i < tokens->size() && !(*tokens)[i].is(";"); ++i) {
    const Token& token = (*tokens)[i];
    if (!may_stand(*tokens, i, pools)) return std::nullopt;
    if (!token.is_identifier() || !pools.contains(token.text)) continue;
    if (!access.pool.empty()) return std::nullopt;
    access.pool = token.text;
    access.text.emplace_back(text.substr(done, token.offset - done));
    done = token.offset + token.text.size();
  }
  if (access.pool.empty() || i == tokens->size()) return std::nullopt;
  const std::size_t behind = is_function ? i + 2 : i + 1;
  if (behind != tokens->size() || (is_function && !(*tokens)[i + 1].is("}"))) return std::nullopt;
  access.text.emplace_back(text.substr(done, item.end - done));
  return access;
}

}  // namespace usmp::tvm_c

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Makes a file of C of a piece and the definitions of the macros that it names.
#include "tvm_c/text/macro_expansion.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "tvm_c/text/lexer.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {

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

std::unique_ptr<const Expanded> expanded(std::string_view text, const Definitions& macros) {
  constexpr std::size_t most_bytes = std::size_t{1} << 22;
  const auto definitions = definitions_of(text, most_bytes, [&](std::string_view name) {
    const auto found = macros.find(name);
    return found == macros.end() ? std::nullopt : std::optional(found->second);
  });
  if (!definitions) return nullptr;
  auto result = std::make_unique<Expanded>();
  result->text = *definitions + std::string(text);
  try {
    c::Environment environment;
    environment.most_expanded = 100'000;
    result->unit = c::preprocess(result->files, result->files.add({{}, result->text}), environment);
    for (const Token& token : result->unit.tokens) {
      if (token.is_painted) return nullptr;
      require_ended(token);
    }
    return result;
  } catch (const c::SyntaxError&) {
    return nullptr;
  } catch (const SyntaxError&) {
    return nullptr;
  }
}

}  // namespace usmp::tvm_c

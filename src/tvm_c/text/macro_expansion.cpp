// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Makes a file of C of a piece and the definitions of the macros that it names.
#include "tvm_c/text/macro_expansion.hpp"

#include <set>
#include <vector>

#include "tvm_c/text/lexer.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {

std::unique_ptr<const Expanded> expanded(std::string_view text, const Definition& definition, std::size_t most_bytes) {
  auto result = std::make_unique<Expanded>();
  std::set<std::string, std::less<>> seen;
  std::vector<std::string_view> texts = {text};
  while (definition && !texts.empty()) {
    const std::string_view one = texts.back();
    texts.pop_back();
    for_each_identifier(one, [&](std::string_view name) {
      if (!seen.emplace(name).second) return;
      const auto found = definition(name);
      if (!found) return;
      result->text.append("#define ").append(name).append(*found).append("\n");
      texts.push_back(*found);
    });
    if (result->text.size() + text.size() > most_bytes) return nullptr;
  }
  result->text += text;
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

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Recognises the words and attributes.
#include "tvm_c/text/section_words.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "tvm_c/text/macros.hpp"
#include "usmp/c/parser.hpp"

namespace usmp::tvm_c {
namespace {

// A word of the language, of TVM, or a type.
bool is_specifier(std::string_view word) {
  const bool says_more = is_attribute(word) || word.find("asm") != std::string_view::npos;
  return (c::is_word(word) && !says_more) || word == "TVM_DLL" || word == "TVM_EXPORT" ||
         word.starts_with("__STATIC_") || word.ends_with("_t");
}

}  // namespace

std::set<std::string_view> defined_as_nothing(const std::vector<Token>& tokens) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i + 3 < tokens.size(); ++i) {
    const bool is_define = tokens[i].begins_line && tokens[i].is("#") && tokens[i + 1].is("define");
    if (is_define && tokens[i + 3].begins_line) names.insert(tokens[i + 2].text);
  }
  return names;
}

std::optional<SectionWord> section_word_of(const Item& item, const FileTree& file,
                                           const std::set<std::string_view>& nothing, bool sections) {
  const auto offset_of = [&](std::string_view name) {
    return static_cast<std::size_t>(name.data() - file.code.text.data());
  };
  if (!item.decl.valid()) {  // beyond the grammar: any word in front
    return item.name.empty() ? std::nullopt : conditional_section_word(file.code, item.begin, offset_of(item.name));
  }
  const c::Decl& decl = file.tree[item.decl];
  const c::Type& result = file.tree[decl.kind == c::DeclKind::function ? file.tree[decl.type].of : decl.type];
  const bool is_unknown = result.kind == c::TypeKind::unknown && !is_specifier(result.name);
  if (is_unknown && offset_of(result.name) - item.begin < item.end - item.begin)  // IRAM_ATTR f(void) { … }
    return SectionWord{result.name, offset_of(result.name)};
  std::vector<c::TokenRange> all = decl.unknown;
  all.insert(all.end(), decl.attributes.begin(), decl.attributes.end());
  std::ranges::sort(all, {}, &c::TokenRange::begin);
  for (const c::TokenRange range : all) {
    const std::span<const Token> tokens = std::span(file.tokens).subspan(range.begin, range.end - range.begin);
    const auto is_section = [](const Token& token) { return token.is("section") || token.is("__section__"); };
    const bool is_found =
        is_attribute(tokens[0].text)
            ? (sections || item.kind == Item::Kind::function) && std::ranges::any_of(tokens, is_section)
            : !is_specifier(tokens[0].text) && !nothing.contains(tokens[0].text);
    if (is_found) return SectionWord{tokens[0].text, tokens[0].offset};
  }
  return std::nullopt;
}

std::optional<SectionWord> conditional_section_word(const Code& file, std::size_t begin, std::size_t end) {
  for (const Token& token : plain_tokens(file, begin, end)) {
    if (token.is_identifier() && !is_specifier(token.text)) return SectionWord{token.text, token.offset};
  }
  return std::nullopt;
}

}  // namespace usmp::tvm_c

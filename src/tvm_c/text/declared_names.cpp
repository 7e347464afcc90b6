// SPDX-License-Identifier: Apache-2.0
// Tests: tests/tvm_c/entry_parts_test.cpp, tests/tvm_c/entry_jumps_test.cpp.
#include "tvm_c/text/declared_names.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "tvm_c/text/macros.hpp"

namespace usmp::tvm_c {
namespace {

// Behind which an expression stands, not a variable's name.
template <class AnyToken>
bool is_word_of_statement(const AnyToken& token) {
  return token.is("return") || token.is("goto") || token.is("else") || token.is("case") || token.is("sizeof") ||
         token.is("do");
}

// Whether all from where the statement begins to the token are words and stars: const int8_t* n
template <class AnyToken>
bool is_behind_type(const std::vector<AnyToken>& tokens, std::size_t i) {
  bool has_word = false;
  while (i > 0) {
    const AnyToken& before = tokens[i - 1];
    if (before.is(";") || before.is("{") || before.is("}")) break;
    if (before.is("(")) return has_word && i > 1 && tokens[i - 2].is("for");
    if (!before.is("*") && (!before.is_identifier() || is_word_of_statement(before))) return false;
    has_word = before.is_identifier();
    --i;
  }
  return has_word;
}

// Behind a name that is declared, or in front of it: a macro may be one.
template <class AnyToken>
bool is_attribute(const AnyToken& token) {
  return token.is_identifier() && (token.text.starts_with("_") || is_in_capitals(token.text));
}

// Whether the bracket before the token closes what __attribute__((unused)) or TYPE(int8) opens.
template <class AnyToken>
bool is_behind_attribute(const std::vector<AnyToken>& tokens, std::size_t i) {
  std::size_t depth = 0;
  while (i-- > 0) {
    if (tokens[i].is(";") || tokens[i].is("{") || tokens[i].is("}")) return false;
    if (tokens[i].is(")")) ++depth;
    if (tokens[i].is("(") && --depth == 0) return i > 0 && (is_attribute(tokens[i - 1]) || tokens[i - 1].is("typeof"));
  }
  return false;
}

template <class AnyToken>
bool may_declare(const std::vector<AnyToken>& tokens, std::size_t i, std::size_t brackets) {
  const auto is = [&](std::size_t k, std::string_view spelling) { return k < tokens.size() && tokens[k].is(spelling); };
  if (i == 0 || !tokens[i].is_identifier()) return false;
  const AnyToken& before = tokens[i - 1];
  const bool is_bracketed = before.is("(") && is(i + 1, ")") && (is(i + 2, "=") || is(i + 2, "["));  // int (n) = 2;
  if (is_bracketed) return true;
  const bool ends = is(i + 1, "=") || is(i + 1, ";") || is(i + 1, "[") || is(i + 1, ",") || is(i + 1, ":") ||
                    i + 1 == tokens.size() || is_attribute(tokens[i + 1]);
  if (before.is("*")) return ends || (is(i + 1, ")") && (is(i + 2, "(") || is(i + 2, "[")));  // also int (*n)(void)
  if (before.is(",")) return ends && (brackets == 0 || is(i + 1, "="));
  if (before.is(")")) return ends && is_behind_attribute(tokens, i);
  return ends && before.is_identifier() && !is_word_of_statement(before);
}

template <class AnyToken>
std::vector<DeclaredName> names_of(const std::vector<AnyToken>& tokens) {
  std::vector<DeclaredName> result;
  std::size_t brackets = 0;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].is("(")) ++brackets;
    if (tokens[i].is(")") && brackets > 0) --brackets;
    if (tokens[i].is("{")) ++depth;
    if (tokens[i].is("}") && depth > 0) --depth;
    if (!may_declare(tokens, i, brackets)) continue;
    result.push_back({.name = std::string(tokens[i].text),
                      .at = i,
                      .depth = depth,
                      .is_sure = is_behind_type(tokens, i),
                      .is_pointer = tokens[i - 1].is("*")});
  }
  return result;
}

class UsedMacrosReader {
 public:
  explicit UsedMacrosReader(const AllDefinitions& macros) : macros_(macros) {}

  UsedMacros run(const std::vector<Token>& tokens) && {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].is_identifier()) add(tokens[i].text, i + 1 < tokens.size() && tokens[i + 1].is("("));
    }
    while (!pending_.empty()) {
      const std::string_view definition = pending_.back();
      pending_.pop_back();
      read(definition);
    }
    return std::move(result_);
  }

 private:
  void add(std::string_view name, bool is_called) {
    const auto macro = macros_.find(name);
    if (macro == macros_.end()) {
      result_.have_unknown = result_.have_unknown || (is_called && is_in_capitals(name));
    } else if (seen_.insert(macro->first).second) {
      pending_.insert(pending_.end(), macro->second.begin(), macro->second.end());
    }
  }

  void read(std::string_view definition) {
    try {
      MadeTokens tokens = made_tokens(definition);
      Names params;
      if (takes_arguments(definition)) {
        const std::size_t end = behind_bracket(tokens, 0);
        for (const MadeToken& token : std::span(tokens).first(end)) params.insert(token.text);
        tokens.erase(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(end));
      }
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i].is("#") || tokens[i].is("##")) result_.have_arguments = true;
        if (!tokens[i].is_identifier() || params.contains(tokens[i].text)) continue;
        result_.names.insert(tokens[i].text);
        add(tokens[i].text, i + 1 < tokens.size() && tokens[i + 1].is("("));
      }
      for (const DeclaredName& one : names_of(tokens)) {
        result_.declared.insert(one.name);
        if (one.depth == 0) result_.declared_behind.insert(one.name);
      }
    } catch (const SyntaxError&) {
      result_.have_unknown = true;
    }
  }

  const AllDefinitions& macros_;
  UsedMacros result_;
  std::set<std::string_view> seen_;
  std::vector<std::string_view> pending_;  // definitions
};

}  // namespace

std::vector<DeclaredName> declared_names(const std::vector<Token>& tokens) { return names_of(tokens); }

UsedMacros used_macros(const std::vector<Token>& tokens, const AllDefinitions& macros) {
  return UsedMacrosReader(macros).run(tokens);
}

bool define_type(const std::vector<Token>& tokens) {
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!tokens[i].is("struct") && !tokens[i].is("union") && !tokens[i].is("enum")) continue;
    if (tokens[i + 1].is("{") || (i + 2 < tokens.size() && tokens[i + 2].is("{"))) return true;
  }
  return false;
}

}  // namespace usmp::tvm_c

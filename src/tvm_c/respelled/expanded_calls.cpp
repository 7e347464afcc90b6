// SPDX-License-Identifier: Apache-2.0
// Tests: tests/tvm_c/edited_entry_test.cpp, several_ways_test.cpp.
#include "tvm_c/respelled/expanded_calls.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "tvm_c/respelled/several_ways.hpp"
#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/macro_expansion.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

struct NotFlat {};

// while (0)
bool is_once(const MadeTokens& tokens, std::size_t at, std::size_t last) {
  return at + 3 < last && tokens[at].is("while") && tokens[at + 1].is("(") && tokens[at + 2].is("0") &&
         tokens[at + 3].is(")");
}

// do { … } while (0); as its block, which may stand in a conditional group.
MadeTokens without_single_loops(MadeTokens tokens) {
  for (std::size_t i = tokens.size(); i-- > 0;) {
    if (!tokens[i].is("do") || i + 1 >= tokens.size() || !tokens[i + 1].is("{")) continue;
    const std::size_t end = behind_bracket(tokens, i + 1);
    const auto at = [&](std::size_t n) { return tokens.begin() + static_cast<std::ptrdiff_t>(n); };
    if (!is_once(tokens, end, tokens.size()) || end + 4 >= tokens.size() || !tokens[end + 4].is(";")) continue;
    const bool jumps =
        std::any_of(at(i), at(end), [](const MadeToken& one) { return one.is("break") || one.is("continue"); });
    if (jumps) continue;
    tokens.erase(at(end), at(end + 5));
    tokens.erase(at(i));
  }
  return tokens;
}

// (f(x)) where brackets say nothing, as f(x).
MadeTokens without_brackets(MadeTokens tokens, const MadeToken& before) {
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    const bool opens_call =
        tokens[i].is("(") && tokens[i + 1].is_identifier() && tokens[i + 2].is("(") && !tokens[i + 1].is("sizeof");
    if (!opens_call) continue;
    const MadeToken& front = i == 0 ? before : tokens[i - 1];
    const bool is_void_cast = i >= 3 && front.is(")") && tokens[i - 2].is("void") && tokens[i - 3].is("(");
    const bool is_behind_operator =
        front.kind == TokenKind::punctuator && !front.is(")") && !front.is("]") && !front.text.empty();
    if (!is_void_cast && !is_behind_operator && !front.is("return")) continue;
    const std::size_t end = behind_bracket(tokens, i);
    if (end != behind_bracket(tokens, i + 2) + 1) continue;
    tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(end - 1));
    tokens[i + 1].is_apart = tokens[i].is_apart;
    tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(i));
    if (i > 0) --i;
  }
  return tokens;
}

// Makes one list of a block's statements, and of blocks in it that call operators.
class Flattener {
 public:
  // `taken`: identifiers that nothing new may have as its name. `names`: of macros.
  Flattener(std::set<std::string, std::less<>>& taken, const Names& names) : taken_(taken), names_(names) {}

  // Throws NotFlat.
  StatementList run(MadeTokens tokens) {
    tokens_ = std::move(tokens);
    list(0, tokens_.size(), false);
    return std::move(result_);
  }

  // Beside calls of operators and what stands under conditions.
  [[nodiscard]] bool has_others() const { return has_others_; }

 private:
  // NOLINTBEGIN(misc-no-recursion): a level a block of a macro; expansions are bounded
  void list(std::size_t at, std::size_t last, bool is_block) {
    if (++level_ > most_levels) throw NotFlat();
    while (at < last) {
      if (is_block) rename_declared(at, last);
      const std::size_t end = statement_end(at, last);
      const bool is_run = mentions_operator(std::span(tokens_).subspan(at, end - at));
      if (!is_run && !tokens_[at].is("if") && !tokens_[at].is(";")) has_others_ = true;
      if (is_run && tokens_[at].is("{")) {
        block(at);
      } else if (is_run && tokens_[at].is("do")) {
        if (!tokens_[at + 1].is("{") || !is_once(tokens_, behind_bracket(tokens_, at + 1), last)) throw NotFlat();
        block(at + 1);
      } else {
        copy(at, end);
      }
      at = end;
    }
    --level_;
  }

  void block(std::size_t open) {
    const std::size_t end = behind_bracket(tokens_, open);
    for (std::size_t i = open; i < end; ++i) {
      const bool jumps = tokens_[i].is("break") || tokens_[i].is("continue") || tokens_[i].is("goto") ||
                         tokens_[i].is("asm") || tokens_[i].is("__asm") || tokens_[i].is("typedef") ||
                         tokens_[i].is("enum");
      if (jumps) throw NotFlat();
    }
    list(open + 1, end - 1, true);
  }

  // Behind the statement at `at`.
  std::size_t statement_end(std::size_t at, std::size_t last) {
    if (++level_ > most_levels || at >= last) throw NotFlat();
    std::size_t end = at;
    if (tokens_[at].is("{")) {
      end = behind_bracket(tokens_, at);
    } else if (tokens_[at].is("do")) {
      end = statement_end(at + 1, last);
      if (end >= last || !tokens_[end].is("while")) throw NotFlat();
      while (end < last && !tokens_[end].is(";")) ++end;
      end = std::min(end + 1, last);
    } else if (at + 1 < last && is_control(tokens_[at]) && tokens_[at + 1].is("(")) {
      end = statement_end(behind_bracket(tokens_, at + 1), last);
      if (tokens_[at].is("if") && end < last && tokens_[end].is("else")) end = statement_end(end + 1, last);
    } else {
      std::size_t depth = 0;
      for (; end < last && (depth > 0 || !tokens_[end].is(";")); ++end) {
        if (tokens_[end].is("(") || tokens_[end].is("{") || tokens_[end].is("[")) ++depth;
        if (tokens_[end].is(")") || tokens_[end].is("}") || tokens_[end].is("]")) {
          if (depth == 0) throw NotFlat();
          --depth;
        }
      }
      end = std::min(end + 1, last);
    }
    --level_;
    return end;
  }
  // NOLINTEND(misc-no-recursion)

  // uint32_t a = f(x), *b;
  void rename_declared(std::size_t at, std::size_t last) {
    std::size_t words = 0;
    std::size_t i = at;
    for (; i < last && (tokens_[i].is_identifier() || tokens_[i].is("*")); ++i) {
      if (is_control(tokens_[i]) || tokens_[i].is("return") || tokens_[i].is("do") || tokens_[i].is("else")) return;
      if (tokens_[i].is_identifier()) ++words;
    }
    const auto ends_name = [&](std::size_t k) {
      return k < last && (tokens_[k].is("=") || tokens_[k].is(";") || tokens_[k].is(",") || tokens_[k].is("["));
    };
    if (words < 2 || !ends_name(i)) {
      // struct point { … } p; and int (*f)(void);
      const std::size_t behind = i < last && tokens_[i].is("(") ? behind_bracket(tokens_, i) : i;
      const bool is_type =
          words > 0 && behind > i && behind < last && (tokens_[behind].is_identifier() || tokens_[behind].is("("));
      if (words >= 2 || is_type || (words > 0 && i < last && tokens_[i].is("{"))) throw NotFlat();
      return;
    }
    while (true) {
      if (!tokens_[i - 1].is_identifier()) throw NotFlat();
      rename(i - 1, last);
      std::size_t depth = 0;
      for (; i < last && (depth > 0 || (!tokens_[i].is(",") && !tokens_[i].is(";"))); ++i) {
        if (tokens_[i].is("(") || tokens_[i].is("{") || tokens_[i].is("[")) ++depth;
        if (tokens_[i].is(")") || tokens_[i].is("}") || tokens_[i].is("]")) --depth;
      }
      if (i >= last || tokens_[i].is(";")) return;
      for (++i; i < last && tokens_[i].is("*");) ++i;
      ++i;
      if (!ends_name(i)) throw NotFlat();
    }
  }

  // From there on, but for members of that name.
  void rename(std::size_t first, std::size_t last) {
    const std::string name = tokens_[first].text;
    std::string other;
    for (std::size_t n = 1; other.empty() || taken_.contains(other); ++n) other = name + "_" + std::to_string(n);
    taken_.insert(other);
    for (std::size_t i = first; i < last; ++i) {
      if (tokens_[i].is_identifier() && names_.contains(tokens_[i].text)) throw NotFlat();  // it may mention the name
      if (tokens_[i].is(name) && tokens_[i].is_identifier() && !is_member(tokens_, i)) tokens_[i].text = other;
    }
  }

  // One that does nothing is none.
  void copy(std::size_t first, std::size_t last) {
    const bool is_empty = tokens_[first].is(";") || (tokens_[first].is("{") && first + 2 == last);
    if (is_empty) return;
    result_.emplace_back(tokens_.begin() + static_cast<std::ptrdiff_t>(first),
                         tokens_.begin() + static_cast<std::ptrdiff_t>(last));
  }

  static constexpr std::size_t most_levels = 100;

  std::set<std::string, std::less<>>& taken_;
  const Names& names_;
  MadeTokens tokens_;
  StatementList result_;
  std::size_t level_ = 0;
  bool has_others_ = false;
};

class Body {
 public:
  Body(const FunctionText& function, const CallMacros& macros)
      : text_(function.body.text()),
        tokens_(tokens_of(function.body)),
        macros_(macros),
        definitions_(single_definitions(macros.definitions)),
        replaced_(text_) {
    for_each_identifier(text_, [&](std::string_view name) { taken_.emplace(name); });
  }

  std::optional<EditedText> run() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) read(i);
    return replaced_.text();
  }

 private:
  void read(std::size_t i) {
    if (tokens_[i].offset < replaced_.end()) return;
    const bool begins = i == 0 || tokens_[i - 1].is(";") || tokens_[i - 1].is("{") || tokens_[i - 1].is("}");
    if (tokens_[i].is("{")) {
      if (begins && depth_ == 0) replace(i, behind(i) - 1, true);
      if (tokens_[i].offset >= replaced_.end()) ++depth_;
    }
    if (tokens_[i].is("}") && depth_ > 0) --depth_;
    if (!tokens_[i].is_identifier()) return;
    if (tokens_[i].is("do") && begins && depth_ == 0 && i + 1 < tokens_.size() && tokens_[i + 1].is("{")) {
      const std::size_t end = behind(i + 1) + 4;  // of do { … } while (0);
      if (end < tokens_.size() && tokens_[end].is(";")) replace(i, end, true);
    }
    if (tokens_[i].offset < replaced_.end()) return;
    const auto macro = macros_.definitions.find(tokens_[i].text);
    if (macro == macros_.definitions.end() || macro->second.empty()) return;
    std::size_t last = i;
    if (takes_arguments(macro->second[0])) {
      if (i + 1 >= tokens_.size() || !tokens_[i + 1].is("(")) return;
      last = behind(i + 1) - 1;
    }
    const bool ends = last + 1 < tokens_.size() && tokens_[last + 1].is(";");
    replace(i, begins && ends ? last + 1 : last, begins);
  }

  // The bracket that opens at the token.
  [[nodiscard]] std::size_t behind(std::size_t open) const {
    return behind_bracketed(tokens_, open).value_or(tokens_.size());
  }

  // These tokens, which are whole statements or stand in one, if operators are called there.
  void replace(std::size_t first, std::size_t last, bool are_statements) {
    const std::size_t end = tokens_[last].offset + tokens_[last].text.size();
    const std::string_view text = text_.substr(tokens_[first].offset, end - tokens_[first].offset);
    if (text.find('#') != std::string_view::npos) return;
    const MadeTokens tokens = made_tokens(tokens_, first, last + 1);
    const MadeToken before = first == 0 ? MadeToken{TokenKind::punctuator, "{"}
                                        : MadeToken{tokens_[first - 1].kind, std::string(tokens_[first - 1].text)};
    std::optional<std::string> made;
    try {
      const auto several = macro_of_several_ways(tokens);
      if (several && depth_ == 0 && are_statements) {
        made = in_several_ways(tokens, *several, before);
      } else {
        made = in_one_way(tokens, before, are_statements);
      }
    } catch (const NotFlat&) {
      return;
    }
    if (made) replaced_.replace(tokens_[first].offset, end, *made);
  }

  std::optional<std::string> in_one_way(const MadeTokens& tokens, const MadeToken& before, bool are_statements) {
    auto made = expanded(tokens, definitions_);
    if (!made || !mentions_operator(*made)) return std::nullopt;
    const MadeTokens plain = without_brackets(std::move(*made), before);
    if (!are_statements) {
      const bool is_part = std::none_of(plain.begin(), plain.end(), [](const MadeToken& one) { return one.is(";"); });
      return is_part ? std::optional(text_of(plain)) : std::nullopt;
    }
    Flattener flattener(taken_, macros_.names);
    MadeTokens statements;
    for (const MadeTokens& one : flattener.run(plain)) statements.insert(statements.end(), one.begin(), one.end());
    if (tokens[0].is("{") && !flattener.has_others()) return std::nullopt;  // read as it is
    return text_of(statements);
  }

  // The one that these tokens come to and that has several definitions.
  [[nodiscard]] std::optional<std::string_view> macro_of_several_ways(const MadeTokens& tokens) const {
    std::optional<std::string_view> found;
    std::set<std::string, std::less<>> seen;
    std::vector<std::string> pending;
    for (const MadeToken& token : tokens) {
      if (token.is_identifier()) pending.push_back(token.text);
    }
    while (!pending.empty()) {
      const auto macro = macros_.definitions.find(pending.back());
      pending.pop_back();
      if (macro == macros_.definitions.end() || !seen.emplace(macro->first).second) continue;
      if (macro->second.size() > 1) {
        if (found) throw NotFlat();
        found = macro->first;
      }
      for (const std::string_view definition : macro->second) {
        for_each_identifier(definition, [&](std::string_view name) { pending.emplace_back(name); });
      }
    }
    return found;
  }

  std::optional<std::string> in_several_ways(const MadeTokens& tokens, std::string_view macro,
                                             const MadeToken& before) {
    std::vector<Way> ways;
    for (const Macros::Part& part : macros_.parts(macro)) {
      Definitions definitions = definitions_;
      definitions[macro] = part.definition;
      auto made = expanded(tokens, definitions);
      if (!made || !mentions_operator(*made)) return std::nullopt;
      Flattener flattener(taken_, macros_.names);
      ways.push_back({part.condition, flattener.run(without_single_loops(without_brackets(std::move(*made), before)))});
    }
    if (ways.empty()) return std::nullopt;
    return in_groups(ways, macros_.tests);
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  const CallMacros& macros_;
  Definitions definitions_;  // of those with one
  std::set<std::string, std::less<>> taken_;
  Replacements replaced_;
  std::size_t depth_ = 0;  // of braces
};

}  // namespace

std::optional<EditedText> with_expanded_calls(const FunctionText& function, const CallMacros& macros) {
  try {
    return Body(function, macros).run();
  } catch (const SyntaxError&) {  // told where the function is read
    return std::nullopt;
  }
}

}  // namespace usmp::tvm_c

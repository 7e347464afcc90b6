// SPDX-License-Identifier: Apache-2.0
// Tests: tests/tvm_c/result_tests_test.cpp.
#include "tvm_c/text/result_tests.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/literals.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

// Reads one condition whose macros are expanded.
class Condition {
 public:
  Condition(const MadeTokens& tokens, const std::function<bool(const MadeToken&)>& is_zero,
            const ResultTestNames& names)
      : tokens_(tokens), is_zero_(is_zero), names_(names) {}

  std::optional<ResultTest> read() {
    TokenPart part{0, tokens_.size()};
    while (true) {
      const auto inner = step(part);
      if (!inner) return std::nullopt;
      if (inner->begin == part.begin && inner->end == part.end) break;
      part = *inner;
    }
    if (is_of_zero_) return std::nullopt;
    ResultTest test;
    test.is_assignment = is(part.begin + 1, "=");
    test.asked.assign(tokens_.begin() + static_cast<std::ptrdiff_t>(part.begin),
                      tokens_.begin() + static_cast<std::ptrdiff_t>(part.end));
    return test;
  }

 private:
  // What is asked in the part, without one operator; the part itself: it is what is asked. Nothing: it is something
  // else.
  std::optional<TokenPart> step(TokenPart part) {
    if (part.begin >= part.end) return std::nullopt;
    if (const auto compared = comparison(part)) {
      const TokenPart left{part.begin, *compared};
      const TokenPart right{*compared + 1, part.end};
      const bool is_right = is_nothing(right);
      if (!is_right && !is_nothing(left)) return std::nullopt;
      if (is(*compared, "==")) is_of_zero_ = !is_of_zero_;
      return is_right ? left : right;
    }
    if (is(part.begin, "!")) {
      is_of_zero_ = !is_of_zero_;
      return TokenPart{part.begin + 1, part.end};
    }
    if (is(part.begin, "(")) {
      return closes(part) ? std::optional<TokenPart>({part.begin + 1, part.end - 1}) : std::nullopt;
    }
    const MadeToken& name = tokens_[part.begin];
    if (!name.is_identifier()) return std::nullopt;
    const TokenPart behind{part.begin + 1, part.end};
    if (is(behind.begin, "(") && closes(behind)) {
      const bool is_hint = (name.is("likely") || name.is("unlikely")) && !names_.macros.contains(name.text) &&
                           !names_.may_be_declared(name.text);
      if (is_hint) return TokenPart{behind.begin + 1, behind.end - 1};
      if (name.is("__builtin_expect")) return expected({behind.begin + 1, behind.end - 1});
      return part;
    }
    const bool is_variable = behind.begin == behind.end;
    const bool is_assigned = is(behind.begin, "=") && behind.begin + 2 < part.end &&
                             tokens_[behind.begin + 1].is_identifier() && is(behind.begin + 2, "(") &&
                             closes({behind.begin + 2, part.end});
    return is_variable || is_assigned ? std::optional(part) : std::nullopt;
  }

  // "x, 0" of __builtin_expect(x, 0): x.
  [[nodiscard]] std::optional<TokenPart> expected(TokenPart part) const {
    const std::size_t comma = part.end - std::min<std::size_t>(2, part.end - part.begin);
    const bool is_plain = part.end > part.begin + 2 && is(comma, ",") && tokens_[comma + 1].kind == TokenKind::number;
    return is_plain && !find({part.begin, comma}, {","}) ? std::optional<TokenPart>({part.begin, comma}) : std::nullopt;
  }

  // The one operator == or != that is in no brackets, of a part that has no other but ! there.
  [[nodiscard]] std::optional<std::size_t> comparison(TokenPart part) const {
    const auto found = find(part, {"==", "!="});
    if (!found) return std::nullopt;
    return is_operand({part.begin, *found}) && is_operand({*found + 1, part.end}) ? found : std::nullopt;
  }

  // What binds closer than a comparison: (x), !x, f(x), x, 0.
  [[nodiscard]] bool is_operand(TokenPart part) const {
    while (part.begin < part.end && is(part.begin, "!")) ++part.begin;
    if (part.begin == part.end) return false;
    if (is(part.begin, "(")) return closes(part);
    const MadeToken& first = tokens_[part.begin];
    const bool is_name = first.is_identifier() && !first.is("sizeof");
    if (!is_name && first.kind != TokenKind::number) return false;
    const TokenPart behind{part.begin + 1, part.end};
    return behind.begin == behind.end || (is_name && is(behind.begin, "(") && closes(behind));
  }

  // 0, (0) or a name for it.
  [[nodiscard]] bool is_nothing(TokenPart part) const {
    while (part.end > part.begin + 2 && is(part.begin, "(") && closes(part)) part = {part.begin + 1, part.end - 1};
    return part.end == part.begin + 1 && is_zero_(tokens_[part.begin]);
  }

  // Whether the bracket at its begin is closed by its last token.
  [[nodiscard]] bool closes(TokenPart part) const { return behind_bracket(tokens_, part.begin) == part.end; }

  // The first of these that is in no brackets.
  [[nodiscard]] std::optional<std::size_t> find(TokenPart part, std::initializer_list<std::string_view> words) const {
    for (std::size_t i = part.begin; i < part.end; ++i) {
      if (is(i, "(") || is(i, "[") || is(i, "{")) {
        i = behind_bracket(tokens_, i) - 1;
        continue;
      }
      if (std::any_of(words.begin(), words.end(), [&](std::string_view word) { return is(i, word); })) return i;
    }
    return std::nullopt;
  }

  [[nodiscard]] bool is(std::size_t i, std::string_view spelling) const {
    return i < tokens_.size() && tokens_[i].is(spelling);
  }

  const MadeTokens& tokens_;
  const std::function<bool(const MadeToken&)>& is_zero_;
  const ResultTestNames& names_;
  bool is_of_zero_ = false;  // what is asked so far has to be 0
};

class Tests {
 public:
  Tests(const FunctionText& function, const ResultTestNames& names)
      : text_(function.body.text()), tokens_(tokens_of(function.body)), names_(names), replaced_(text_) {
    for (std::size_t i = 0; i + 3 < tokens_.size(); ++i) {
      const bool is_result = tokens_[i].is_identifier() && tokens_[i + 1].is("=") && tokens_[i + 2].is_identifier() &&
                             tokens_[i + 3].is("(");
      if (is_result) results_.emplace(tokens_[i].text);
      const bool may_declare = (tokens_[i].is_identifier() && !tokens_[i].is("return")) || tokens_[i].is("*") ||
                               tokens_[i].is(",");  // int32_t i = 0, OK = 1;
      if (may_declare && tokens_[i + 1].is_identifier()) declared_.emplace(tokens_[i + 1].text);
    }
  }

  std::optional<EditedText> run() {
    for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
      if (!tokens_[i].is("if") || !tokens_[i + 1].is("(")) continue;
      if (const auto end = behind_bracketed(tokens_, i + 1)) replace(i + 2, *end - 1);
    }
    return replaced_.text();
  }

 private:
  void replace(std::size_t first, std::size_t last) {
    if (first >= last) return;
    const std::size_t end = tokens_[last - 1].offset + tokens_[last - 1].text.size();
    const std::string_view text = text_.substr(tokens_[first].offset, end - tokens_[first].offset);
    if (text.find('#') != std::string_view::npos) return;
    const MadeTokens tokens = made_tokens(tokens_, first, last);
    const auto test = test_of(tokens);
    if (!test) return;
    if (is_plain(tokens, *test)) return;
    const std::string asked = text_of(test->asked);
    replaced_.replace(tokens_[first].offset, end, (test->is_assignment ? "(" + asked + ")" : asked) + " != 0");
  }

  // x, x != 0 or (x = f(…)) != 0, as TVM's and the reader's are.
  static bool is_plain(const MadeTokens& tokens, const ResultTest& test) {
    const std::size_t brackets = test.is_assignment ? 1 : 0;
    const std::size_t asked = test.asked.size() + 2 * brackets;
    if (!tokens[brackets].is(test.asked[0].text) || (brackets == 1 && !tokens[0].is("("))) return false;
    return tokens.size() == asked ||
           (tokens.size() == asked + 2 && tokens[asked].is("!=") && tokens[asked + 1].is("0"));
  }

  // As it stands if that is one, otherwise with its macros expanded.
  [[nodiscard]] std::optional<ResultTest> test_of(const MadeTokens& tokens) const {
    auto as_it_stands = checked(tokens);
    const auto is_macro = [&](std::size_t i) { return names_.macros.contains(as_it_stands->asked[i].text); };
    if (as_it_stands && !is_macro(0) && !(as_it_stands->is_assignment && is_macro(2))) return as_it_stands;
    const auto involved = macros_in(tokens);
    if (!involved || involved->empty()) return std::nullopt;
    std::size_t ways = 1;
    for (const auto& macro : *involved) ways = std::max(ways, macro.second->size());
    std::optional<ResultTest> result;
    for (std::size_t way = 0; way < ways; ++way) {
      Definitions chosen;
      for (const auto& [name, all] : *involved) chosen[name] = (*all)[std::min(way, all->size() - 1)];
      const auto made = expanded(tokens, chosen);
      auto test = made ? checked(*made) : std::nullopt;
      if (!test || (result && text_of(result->asked) != text_of(test->asked))) return std::nullopt;
      result = std::move(test);
    }
    // A macro may give a function another name.
    const std::string& name = result->asked[result->is_assignment ? 2 : 0].text;
    const bool is_named = std::any_of(tokens.begin(), tokens.end(), [&](const MadeToken& one) { return one.is(name); });
    return is_named || name.starts_with("tvmgen_") ? result : std::nullopt;
  }

  [[nodiscard]] std::optional<ResultTest> checked(const MadeTokens& tokens) const {
    const ResultTestNames names = {
        names_.macros, [this](std::string_view name) { return !declared_.contains(name) && names_.is_zero(name); },
        names_.may_be_declared};
    auto test = result_test(tokens, names);
    const bool is_variable = test && test->asked.size() == 1;
    return is_variable && !results_.contains(test->asked[0].text) ? std::nullopt : test;
  }

  // Those that the tokens mention, by themselves or through others, but for names that stand for 0. Nothing: it is not
  // known what they are, or more than one has several definitions.
  [[nodiscard]] std::optional<std::map<std::string_view, const std::vector<std::string_view>*>> macros_in(
      const MadeTokens& tokens) const {
    std::map<std::string_view, const std::vector<std::string_view>*> found;
    std::vector<std::string> pending;
    for (const MadeToken& token : tokens) {
      if (token.is_identifier()) pending.push_back(token.text);
    }
    std::size_t several = 0;
    while (!pending.empty()) {
      const auto macro = names_.macros.find(pending.back());
      pending.pop_back();
      if (macro == names_.macros.end() || names_.is_zero(macro->first)) continue;
      if (!found.emplace(macro->first, &macro->second).second) continue;
      if (macro->second.empty() || found.size() > most_macros) return std::nullopt;
      if (macro->second.size() > 1 && ++several > 1) return std::nullopt;
      for (const std::string_view definition : macro->second) {
        for_each_identifier(definition, [&](std::string_view name) { pending.emplace_back(name); });
      }
    }
    return found;
  }

  static constexpr std::size_t most_macros = 100;  // in a condition

  std::string_view text_;
  std::vector<Token> tokens_;
  const ResultTestNames& names_;
  std::set<std::string, std::less<>> results_;   // variables that get what calls return
  std::set<std::string, std::less<>> declared_;  // names that may be variables of the function
  Replacements replaced_;
};

}  // namespace

std::optional<ResultTest> result_test(const MadeTokens& condition, const ResultTestNames& names) {
  const std::function<bool(const MadeToken&)> is_zero = [&](const MadeToken& token) {
    if (token.is_identifier()) return names.is_zero(token.text);
    const Token number{token.kind, token.text, 0};
    return token.kind == TokenKind::number && !is_real(number) && integer_literal(number).value == 0;
  };
  try {
    return Condition(condition, is_zero, names).read();
  } catch (const SyntaxError&) {  // a number that none is
    return std::nullopt;
  }
}

std::optional<EditedText> with_plain_tests(const FunctionText& function, const ResultTestNames& names) {
  try {
    return Tests(function, names).run();
  } catch (const SyntaxError&) {  // told where the function is read
    return std::nullopt;
  }
}

}  // namespace usmp::tvm_c

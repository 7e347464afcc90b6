// SPDX-License-Identifier: Apache-2.0
// Tests: tests/tvm_c/several_ways_test.cpp.
#include "tvm_c/respelled/several_ways.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace usmp::tvm_c {
namespace {

MadeTokens tokens_in(const MadeTokens& tokens, std::size_t first, std::size_t last) {
  return {tokens.begin() + static_cast<std::ptrdiff_t>(first), tokens.begin() + static_cast<std::ptrdiff_t>(last)};
}

bool mentions(const MadeTokens& tokens, std::string_view name) {
  return std::any_of(tokens.begin(), tokens.end(),
                     [&](const MadeToken& token) { return token.is_identifier() && token.text == name; });
}

std::string joined(const StatementList& statements, std::size_t first, std::size_t last) {
  std::string text;
  for (std::size_t i = first; i < last; ++i) text += (text.empty() ? "" : " ") + text_of(statements[i]);
  return text;
}

// One way's statements, apart.
struct MacroParts {
  std::string front;
  std::string call;      // f(a, b)
  std::string type;      // of the variable that gets its result: "int32_t"; empty: none
  std::string variable;  // that
  std::string between;   // in front of where it is asked
  MadeTokens failure;    // what happens if the call fails; empty: nothing is asked
  std::string behind;
};

// Of "if (condition) failure": what it asks, and the failure.
std::optional<std::pair<ResultTest, MadeTokens>> check_of(const MadeTokens& statement, const ResultTestNames& names) {
  if (statement.size() < 4 || !statement[0].is("if") || !statement[1].is("(")) return std::nullopt;
  const std::size_t behind = behind_bracket(statement, 1);
  if (behind >= statement.size()) return std::nullopt;
  auto test = result_test(tokens_in(statement, 2, behind - 1), names);
  MadeTokens failure = tokens_in(statement, behind, statement.size());
  if (failure[0].is("{")) failure = tokens_in(failure, 1, failure.size() - 1);
  const bool is_plain = std::none_of(failure.begin(), failure.end(), [](const MadeToken& token) {
    return token.is("else") || token.is(":") || token.is("goto");
  });
  if (!test || test->is_assignment || !is_plain) return std::nullopt;
  return std::pair(std::move(*test), std::move(failure));
}

// f(a, b); or (void)f(a, b); or T v = f(a, b); from the token on.
std::optional<std::string> call_at(const MadeTokens& statement, std::size_t first) {
  const bool is_call = first + 2 < statement.size() && statement[first].is_identifier() && statement[first + 1].is("(");
  if (!is_call || behind_bracket(statement, first + 1) + 1 != statement.size() || !statement.back().is(";")) {
    return std::nullopt;
  }
  return text_of(tokens_in(statement, first, statement.size() - 1));
}

// Reads the statement that calls the operator, and up to the one that asks for the result. Their number; 0: it is
// another statement.
std::size_t read_call(const StatementList& statements, std::size_t at, const ResultTestNames& names,
                      MacroParts& parts) {
  const MadeTokens& statement = statements[at];
  if (auto check = check_of(statement, names)) {
    if (mentions_operator(check->second) || check->first.asked.size() < 3) return 0;
    parts.call = text_of(check->first.asked);
    parts.failure = std::move(check->second);
    return 1;
  }
  const bool is_void = statement.size() > 3 && statement[0].is("(") && statement[1].is("void") && statement[2].is(")");
  if (auto call = call_at(statement, is_void ? 3 : 0)) {
    parts.call = std::move(*call);
    return 1;
  }
  std::size_t equals = 0;
  while (equals < statement.size() && statement[equals].is_identifier()) ++equals;
  if (equals < 2 || equals + 1 >= statement.size() || !statement[equals].is("=")) return 0;
  const std::string& variable = statement[equals - 1].text;
  auto call = call_at(statement, equals + 1);
  std::optional<std::size_t> asked;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    if (i == at || !mentions(statements[i], variable)) continue;
    if (i < at || asked) return 0;
    asked = i;
  }
  auto check = asked ? check_of(statements[*asked], names) : std::nullopt;
  if (!call || !check || check->first.asked.size() != 1 || check->first.asked[0].text != variable) return 0;
  parts.call = std::move(*call);
  parts.type = text_of(tokens_in(statement, 0, equals - 1));
  parts.variable = variable;
  parts.between = joined(statements, at + 1, *asked);
  parts.failure = std::move(check->second);
  return *asked + 1 - at;
}

std::optional<MacroParts> parts_of(const StatementList& statements, const ResultTestNames& names) {
  const auto calling = std::find_if(statements.begin(), statements.end(), mentions_operator);
  if (calling == statements.end() || std::count_if(statements.begin(), statements.end(), mentions_operator) != 1) {
    return std::nullopt;
  }
  const auto at = static_cast<std::size_t>(calling - statements.begin());
  MacroParts parts;
  const std::size_t taken = read_call(statements, at, names, parts);
  if (taken == 0) return std::nullopt;
  parts.front = joined(statements, 0, at);
  parts.behind = joined(statements, at + taken, statements.size());
  return parts;
}

// One of the texts in each part of a group.
std::string grouped(const std::vector<Way>& ways, const std::vector<std::string>& texts) {
  if (std::all_of(texts.begin(), texts.end(), [&](const std::string& text) { return text == texts[0]; }))
    return texts[0];
  std::string result = "\n";
  for (std::size_t i = 0; i < ways.size(); ++i) result += "#" + ways[i].condition + "\n" + texts[i] + "\n";
  return result + "#endif\n";
}

}  // namespace

std::optional<std::string> in_groups(const std::vector<Way>& ways, const ResultTestNames& names) {
  std::vector<MacroParts> all;
  for (const Way& way : ways) {
    auto parts = parts_of(way.statements, names);
    if (!parts || (!all.empty() && parts->call != all[0].call)) return std::nullopt;
    all.push_back(std::move(*parts));
  }
  std::string type;
  std::string variable;
  for (const MacroParts& parts : all) {
    if (parts.variable.empty()) continue;
    if (!variable.empty() && parts.type != type) return std::nullopt;
    if (variable.empty()) variable = parts.variable;
    type = parts.type;
  }
  // 256 is 0 in an int8_t, which only some of the ways would ask.
  const bool is_whole = type.empty() || type == "int" || type == "int32_t";
  std::vector<std::string> fronts;
  std::vector<std::string> between;
  std::vector<std::string> failures;
  std::vector<std::string> rests;
  for (MacroParts& parts : all) {
    if (!is_whole && parts.variable.empty()) return std::nullopt;
    for (MadeToken& token : parts.failure) {
      if (token.is_identifier() && token.text == parts.variable) token.text = variable;
    }
    fronts.push_back(parts.front);
    between.push_back(parts.between);
    failures.push_back(text_of(parts.failure));
    rests.push_back(parts.behind);
  }
  const std::string asked = variable.empty() ? all[0].call : variable;
  std::string result = grouped(ways, fronts) + " ";
  if (!variable.empty()) result += type + " " + variable + " = " + all[0].call + "; " + grouped(ways, between) + " ";
  const bool is_asked = std::any_of(failures.begin(), failures.end(), [](const auto& one) { return !one.empty(); });
  if (!is_asked) return result + all[0].call + "; " + grouped(ways, rests);
  return result + "if (" + asked + " != 0) {" + grouped(ways, failures) + "} " + grouped(ways, rests);
}

}  // namespace usmp::tvm_c

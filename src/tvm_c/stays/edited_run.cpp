// SPDX-License-Identifier: Apache-2.0
// Tests: tests/tvm_c/edited_run_test.cpp.
#include "tvm_c/stays/edited_run.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "tvm_c/stays/added_code.hpp"
#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/macros.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

// "inputs" and "outputs" of (struct tvmgen_m_inputs* inputs, struct tvmgen_m_outputs* outputs); nothing: other ones.
std::vector<std::string> struct_params(const FunctionText& run, std::string_view symbol) {
  const std::vector<Token> tokens = tokens_of(run.params);
  std::vector<std::string> names;
  std::size_t i = 0;
  for (const char* part : {"_inputs", "_outputs"}) {
    const std::string type = std::string(symbol) + part;
    while (i < tokens.size() && (tokens[i].is("const") || tokens[i].is(","))) ++i;
    const bool is_one = i + 3 < tokens.size() && tokens[i].is("struct") && tokens[i + 1].is(type) &&
                        tokens[i + 2].is("*") && tokens[i + 3].is_identifier();
    if (!is_one) return {};
    names.emplace_back(tokens[i + 3].text);
    i += 4;
  }
  return i + 1 == tokens.size() ? names : std::vector<std::string>();
}

bool is_cast_word(const Token& token) {
  return token.is("(") || token.is(")") || token.is("*") || token.is("&") || token.is("void") || token.is("const") ||
         token.is("float") || token.is("double") || token.is("char") || token.is("int") || token.is("bool") ||
         (token.is_identifier() && token.text.ends_with("_t"));
}

// Of "[": whether it is that of &pool[0] or &(pool[0]), the address of the whole pool.
bool is_start_of_pool(const std::vector<Token>& tokens, std::size_t bracket, const FileScope& scope) {
  const bool is_first = tokens[bracket].is("[") && bracket + 2 < tokens.size() && tokens[bracket + 1].text == "0" &&
                        tokens[bracket + 2].is("]");
  if (!is_first || bracket < 2 || !scope.arrays.contains(tokens[bracket - 1].text)) return false;
  std::size_t front = bracket - 1;
  while (front > 0 && tokens[front - 1].is("(")) --front;
  return front > 0 && tokens[front - 1].is("&");
}

class Run {
 public:
  Run(std::string_view text, const FunctionText& function, const Item& item, const FileScope& scope)
      : text_(text), function_(function), item_(item), scope_(scope) {}

  std::optional<EditedRun> read(const std::string& run, const std::string& entry) {
    const std::string symbol = run.substr(0, run.rfind('_'));
    const std::vector<std::string> params = struct_params(function_, symbol);
    if (params.empty()) return std::nullopt;
    const std::string_view own = text_.substr(item_.begin, item_.end - item_.begin);
    const Macros macros(text_);
    std::string plain;
    const std::vector<Token> tokens = plain_tokens(own, directives_in(own), plain);
    const std::string planned = "usmp_" + run;
    Replacements replaced(text_);
    replaced.replace(
        item_.begin, item_.begin,
        "int32_t " + planned + "(struct " + symbol + "_inputs* inputs, struct " + symbol + "_outputs* outputs); ");
    EditedRun edited;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (!tokens[i].is(entry)) {
        const bool hides = tokens[i].is_identifier() && macros.contains(tokens[i].text) &&
                           macros.names_of({tokens[i]}).contains(entry);
        if (hides) return std::nullopt;
        continue;
      }
      std::vector<std::string> members;
      const auto end = call(tokens, i + 1, params, members);
      const bool is_other = !edited.members.empty() && edited.members != members;
      if (!end || members.empty() || is_other) return std::nullopt;
      edited.members = std::move(members);
      if (own.substr(tokens[i].offset, *end - tokens[i].offset).find('#') != std::string_view::npos)
        return std::nullopt;
      replaced.replace(item_.begin + tokens[i].offset, item_.begin + *end,
                       planned + "(" + params[0] + ", " + params[1] + ")");
    }
    if (edited.members.empty()) return std::nullopt;
    edited.text = *replaced.text();
    return edited;
  }

 private:
  // Behind the call whose bracket opens at `i`.
  std::optional<std::size_t> call(const std::vector<Token>& tokens, std::size_t i,
                                  const std::vector<std::string>& params, std::vector<std::string>& members) const {
    if (i >= tokens.size() || !tokens[i].is("(")) return std::nullopt;
    std::size_t named = 0;  // in the argument
    std::size_t depth = 0;
    for (; i < tokens.size(); ++i) {
      const Token& token = tokens[i];
      if (token.is("(")) ++depth;
      if (token.is(")") && --depth == 0) {
        return named == 1 ? std::optional(token.offset + token.text.size()) : std::nullopt;
      }
      if (token.is(",") && depth == 1) {
        if (named != 1) return std::nullopt;
        named = 0;
        continue;
      }
      const bool is_param = std::find(params.begin(), params.end(), token.text) != params.end();
      if (is_param && i + 2 < tokens.size() && tokens[i + 1].is("->") && tokens[i + 2].is_identifier()) {
        members.emplace_back((token.is(params[0]) ? "inputs." : "outputs.") + std::string(tokens[i + 2].text));
        ++named;
        i += 2;
      } else if (scope_.owned.contains(token.text) || scope_.constant_pools.contains(std::string(token.text))) {
        ++named;
      } else if (!is_cast_word(token)) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

  std::string_view text_;
  const FunctionText& function_;
  const Item& item_;
  const FileScope& scope_;
};

}  // namespace

std::optional<SyntaxError> added_to_run(const FunctionText& run, const std::string& run_name, const std::string& entry,
                                        const FileScope& scope) {
  Names known = {"return", "DLTensor", "TVMValue", entry};
  for (const char* type : {"bool", "char", "const", "double", "float", "int", "int8_t", "int16_t", "int32_t", "int64_t",
                           "signed", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "unsigned", "void"}) {
    known.emplace(type);  // of casts
  }
  for (const auto& [name, size] : scope.arrays) known.insert(name);
  for (const auto& [name, pool] : scope.constant_pools) known.insert(name);
  for (const Token& token : tokens_of(run.params)) known.emplace(token.text);
  const bool is_packed = takes_packed(run.params);  // TVM fills arrays there
  const std::string_view marks = is_packed ? "()[];=,*&.{}" : "();,*&.}";
  const std::vector<Token> tokens = tokens_of(run.body);
  Token before;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    const bool is_declared = (before.is("TVMValue") || before.is("DLTensor")) && token.is_identifier();
    if (is_declared) known.emplace(token.text);
    const bool is_member = before.is(".") || before.is("->");
    if (is_start_of_pool(tokens, i, scope)) {
      i += 2;
      before = tokens[i];
      continue;
    }
    const bool is_known =
        (token.kind == TokenKind::number && is_packed) || is_member || token.is("->") ||
        (token.is_identifier() ? known.contains(token.text)
                               : token.text.size() == 1 && marks.find(token.text) != std::string_view::npos);
    // return tvmgen_m___tvm_main__(…); and no other statement.
    const bool is_placed = is_packed || ((i == 0) == token.is("return") && (!token.is(";") || i + 2 == tokens.size()));
    const bool is_tvms = is_known && is_placed;
    if (!is_tvms) {
      const bool is_argument = token.is_identifier() && (before.is("(") || before.is(",") || before.is(")")) &&
                               i + 1 < tokens.size() && (tokens[i + 1].is(",") || tokens[i + 1].is(")"));
      const std::string pool = "uint8_t " + std::string(token.text) + "[N];";
      return SyntaxError{
          token.offset,
          "found " + shown(token.text) + " in " + in_quotes(run_name) +
              ", which is written anew, expected nothing but the call of the entry, or one call that gets members of "
              "the parameters and pools of this file: " +
              (is_argument ? "a pool is an array, " + in_quotes("static " + pool) + " or " +
                                 in_quotes("extern " + pool) + ", and --pools says where planned C has it"
                           : "what somebody added may go to where " + in_quotes(run_name) + " is called")};
    }
    before = token;
  }
  try {
    require_plain_text(run, {});
  } catch (const SyntaxError& error) {
    return error;
  }
  return std::nullopt;
}

std::optional<EditedRun> with_planned_run(std::string_view text, const std::string& run, const std::string& entry,
                                          const FileScope& scope) {
  const auto function = scope.functions.find(run);
  const auto item = std::find_if(scope.items.begin(), scope.items.end(),
                                 [&](const Item& one) { return one.kind == Item::Kind::function && one.name == run; });
  const bool is_packed = function != scope.functions.end() && takes_packed(function->second.params);
  if (function == scope.functions.end() || item == scope.items.end() || is_packed) return std::nullopt;
  try {
    return Run(text, function->second, *item, scope).read(run, entry);
  } catch (const SyntaxError&) {  // told where the function is read
    return std::nullopt;
  }
}

}  // namespace usmp::tvm_c

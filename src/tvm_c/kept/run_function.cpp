// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds what somebody added to tvmgen_MODULE_run, token by token: whatever is none of TVM's.
#include "tvm_c/kept/run_function.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tvm_c/kept/added_code.hpp"
#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/macros.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

// Whether "[" is that of &pool[0] or &(pool[0]), the address of the whole pool.
bool is_start_of_pool(const std::vector<Token>& tokens, std::size_t bracket, const FileScope& scope) {
  const bool is_first = tokens[bracket].is("[") && bracket + 2 < tokens.size() && tokens[bracket + 1].text == "0" &&
                        tokens[bracket + 2].is("]");
  if (!is_first || bracket < 2 || !scope.arrays.contains(tokens[bracket - 1].text)) return false;
  std::size_t front = bracket - 1;
  while (front > 0 && tokens[front - 1].is("(")) --front;
  return front > 0 && tokens[front - 1].is("&");
}

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
  std::optional<SyntaxError> first;  // a pool that is none of TVM's says more than what sets it in front of the call
  bool is_called = false;
  Token before;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    const bool is_declared = (before.is("TVMValue") || before.is("DLTensor")) && token.is_identifier();
    if (is_declared) known.emplace(token.text);
    is_called = is_called || token.text == entry;
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
    if (!is_tvms && (!first || (is_called && !is_known))) {
      const bool is_argument = token.is_identifier() && (before.is("(") || before.is(",") || before.is(")")) &&
                               i + 1 < tokens.size() && (tokens[i + 1].is(",") || tokens[i + 1].is(")"));
      const std::string pool = "uint8_t " + std::string(token.text) + "[N];";
      SyntaxError error{
          token.offset,
          "found " + shown(token.text) + " in " + in_quotes(run_name) +
              ", which is written anew, expected nothing but the call of the entry: " +
              (is_argument ? "a pool is an array, " + in_quotes("static " + pool) +
                                 ", which nothing sets; with --pools, planned C has it elsewhere, or the application "
                                 "passes it"
                           : "move the addition out of " + in_quotes(run_name) + ", to where that is called")};
      if (!first || is_argument) first = std::move(error);
    }
    before = token;
  }
  if (first) return first;
  try {
    require_plain_text(run, {});
  } catch (const SyntaxError& error) {
    return error;
  }
  return std::nullopt;
}

}  // namespace usmp::tvm_c

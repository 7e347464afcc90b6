// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Looks for spellings that versions have apart from others.
#include "usmp/tvm_c/style.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/syntax.hpp"
#include "tvm_c/text/tvm_names.hpp"

namespace usmp::tvm_c {
namespace {

constexpr int first_version = 8;  // 0.8
constexpr int last_version = 18;

// Minor versions that are still possible.
struct Versions {
  int from = first_version;
  int to = last_version;

  void since(int version) { from = std::max(from, version); }
  void until(int version) { to = std::min(to, version); }
};

void look_at_text(const Code& file, Versions& versions) {
  if (file.mentions("___tvm_main__")) versions.since(9);
  if (file.mentions("_run_model")) versions.until(8);
  if (file.mentions("-link-params=")) versions.until(10);
  if (file.mentions("<stdbool.h>")) versions.since(11);
  if (file.mentions("((uint8_t*)&")) versions.since(15);
}

// What tokens say, in whatever layout.
void look_at_tokens(const Code& file, Versions& versions) {
  std::vector<Token> tokens = taken_tokens(file, 0, file.text.size(), false).tokens;
  tokens.emplace_back();
  const auto closing = [&](std::size_t open) { return behind_bracketed(tokens, open).value_or(tokens.size() - 1) - 1; };
  std::set<std::string_view> declared;
  bool defines_declared = false;
  std::size_t defined = 0;
  std::array<Token, 4> last;  // the newest in front
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.is("=") && tokens[i + 1].is("{")) {  // a table
      i = closing(i + 1);
    } else if (token.is("(") && last[0].is_identifier() && is_generated(last[0].text) && last[1].is_identifier()) {
      i = closing(i);
      const std::string_view name = last[0].text;
      // That of the entry stands in another file's text, which may have been put in front.
      if (tokens[i + 1].is(";") && !last[1].is("return") && !name.ends_with("___tvm_main__")) declared.insert(name);
      if (tokens[i + 1].is("{")) {
        ++defined;
        defines_declared = defines_declared || declared.contains(name);
      }
    }
    // static [const] struct global_const_workspace {
    if (token.is("{") && last[0].is_identifier() && last[1].is("struct")) {
      if (last[2].is("static")) versions.until(16);
      if (last[2].is("const") && last[3].is("static")) versions.since(17);
    }
    // while (1): choices and conditions of loops became statements; condval is the variable of such a choice.
    if (token.is("condval") ||
        (token.kind == TokenKind::number && token.text == "1" && last[0].is("(") && last[1].is("while"))) {
      versions.since(16);
    }
    // float* x = (float*)…
    const bool is_typed_let = token.is("(") && last[0].is("=") && last[1].is_identifier() && last[2].is("*") &&
                              last[3].is_identifier() && !last[3].is("void");
    if (is_typed_let && tokens[i + 1].is(last[3].text)) versions.since(18);
    std::rotate(last.rbegin(), last.rbegin() + 1, last.rend());
    last[0] = token;
  }
  if (defines_declared) versions.since(16);
  if (defined > 1 && !defines_declared) versions.until(15);
}

std::string spelled(int version) { return "0." + std::to_string(version); }

}  // namespace

std::string version_by_style(std::span<const Source> files) {
  Versions versions;
  bool has_operators = false;
  bool has_bool = false;
  for (const Source& file : files) {
    if (file.name.ends_with(".h")) continue;
    try {
      const Code code = split(file);
      look_at_text(code, versions);
      if (code.mentions("// tvm target: c")) {
        has_operators = true;
        has_bool = has_bool || code.mentions("<stdbool.h>");
      }
      look_at_tokens(code, versions);
    } catch (const SyntaxError&) {
      return {};  // the reader says what is wrong
    }
  }
  if (has_operators && !has_bool) versions.until(11);
  if (versions.from > versions.to) return {};
  return versions.from == versions.to ? spelled(versions.from) : spelled(versions.from) + " to " + spelled(versions.to);
}

}  // namespace usmp::tvm_c

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Tests: tests/tvm_c/macro_expansion_test.cpp.
#include "tvm_c/text/macro_expansion.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

constexpr std::size_t most_tokens = 100'000;  // that an expansion looks at
constexpr std::size_t most_levels = 50;       // of macros in arguments of macros
constexpr std::string_view variadic_name = "__VA_ARGS__";

struct Unexpandable {};

struct Macro {
  bool has_arguments = false;
  bool is_variadic = false;  // the last parameter is __VA_ARGS__
  std::vector<std::string> params;
  MadeTokens body;
};

// Throws SyntaxError and Unexpandable.
Macro macro_of(std::string_view definition) {
  Macro macro;
  macro.has_arguments = takes_arguments(definition);
  MadeTokens tokens = made_tokens(definition);
  std::size_t at = 0;
  if (macro.has_arguments) {
    for (at = 1; at < tokens.size() && !tokens[at].is(")"); ++at) {
      if (tokens[at].is(",")) continue;
      macro.is_variadic = tokens[at].is("...");
      if (!macro.is_variadic && !tokens[at].is_identifier()) throw Unexpandable();
      macro.params.push_back(macro.is_variadic ? std::string(variadic_name) : tokens[at].text);
    }
    if (at == tokens.size()) throw Unexpandable();
    ++at;
  }
  macro.body.assign(std::make_move_iterator(tokens.begin() + static_cast<std::ptrdiff_t>(at)),
                    std::make_move_iterator(tokens.end()));
  return macro;
}

MadeToken in_a_literal(const MadeTokens& tokens) {
  std::string text = "\"";
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0 && tokens[i].is_apart) text += ' ';
    const bool is_literal = tokens[i].kind == TokenKind::string || tokens[i].kind == TokenKind::character;
    for (const char c : tokens[i].text) {
      if (is_literal && (c == '"' || c == '\\')) text += '\\';
      text += c;
    }
  }
  return {TokenKind::string, text + "\"", false};
}

class Expander {
 public:
  explicit Expander(const Definitions& macros) : macros_(macros) {}

  // NOLINTNEXTLINE(misc-no-recursion): a level an argument of a macro, at most most_levels
  MadeTokens run(const MadeTokens& tokens) {
    if (++level_ > most_levels) throw Unexpandable();
    const std::vector<Item> outer = std::exchange(pending_, {});
    push(tokens, {});
    MadeTokens result;
    while (!pending_.empty()) {
      Item item = take();
      if (!item.ends.empty()) {
        active_.erase(item.ends);
        continue;
      }
      const auto definition = item.token.is_identifier() ? macros_.find(item.token.text) : macros_.end();
      if (definition == macros_.end()) {
        result.push_back(std::move(item.token));
        continue;
      }
      const Macro macro = macro_of(definition->second);
      const std::string name(definition->first);
      if (macro.has_arguments) {
        if (pending_.empty() || !pending_.back().ends.empty()) throw Unexpandable();  // a bracket may follow
        if (!pending_.back().token.is("(")) {
          result.push_back(std::move(item.token));
          continue;
        }
      }
      if (active_.contains(name)) throw Unexpandable();
      const std::vector<MadeTokens> arguments = macro.has_arguments ? arguments_of(macro) : std::vector<MadeTokens>();
      MadeTokens body = substituted(macro, arguments);
      if (!body.empty()) body.front().is_apart = item.token.is_apart;
      active_.insert(name);
      push(body, name);
    }
    pending_ = outer;
    --level_;
    return result;
  }

 private:
  struct Item {
    MadeToken token;
    std::string ends;  // no token: the end of what this macro stands for
  };

  void push(const MadeTokens& tokens, const std::string& macro) {
    if (!macro.empty()) pending_.emplace_back().ends = macro;
    for (std::size_t i = tokens.size(); i-- > 0;) pending_.emplace_back().token = tokens[i];
  }

  Item take() {
    if (++taken_ > most_tokens) throw Unexpandable();
    Item item = std::move(pending_.back());
    pending_.pop_back();
    return item;
  }

  std::vector<MadeTokens> arguments_of(const Macro& macro) {
    (void)take();
    std::vector<MadeTokens> arguments(1);
    for (std::size_t depth = 1;;) {
      if (pending_.empty()) throw Unexpandable();
      Item item = take();
      if (!item.ends.empty()) throw Unexpandable();
      MadeToken& token = item.token;
      if (token.is("(")) ++depth;
      if (token.is(")") && --depth == 0) break;
      const bool is_rest = macro.is_variadic && arguments.size() == macro.params.size();
      if (token.is(",") && depth == 1 && !is_rest) {
        arguments.emplace_back();
      } else {
        arguments.back().push_back(std::move(token));
      }
    }
    if (macro.is_variadic && arguments.size() + 1 == macro.params.size()) arguments.emplace_back();
    if (macro.params.empty() && arguments.size() == 1 && arguments[0].empty()) arguments.clear();
    if (arguments.size() != macro.params.size()) throw Unexpandable();
    return arguments;
  }

  // NOLINTNEXTLINE(misc-no-recursion): as run
  MadeTokens substituted(const Macro& macro, const std::vector<MadeTokens>& arguments) {
    const MadeTokens& body = macro.body;
    MadeTokens result;
    const auto param = [&](std::size_t i) {
      const auto found = std::find(macro.params.begin(), macro.params.end(), body[i].text);
      const bool is_one = body[i].is_identifier() && found != macro.params.end();
      return is_one ? static_cast<std::ptrdiff_t>(found - macro.params.begin()) : -1;
    };
    bool pastes = false;  // the last token with what follows
    for (std::size_t i = 0; i < body.size(); ++i) {
      const bool is_apart = body[i].is_apart;
      if (body[i].is("##")) {
        if (i == 0 || i + 1 == body.size()) throw Unexpandable();
        pastes = true;
        continue;
      }
      MadeTokens part = {body[i]};
      if (macro.has_arguments && body[i].is("#")) {
        if (i + 1 >= body.size() || param(i + 1) < 0) throw Unexpandable();
        part = {in_a_literal(arguments[static_cast<std::size_t>(param(++i))])};
      } else if (macro.has_arguments && param(i) >= 0) {
        const bool is_rest = body[i].text == variadic_name;
        part = arguments[static_cast<std::size_t>(param(i))];
        const bool is_pasted = pastes || (i + 1 < body.size() && body[i + 1].is("##"));
        if (pastes && is_rest && !result.empty() && result.back().is(",")) {  // , ##__VA_ARGS__
          if (part.empty()) result.pop_back();
          pastes = false;
        }
        if (!is_pasted || (is_rest && !pastes)) part = run(part);
      }
      if (pastes) paste(result, part);
      pastes = false;
      if (!part.empty()) part.front().is_apart = is_apart;
      result.insert(result.end(), part.begin(), part.end());
    }
    return result;
  }

  // Takes the first of `part`.
  static void paste(MadeTokens& result, MadeTokens& part) {
    if (result.empty() || part.empty()) throw Unexpandable();
    const MadeTokens one = made_tokens(result.back().text + part.front().text);
    if (one.size() != 1) throw Unexpandable();
    result.back().kind = one[0].kind;
    result.back().text = one[0].text;
    part.erase(part.begin());
  }

  const Definitions& macros_;
  std::vector<Item> pending_;  // the next one last
  std::set<std::string> active_;
  std::size_t taken_ = 0;
  std::size_t level_ = 0;
};

MadeTokens made(const std::vector<Token>& tokens) {
  MadeTokens result;
  std::size_t end = tokens.empty() ? 0 : tokens.front().offset;
  for (const Token& token : tokens) {
    result.push_back({token.kind, std::string(token.text), token.offset != end});
    end = token.offset + token.text.size();
  }
  return result;
}

}  // namespace

MadeTokens made_tokens(std::string_view text) {
  const std::string ended = std::string(text) + "\n";
  std::vector<Token> tokens;
  Lexer lexer(ended);
  for (Token token = lexer.next(); token.kind != TokenKind::end; token = lexer.next()) tokens.push_back(token);
  return made(tokens);
}

MadeTokens made_tokens(const std::vector<Token>& tokens) { return made(tokens); }

bool takes_arguments(std::string_view definition) { return definition.starts_with("("); }

std::size_t behind_bracket(const MadeTokens& tokens, std::size_t open) {
  return behind_bracketed(tokens, open).value_or(tokens.size());
}

std::optional<MadeTokens> expanded(const MadeTokens& tokens, const Definitions& macros) {
  try {
    return Expander(macros).run(tokens);
  } catch (const Unexpandable&) {
    return std::nullopt;
  } catch (const SyntaxError&) {  // in a definition
    return std::nullopt;
  }
}

}  // namespace usmp::tvm_c

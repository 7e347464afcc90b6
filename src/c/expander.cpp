// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Macro expansion: arguments, # and ##, and the names that are painted so that no macro expands itself.
#include "c/expander.hpp"

#include <algorithm>
#include <utility>

#include "c/fail.hpp"

namespace usmp::c {
namespace {

// "a + \"b\"" of the tokens, as # makes it.
std::string in_string(const std::vector<Token>& tokens) {
  std::string result = "\"";
  for (const Token& token : tokens) {
    if (&token != tokens.data() && token.has_gap) result += ' ';
    const bool is_literal = token.kind == TokenKind::string || token.kind == TokenKind::character ||
                            (token.kind == TokenKind::other && (token.text[0] == '"' || token.text[0] == '\''));
    for (const char c : token.text) {
      if (is_literal && (c == '"' || c == '\\')) result += '\\';
      result += c;
    }
  }
  return result + '"';
}

}  // namespace

struct Expander::Argument {
  std::vector<Token> tokens;
  std::optional<std::vector<Token>> expanded;
};

// Expands one stretch of tokens: contexts are what is being read, the innermost last.
class Expander::Run {
 public:
  Run(Expander& expander, TokenSource* source, std::vector<Token>& result)
      : e_(expander), source_(source), result_(result) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() {
    while (!contexts_.empty()) pop();
  }

  // NOLINTNEXTLINE(misc-no-recursion): at most most_arguments_deep
  void run(std::vector<Token> tokens) {
    push(std::move(tokens), nullptr);
    while (drop_read()) {
      Context& context = contexts_.back();
      Token token = context.tokens[context.at++];
      paint(token);
      if (gap_) token.has_gap = true;
      gap_ = false;
      if (!enter(token)) result_.push_back(token);
    }
  }

 private:
  struct Context {
    std::vector<Token> tokens;
    std::size_t at = 0;
    const Macro* macro = nullptr;  // that is disabled meanwhile
  };

  void push(std::vector<Token> tokens, const Macro* macro) {
    e_.made_ += macro == nullptr ? 0 : tokens.size() + 1;
    if (macro != nullptr) e_.disabled_.insert(macro);
    contexts_.push_back({std::move(tokens), 0, macro});
  }
  void pop() {
    if (contexts_.back().macro != nullptr) e_.disabled_.erase(contexts_.back().macro);
    contexts_.pop_back();
  }
  // Those that are read; false: all are.
  bool drop_read() {
    while (!contexts_.empty() && contexts_.back().at == contexts_.back().tokens.size()) pop();
    return !contexts_.empty();
  }

  // A name that is met while its macro is being expanded stays for ever.
  void paint(Token& token) const {
    if (!token.is_identifier() || token.is_painted) return;
    const MacroState* state = e_.macros_.find(token.text);
    if (state != nullptr && state->is_sure() && e_.disabled_.contains(state->definitions[0])) token.is_painted = true;
  }

  // If it is a macro that is called here, what it stands for is read next.
  // NOLINTNEXTLINE(misc-no-recursion): at most most_arguments_deep
  bool enter(Token& token) {
    if (!token.is_identifier() || token.is_painted) return false;
    const MacroState* state = e_.macros_.find(token.text);
    if (state == nullptr || state->definitions.empty()) return false;
    if (!state->is_sure()) {
      token.kind = TokenKind::opaque;
      return false;
    }
    const Macro& macro = *state->definitions[0];
    const Environment& environment = e_.macros_.environment();
    if (environment.calls_stay && environment.calls_stay(macro)) return false;
    std::vector<Argument> arguments;
    if (macro.is_function) {
      if (!bracket_follows(token)) return false;
      arguments = this->arguments(token, macro);
    }
    const std::size_t most = environment.most_expanded;
    if (e_.made_ > most) fail_at(token, "macros stand for more than " + std::to_string(most) + " tokens");
    e_.unit_.expansions.push_back({&macro, token.file, token.offset, token.expansion});
    const auto expansion = static_cast<std::uint32_t>(e_.unit_.expansions.size() - 1);
    std::vector<Token> tokens = replaced(token, macro, arguments, expansion);
    if (tokens.empty()) {
      gap_ = gap_ || token.has_gap;
    } else {
      tokens[0].has_gap = token.has_gap;
      tokens[0].begins_line = token.begins_line;
    }
    push(std::move(tokens), &macro);
    return true;
  }

  bool bracket_follows(const Token& name) {
    if (drop_read()) return contexts_.back().tokens[contexts_.back().at].is("(");
    if (source_ == nullptr) return false;
    const auto next = source_->peek();
    if (!next && source_->has_bracket_behind_directives()) {
      fail_at(name, "found directives between the macro " + std::string(name.text) + " and its arguments");
    }
    return next && next->is("(");
  }

  std::optional<Token> take() {
    if (!drop_read()) return source_ == nullptr ? std::nullopt : source_->take();
    Context& context = contexts_.back();
    return context.tokens[context.at++];
  }

  std::vector<Argument> arguments(const Token& name, const Macro& macro) {
    (void)take();  // the bracket
    std::vector<Argument> given(1);
    std::size_t depth = 0;
    while (true) {
      auto token = take();
      if (!token)
        fail_at(name,
                "the arguments of the macro " + std::string(name.text) + " do not end, or have directives inside");
      paint(*token);
      token->begins_line = false;
      if (token->is(")") && depth-- == 0) break;
      if (token->is("(")) ++depth;
      if (token->kind != TokenKind::numbers) {
        add(*token, depth > 0, macro, given);
        continue;
      }
      for (const Token& one : numbers_of(*token)) add(one, depth > 0, macro, given);
    }
    check_count(name, macro, given);
    return given;
  }

  // A comma separates arguments, but in brackets, and those that the last parameter takes.
  static void add(const Token& token, bool is_in_brackets, const Macro& macro, std::vector<Argument>& given) {
    const bool is_last = macro.is_variadic && given.size() == macro.params.size();
    if (token.is(",") && !is_in_brackets && !is_last) {
      given.emplace_back();
    } else {
      given.back().tokens.push_back(token);
    }
  }

  // The tokens of a list of numbers.
  std::vector<Token> numbers_of(const Token& list) {
    std::vector<Token> tokens = lex_text(list.text);
    e_.made_ += tokens.size();
    if (e_.made_ > e_.macros_.environment().most_expanded)
      fail_at(list, "found a list of numbers as an argument of a macro, expected it in a table");
    for (Token& token : tokens) {
      token.file = list.file;
      token.offset += list.offset;
    }
    return tokens;
  }

  static void check_count(const Token& name, const Macro& macro, std::vector<Argument>& given) {
    const std::size_t count = macro.params.size();
    if (count == 0 && given.size() == 1 && given[0].tokens.empty()) given.clear();
    const bool omits_last = macro.is_variadic && given.size() + 1 == count;
    if (given.size() == count || omits_last) return;
    fail_at(name, "found " + std::to_string(given.size()) + " arguments of the macro " + std::string(name.text) +
                      ", expected " + std::to_string(count));
  }

  // NOLINTNEXTLINE(misc-no-recursion): at most most_arguments_deep
  const std::vector<Token>& expanded(Argument& argument, const Token& name) {
    if (!argument.expanded) {
      if (++e_.depth_ > most_arguments_deep) {
        e_.depth_ = 0;
        fail_at(name, "found macros in arguments of macros more than " + std::to_string(most_arguments_deep) + " deep");
      }
      argument.expanded = e_.expand_all(argument.tokens);
      --e_.depth_;
    }
    return *argument.expanded;
  }

  // What the macro stands for with these arguments.
  // NOLINTNEXTLINE(misc-no-recursion): at most most_arguments_deep
  std::vector<Token> replaced(const Token& name, const Macro& macro, std::vector<Argument>& arguments,
                              std::uint32_t expansion) {
    std::vector<Token> tokens;  // of kind `end`: nothing, where ## needs something
    bool pastes = false;
    bool gap = false;
    for (std::size_t i = 0; i < macro.body.size(); ++i) {
      Token token = macro.body[i];
      if (token.is("##")) {
        pastes = true;
        continue;
      }
      token.expansion = expansion;
      const bool is_pasted = pastes || (i + 1 < macro.body.size() && macro.body[i + 1].is("##"));
      std::vector<Token> piece;
      if (macro.is_function && token.is("#")) {
        const std::size_t param = *param_of(macro, macro.body[++i]);
        token.kind = TokenKind::string;
        token.text = e_.keep(in_string(param < arguments.size() ? arguments[param].tokens : std::vector<Token>()));
        piece.push_back(token);
      } else if (const auto param = param_of(macro, token)) {
        const bool is_omitted = *param >= arguments.size();
        const bool is_comma = pastes && macro.is_variadic && *param + 1 == macro.params.size() && !tokens.empty() &&
                              tokens.back().is(",");
        if (is_comma) {  // GCC's , ## args
          if (!is_omitted && macro.params.size() == 1 && arguments[0].tokens.empty())
            fail_at(name, "found , ## in front of no arguments, which some compilers take for a comma");
          if (is_omitted) tokens.pop_back();
          pastes = false;
        }
        if (!is_omitted) piece = is_pasted ? arguments[*param].tokens : expanded(arguments[*param], name);
        if (is_comma && is_omitted) continue;
        if (piece.empty()) {
          gap = gap || token.has_gap;
        } else {
          piece[0].has_gap = token.has_gap;
        }
      } else {
        piece.push_back(token);
      }
      if (piece.empty() && is_pasted && !pastes) piece.emplace_back();
      if (pastes && !piece.empty() && !tokens.empty()) {
        if (tokens.back().kind == TokenKind::end) {
          piece[0].has_gap = tokens.back().has_gap;
          tokens.pop_back();
        } else {
          piece[0] = pasted(tokens.back(), piece[0]);
          tokens.pop_back();
        }
      }
      pastes = false;
      if (!piece.empty() && gap) {
        piece[0].has_gap = true;
        gap = false;
      }
      tokens.insert(tokens.end(), piece.begin(), piece.end());
    }
    std::erase_if(tokens, [](const Token& token) { return token.kind == TokenKind::end; });
    for (Token& token : tokens) token.begins_line = false;
    gap_ = gap_ || gap;
    return tokens;
  }

  static std::optional<std::size_t> param_of(const Macro& macro, const Token& token) {
    if (!macro.is_function || token.kind != TokenKind::identifier) return std::nullopt;
    const auto found = std::find(macro.params.begin(), macro.params.end(), token.text);
    if (found == macro.params.end()) return std::nullopt;
    return static_cast<std::size_t>(found - macro.params.begin());
  }

  Token pasted(const Token& left, const Token& right) {
    const std::string_view text = e_.keep(std::string(left.text) + std::string(right.text));
    const std::vector<Token> made = lex_text(text);
    const bool is_comment = text.starts_with("//") || text.starts_with("/*");
    const bool is_odd = made.size() == 1 && made[0].kind == TokenKind::other;
    if (made.size() != 1 || is_comment || is_odd || left.kind == TokenKind::numbers || right.kind == TokenKind::numbers)
      fail_at(left, "found ## between " + std::string(left.text) + " and " + std::string(right.text) +
                        ", expected what makes one token");
    Token token = left;
    token.kind = made[0].kind;
    token.text = text;
    token.is_painted = false;
    return token;
  }

  Expander& e_;
  TokenSource* source_;
  std::vector<Token>& result_;
  std::vector<Context> contexts_;
  bool gap_ = false;  // in front of what stood for nothing
};

void Expander::expand(const Token& token, TokenSource& source, std::vector<Token>& result) {
  // Most tokens are no names of macros.
  if (!token.is_identifier() || macros_.find(token.text) == nullptr) {
    result.push_back(token);
    return;
  }
  Run(*this, &source, result).run({token});
}

// NOLINTNEXTLINE(misc-no-recursion): at most most_arguments_deep
std::vector<Token> Expander::expand_all(const std::vector<Token>& tokens) {
  std::vector<Token> result;
  Run(*this, nullptr, result).run(tokens);
  return result;
}

}  // namespace usmp::c

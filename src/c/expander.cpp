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
    const bool is_literal = token.kind == TokenKind::string || token.kind == TokenKind::character;
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
    push({std::move(tokens)});
    while (drop_read()) {
      Token token = read();
      paint(token);
      if (!enter(token)) result_.push_back(token);
    }
  }

 private:
  struct Context {
    std::vector<Token> tokens;
    std::size_t at = 0;
    const Macro* macro = nullptr;  // that is disabled meanwhile
    bool has_gap_behind = false;
  };

  void push(Context context) {
    e_.made_ += context.macro == nullptr ? 0 : context.tokens.size() + 1;
    if (context.macro != nullptr) e_.disabled_.insert(context.macro);
    contexts_.push_back(std::move(context));
  }
  void pop() {
    gap_ = gap_ || contexts_.back().has_gap_behind;
    if (contexts_.back().macro != nullptr) e_.disabled_.erase(contexts_.back().macro);
    contexts_.pop_back();
  }
  // Those that are read; false: all are.
  bool drop_read() {
    while (!contexts_.empty() && contexts_.back().at == contexts_.back().tokens.size()) pop();
    return !contexts_.empty();
  }

  Token read() {
    Context& context = contexts_.back();
    Token token = context.tokens[context.at++];
    const bool has_gap = std::exchange(gap_, false);
    token.has_gap = token.has_gap || has_gap;
    return token;
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
    push(replaced(token, macro, arguments, expansion));
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
    if (drop_read()) return read();
    gap_ = false;
    return source_ == nullptr ? std::nullopt : source_->take();
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
      argument.expanded.emplace();
      Run inside(e_, nullptr, *argument.expanded);
      inside.run(argument.tokens);
      if (inside.gap_) argument.expanded->emplace_back().has_gap = true;
      --e_.depth_;
    }
    return *argument.expanded;
  }

  // What the macro stands for with these arguments.
  // NOLINTNEXTLINE(misc-no-recursion): at most most_arguments_deep
  Context replaced(const Token& name, const Macro& macro, std::vector<Argument>& arguments, std::uint32_t expansion) {
    std::vector<Token> tokens;  // of kind `end`: a place where nothing stands
    bool pastes = false;
    for (std::size_t i = 0; i < macro.body.size(); ++i) {
      Token token = macro.body[i];
      if (token.is("##")) {
        pastes = true;
        continue;
      }
      token.expansion = expansion;
      const bool pastes_next = i + 1 < macro.body.size() && macro.body[i + 1].is("##");
      std::vector<Token> piece = {token};
      if (macro.is_function && token.is("#")) {
        const std::size_t param = *param_of(macro, macro.body[++i]);
        piece[0].kind = TokenKind::string;
        piece[0].text = e_.keep(in_string(param < arguments.size() ? arguments[param].tokens : std::vector<Token>()));
      } else if (const auto param = param_of(macro, token)) {
        const bool is_omitted = *param >= arguments.size();
        const bool is_comma =
            pastes && !pastes_next && macro.is_variadic && *param + 1 == macro.params.size() && tokens.back().is(",");
        if (is_comma && is_omitted) {  // GCC's , ## args
          tokens.pop_back();
          pastes = false;
          continue;
        }
        piece.clear();
        if (!is_omitted) piece = pastes || pastes_next ? arguments[*param].tokens : expanded(arguments[*param], name);
        if (is_comma && macro.params.size() == 1 && piece.empty())
          fail_at(name, "found , ## in front of no arguments, which some compilers take for a comma");
        if (piece.empty()) piece.emplace_back();
        if (!pastes) piece[0].has_gap = token.has_gap;
        if (is_comma) pastes = false;
      }
      if (pastes && piece[0].kind == TokenKind::end) {
        piece.clear();
      } else if (pastes) {
        if (tokens.back().kind != TokenKind::end) piece[0] = pasted(tokens.back(), piece[0]);
        piece[0].has_gap = tokens.back().has_gap;
        tokens.pop_back();
      }
      pastes = false;
      tokens.insert(tokens.end(), piece.begin(), piece.end());
    }
    if (tokens.empty()) tokens.emplace_back();
    tokens[0].has_gap = name.has_gap;
    tokens[0].begins_line = name.begins_line;
    Context result;
    result.macro = &macro;
    // Gaps around nothing are in front of what stands behind it.
    for (Token& token : tokens) {
      token.has_gap = token.has_gap || result.has_gap_behind;
      const bool is_nothing = token.kind == TokenKind::end;
      result.has_gap_behind = is_nothing && token.has_gap;
      if (!is_nothing) result.tokens.push_back(token);
    }
    return result;
  }

  static std::optional<std::size_t> param_of(const Macro& macro, const Token& token) {
    const auto found = std::find(macro.params.begin(), macro.params.end(), token.text);
    if (found == macro.params.end()) return std::nullopt;
    return static_cast<std::size_t>(found - macro.params.begin());
  }

  Token pasted(const Token& left, const Token& right) {
    const std::string_view text = e_.keep(std::string(left.text) + std::string(right.text));
    const std::vector<Token> made = lex_text(text);
    if (made.size() != 1)
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

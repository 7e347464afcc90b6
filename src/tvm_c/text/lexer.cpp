// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Splits texts, and chooses the parts of conditional groups.
#include "tvm_c/text/lexer.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "tvm_c/text/places.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

// Macros that only #define and #undef change, and tokens that stand in the text as they are.
void require_plain(const c::Lexed& lexed) {
  if (lexed.directives.size() > most_directives) {
    throw SyntaxError{lexed.tokens[lexed.directives[most_directives].token].offset,
                      "more than " + std::to_string(most_directives) + " lines begin with '#', which is the limit"};
  }
  const std::vector<Token>& tokens = lexed.tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool is_pragma = i > 1 && tokens[i].kind == TokenKind::string && tokens[i - 2].is("_Pragma");
    if (tokens[i].is("pop_macro") || (is_pragma && tokens[i].text.find("pop_macro") != std::string_view::npos))
      throw SyntaxError{tokens[i].offset, "found pop_macro, expected macros that only #define and #undef change"};
    const bool is_spliced = !lexed.spliced.empty() && tokens[i].text.data() == lexed.spliced.front().data();
    if (is_spliced)
      throw SyntaxError{tokens[i].offset, "found a line splice inside of a token, expected it between two"};
  }
}

}  // namespace

Error located(const Source& file, const SyntaxError& error) {
  return {ErrorKind::archive, {{}, file.name, place_in(file, error.offset)}, error.message};
}

Code split(const Source& file) {
  try {
    Code code{file.text, std::make_shared<const c::Lexed>(c::lex({{}, file.text, file.mapped}, 0)), file.mapped};
    require_plain(*code.lexed);
    return code;
  } catch (const c::SyntaxError& error) {
    throw SyntaxError{error.offset, error.message};
  }
}

Code split(std::string_view text) { return split(Source{{}, text}); }

Code::Range Code::range(std::size_t begin, std::size_t end) const {
  const std::vector<Token>& tokens = lexed->tokens;
  const auto& directives = lexed->directives;
  const auto token = [&](std::size_t offset) {
    const auto is_in_front = [&](const Token& one) { return one.kind != TokenKind::end && one.offset < offset; };
    return static_cast<std::size_t>(std::partition_point(tokens.begin(), tokens.end(), is_in_front) - tokens.begin());
  };
  const auto directive = [&](std::size_t index) {
    const auto is_in_front = [&](const c::Directive& one) { return one.token < index; };
    return static_cast<std::size_t>(std::partition_point(directives.begin(), directives.end(), is_in_front) -
                                    directives.begin());
  };
  const std::size_t first = token(begin);
  const std::size_t behind = token(end);
  return {first, behind, directive(first), directive(behind)};
}

std::vector<std::string_view> Code::pieces() const {
  std::vector<std::string_view> result;
  std::size_t begin = 0;
  for (const Token& token : lexed->tokens) {
    if (token.kind != TokenKind::numbers && token.kind != TokenKind::end) continue;
    result.push_back(text.substr(begin, token.offset - begin));
    begin = end_of(token);
  }
  return result;
}

bool Code::mentions(std::string_view part) const {
  const auto all = pieces();
  return std::ranges::any_of(all, [&](std::string_view piece) { return piece.find(part) != std::string_view::npos; });
}

Directive directive_of(const Code& code, std::size_t index) {
  const c::Lexed& lexed = *code.lexed;
  const c::Directive& place = lexed.directives[index];
  const Token& hash = lexed.tokens[place.token];
  std::size_t first = place.token + std::size_t{1};
  std::size_t last = first;
  while (!lexed.tokens[last].begins_line) ++last;
  Directive result{hash.offset, place.end, {}, {}, {}, {}, 0, last};
  if (first < last && lexed.tokens[first].is_identifier()) result.word = lexed.tokens[first++].text;
  const std::size_t rest = first < last ? lexed.tokens[first].offset : place.end;
  result.first = first;
  result.rest = code.text.substr(rest, place.end - rest);
  if (first < last && lexed.tokens[first].is_identifier()) result.name = lexed.tokens[first].text;
  if (first + 1 == last) result.only = lexed.tokens[first].text;
  return result;
}

std::vector<Directive> directives_in(const Code& code, std::size_t begin, std::size_t end) {
  const Code::Range range = code.range(begin, end);
  std::vector<Directive> result;
  for (std::size_t i = range.first_directive; i < range.behind_directives; ++i) result.push_back(directive_of(code, i));
  return result;
}

std::vector<Group> groups_in(const std::vector<Directive>& directives) {
  std::vector<Group> groups;
  std::vector<std::size_t> open;  // of these
  for (std::size_t i = 0; i < directives.size(); ++i) {
    const std::string_view word = directives[i].word;
    if (opens_group(word)) {
      open.push_back(groups.size());
      groups.push_back({.first = i});
    } else if (word == "endif" && open.empty()) {
      groups.push_back({.last = i});
    } else if (word == "endif") {
      groups[open.back()].last = i;
      open.pop_back();
    } else if (belongs_to_group(word) && !open.empty()) {
      groups[open.back()].has_parts = true;
    }
  }
  return groups;
}

bool has_directives(const Code& code, std::size_t begin, std::size_t end) {
  const auto counts = [](const Directive& one) { return one.word != "pragma" && one.word != "line"; };
  return std::ranges::any_of(directives_in(code, begin, end), counts);
}

namespace {

class TakenParts {
 public:
  TakenParts(const Code& code, const Code::Range& range, bool passes_over, const Conditions* known)
      : code_(code), range_(range), next_directive_(range.first_directive), passes_over_(passes_over), known_(known) {}

  TakenText run() {
    const std::vector<Token>& tokens = code_.lexed->tokens;
    taken_.tokens.reserve(range_.behind - range_.first + 1);  // with `end`, if somebody adds it
    for (at_ = range_.first; at_ < range_.behind;) {
      if (next_directive_ < range_.behind_directives && code_.lexed->directives[next_directive_].token == at_) {
        directive();
      } else {
        require_ended(tokens[at_]);
        taken_.tokens.push_back(tokens[at_++]);
      }
    }
    if (!are_certain_.empty())
      throw SyntaxError{tokens[at_].offset, "the conditional group does not end, expected #endif"};
    return std::move(taken_);
  }

 private:
  Directive take_directive() {
    const Directive one = directive_of(code_, next_directive_++);
    at_ = one.behind;
    return one;
  }

  // What a conditional group leaves out is skipped at once. #include and #pragma mean nothing here.
  void directive() {
    const Directive one = take_directive();
    if (one.word == "define") {
      defined_.insert(one.name);
    } else if (one.word == "undef") {
      defined_.erase(one.name);
    } else if (opens_group(one.word)) {
      are_certain_.push_back(is_certain(one));
      if (!holds(one)) skip_group(one.end, false);
    } else if (belongs_to_group(one.word)) {
      if (are_certain_.empty()) throw SyntaxError{one.begin, "#" + std::string(one.word) + " without #if"};
      if (one.word == "endif") {
        are_certain_.pop_back();
      } else {
        skip_group(one.end, true);
      }
    }
  }

  [[nodiscard]] std::optional<bool> known(const Directive& one) const {
    if (known_ == nullptr) return std::nullopt;
    const auto found = known_->find(one.begin);
    return found == known_->end() ? std::nullopt : std::optional(found->second);
  }

  // Whether the condition is the same for each compiler of C.
  [[nodiscard]] bool is_certain(const Directive& one) const {
    if (known(one)) return true;
    const std::string text = compact(one);
    return text == "0" || text == "1" || text == "defined__cplusplus" || text == "!defined__cplusplus";
  }

  // A condition without brackets and blanks.
  [[nodiscard]] std::string compact(const Directive& one) const {
    std::string result = one.word == "ifdef" ? "defined" : one.word == "ifndef" ? "!defined" : "";
    for (std::size_t i = one.first; i < one.behind; ++i) {
      const Token& token = code_.lexed->tokens[i];
      if (!token.is("(") && !token.is(")")) result += token.text;
    }
    return result;
  }

  // 0, 1, defined(X), !defined(X), defined X: what guards C here.
  [[nodiscard]] bool holds(const Directive& one) const {
    if (const auto known = this->known(one)) return *known;
    const std::string text = compact(one);
    const bool negated = text.starts_with("!");
    const std::string_view rest = std::string_view(text).substr(negated ? 1 : 0);
    if (rest == "0" || rest == "1") return (rest == "1") != negated;
    if (rest.starts_with("defined") && rest.find_first_of("&|") == std::string_view::npos)
      return defined_.contains(rest.substr(7)) != negated;
    if (passes_over_) return false;
    throw SyntaxError{one.begin, "found #if " + shown(one.rest) + ", expected 0, 1 or defined(NAME)"};
  }

  // From `begin` to behind the #else or #elif that is taken in place of the group that is open, or behind its #endif;
  // if a part of it `is_taken` already, to the #endif. What is conditional inside is skipped with it.
  void skip_group(std::size_t begin, bool is_taken) {
    for (std::size_t inner = 0; next_directive_ < range_.behind_directives;) {
      const Directive one = take_directive();
      if (opens_group(one.word)) ++inner;
      const bool ends = one.word == "endif" && inner == 0;
      if (one.word == "endif" && inner > 0) --inner;
      if (one.word == "elif" && inner == 0 && !is_certain(one)) are_certain_.back() = false;
      const bool goes_on = inner == 0 && !is_taken && (one.word == "else" || (one.word == "elif" && holds(one)));
      if (!ends && !goes_on) continue;
      if (!are_certain_.back()) taken_.left_out[begin] = one.begin;
      if (ends) are_certain_.pop_back();
      return;
    }
    throw SyntaxError{begin, "the conditional group does not end, expected #endif"};
  }

  const Code& code_;
  Code::Range range_;
  std::size_t at_ = 0;              // of the next token
  std::size_t next_directive_ = 0;  // of the directives
  bool passes_over_;
  const Conditions* known_;
  std::set<std::string_view> defined_;
  std::vector<bool> are_certain_;  // of the groups that are open: whether what they ask for is
  TakenText taken_;
};

}  // namespace

TakenText taken_tokens(const Code& code, std::size_t begin, std::size_t end, bool passes_over,
                       const Conditions* known) {
  return TakenParts(code, code.range(begin, end), passes_over, known).run();
}

void require_ended(const Token& token) {
  if (token.kind == TokenKind::other && (token.text[0] == '"' || token.text[0] == '\''))
    throw SyntaxError{token.offset, "the literal does not end on its line"};
}

}  // namespace usmp::tvm_c

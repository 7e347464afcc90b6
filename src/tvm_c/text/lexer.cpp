// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Walks over tokens, and chooses the parts of conditional groups.
#include "tvm_c/text/lexer.hpp"

#include <algorithm>
#include <iterator>

#include "tvm_c/text/places.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

// Whether it is the same for each compiler of C.
bool is_certain(const std::string& compacted) {
  return compacted == "0" || compacted == "1" || compacted == "defined__cplusplus" ||
         compacted == "!defined__cplusplus";
}

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
    begin = token.offset + token.text.size();
  }
  return result;
}

bool Code::mentions(std::string_view part) const {
  const auto all = pieces();
  return std::any_of(all.begin(), all.end(),
                     [&](std::string_view piece) { return piece.find(part) != std::string_view::npos; });
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

std::vector<Directive> directives_in(std::string_view text) { return directives_in(split(text)); }

Lexer::Lexer(const Code& code, std::size_t begin, std::size_t end) : code_(code), end_(begin) {
  const Code::Range range = code_.range(begin, end);
  at_ = range.first;
  stop_ = range.behind;
  next_directive_ = range.first_directive;
}

const Token& Lexer::peek() {
  if (!has_next_) {
    next_ = scan();
    has_next_ = true;
  }
  return next_;
}

Token Lexer::next() {
  const Token token = peek();
  has_next_ = false;
  end_ = token.offset + token.text.size();
  return token;
}

void Lexer::jump(std::size_t behind) {
  if (behind == end_) return;
  end_ = behind;
  in_list_ = 0;
  const std::vector<Token>& tokens = code_.lexed->tokens;
  while (tokens[at_].kind != TokenKind::end && tokens[at_].offset + tokens[at_].text.size() <= behind) ++at_;
  if (tokens[at_].offset < behind) in_list_ = behind - tokens[at_].offset;
}

std::string_view Lexer::numbers() const {
  const Token& token = code_.lexed->tokens[at_];
  const bool is_next = !has_next_ && at_ < stop_ && token.kind == TokenKind::numbers;
  return is_next ? token.text.substr(in_list_) : std::string_view();
}

bool Lexer::skip_numbers() {
  const std::string_view list = numbers();
  if (!list.empty()) jump(static_cast<std::size_t>(list.data() + list.size() - code_.text.data()));
  return !list.empty();
}

Directive Lexer::take_directive() {
  const Directive one = directive_of(code_, next_directive_++);
  at_ = one.behind;
  return one;
}

// What a conditional group leaves out is skipped at once. #include and #pragma mean nothing here.
void Lexer::directive() {
  const Directive one = take_directive();
  if (one.word != "pragma" && one.word != "line") ++directives_;
  if (one.word == "define" || one.word == "undef") {
    seen_->defines[one.name][one.begin] = one.word == "define";
  } else if (one.word == "ifdef" || one.word == "ifndef") {
    const auto known = this->known(one.begin);
    open_group(known || one.name == "__cplusplus");
    const bool is_taken = known ? *known : is_defined(one.name, one.begin) == (one.word == "ifdef");
    if (!is_taken) skip_group(one.end, false);
  } else if (one.word == "if") {
    open_group(known(one.begin) || is_certain(compact(one)));
    if (!holds(one)) skip_group(one.end, false);
  } else if (one.word == "else" || one.word == "elif") {
    if (open_groups_ == 0) throw SyntaxError{one.begin, "#" + std::string(one.word) + " without #if"};
    skip_group(one.end, true);
  } else if (one.word == "endif") {
    if (open_groups_ == 0) throw SyntaxError{one.begin, "#endif without #if"};
    close_group();
  }
}

// A condition without brackets and blanks.
std::string Lexer::compact(const Directive& one) const {
  std::string result;
  for (std::size_t i = one.first; i < one.behind; ++i) {
    const Token& token = code_.lexed->tokens[i];
    if (!token.is("(") && !token.is(")")) result += token.text;
  }
  return result;
}

void Lexer::open_group(bool is_certain) {
  ++open_groups_;
  certain_ = (certain_ << 1U) | (is_certain ? 1U : 0U);
}

void Lexer::close_group() {
  --open_groups_;
  certain_ >>= 1U;
}

std::optional<bool> Lexer::known(std::size_t directive) const {
  if (known_ == nullptr) return std::nullopt;
  const auto found = known_->find(directive);
  return found == known_->end() ? std::nullopt : std::optional(found->second);
}

bool Lexer::is_defined(std::string_view name, std::size_t at) const {
  const auto found = seen_->defines.find(name);
  if (found == seen_->defines.end()) return false;
  const auto next = found->second.lower_bound(at);
  return next != found->second.begin() && std::prev(next)->second;
}

// 0, 1, defined(X), !defined(X), defined X: what guards C here.
bool Lexer::holds(const Directive& one) {
  if (const auto known = this->known(one.begin)) return *known;
  const std::string text = compact(one);
  const bool negated = text.starts_with("!");
  const std::string_view rest = std::string_view(text).substr(negated ? 1 : 0);
  if (rest == "0" || rest == "1") return (rest == "1") != negated;
  if (rest.starts_with("defined") && rest.find_first_of("&|") == std::string_view::npos) {
    return is_defined(rest.substr(7), one.begin) != negated;
  }
  SyntaxError unknown{one.begin, "found #if " + shown(one.rest) + ", expected 0, 1 or defined(NAME)"};
  if (!passes_over_conditions_) throw std::move(unknown);
  passed_over_ = std::move(unknown);
  return false;
}

// From `begin` to behind the #else or #elif that is taken in place of the group that is open, or behind its #endif; if
// a part of it `is_taken` already, to the #endif. What is conditional inside is skipped with it.
void Lexer::skip_group(std::size_t begin, bool is_taken) {
  const auto& directives = code_.lexed->directives;
  for (std::size_t inner = 0; next_directive_ < directives.size() && directives[next_directive_].token < stop_;) {
    const Directive one = take_directive();
    if (opens_group(one.word)) ++inner;
    const bool ends = one.word == "endif" && inner == 0;
    if (one.word == "endif" && inner > 0) --inner;
    if (one.word == "elif" && inner == 0 && !known(one.begin) && !is_certain(compact(one)))
      certain_ &= ~std::uint64_t{1};
    const bool goes_on = inner == 0 && !is_taken && (one.word == "else" || (one.word == "elif" && holds(one)));
    if (!ends && !goes_on) continue;
    if ((certain_ & 1U) == 0) seen_->left_out[begin] = one.begin;
    if (ends) close_group();
    return;
  }
  throw SyntaxError{begin, "the conditional group does not end, expected #endif"};
}

Token Lexer::scan() {
  constexpr std::string_view blanks = " \t\r\n";
  while (true) {
    const auto& directives = code_.lexed->directives;
    while (at_ < stop_ && next_directive_ < directives.size() && directives[next_directive_].token == at_) directive();
    const Token& token = code_.lexed->tokens[at_];
    if (at_ >= stop_) {
      Token end;
      end.offset = token.offset;
      if (open_groups_ == 0) return end;
      throw SyntaxError{token.offset, "the conditional group does not end, expected #endif"};
    }
    require_ended(token);
    if (token.kind != TokenKind::numbers) {
      ++at_;
      return token;
    }
    const std::size_t begin = token.text.find_first_not_of(blanks, in_list_);
    if (begin != std::string_view::npos) {
      const std::string_view rest = token.text.substr(begin);
      const std::size_t size = rest.find_first_of(", \t\r\n");
      Token one = c::lex_text(rest.substr(0, std::max(size, std::size_t{1}))).front();
      in_list_ = begin + one.text.size();
      one.offset = token.offset + static_cast<std::uint32_t>(begin);
      return one;
    }
    ++at_;
    in_list_ = 0;
  }
}

void require_ended(const Token& token) {
  if (token.kind == TokenKind::other && (token.text[0] == '"' || token.text[0] == '\''))
    throw SyntaxError{token.offset, "the literal does not end on its line"};
}

}  // namespace usmp::tvm_c

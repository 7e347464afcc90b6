// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
#include "tvm_c/text/lexer.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "tvm_c/text/places.hpp"
#include "usmp/support/number_list.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

// The longest first.
constexpr std::array<std::string_view, 23> long_punctuators = {"...", "<<=", ">>=", "->", "++", "--", "<<", ">>",
                                                               "<=",  ">=",  "==",  "!=", "&&", "||", "+=", "-=",
                                                               "*=",  "/=",  "%=",  "&=", "|=", "^=", "##"};

std::size_t punctuator_size(std::string_view text) {
  constexpr std::string_view second_of_long = ".<>=+-&|#";
  if (text.size() < 2 || second_of_long.find(text[1]) == std::string_view::npos) return 1;
  const auto* found = std::find_if(long_punctuators.begin(), long_punctuators.end(),
                                   [&](std::string_view p) { return text.starts_with(p); });
  return found == long_punctuators.end() ? 1 : found->size();
}

// "ifdef" of "# ifdef NAME".
std::string_view first_word(std::string_view& rest) {
  rest = behind_blanks(rest);
  std::size_t end = 0;
  while (end < rest.size() && is_identifier_char(rest[end])) ++end;
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end);
  return word;
}

// A condition without brackets, blanks and the comment behind it.
std::string compact(std::string_view condition) {
  std::string result;
  for (const char c : condition) {
    if (c == '/') break;
    if (!is_blank(c) && c != '(' && c != ')') result += c;
  }
  return result;
}

// Whether it is the same for each compiler of C.
bool is_certain(const std::string& compacted) {
  return compacted == "0" || compacted == "1" || compacted == "defined__cplusplus" ||
         compacted == "!defined__cplusplus";
}

// Behind the line splice that begins at `at`; `at`: none does.
std::size_t behind_splice(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at, 3);
  return at + (rest.starts_with("\\\n") ? 2 : rest == "\\\r\n" ? 3 : 0);
}

}  // namespace

std::size_t line_end(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size()) {
    end = std::min(text.find('\n', end), text.size());
    const std::size_t last = end > at && text[end - 1] == '\r' ? end - 1 : end;
    if (last == at || text[last - 1] != '\\' || end == text.size()) break;
    ++end;
  }
  return end;
}

std::optional<std::size_t> behind_unit(std::string_view text, std::size_t at) {
  const char first = text[at];
  if (first != '/' && first != '"' && first != '\'') return std::nullopt;
  const std::string_view rest = text.substr(at, 2);
  if (rest == "//") return line_end(text, at);
  if (rest == "/*") {
    const std::size_t end = text.find("*/", at + 2);
    return end == std::string_view::npos ? text.size() : end + 2;
  }
  if (first == '/') return std::nullopt;
  for (std::size_t i = at + 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '\\')
      i = std::max(behind_splice(text, i), i + 2) - 1;
    else if (text[i] == first)
      return i + 1;
  }
  return std::min(text.find('\n', at), text.size());
}

std::size_t directive_end(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] != '\n') {
    const std::size_t behind = behind_splice(text, at);
    if (const auto unit = behind_unit(text, at)) {
      at = *unit;
    } else {
      at = behind > at ? behind : at + 1;
    }
  }
  return at;
}

std::string_view behind_blanks(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t behind = behind_splice(text, at);
    const auto unit = text[at] == '/' ? behind_unit(text, at) : std::nullopt;
    if (!is_blank(text[at]) && behind == at && !unit) break;
    at = unit ? *unit : std::max(behind, at + 1);
  }
  return text.substr(at);
}

Error located(const Source& file, const SyntaxError& error) {
  return {ErrorKind::archive, {{}, file.name, place_in(file, error.offset)}, error.message};
}

const Token& Lexer::peek() {
  if (!has_next_) {
    do {
      next_ = scan();
    } while (ignored_ != nullptr && next_.kind == TokenKind::punctuator && ignored_->contains(next_.offset));
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
  if (behind == at_) return;
  at_ = behind;
  end_ = behind;
  is_line_start_ = false;
}

bool Lexer::skip_plain_braces() {
  if (has_next_) return false;
  constexpr std::string_view special = "{}\"'#/\\";
  std::size_t depth = 1;
  for (std::size_t at = behind_numbers(text_, at_);
       (at = text_.find_first_of(special, at)) != std::string_view::npos;) {
    if (text_[at] != '{' && text_[at] != '}') return false;
    if (text_[at] == '{') ++depth;
    if (text_[at] == '}') --depth;
    if (depth > 0) {
      at = text_[at] == '{' ? behind_numbers(text_, at + 1) : at + 1;
      continue;
    }
    at_ = at + 1;
    end_ = at_;
    is_line_start_ = false;
    return true;
  }
  return false;
}

void Lexer::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      is_line_start_ = true;
      ++at_;
    } else if (is_blank(c)) {
      ++at_;
    } else if (c == '\\' && (at(at_ + 1) == '\n' || (at(at_ + 1) == '\r' && at(at_ + 2) == '\n'))) {
      at_ += at(at_ + 1) == '\n' ? 2U : 3U;
    } else if (c == '/' && at(at_ + 1) == '/') {
      at_ = line_end(text_, at_);
    } else if (c == '/' && at(at_ + 1) == '*') {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) throw SyntaxError{at_, "the comment does not end"};
      at_ = end + 2;
    } else if (c == '#' && is_line_start_) {
      directive();
    } else {
      return;
    }
  }
}

// What a conditional group leaves out is skipped at once. #include and #pragma mean nothing here.
void Lexer::directive() {
  const std::size_t begin = at_;
  at_ = directive_end(text_, at_);
  std::string_view line = text_.substr(begin + 1, at_ - begin - 1);
  const std::string_view word = first_word(line);
  if (word != "pragma" && word != "line") ++directives_;
  if (word == "define") {
    seen_->defines[first_word(line)][begin] = true;
  } else if (word == "undef") {
    seen_->defines[first_word(line)][begin] = false;
  } else if (word == "ifdef" || word == "ifndef") {
    const std::string_view name = first_word(line);
    const auto known = this->known(begin);
    open_group(known || name == "__cplusplus");
    const bool is_taken = known ? *known : is_defined(name, begin) == (word == "ifdef");
    if (!is_taken) skip_group(false);
  } else if (word == "if") {
    const std::string condition = compact(line);
    open_group(known(begin) || is_certain(condition));
    if (!holds(line, begin)) skip_group(false);
  } else if (word == "else" || word == "elif") {
    if (open_groups_ == 0) throw SyntaxError{begin, "#" + std::string(word) + " without #if"};
    skip_group(true);
  } else if (word == "endif") {
    if (open_groups_ == 0) throw SyntaxError{begin, "#endif without #if"};
    close_group();
  }
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
bool Lexer::holds(std::string_view condition, std::size_t begin) {
  if (const auto known = this->known(begin)) return *known;
  const std::string text = compact(condition);
  const bool negated = text.starts_with("!");
  const std::string_view rest = std::string_view(text).substr(negated ? 1 : 0);
  if (rest == "0" || rest == "1") return (rest == "1") != negated;
  if (rest.starts_with("defined") && rest.find_first_of("&|") == std::string_view::npos) {
    return is_defined(rest.substr(7), begin) != negated;
  }
  SyntaxError unknown{begin, "found #if " + shown(condition) + ", expected 0, 1 or defined(NAME)"};
  if (!passes_over_conditions_) throw std::move(unknown);
  passed_over_ = std::move(unknown);
  return false;
}

// To behind the #else or #elif that is taken in place of the group that is open, or behind its #endif; if a part of it
// `is_taken` already, to the #endif. What is conditional inside is skipped with it.
void Lexer::skip_group(bool is_taken) {
  const std::size_t begin = at_;
  std::size_t inner = 0;
  bool is_line_start = false;
  while (at_ < text_.size()) {
    const std::size_t start = at_;
    const char c = text_[at_];
    if (c != '#' || !is_line_start) {
      const std::size_t behind = behind_splice(text_, at_);
      const auto unit = behind_unit(text_, at_);
      const bool is_gap = is_blank(c) || behind > at_ || (unit && c == '/');
      is_line_start = c == '\n' || (is_line_start && is_gap);
      at_ = unit ? *unit : std::max(behind, at_ + 1);
      continue;
    }
    at_ = directive_end(text_, at_);
    std::string_view line = text_.substr(start + 1, at_ - start - 1);
    const std::string_view word = first_word(line);
    if (opens_group(word)) ++inner;
    const bool ends = word == "endif" && inner == 0;
    if (word == "endif" && inner > 0) --inner;
    if (word == "elif" && inner == 0 && !known(start) && !is_certain(compact(line))) certain_ &= ~std::uint64_t{1};
    const bool goes_on = inner == 0 && !is_taken && (word == "else" || (word == "elif" && holds(line, start)));
    if (!ends && !goes_on) continue;
    if ((certain_ & 1U) == 0) seen_->left_out[begin] = start;
    if (ends) close_group();
    is_line_start_ = true;
    return;
  }
  throw SyntaxError{begin, "the conditional group does not end, expected #endif"};
}

Token Lexer::scan() {
  skip_blanks();
  is_line_start_ = false;
  if (at_ >= text_.size()) {
    if (open_groups_ > 0) throw SyntaxError{text_.size(), "the conditional group does not end, expected #endif"};
    return {TokenKind::end, {}, text_.size()};
  }
  const std::size_t begin = at_;
  const char c = text_[at_];
  TokenKind kind = TokenKind::punctuator;
  if (is_digit(c) || (c == '.' && is_digit(at(at_ + 1)))) {
    kind = TokenKind::number;
    for (++at_; at_ < text_.size(); ++at_) {
      const char last = text_[at_ - 1];
      const bool is_exponent = last == 'e' || last == 'E' || last == 'p' || last == 'P';
      const bool is_hex = at(begin) == '0' && (at(begin + 1) == 'x' || at(begin + 1) == 'X');
      const bool takes_sign = is_exponent && (!is_hex || last == 'p' || last == 'P');
      if (is_identifier_char(text_[at_]) || text_[at_] == '.') continue;
      if (takes_sign && (text_[at_] == '+' || text_[at_] == '-')) continue;
      break;
    }
  } else if (is_identifier_char(c)) {
    kind = TokenKind::identifier;
    while (at_ < text_.size() && is_identifier_char(text_[at_])) ++at_;
  } else if (c == '"' || c == '\'') {
    kind = c == '"' ? TokenKind::string : TokenKind::character;
    for (++at_; at(at_) != c; ++at_) {
      if (at_ >= text_.size() || text_[at_] == '\n') throw SyntaxError{begin, "the literal does not end on its line"};
      if (text_[at_] == '\\') at_ = std::max(behind_splice(text_, at_), at_ + 2) - 1;
    }
    ++at_;
  } else {
    at_ += punctuator_size(text_.substr(at_));
  }
  return {kind, text_.substr(begin, at_ - begin), begin};
}

}  // namespace usmp::tvm_c

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
#include "tvm_c/text/spelling.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "tvm_c/text/lexer.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

constexpr std::string_view trigraph_backslash = "?\?/";
constexpr const char* as_backslash = ", which some compilers take for a backslash";
constexpr const char* with_blanks =
    "found a backslash, blanks and the end of the line, which some compilers take for a "
    "line splice; remove the blanks";

bool is_line_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

// Whether the two may be one token, or begin or end a comment.
bool may_join(char a, char b) {
  constexpr std::array<std::string_view, 26> pairs = {
      "//", "/*", "*/", "<<", ">>", "->", "++", "--", "<=", ">=", "==", "!=", "&&",
      "||", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##", "..", "%:", "\?\?"};
  return std::any_of(pairs.begin(), pairs.end(), [&](std::string_view pair) { return pair[0] == a && pair[1] == b; });
}

class Spelling {
 public:
  explicit Spelling(std::string_view text) : text_(text) {}

  // What most files do not have.
  [[nodiscard]] bool may_be_odd() const {
    for (const std::string_view part : {"?\?", "%:", "pop_macro", "R\"", "$"}) {
      if (text_.find(part) != std::string_view::npos) return true;
    }
    for (std::size_t at = text_.find('\r'); at != std::string_view::npos; at = text_.find('\r', at + 1)) {
      if (is_lone_return(at)) return true;
    }
    for (std::size_t at = text_.find('\\'); at != std::string_view::npos; at = text_.find('\\', at + 1)) {
      const std::size_t line = behind_splice(at);
      if (line == at) continue;
      const char before = at == 0 ? '\n' : text_[at - 1];
      const auto is_gap = [](char c) { return is_line_blank(c) || c == '\n'; };
      const bool is_in_gap = is_gap(before) || (is_gap(at_or_nothing(line)) && before != '\\');
      if (!is_in_gap || has_blanks(at, line)) return true;
    }
    return false;
  }

  void check() {
    while (at_ < text_.size()) step();
  }

 private:
  [[nodiscard]] char at_or_nothing(std::size_t at) const { return at < text_.size() ? text_[at] : '\0'; }

  // Where some compilers, but not this reader, see a line end between two texts.
  [[nodiscard]] bool is_lone_return(std::size_t at) const {
    if (text_[at] != '\r' || at + 1 == text_.size() || text_[at + 1] == '\n' || text_[at + 1] == '\r') return false;
    return at > 0 && text_[at - 1] != '\n';
  }

  void refuse_lone_return(std::size_t at) const {
    if (is_lone_return(at)) throw SyntaxError{at, "found a carriage return inside of a line, which some compilers end"};
  }

  // Behind the line splice at the backslash there, with blanks in front of the line's end, too; `at`: it is none.
  [[nodiscard]] std::size_t behind_splice(std::size_t at) const {
    if (at_or_nothing(at) != '\\') return at;
    std::size_t end = at + 1;
    while (is_line_blank(at_or_nothing(end))) ++end;
    return at_or_nothing(end) == '\n' ? end + 1 : at;
  }

  [[nodiscard]] bool has_blanks(std::size_t at, std::size_t behind) const {
    return behind - at > 3 || (behind - at == 3 && text_[at + 1] != '\r');
  }

  [[nodiscard]] std::size_t behind_splices(std::size_t at) const {
    std::size_t behind = behind_splice(at);
    while (behind > at) {
      if (has_blanks(at, behind)) throw SyntaxError{at, with_blanks};
      at = behind;
      behind = behind_splice(at);
    }
    return at;
  }

  void step() {
    const char c = text_[at_];
    const std::string_view rest = text_.substr(at_, 3);
    if (c == '\n' || is_line_blank(c)) {
      refuse_lone_return(at_);
      is_line_start_ = is_line_start_ || c == '\n';
      ++at_;
      return;
    }
    if (const std::size_t behind = behind_splices(at_); behind > at_) {
      at_ = behind;
      return;
    }
    if (is_line_start_ && (rest.starts_with("%:") || rest == "?\?=")) {
      throw SyntaxError{at_, "found a directive that does not begin with #"};
    }
    if (rest == trigraph_backslash) throw SyntaxError{at_, "found " + std::string(rest) + as_backslash};
    if (rest == "?\?'") throw SyntaxError{at_, "found " + std::string(rest) + ", which some compilers take for ^"};
    if (is_identifier_char(c)) return word();
    if (c == '"' || c == '\'') return literal();
    const std::size_t next = behind_splices(at_ + 1);
    const char second = at_or_nothing(next);
    if (next > at_ + 1 && may_join(c, second)) fail_joined();
    if (c == '/' && second == '/') return line_comment();
    if (c == '/' && second == '*') return comment();
    is_line_start_ = false;
    if (c != '(') word_ = {};
    ++at_;
  }

  [[noreturn]] void fail_joined() const {
    throw SyntaxError{at_, "found a line splice inside of a token, expected it between two"};
  }

  void word() {
    const std::size_t begin = at_;
    while (is_identifier_char(at_or_nothing(at_))) ++at_;
    if (at_or_nothing(at_) == '\\' && is_identifier_char(at_or_nothing(behind_splices(at_)))) fail_joined();
    word_ = text_.substr(begin, at_ - begin);
    if (at_or_nothing(at_) == '$')
      throw SyntaxError{at_, "found $ behind a name, which is a part of it for some compilers"};
    is_line_start_ = false;
    if (word_ == "pop_macro") fail_at_popped(begin);
    const bool is_prefix = word_ == "R" || word_ == "LR" || word_ == "uR" || word_ == "UR" || word_ == "u8R";
    if (is_prefix && at_or_nothing(at_) == '"') {
      throw SyntaxError{begin, "found a raw string, which some compilers take for a name and a string"};
    }
  }

  [[noreturn]] static void fail_at_popped(std::size_t at) {
    throw SyntaxError{at, "found pop_macro, expected macros that only #define and #undef change"};
  }

  // To its end, or to that of its line.
  void literal() {
    const char quote = text_[at_];
    const std::size_t begin = at_++;
    is_line_start_ = false;
    while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != quote) {
      refuse_lone_return(at_);
      if (text_.substr(at_, 3) == trigraph_backslash) {
        throw SyntaxError{at_, "found " + std::string(trigraph_backslash) + as_backslash};
      }
      const std::size_t behind = behind_splices(at_);
      if (behind == at_ && text_[at_] == '\\' && behind_splices(at_ + 1) > at_ + 1) fail_joined();
      at_ = behind > at_ ? behind : std::min(at_ + (text_[at_] == '\\' ? 2 : 1), text_.size());
    }
    if (at_ < text_.size() && text_[at_] == quote) ++at_;
    const bool is_pragma = word_ == "_Pragma";
    if (is_pragma && text_.substr(begin, at_ - begin).find("pop_macro") != std::string_view::npos)
      fail_at_popped(begin);
  }

  // It ends where the line does behind which a splice does not join the next one.
  void line_comment() {
    const std::size_t begin = at_;
    while (true) {
      const std::size_t line = at_;
      at_ = std::min(text_.find('\n', at_), text_.size());
      for (std::size_t i = line; i < at_; ++i) refuse_lone_return(i);
      std::size_t last = at_;
      while (last > begin && is_line_blank(text_[last - 1])) --last;
      const bool has_blanks = last < at_ && (at_ - last > 1 || text_[last] != '\r');
      if (!has_blanks && text_.substr(begin, last - begin).ends_with(trigraph_backslash)) {
        throw SyntaxError{begin, "found a comment that ends with " + std::string(trigraph_backslash) + as_backslash};
      }
      if (at_ == text_.size() || text_[last - 1] != '\\') return;
      if (has_blanks && !is_no_code(at_ + 1)) throw SyntaxError{last - 1, with_blanks};
      if (has_blanks) return;
      ++at_;
    }
  }

  // Whether the line that begins there is empty, or a comment like the one in front.
  [[nodiscard]] bool is_no_code(std::size_t line) const {
    while (is_line_blank(at_or_nothing(line))) ++line;
    return line == text_.size() || text_[line] == '\n' || text_.substr(line, 2) == "//";
  }

  void comment() {
    at_ += 2;
    while (at_ < text_.size()) {
      at_ = std::min(text_.find('*', at_), text_.size());
      std::size_t next = at_ + 1;
      for (std::size_t more = behind_splice(next); more > next; more = behind_splice(next)) next = more;
      if (next > at_ + 1 && at_or_nothing(next) == '/') fail_joined();
      ++at_;
      if (at_or_nothing(at_) != '/') continue;
      ++at_;
      return;
    }
    at_ = std::min(at_, text_.size());
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string_view word_;  // the last one
  bool is_line_start_ = true;
};

}  // namespace

void check_spelling(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) {
    throw SyntaxError{0, "found a byte order mark, which is no C inside of another file; remove it"};
  }
  Spelling spelling(text);
  if (spelling.may_be_odd()) spelling.check();
}

}  // namespace usmp::tvm_c

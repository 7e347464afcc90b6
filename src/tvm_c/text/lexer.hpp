// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Tokens of C. Comments and line splices count as blanks; of conditional groups the one is read that a C compiler (not
// a C++ one) takes. A file is read once and nothing is kept, so tables of constants cost no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "usmp/support/error.hpp"

namespace usmp::tvm_c {

enum class TokenKind : std::uint8_t { end, identifier, number, string, character, punctuator };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;   // as it stands in the file; of `end` empty
  std::size_t offset = 0;  // of its first byte

  [[nodiscard]] bool is(std::string_view spelling) const {
    return (kind == TokenKind::punctuator || kind == TokenKind::identifier) && text == spelling;
  }
  [[nodiscard]] bool is_identifier() const { return kind == TokenKind::identifier; }
};

// What is no C, or no C that is read here. Has the place; the reader adds the file.
struct SyntaxError {
  std::size_t offset = 0;
  std::string message;
};

// Whether a directive of this word opens a conditional group, which #endif closes.
[[nodiscard]] constexpr bool opens_group(std::string_view word) {
  return word == "if" || word == "ifdef" || word == "ifndef";
}

// Behind the comment or literal that begins at `at`, as the preprocessor sees it in text that it leaves out, too: a
// literal ends with its line at the latest. Nothing: none begins there.
[[nodiscard]] std::optional<std::size_t> behind_unit(std::string_view text, std::size_t at);
// Where the line ends that begins at `at`: at the line break in front of which there is no backslash.
[[nodiscard]] std::size_t line_end(std::string_view text, std::size_t at);
// Where the directive ends whose # stands at `at`: a comment in it may go on over several lines.
[[nodiscard]] std::size_t directive_end(std::string_view text, std::size_t at);
// Without the blanks, comments and line splices that it begins with.
[[nodiscard]] std::string_view behind_blanks(std::string_view text);

struct Source;
[[nodiscard]] Error located(const Source& file, const SyntaxError& error);

// Conditions of the preprocessor that are known, by the offset of their directive.
using Conditions = std::map<std::size_t, bool>;

// A value: a copy goes on from the same place on its own.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  // The next token, which stays. Throws SyntaxError: a comment or literal that does not end, a conditional group whose
  // condition is not understood or that does not end.
  const Token& peek();
  Token next();

  // What follows is read by somebody who needs no lexer, from offset() on: numbers of a list, with commas, blanks and
  // signs, each with the comma behind it. Then go on `behind` the last comma, which may be where it began.
  [[nodiscard]] bool may_jump() const { return !has_next_; }
  void jump(std::size_t behind);
  // Behind the brace that closes the one just taken: as taking tokens would, in a fraction of the time, if nothing but
  // numbers, names and braces is inside. Else takes nothing; false.
  bool skip_plain_braces();

  // Where the next token begins, if it has been looked at, else behind the last one.
  [[nodiscard]] std::size_t offset() const { return has_next_ ? next_.offset : at_; }
  // Behind the last token taken.
  [[nodiscard]] std::size_t end() const { return end_; }
  [[nodiscard]] std::string_view text() const { return text_; }

  // What is known of conditions beyond what the text says on its own.
  void know(std::shared_ptr<const Conditions> conditions) { known_ = std::move(conditions); }
  [[nodiscard]] std::optional<bool> known(std::size_t directive) const;

  // Punctuators that count as blanks from here on, by their offsets, in place of those before.
  void ignore(std::set<std::size_t> punctuators) {
    ignored_ = std::make_shared<const std::set<std::size_t>>(std::move(punctuators));
  }

  // From now on, conditions that are not understood hold nowhere, and do not throw.
  void pass_over_conditions() { passes_over_conditions_ = true; }
  // Of the last of them that was passed over; nothing: there was none.
  [[nodiscard]] std::optional<SyntaxError> passed_over() const { return passed_over_; }

  // What conditions left out so far, where the text does not say for certain that it is left out: a macro may be the
  // compiler's or of a header. By the offset of its first byte, its end.
  [[nodiscard]] const std::map<std::size_t, std::size_t>& left_out() const { return seen_->left_out; }
  // How many directives there were, #pragma and #line aside.
  [[nodiscard]] std::size_t directives() const { return directives_; }

 private:
  [[nodiscard]] char at(std::size_t offset) const { return offset < text_.size() ? text_[offset] : '\0'; }
  void skip_blanks();
  void directive();
  [[nodiscard]] bool is_defined(std::string_view name, std::size_t at) const;
  [[nodiscard]] bool holds(std::string_view condition, std::size_t begin);
  void open_group(bool is_certain);
  void close_group();
  void skip_group(bool is_taken);
  Token scan();

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  bool passes_over_conditions_ = false;
  std::shared_ptr<const Conditions> known_;
  std::shared_ptr<const std::set<std::size_t>> ignored_;
  std::optional<SyntaxError> passed_over_;
  bool is_line_start_ = true;
  bool has_next_ = false;
  Token next_;
  std::size_t directives_ = 0;
  std::size_t open_groups_ = 0;
  std::uint64_t certain_ = 0;  // a bit for each of the innermost of them: whether its condition is the text's own
  // Copies share it: what one reads ahead is the same for all.
  struct Seen {
    std::map<std::string_view, std::map<std::size_t, bool>> defines;  // where a name is defined, or no more so
    std::map<std::size_t, std::size_t> left_out;
  };
  std::shared_ptr<Seen> seen_ = std::make_shared<Seen>();
};

}  // namespace usmp::tvm_c

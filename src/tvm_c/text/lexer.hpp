// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A walk over the tokens of a text of C (usmp/c/lexer.hpp); of conditional groups the part is read that a C compiler
// (not a C++ one) takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "usmp/c/lexer.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/mapped_file.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {

using c::Token;
using c::TokenKind;

// What is no C, or no C that is read here. Has the place; the reader adds the file.
struct SyntaxError {
  std::size_t offset = 0;
  std::string message;
};

// Whether a directive of this word opens a conditional group, which #endif closes.
[[nodiscard]] constexpr bool opens_group(std::string_view word) {
  return word == "if" || word == "ifdef" || word == "ifndef";
}

// Whether it opens one, begins its next part, or closes it.
[[nodiscard]] constexpr bool belongs_to_group(std::string_view word) {
  return opens_group(word) || word == "elif" || word == "else" || word == "endif";
}

[[nodiscard]] Error located(const Source& file, const SyntaxError& error);

// A text with its tokens, which are views of it: also those of directives, and of all conditional groups.
struct Code {
  std::string_view text;
  std::shared_ptr<const c::Lexed> lexed;
  std::shared_ptr<const MappedFile> mapped = {};  // as Source has it

  // Indices of the tokens that begin in [begin, end), and of the directives.
  struct Range {
    std::size_t first = 0;
    std::size_t behind = 0;
    std::size_t first_directive = 0;
    std::size_t behind_directives = 0;
  };
  [[nodiscard]] Range range(std::size_t begin, std::size_t end) const;  // O(log tokens)

  // The text without long lists of numbers, in order: most of the megabytes of C.
  [[nodiscard]] std::vector<std::string_view> pieces() const;
  [[nodiscard]] bool mentions(std::string_view part) const;  // in one of the pieces
};

inline constexpr std::size_t most_directives = 200'000;  // of a text; each is kept with what it says

// Throws SyntaxError: as c::lex, a line splice inside of a token, pop_macro, most_directives. O(text).
[[nodiscard]] Code split(std::string_view text);
[[nodiscard]] Code split(const Source& file);

// A line of the preprocessor.
struct Directive {
  std::size_t begin = 0;
  std::size_t end = 0;     // of its last line
  std::string_view word;   // "define"
  std::string_view rest;   // behind it, without blanks in front
  std::string_view name;   // that it begins with: what is defined, or asked for
  std::string_view only;   // the token behind the word, if there is one
  std::size_t first = 0;   // index of the token behind the word
  std::size_t behind = 0;  // of that behind its line
};

[[nodiscard]] Directive directive_of(const Code& code, std::size_t index);

// All lines of the preprocessor in [begin, end), whatever conditions say. Of a text: throws SyntaxError, as split().
[[nodiscard]] std::vector<Directive> directives_in(const Code& code, std::size_t begin = 0,
                                                   std::size_t end = std::string_view::npos);
[[nodiscard]] std::vector<Directive> directives_in(std::string_view text);

// Throws SyntaxError: a literal that does not end.
void require_ended(const Token& token);

// Conditions of the preprocessor that are known, by the offset of their directive.
using Conditions = std::map<std::size_t, bool>;

// A value: a copy goes on from the same place on its own.
class Lexer {
 public:
  // Throws SyntaxError, as split().
  explicit Lexer(std::string_view text) : Lexer(split(text)) {}
  // Walks over the tokens that begin in [begin, end).
  explicit Lexer(const Code& code, std::size_t begin = 0, std::size_t end = std::string_view::npos);

  // The next token, which stays; of a long list of numbers, each is one. Throws SyntaxError: a literal that does not
  // end, a conditional group whose condition is not understood or that does not end.
  const Token& peek();
  Token next();

  // What follows is read by somebody who needs no tokens, from offset() on: numbers of a list, with commas, blanks and
  // signs, each with the comma behind it. Then go on `behind` the last comma, which may be where it began.
  [[nodiscard]] bool may_jump() const { return !has_next_; }
  void jump(std::size_t behind);
  // What is left of the long list of numbers that stands next; empty: none does.
  [[nodiscard]] std::string_view numbers() const;
  bool skip_numbers();

  // Where the next token begins, if it has been looked at, else behind the last one.
  [[nodiscard]] std::size_t offset() const { return has_next_ ? next_.offset : end_; }
  // Behind the last token taken.
  [[nodiscard]] std::size_t end() const { return end_; }
  [[nodiscard]] std::string_view text() const { return code_.text; }
  [[nodiscard]] const Code& code() const { return code_; }

  // What is known of conditions beyond what the text says on its own.
  void know(std::shared_ptr<const Conditions> conditions) { known_ = std::move(conditions); }
  [[nodiscard]] std::optional<bool> known(std::size_t directive) const;

  // From now on, conditions that are not understood hold nowhere, and do not throw.
  void pass_over_conditions() { passes_over_conditions_ = true; }
  // The last of them that was passed over; nothing: there was none.
  [[nodiscard]] std::optional<SyntaxError> passed_over() const { return passed_over_; }

  // What conditions left out so far, where the text does not say for certain that it is left out: a macro may be the
  // compiler's or of a header. By the offset of its first byte, its end.
  [[nodiscard]] const std::map<std::size_t, std::size_t>& left_out() const { return seen_->left_out; }
  // How many directives there were, #pragma and #line aside.
  [[nodiscard]] std::size_t directives() const { return directives_; }

 private:
  void directive();
  [[nodiscard]] std::string compact(const Directive& one) const;
  [[nodiscard]] bool is_defined(std::string_view name, std::size_t at) const;
  [[nodiscard]] bool holds(const Directive& one);
  void open_group(bool is_certain);
  void close_group();
  void skip_group(std::size_t begin, bool is_taken);
  Directive take_directive();
  Token scan();

  Code code_;
  std::size_t stop_ = 0;            // behind the last token
  std::size_t at_ = 0;              // of the next token
  std::size_t in_list_ = 0;         // behind what is taken of it, if that is a list of numbers
  std::size_t next_directive_ = 0;  // of the directives
  std::size_t end_ = 0;
  bool passes_over_conditions_ = false;
  std::shared_ptr<const Conditions> known_;
  std::optional<SyntaxError> passed_over_;
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

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The tokens of a text of C (usmp/c/lexer.hpp), its directives, and what of conditional groups a C compiler (not a C++
// one) takes.
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

// GCC's word in front of attributes, in both spellings.
[[nodiscard]] inline bool is_attribute(std::string_view word) {
  return word == "__attribute__" || word == "__attribute";
}

[[nodiscard]] inline std::size_t end_of(const Token& token) { return token.offset + token.text.size(); }

// What is no C, or no C that is read here. Has the place; the reader adds the file.
struct SyntaxError {
  std::size_t offset = 0;
  std::string message;
  bool is_undeclared = false;  // a name stands there that is not declared
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

// Does work on the file, whose faults become located errors.
template <class Work>
void in_file(const Source& file, const Work& work) {
  try {
    work();
  } catch (const SyntaxError& error) {
    throw located(file, error);
  }
}

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

// All lines of the preprocessor in [begin, end), whatever conditions say.
[[nodiscard]] std::vector<Directive> directives_in(const Code& code, std::size_t begin = 0,
                                                   std::size_t end = std::string_view::npos);

// A conditional group, by indices of directives.
struct Group {
  std::optional<std::size_t> first = {};  // nothing: it begins in front of them
  std::optional<std::size_t> last = {};   // #endif; nothing: it ends behind them
  bool has_parts = false;                 // #elif or #else
};

// All groups of which one of the directives opens or closes them, in that order.
[[nodiscard]] std::vector<Group> groups_in(const std::vector<Directive>& directives);

// Whether any of those in [begin, end) may change its tokens: all but #pragma and #line.
[[nodiscard]] bool has_directives(const Code& code, std::size_t begin, std::size_t end);

// Throws SyntaxError: a literal that does not end.
void require_ended(const Token& token);

// Conditions of the preprocessor that are known, by the offset of their directive.
using Conditions = std::map<std::size_t, bool>;

// The tokens of a text but those of directives, and of conditional groups only those of the part that is taken.
struct TakenText {
  std::vector<Token> tokens;
  // What conditions left out, where the text does not say for certain that it is left out: a macro may be the
  // compiler's or of a header. By the offset of its first byte, its end.
  std::map<std::size_t, std::size_t> left_out;
};

// What is taken of the tokens that begin in [begin, end). `known`: conditions, beyond what the text says on its own.
// With `passes_over`, those that are not understood hold nowhere. Throws SyntaxError: a literal that does not end, a
// conditional group whose condition is not understood or that does not end. O(log tokens), and the tokens between.
[[nodiscard]] TakenText taken_tokens(const Code& code, std::size_t begin, std::size_t end, bool passes_over,
                                     const Conditions* known = nullptr);

}  // namespace usmp::tvm_c

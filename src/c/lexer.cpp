// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Splits a file of C into tokens, each in one look at its bytes; line splices inside of one are rare and copied.
#include "usmp/c/lexer.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "usmp/support/characters.hpp"
#include "usmp/support/number_list.hpp"
#include "usmp/support/text.hpp"

namespace usmp::c {
namespace {

constexpr std::size_t npos = std::string_view::npos;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r'; }

// The longest first.
constexpr std::array<std::string_view, 23> long_punctuators = {"...", "<<=", ">>=", "->", "++", "--", "<<", ">>",
                                                               "<=",  ">=",  "==",  "!=", "&&", "||", "+=", "-=",
                                                               "*=",  "/=",  "%=",  "&=", "|=", "^=", "##"};
constexpr std::string_view first_of_punctuators = "[](){}.&*+-~!/%<>^|?:;=,#";
constexpr std::array<std::string_view, 5> digraphs = {"<:", ":>", "<%", "%>", "%:"};

std::size_t punctuator_size(std::string_view text) {
  constexpr std::string_view second_of_long = ".<>=+-&|#";
  if (text.size() < 2 || second_of_long.find(text[1]) == npos) return 1;
  const auto* found = std::find_if(long_punctuators.begin(), long_punctuators.end(),
                                   [&](std::string_view one) { return text.starts_with(one); });
  return found == long_punctuators.end() ? 1 : found->size();
}

// Behind the line splice that begins there; `at`: none does.
std::size_t behind_splice(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size() || text[at] != '\\') return at;
  if (text[at + 1] == '\n') return at + 2;
  return text[at + 1] == '\r' && at + 2 < text.size() && text[at + 2] == '\n' ? at + 3 : at;
}

std::size_t behind_splices(std::string_view text, std::size_t at) {
  for (std::size_t next = behind_splice(text, at); next > at; next = behind_splice(text, at)) at = next;
  return at;
}

struct Scanned {
  TokenKind kind = TokenKind::other;
  std::size_t end = 0;
};

bool is_string_prefix(std::string_view name) { return name == "L" || name == "u" || name == "U" || name == "u8"; }

// The literal whose quotation mark stands at `quote`: up to the one that closes it, or to the end of its line.
Scanned scan_literal(std::string_view text, std::size_t quote) {
  std::size_t at = quote + 1;
  while (at < text.size() && text[at] != '\n') {
    if (const std::size_t behind = behind_splice(text, at); behind > at) {
      at = behind;
    } else if (text[at] == '\\') {
      at = behind_splices(text, at + 1) + 1;
    } else if (text[at] == text[quote]) {
      return {text[quote] == '"' ? TokenKind::string : TokenKind::character, at + 1};
    } else {
      ++at;
    }
  }
  return {TokenKind::other, std::min(at, text.size())};
}

// The token that begins there, in a text without splices but those in literals.
Scanned scan(std::string_view text, std::size_t at) {
  if (at >= text.size()) return {TokenKind::end, at};
  const char c = text[at];
  if (const std::size_t end = behind_number(text, at); end > at) return {TokenKind::number, end};
  if (is_identifier_char(c)) {
    std::size_t end = at + 1;
    while (end < text.size() && is_identifier_char(text[end])) ++end;
    const bool has_quote = end < text.size() && (text[end] == '"' || text[end] == '\'');
    if (has_quote && is_string_prefix(text.substr(at, end - at))) return scan_literal(text, end);
    return {TokenKind::identifier, end};
  }
  if (c == '"' || c == '\'') return scan_literal(text, at);
  if (first_of_punctuators.find(c) == npos) return {TokenKind::other, at + 1};
  return {TokenKind::punctuator, at + punctuator_size(text.substr(at, 3))};
}

class FileLexer {
 public:
  FileLexer(const File& file, std::uint32_t index, Odd odd) : file_(file), text_(file.text), index_(index), odd_(odd) {}

  Lexed run() {
    if (text_.size() > most_file_bytes) {
      throw SyntaxError{
          index_, 0,
          "found " + std::to_string(text_.size()) + " bytes, expected at most " + std::to_string(most_file_bytes)};
    }
    if (text_.starts_with("\xEF\xBB\xBF"))
      refuse(0, "found a byte order mark, which is no C inside of another file; remove it");
    while (true) {
      skip_gap();
      if (at_ >= text_.size()) break;
      if (!take_numbers()) take();
    }
    end_directive();
    add(TokenKind::end, {}, text_.size());
    return std::move(lexed_);
  }

 private:
  void refuse(std::size_t at, std::string message) const {
    if (odd_ == Odd::refused) throw SyntaxError{index_, at, std::move(message)};
  }
  [[nodiscard]] char at(std::size_t offset) const { return offset < text_.size() ? text_[offset] : '\0'; }

  void add(TokenKind kind, std::string_view text, std::size_t offset) {
    Token& token = lexed_.tokens.emplace_back();
    token.kind = kind;
    token.begins_line = begins_line_ || kind == TokenKind::end;
    token.has_gap = has_gap_;
    token.file = index_;
    token.offset = static_cast<std::uint32_t>(offset);
    token.text = text;
    if (in_directive_ && kind == TokenKind::identifier && lexed_.tokens.size() == lexed_.directives.back().token + 2)
      refuse_unknown_directive(text, offset);
    if (begins_line_ && token.is("#")) {
      in_directive_ = true;
      lexed_.directives.push_back({static_cast<std::uint32_t>(lexed_.tokens.size() - 1), 0});
    }
    begins_line_ = false;
    has_gap_ = false;
  }

  // As #elifdef and #embed, which C has had since 2023.
  void refuse_unknown_directive(std::string_view word, std::size_t offset) const {
    constexpr std::array<std::string_view, 16> known = {
        "if",      "ifdef",        "ifndef", "elif",   "else",  "endif",   "define", "undef",
        "include", "include_next", "import", "pragma", "error", "warning", "line",   "ident"};
    if (std::ranges::find(known, word) == known.end())
      refuse(offset, "found #" + std::string(word) + ", which not all compilers know");
  }

  // At a line break, or at the end of the file.
  void end_directive() {
    if (in_directive_) lexed_.directives.back().end = static_cast<std::uint32_t>(at_);
    in_directive_ = false;
  }

  // A line that ends with a backslash and blanks goes on for some compilers.
  void refuse_blank_splice(std::size_t backslash) const {
    std::size_t end = backslash + 1;
    while (is_blank(at(end))) ++end;
    const bool is_splice = behind_splice(text_, backslash) > backslash;
    if (!is_splice && at(end) == '\n') {
      refuse(backslash,
             "found a backslash, blanks and the end of the line, which some compilers take for a line splice; "
             "remove the blanks");
    }
  }

  void refuse_trigraph(std::size_t i) const {
    constexpr std::string_view thirds = "=/'()!<>-";
    if (at(i + 1) != '\?' || thirds.find(at(i + 2)) == npos) return;
    refuse(i, "found the trigraph " + std::string(text_.substr(i, 3)) +
                  ", which some compilers take for another character");
  }

  void refuse_lone_return(std::size_t i) const {
    std::size_t end = i;
    while (at(end) == '\r') ++end;
    if (end < text_.size() && text_[end] != '\n')
      refuse(i, "found a carriage return inside of a line, which some compilers end");
  }

  void skip_gap() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        end_directive();
        begins_line_ = true;
        has_gap_ = true;
        ++at_;
      } else if (is_blank(c)) {
        if (c == '\r') refuse_lone_return(at_);
        has_gap_ = true;
        ++at_;
      } else if (c == '\\') {
        refuse_blank_splice(at_);
        const std::size_t behind = behind_splice(text_, at_);
        if (behind == at_) return;
        at_ = behind;
      } else if (c == '/') {
        const std::size_t second = behind_splices(text_, at_ + 1);
        if (at(second) == '/') {
          skip_line_comment(second + 1);
        } else if (at(second) == '*') {
          skip_comment(second + 1);
        } else {
          return;
        }
        has_gap_ = true;
      } else {
        return;
      }
    }
  }

  // It ends in front of a line break that no backslash stands in front of.
  void skip_line_comment(std::size_t from) {
    const std::size_t begin = at_;
    while (true) {
      at_ = std::min(text_.find('\n', from), text_.size());
      const std::string_view line = text_.substr(0, at_);
      for (std::size_t i = line.find('\r', from); i < at_; i = line.find('\r', i + 1)) refuse_lone_return(i);
      std::size_t last = at_;
      while (last > from && is_blank(text_[last - 1])) --last;
      const bool has_blanks = at_ - last > 1 || (at_ - last == 1 && text_[last] != '\r');
      const std::string_view comment = text_.substr(from, last - from);
      if (!has_blanks && comment.ends_with("?\?/"))
        refuse(begin, "found a comment that ends with ?\?/, which some compilers take for a backslash");
      if (at_ == text_.size() || !comment.ends_with("\\")) return;
      if (has_blanks && !is_no_code(at_ + 1)) refuse_blank_splice(last - 1);
      if (has_blanks) return;
      from = at_ + 1;
    }
  }

  // Whether the line that begins there is empty, or a comment like the one in front.
  [[nodiscard]] bool is_no_code(std::size_t line) const {
    while (is_blank(at(line))) ++line;
    return line >= text_.size() || text_[line] == '\n' || text_.substr(line, 2) == "//";
  }

  void skip_comment(std::size_t from) {
    for (std::size_t star = text_.find('*', from); star != npos; star = text_.find('*', star + 1)) {
      const std::size_t slash = behind_splices(text_, star + 1);
      if (at(slash) != '/') continue;
      at_ = slash + 1;
      return;
    }
    refuse(at_, "the comment does not end, expected */");
    at_ = text_.size();
  }

  [[nodiscard]] bool take_numbers() {
    if (in_directive_ || lexed_.tokens.empty()) return false;
    const Token& front = lexed_.tokens.back();
    if (!front.is("{") && front.kind != TokenKind::numbers) return false;
    constexpr std::size_t page = 4096;
    std::size_t end = at_;
    for_numbers_behind(text_, at_, [&](std::string_view piece) {
      end += piece.size();
      if (file_.mapped != nullptr && piece.size() > page) file_.mapped->release(piece);
    });
    if (at(end) != '}') {  // a part of an element: the last number, or its sign
      const std::size_t comma = text_.substr(0, end).rfind(',');
      end = comma == npos || comma < at_ ? at_ : std::min(end, text_.find_first_not_of(" \t\r\n", comma + 1));
    }
    if (end - at_ < fewest_listed_bytes) return false;
    const std::size_t begin = at_;
    add(TokenKind::numbers, text_.substr(begin, end - begin), begin);
    at_ = end;
    const std::size_t last = text_.substr(begin, end - begin).find_last_not_of(" \t\r\n,");
    begins_line_ = text_.substr(begin, end - begin).find('\n', last == npos ? 0 : last) != npos;
    has_gap_ = true;
    return true;
  }

  void take() {
    const std::size_t begin = at_;
    const Scanned found = scan(text_, begin);
    const bool may_go_on = behind_splice(text_, found.end) > found.end;
    const bool is_literal = found.kind == TokenKind::string || found.kind == TokenKind::character ||
                            (found.kind == TokenKind::other && found.end > begin + 1);
    bool has_splice = false;
    for (std::size_t i = begin; is_literal && i < found.end; ++i) {
      if (text_[i] == '\?') refuse_trigraph(i);
      if (text_[i] == '\r') refuse_lone_return(i);
      has_splice = has_splice || behind_splice(text_, i) > i;
    }
    if (may_go_on || has_splice) {
      take_spliced();
    } else {
      at_ = found.end;
      add(found.kind, text_.substr(begin, found.end - begin), begin);
    }
    refuse_odd(lexed_.tokens.back(), begin);
  }

  // Copies no more lines than the token needs: each look at more of them doubles.
  void take_spliced() {
    const std::size_t begin = at_;
    for (std::size_t lines = 2;; lines *= 2) {
      std::string copy;
      std::vector<std::size_t> places;
      std::size_t from = begin;
      bool is_whole = true;
      for (std::size_t line = 0; from < text_.size() && text_[from] != '\n';) {
        if (const std::size_t behind = behind_splice(text_, from); behind > from) {
          from = behind;
          if (++line == lines) {
            is_whole = false;
            break;
          }
          continue;
        }
        copy += text_[from];
        places.push_back(from++);
      }
      places.push_back(from);
      const Scanned found = scan(copy, 0);
      if (found.end == copy.size() && !is_whole) continue;
      at_ = places[found.end - 1] + 1;
      std::string_view token = text_.substr(begin, at_ - begin);
      if (token.size() > found.end) token = lexed_.spliced.emplace_back(copy.substr(0, found.end));
      add(found.kind, token, begin);
      return;
    }
  }

  void refuse_odd(const Token& token, std::size_t begin) const {
    if (token.kind == TokenKind::punctuator) {
      if (token.text == "?") refuse_trigraph(begin);
      if (token.text.size() > 1) return;
      const char second = at(behind_splices(text_, at_));
      const std::array<char, 2> pair = {token.text[0], second};
      const std::string_view two(pair.data(), 2);
      if (std::find(digraphs.begin(), digraphs.end(), two) != digraphs.end())
        refuse(begin, "found the digraph " + std::string(two) + ", expected the character that it stands for");
      return;
    }
    if (token.kind != TokenKind::identifier) return;
    if (at(at_) == '$') refuse(begin, "found $ behind a name, which is a part of it for some compilers");
    const std::string_view name = token.text;
    const bool is_raw = name == "R" || name == "LR" || name == "uR" || name == "UR" || name == "u8R";
    if (is_raw && at(at_) == '"')
      refuse(begin, "found a raw string, which some compilers take for a name and a string");
  }

  const File& file_;
  std::string_view text_;
  std::uint32_t index_;
  Odd odd_;
  std::size_t at_ = 0;
  bool begins_line_ = true;
  bool has_gap_ = false;
  bool in_directive_ = false;
  Lexed lexed_;
};

}  // namespace

Lexed lex(const File& file, std::uint32_t index, Odd odd) { return FileLexer(file, index, odd).run(); }

std::vector<Token> lex_text(std::string_view text) {
  std::vector<Token> tokens;
  bool has_gap = false;
  for (std::size_t at = 0; at < text.size();) {
    if (is_blank(text[at]) || text[at] == '\n') {
      has_gap = true;
      ++at;
      continue;
    }
    const Scanned found = scan(text, at);
    Token& token = tokens.emplace_back();
    token.kind = found.kind;
    token.text = text.substr(at, found.end - at);
    token.offset = static_cast<std::uint32_t>(at);
    token.has_gap = has_gap;
    has_gap = false;
    at = found.end;
  }
  return tokens;
}

}  // namespace usmp::c

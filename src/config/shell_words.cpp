// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Splits at blanks outside of quotes, one character after another.
#include <algorithm>
#include <utility>

#include "usmp/config/tvmc.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/line_and_column.hpp"

namespace usmp::config {
namespace {

bool separates_words(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

class WordSplitter {
 public:
  explicit WordSplitter(std::string_view text) : text_(text) {}

  std::vector<std::string> words() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (separates_words(c)) {
        finish();
        ++at_;
      } else if (c == '#' && !inside_) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '\\') {
        take_escaped(false);
      } else if (c == '\'' || c == '"') {
        take_quoted(c);
      } else {
        take(c);
        ++at_;
      }
    }
    finish();
    return std::move(words_);
  }

 private:
  void take(char c) {
    word_ += c;
    inside_ = true;
  }

  void finish() {
    if (inside_) words_.push_back(std::move(word_));
    word_.clear();
    inside_ = false;
  }

  // Behind '\' a line goes on, and in double quotes most characters keep the '\'.
  void take_escaped(bool quoted) {
    ++at_;
    if (at_ == text_.size()) return;
    if (text_.substr(at_).starts_with("\r\n")) ++at_;
    const char c = text_[at_++];
    if (c == '\n') return;
    constexpr std::string_view escapable = "\"\\$`";
    if (quoted && escapable.find(c) == std::string_view::npos) take('\\');
    take(c);
  }

  void take_quoted(char quote) {
    const std::size_t begin = at_++;
    inside_ = true;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (quote == '"' && text_[at_] == '\\') {
        take_escaped(true);
      } else {
        take(text_[at_++]);
      }
    }
    if (at_ == text_.size()) {
      throw Error(ErrorKind::usage, {{}, {}, line_and_column(text_, begin + 1)},
                  std::string("an unterminated quote, expected another ") + quote);
    }
    ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<std::string> words_;
  std::string word_;
  bool inside_ = false;
};

}  // namespace

std::vector<std::string> shell_words(std::string_view text) { return WordSplitter(text).words(); }

}  // namespace usmp::config

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The characters of a JSON text as nlohmann's parser takes them, with plain strings and most white space left out.
//
// Idea: nearly all of a module is strings, and the lexer copies every character of a string twice. Here such a string
// is shown to the parser as empty; who receives the parser's event takes a view of the real text instead. Nothing else
// changes: a string is left out only if it consists of printable ASCII characters without escapes, which need no
// decoding and are valid UTF-8. Cost: O(1) a character, and no copy of the constants' text.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "usmp/support/error.hpp"

namespace usmp::tir_json {

class JsonSource {
 public:
  explicit JsonSource(std::string_view text) : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()) {}

  // One pass over the characters; all iterators of a source move together.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = char;

    explicit Iterator(JsonSource* source) : source_(source) {}
    char operator*() const { return *source_->at_; }
    Iterator& operator++() {
      source_->advance();
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_end() == b.at_end(); }

   private:
    [[nodiscard]] bool at_end() const { return source_ == nullptr || source_->at_ == source_->end_; }
    JsonSource* source_;  // nullptr: the end
  };
  [[nodiscard]] Iterator begin() { return Iterator(this); }
  [[nodiscard]] static Iterator end() { return Iterator(nullptr); }

  // Bytes of the text that the parser has seen or passed over.
  [[nodiscard]] std::size_t position() const { return static_cast<std::size_t>(at_ - begin_); }
  // The text of the string that has just been parsed, if it was left out; otherwise empty.
  [[nodiscard]] std::string_view take_left_out() { return std::exchange(left_out_, {}); }

 private:
  void advance() {
    const char character = *at_++;
    if (++token_ > max_token) throw_too_long();
    if (!in_string_) {
      if (character == '"') {
        token_ = 0;
        enter_string();
      } else if (is_space(character) || separates(character)) {
        while (at_ != end_ && is_space(*at_)) ++at_;
        token_ = 0;
      }
    } else if (after_backslash_) {
      after_backslash_ = false;
    } else if (character == '\\') {
      after_backslash_ = true;
    } else if (character == '"') {
      in_string_ = false;
      token_ = 0;
    }
  }
  [[noreturn]] void throw_too_long() const {
    throw Error(
        ErrorKind::archive, {{}, {}, "byte " + std::to_string(position())},
        "a number, or a text with escapes, of more than " + std::to_string(max_token) + " bytes, which is the limit");
  }
  static bool is_space(char character) {
    return character == ' ' || character == '\n' || character == '\t' || character == '\r';
  }
  static constexpr std::array<bool, 256> is_plain = [] {
    std::array<bool, 256> plain{};
    for (unsigned char character = ' '; character <= '~'; ++character) {
      plain[character] = character != '"' && character != '\\';
    }
    return plain;
  }();
  // Whether a token ends here, with or without white space behind it.
  static bool separates(char character) {
    return character == ',' || character == ':' || character == '{' || character == '[';
  }
  void enter_string() {
    in_string_ = true;
    const char* end = at_;
    while (end != end_ && is_plain[static_cast<unsigned char>(*end)]) ++end;
    if (end == end_ || *end != '"') return;
    left_out_ = {at_, static_cast<std::size_t>(end - at_)};
    at_ = end;
  }

  static constexpr std::size_t max_token = std::size_t{16} << 20;  // the parser keeps copies of one

  const char* begin_;
  const char* at_;
  const char* end_;
  std::size_t token_ = 0;  // its bytes so far
  bool in_string_ = false;
  bool after_backslash_ = false;
  std::string_view left_out_;
};

}  // namespace usmp::tir_json

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Words and signs of a GNU ld script.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace usmp::config {

struct LinkerToken {
  enum class Kind : std::uint8_t { name, number, string, sign, end };

  Kind kind = Kind::end;
  std::string_view text;  // of a string: without its quotes
  std::size_t at = 0;     // byte of the script, from 0

  [[nodiscard]] bool is(std::string_view sign) const {
    return (kind == Kind::sign || kind == Kind::name) && text == sign;
  }
};

// Throws Error of kind usage at this byte of the script.
[[noreturn]] void fail_at(std::string_view script, std::size_t at, const std::string& message);

// Reads one token after another; comments and blanks are skipped.
class LinkerLexer {
 public:
  explicit LinkerLexer(std::string_view script) : script_(script) { take(); }

  [[nodiscard]] const LinkerToken& peek() const { return next_; }
  LinkerToken take();  // at the end it returns the end again

  // The next token if it is this sign or word, which is then taken.
  bool take_if(std::string_view sign);

  // "'}'", "the end of the script": the next token for a message.
  [[nodiscard]] std::string found() const;

  [[noreturn]] void fail_expected(const std::string& expected) const;

  [[nodiscard]] std::string_view script() const { return script_; }

 private:
  void skip_blanks();
  [[nodiscard]] LinkerToken read();

  std::string_view script_;
  std::size_t at_ = 0;
  LinkerToken next_;
};

}  // namespace usmp::config

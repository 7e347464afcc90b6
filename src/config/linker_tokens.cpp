// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads one token ahead, without blanks and comments in front of it.
#include "config/linker_tokens.hpp"

#include <array>

#include "usmp/support/characters.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/line_and_column.hpp"
#include "usmp/support/text.hpp"

namespace usmp::config {
namespace {

bool is_name_char(char c) { return is_identifier_char(c) || c == '.' || c == '$'; }

}  // namespace

void fail_at(std::string_view script, std::size_t at, const std::string& message) {
  throw Error(ErrorKind::usage, {{}, {}, line_and_column(script, at + 1)}, message);
}

LinkerToken LinkerLexer::take() {
  const LinkerToken taken = next_;
  skip_blanks();
  next_ = read();
  at_ = next_.at + next_.text.size() + (next_.kind == LinkerToken::Kind::string ? 2 : 0);
  return taken;
}

bool LinkerLexer::take_if(std::string_view sign) {
  if (!next_.is(sign)) return false;
  take();
  return true;
}

std::string LinkerLexer::found() const {
  return next_.kind == LinkerToken::Kind::end ? "the end of the script" : shown(next_.text);
}

void LinkerLexer::fail_expected(const std::string& expected) const {
  fail_at(script_, next_.at, "found " + found() + ", expected " + expected);
}

void LinkerLexer::skip_blanks() {
  while (at_ < script_.size()) {
    if (std::string_view(" \t\r\n\f\v").find(script_[at_]) != std::string_view::npos) {
      ++at_;
    } else if (script_.substr(at_).starts_with("/*")) {
      const std::size_t end = script_.find("*/", at_ + 2);
      if (end == std::string_view::npos) fail_at(script_, at_, "an unterminated comment, expected */");
      at_ = end + 2;
    } else {
      return;
    }
  }
}

LinkerToken LinkerLexer::read() {
  const std::string_view rest = script_.substr(at_);
  if (rest.empty()) return {LinkerToken::Kind::end, rest, at_};
  if (rest.front() == '"') {
    const std::size_t end = rest.find('"', 1);
    if (end == std::string_view::npos) fail_at(script_, at_, "an unterminated string, expected '\"'");
    return {LinkerToken::Kind::string, rest.substr(1, end - 1), at_};
  }
  std::size_t length = 0;
  while (length < rest.size() && is_name_char(rest[length])) ++length;
  if (length > 0) {
    return {is_digit(rest.front()) ? LinkerToken::Kind::number : LinkerToken::Kind::name, rest.substr(0, length), at_};
  }
  constexpr std::array<std::string_view, 14> long_signs = {"<<", ">>", "==", "!=", "<=", ">=", "&&",
                                                           "||", "+=", "-=", "*=", "/=", "&=", "|="};
  for (const std::string_view sign : long_signs) {
    if (rest.starts_with(sign)) return {LinkerToken::Kind::sign, rest.substr(0, 2), at_};
  }
  return {LinkerToken::Kind::sign, rest.substr(0, 1), at_};
}

}  // namespace usmp::config

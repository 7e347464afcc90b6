// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Lines of messages, with long input cut.
#include "usmp/support/message.hpp"

#include <algorithm>
#include <ostream>

#include "usmp/support/characters.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/printable.hpp"

namespace usmp {
namespace {

constexpr std::string_view ellipsis = "\xE2\x80\xA6";
constexpr std::size_t most_of_length = 32;  // of what says how long a text was

bool is_of_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// Not within a character of UTF-8.
std::string_view front_of(std::string_view text, std::size_t most) {
  std::size_t end = std::min(text.size(), most);
  while (end > 0 && end < text.size() && is_utf8_continuation(text[end])) --end;
  return text.substr(0, end);
}

std::string_view back_of(std::string_view text, std::size_t most) {
  std::size_t begin = text.size() - std::min(text.size(), most);
  while (begin < text.size() && is_utf8_continuation(text[begin])) ++begin;
  return text.substr(begin);
}

// The quote that ends what the one at `open` begins: none within a word, as in "module's".
std::size_t closing_quote(std::string_view text, std::size_t open) {
  for (std::size_t at = text.find(text[open], open + 1); at != std::string_view::npos;
       at = text.find(text[open], at + 1)) {
    const bool is_inside = at + 1 < text.size() && is_of_word(text[at + 1]) && is_of_word(text[at - 1]);
    if (!is_inside) return at;
  }
  return std::string_view::npos;
}

std::string with_cut_quotes(std::string_view message) {
  std::string result;
  for (std::size_t at = 0; at < message.size();) {
    const std::size_t open = std::min(message.find_first_of("'\"", at), message.size());
    result += message.substr(at, open - at);
    at = open;
    if (open == message.size()) break;
    const bool begins = open == 0 || !is_of_word(message[open - 1]);
    const std::size_t close = begins ? closing_quote(message, open) : std::string_view::npos;
    if (close == std::string_view::npos) {
      result += message[at++];
      continue;
    }
    const std::string_view quoted = message.substr(open + 1, close - open - 1);
    result += message[open];
    result += quoted.size() <= most_quoted + most_of_length ? std::string(quoted) : cut_input(quoted);
    result += message[close];
    at = close + 1;
  }
  return result;
}

// More of the beginning, which has the place, than of the end, which has what was expected.
std::string without_middle(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  const std::size_t kept = most - 2 * most_of_length;
  const std::string_view front = front_of(text, kept - kept / 3);
  const std::string_view back = back_of(text.substr(front.size()), kept / 3);
  std::string result(front);
  result += ellipsis;
  result += " (" + std::to_string(text.size() - front.size() - back.size()) + " bytes) ";
  result += ellipsis;
  result += back;
  return result;
}

const char* beginning(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "usmp-plan: error: ";
    case Severity::warning:
      return "usmp-plan: warning: ";
    case Severity::internal:
      return "usmp-plan: internal error: ";
  }
  return "usmp-plan: ";
}

}  // namespace

std::string cut_input(std::string_view text) {
  if (text.size() <= most_quoted) return std::string(text);
  std::string result(front_of(text, most_quoted));
  result += ellipsis;
  return result + " (" + std::to_string(text.size()) + " bytes)";
}

std::string message_line(std::string_view text, std::string_view in_front, std::size_t most) {
  constexpr std::size_t usual = 600;
  std::string line(in_front);
  line += text.size() <= usual ? std::string(text) : with_cut_quotes(text);
  return without_middle(printable(line), most);
}

void tell(std::ostream& err, Severity severity, std::string_view text) {
  std::string told = beginning(severity);
  std::size_t most = most_in_line;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    told += message_line(text.substr(at, end - at), {}, most) + '\n';
    at = end + 1;
    most = most_in_more_lines;
  }
  err << told;
}

void tell(std::ostream& err, const Error& error) { err << beginning(Severity::error) << error.what() << '\n'; }

}  // namespace usmp

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Classifies 16 bytes at a time by masks, and stops at the first that belongs to no number.
#include "usmp/support/number_list.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "usmp/support/characters.hpp"
#include "usmp/support/text.hpp"

namespace usmp {
namespace {

// Many bytes at once, in whatever registers the machine has: an extension of GCC and Clang. Comparisons give all bits
// of a byte or none.
constexpr std::size_t block = 16;
using Many = unsigned char __attribute__((vector_size(block)));

template <class Comparison>
Many mask(Comparison is) {
  return reinterpret_cast<Many>(is);
}

Many digits(Many c) { return mask(c - '0' < 10); }

// What goes on a number that has begun, the sign of its exponent aside.
Many words(Many c) { return digits(c) | mask((c | 0x20) - 'a' < 26) | mask(c == '_'); }

// What ends the stretch, by the bytes in front: a letter begins a name unless it goes on a number.
Many ends(Many before, Many c) {
  const Many blanks = mask(c == ',') | mask(c == ' ') | mask(c == '\n') | mask(c == '\r') | mask(c == '\t');
  const Many plain = digits(c) | mask(c == '-') | mask(c == '+') | blanks;
  const Many follows = words(before);
  const Many goes_on = (words(c) & (follows | mask(before == '.'))) | (mask(c == '.') & follows);
  return ~(plain | goes_on);
}

// With zeros behind the end of the text.
Many bytes_at(std::string_view text, std::size_t at) {
  Many result{};
  if (text.size() - at >= block) {
    std::memcpy(&result, text.data() + at, block);
  } else {
    std::memcpy(&result, text.data() + at, text.size() - at);
  }
  return result;
}

// How many of the next bytes are in the stretch; zeros are not.
std::size_t plain_bytes(std::string_view text, std::size_t at) {
  const Many found = ends(bytes_at(text, at - 1), bytes_at(text, at));
  std::array<std::uint64_t, 2> halves{};
  std::memcpy(halves.data(), &found, block);
  if ((halves[0] | halves[1]) == 0) return block;
  std::array<char, block> each{};
  std::memcpy(each.data(), &found, block);
  return static_cast<std::size_t>(std::find_if(each.begin(), each.end(), [](char c) { return c != '\0'; }) -
                                  each.begin());
}

bool is_separator(char c) { return c == ',' || c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

std::size_t behind_numbers(std::string_view text, std::size_t from) {
  std::size_t at = from;
  for (std::size_t more = block; more == block && at < text.size(); at += more) more = plain_bytes(text, at);
  while (at > from && !is_separator(text[at - 1])) --at;
  return at;
}

void for_numbers_behind(std::string_view text, std::size_t from, FunctionRef<void(std::string_view)> piece) {
  constexpr std::size_t most = std::size_t{1} << 20;
  while (true) {
    // What ends a piece is a comma or a blank, so the next goes on as the stretch does.
    const std::size_t end = behind_numbers(text.substr(0, std::min(from + most, text.size())), from);
    if (end == from) return;
    piece(text.substr(from, end - from));
    from = end;
  }
}

std::size_t behind_number(std::string_view text, std::size_t at) {
  const auto digit_at = [&](std::size_t i) { return i < text.size() && is_digit(text[i]); };
  if (at >= text.size() || !(digit_at(at) || (text[at] == '.' && digit_at(at + 1)))) return at;
  for (++at; at < text.size(); ++at) {
    const char before = text[at - 1];
    const bool takes_sign = before == 'e' || before == 'E' || before == 'p' || before == 'P';
    const bool is_sign = text[at] == '+' || text[at] == '-';
    if (!is_identifier_char(text[at]) && text[at] != '.' && !(takes_sign && is_sign)) break;
  }
  return at;
}

}  // namespace usmp

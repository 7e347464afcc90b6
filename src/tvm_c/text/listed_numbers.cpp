// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Converts lists of numbers without a token for each.
#include "tvm_c/text/listed_numbers.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include "tvm_c/text/syntax.hpp"
#include "usmp/support/characters.hpp"
#include "usmp/tir/integer_types.hpp"

namespace usmp::tvm_c {
namespace {

// What is read of the text. Behind its end there are zeros, which no number has.
class Cursor {
 public:
  Cursor(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_.data()[at_] : '\0'; }
  [[nodiscard]] std::string_view from(std::size_t begin) const { return text_.substr(begin, at_ - begin); }

  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  bool take_any(char c, char other) { return take(c) || take(other); }
  void skip_blanks() {
    while (peek() == ' ' || (peek() >= '\t' && peek() <= '\r')) ++at_;
  }
  void skip_digits() {
    while (is_digit(peek())) ++at_;
  }

 private:
  std::string_view text_;
  std::size_t at_;
};

// The value of a hexadecimal digit; 16 and more for what is none.
unsigned hex_value(char c) {
  static constexpr auto values = [] {
    std::array<unsigned char, 256> table{};
    table.fill(255);
    for (unsigned i = 0; i < 10; ++i) table[static_cast<unsigned char>('0') + i] = static_cast<unsigned char>(i);
    for (unsigned i = 0; i < 6; ++i) {
      table[static_cast<unsigned char>('a') + i] = static_cast<unsigned char>(10 + i);
      table[static_cast<unsigned char>('A') + i] = static_cast<unsigned char>(10 + i);
    }
    return table;
  }();
  return values[static_cast<unsigned char>(c)];
}

struct Digits {
  std::uint64_t value = 0;
  int count = 0;
};

constexpr int most_digits = 15;  // of which 64 bits hold any, decimal or hexadecimal

// Nothing if there are none, or too many.
std::optional<Digits> hex_digits(Cursor& text, Digits digits = {}) {
  for (unsigned digit = hex_value(text.peek()); digit < 16; digit = hex_value(text.peek())) {
    if (++digits.count > most_digits) return std::nullopt;
    digits.value = digits.value << 4U | digit;
    (void)text.take(text.peek());
  }
  return digits.count > 0 ? std::optional(digits) : std::nullopt;
}

std::optional<Digits> decimal_digits(Cursor& text) {
  Digits digits;
  for (; is_digit(text.peek()); (void)text.take(text.peek())) {
    if (++digits.count > most_digits) return std::nullopt;
    digits.value = digits.value * 10 + static_cast<unsigned>(text.peek() - '0');
  }
  return digits.count > 0 ? std::optional(digits) : std::nullopt;
}

// Bytes of numbers, which go to a string many at once.
class Appended {
 public:
  Appended(std::string& bytes, std::size_t width) : bytes_(bytes), width_(width) {}
  Appended(const Appended&) = delete;
  Appended& operator=(const Appended&) = delete;
  ~Appended() = default;

  // Little-endian.
  void add(std::uint64_t bits) {
    for (std::size_t i = 0; i < width_; ++i) buffer_.data()[filled_ + i] = static_cast<char>(bits >> (8 * i));
    filled_ += width_;
    if (filled_ + width_ > buffer_.size()) flush();
  }
  void flush() {
    bytes_.append(buffer_.data(), filled_);
    filled_ = 0;
  }

 private:
  std::string& bytes_;
  std::size_t width_;
  std::size_t filled_ = 0;
  std::array<char, 4096> buffer_{};
};

// The spelling of nearly all: an optional sign, 0x, at most eight digits and a comma, in front of which only blanks
// stand. Ends at anything else, and near the text's end, which it does not look for at each byte.
Listed append_plain_hex(std::string_view text, Listed listed, std::int64_t most, Interval range, Appended& bytes) {
  constexpr std::size_t most_hex = 8;
  constexpr std::size_t most_blanks = 20;
  constexpr std::size_t margin = most_blanks + most_hex + 8;
  while (listed.count < most && listed.end + margin < text.size()) {
    const char* at = text.data() + listed.end;
    const char* const last_blank = at + most_blanks;
    while ((*at == ' ' || *at == '\n') && at < last_blank) ++at;
    const bool is_negative = *at == '-';
    if (is_negative || *at == '+') ++at;
    if (at[0] != '0' || at[1] != 'x') break;
    at += 2;
    const char* const digits = at;
    std::uint32_t bits = 0;
    for (unsigned digit = hex_value(*at); digit < 16 && at - digits < std::ptrdiff_t{most_hex};
         digit = hex_value(*++at)) {
      bits = bits << 4U | digit;
    }
    // With bit 31 set the literal may be unsigned.
    if (at == digits || *at != ',' || (is_negative && bits > INT32_MAX)) break;
    const std::int64_t value = is_negative ? -std::int64_t{bits} : std::int64_t{bits};
    if (value < range.low || value > range.high) break;
    bytes.add(static_cast<std::uint64_t>(value));
    listed = {static_cast<std::size_t>(at + 1 - text.data()), listed.count + 1};
  }
  return listed;
}

class Integers {
 public:
  explicit Integers(tir::DataType type) : range_(tir::range_of_type(type)) {}

  // Takes those that follow, as many as are spelled as most are.
  [[nodiscard]] Listed append_plain(std::string_view text, Listed listed, std::int64_t most, Appended& bytes) const {
    return range_ ? append_plain_hex(text, listed, most, *range_, bytes) : listed;
  }

  // Its bits; behind it nothing is read.
  [[nodiscard]] std::optional<std::uint64_t> read(Cursor& text, bool is_negative) const {
    if (!range_) return std::nullopt;
    std::optional<Digits> digits;
    if (text.take('0')) {
      digits = text.take_any('x', 'X') ? hex_integer(text) : Digits{};  // another digit: an octal number
    } else {
      digits = decimal_digits(text);
    }
    if (!digits) return std::nullopt;
    // Hexadecimal ones may be unsigned, and what C makes of them with a sign in front is another number.
    if (is_negative && digits->value >= max_signed) return std::nullopt;
    const auto magnitude = static_cast<std::int64_t>(digits->value);
    const std::int64_t value = is_negative ? -magnitude : magnitude;
    if (value < range_->low || value > range_->high) return std::nullopt;
    return static_cast<std::uint64_t>(value);
  }

 private:
  static constexpr std::uint64_t max_signed = std::uint64_t{1} << 31U;  // of the 32 bits of the narrowest literals

  // Zeros in front fill up to the type's width.
  static std::optional<Digits> hex_integer(Cursor& text) {
    const bool has_zeros = text.peek() == '0';
    while (text.take('0')) {
    }
    return has_zeros && hex_value(text.peek()) >= 16 ? Digits{} : hex_digits(text);
  }

  std::optional<Interval> range_;
};

class Reals {
 public:
  explicit Reals(tir::DataType type) : is_float_(type.bits == 32) {}

  [[nodiscard]] static Listed append_plain(std::string_view /*text*/, Listed listed, std::int64_t /*most*/,
                                           Appended& /*bytes*/) {
    return listed;
  }

  [[nodiscard]] std::optional<std::uint64_t> read(Cursor& text, bool is_negative) const {
    const std::size_t begin = text.at();
    const bool is_hex = text.take('0') && text.take_any('x', 'X');
    const auto value = is_hex ? hex(text) : decimal(text, begin);
    if (!value) return std::nullopt;
    const double number = is_negative ? -*value : *value;
    if (is_float_) return std::bit_cast<std::uint32_t>(static_cast<float>(number));
    return std::bit_cast<std::uint64_t>(number);
  }

 private:
  // 1.8p-3 of "0x1.8p-3", if it is exactly a number of the type, and of the literal's: then nothing is rounded.
  [[nodiscard]] std::optional<double> hex(Cursor& text) const {
    constexpr std::uint64_t most_exact = std::uint64_t{1} << 53U;
    constexpr std::int64_t most_exponent = 900;
    constexpr std::int64_t bias = 1023;
    auto digits = hex_digits(text);
    if (!digits) return std::nullopt;
    const int whole = digits->count;
    if (text.take('.')) digits = hex_digits(text, *digits);
    if (!digits || !text.take_any('p', 'P')) return std::nullopt;
    const bool is_small = text.take('-');
    if (!is_small) (void)text.take('+');
    const auto exponent = decimal_digits(text);
    const bool is_float = text.take_any('f', 'F') || is_float_;
    if (!exponent || exponent->value > static_cast<std::uint64_t>(most_exponent) || digits->value > most_exact)
      return std::nullopt;
    const auto given = static_cast<std::int64_t>(exponent->value);
    const std::int64_t scale = (is_small ? -given : given) - std::int64_t{4} * (digits->count - whole);
    if (scale < -most_exponent || scale > most_exponent) return std::nullopt;
    const auto power = std::bit_cast<double>(static_cast<std::uint64_t>(scale + bias) << 52U);
    const double value = static_cast<double>(digits->value) * power;
    const bool is_exact = !is_float || (value <= max_float && static_cast<double>(static_cast<float>(value)) == value);
    return is_exact ? std::optional(value) : std::nullopt;
  }

  // With a point or an exponent: others are integers.
  [[nodiscard]] std::optional<double> decimal(Cursor& text, std::size_t begin) const {
    text.skip_digits();
    const bool has_point = text.take('.');
    text.skip_digits();
    const bool has_exponent = text.take_any('e', 'E');
    if (has_exponent && !text.take('-')) (void)text.take('+');
    if (has_exponent) text.skip_digits();
    if (!has_point && !has_exponent) return std::nullopt;
    const std::string_view spelled = text.from(begin);
    return text.take_any('f', 'F') ? parsed<float>(spelled) : parsed<double>(spelled);
  }

  // As C does: rounded to the literal's type, then to the table's.
  template <class Number>
  [[nodiscard]] std::optional<double> parsed(std::string_view spelled) const {
    Number number = 0;
    const auto [end, error] = std::from_chars(spelled.data(), spelled.data() + spelled.size(), number);
    if (error != std::errc() || end != spelled.data() + spelled.size()) return std::nullopt;
    const auto value = static_cast<double>(number);
    return is_float_ && value > max_float ? std::nullopt : std::optional(value);
  }

  static constexpr double max_float = 0x1.fffffep127;

  bool is_float_;
};

template <class Numbers>
Listed append(std::string_view text, std::size_t at, std::int64_t most, const Numbers& numbers, tir::Constant& data) {
  Appended bytes(data.bytes, static_cast<std::size_t>(data.type.element_bytes()));
  Listed listed{at, 0};
  while (listed.count < most) {
    listed = numbers.append_plain(text, listed, most, bytes);
    Cursor cursor(text, listed.end);
    if (listed.count == most) break;
    cursor.skip_blanks();
    const bool is_negative = cursor.take('-');
    if (!is_negative) (void)cursor.take('+');
    if (!is_digit(cursor.peek())) break;
    const auto bits = numbers.read(cursor, is_negative);
    if (!bits) break;
    cursor.skip_blanks();
    if (!cursor.take(',')) break;
    bytes.add(*bits);
    listed = {cursor.at(), listed.count + 1};
  }
  bytes.flush();
  return listed;
}

}  // namespace

Listed append_listed(std::string_view text, std::size_t at, std::int64_t most, tir::Constant& data) {
  if (!data.type.is_float()) return append(text, at, most, Integers(data.type), data);
  if (data.type.bits != 32 && data.type.bits != 64) return {at, 0};
  return append(text, at, most, Reals(data.type), data);
}

}  // namespace usmp::tvm_c

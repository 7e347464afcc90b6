// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Prints elements of each width from little-endian bytes into a buffer, and hands that on when it is full.
#include "codegen/constant_data.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "codegen/c_types.hpp"

namespace usmp::codegen {
namespace {

using tir::DataType;
using tir::TypeCode;

constexpr std::size_t flush_at = std::size_t{1} << 16;
constexpr std::size_t line_width = 110;
constexpr std::size_t bytes_in_a_line = 20;

// How the elements are read and printed.
enum class Form { signed_integer, unsigned_integer, float32, float64 };

struct Layout {
  Form form = Form::unsigned_integer;
  std::size_t bytes = 1;
};

// Little endian, whatever the host is.
template <std::size_t bytes>
std::uint64_t read_bits(const char* data) {
  std::uint64_t value = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&value, data, bytes);
  } else {
    for (std::size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(data[i]);
  }
  return value;
}

// Exponent bits all set: infinity or NaN.
template <std::size_t size>
bool all_finite(const std::string& bytes) {
  constexpr std::uint64_t exponent = size == 4 ? 0x7f800000U : 0x7ff0000000000000U;
  for (std::size_t i = 0; i + size <= bytes.size(); i += size) {
    if ((read_bits<size>(bytes.data() + i) & exponent) == exponent) return false;
  }
  return true;
}

Layout layout_of(const tir::Constant& constant) {
  const DataType scalar = constant.type.element();
  const auto bytes = static_cast<std::size_t>(scalar.element_bytes());
  if (!has_c_type(scalar) || constant.bytes.size() % bytes != 0) return {};
  if (scalar.is_int()) return {Form::signed_integer, bytes};
  const auto is_finite = [&] { return bytes == 4 ? all_finite<4>(constant.bytes) : all_finite<8>(constant.bytes); };
  if (scalar.is_float() && !is_half(scalar) && is_finite()) {
    return {bytes == 4 ? Form::float32 : Form::float64, bytes};
  }
  return {Form::unsigned_integer, bytes};
}

std::string c_type(Layout layout) {
  switch (layout.form) {
    case Form::float32:
      return "float";
    case Form::float64:
      return "double";
    case Form::signed_integer:
      return "int" + std::to_string(layout.bytes * 8) + "_t";
    case Form::unsigned_integer:
      break;
  }
  return "uint" + std::to_string(layout.bytes * 8) + "_t";
}

// Collects text and hands it on in large pieces.
class ElementWriter {
 public:
  ElementWriter(std::string_view indent, TextSink& sink)
      : indent_(indent), sink_(sink), buffer_(flush_at + indent.size() + most_of_element, '\0') {}

  void put(std::string_view element) {
    if (!is_first_) append(",");
    if (is_first_ || column_ + element.size() > line_width) {
      if (!is_first_) append("\n");
      append(indent_);
      column_ = indent_.size();
    }
    is_first_ = false;
    append(element);
    column_ += element.size() + 1;
    if (filled_ >= flush_at) flush();
  }

  void flush() {
    sink_.write(std::string_view(buffer_).substr(0, filled_));
    filled_ = 0;
  }

 private:
  void append(std::string_view text) {
    std::memcpy(buffer_.data() + filled_, text.data(), text.size());
    filled_ += text.size();
  }

  static constexpr std::size_t most_of_element = 64;  // with what stands in front

  std::string_view indent_;
  TextSink& sink_;
  std::string buffer_;
  std::size_t filled_ = 0;
  std::size_t column_ = 0;
  bool is_first_ = true;
};

template <class Float>
std::string_view print_float(Float value, std::string_view suffix, std::array<char, 48>& text) {
  const auto result = std::to_chars(text.data(), text.data() + 32, value);
  char* end = result.ptr;
  const std::string_view digits(text.data(), static_cast<std::size_t>(end - text.data()));
  const bool is_whole = std::none_of(digits.begin(), digits.end(), [](char c) { return c == '.' || c == 'e'; });
  const std::string_view fraction = is_whole ? ".0" : "";
  for (const std::string_view part : {fraction, suffix}) {
    std::memcpy(end, part.data(), part.size());
    end += part.size();
  }
  return {text.data(), static_cast<std::size_t>(end - text.data())};
}

template <std::size_t bytes>
std::string_view print_signed(std::uint64_t bits, std::array<char, 48>& text) {
  constexpr auto unused = static_cast<unsigned>(64 - bytes * 8);
  const std::int64_t value = static_cast<std::int64_t>(bits << unused) >> unused;
  // The positive part of these two has no type of its own width.
  if (value == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807LL-1)";
  if (value == std::numeric_limits<std::int32_t>::min()) return "(-2147483647-1)";
  using Number = std::conditional_t<bytes == 8, std::int64_t, std::int32_t>;
  const auto result = std::to_chars(text.data(), text.data() + text.size(), static_cast<Number>(value));
  return {text.data(), static_cast<std::size_t>(result.ptr - text.data())};
}

std::string_view print_unsigned(std::uint64_t bits, std::array<char, 48>& text) {
  const auto result = std::to_chars(text.data(), text.data() + 32, bits);
  char* end = result.ptr;
  if (bits > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max())) *end++ = 'U';
  return {text.data(), static_cast<std::size_t>(end - text.data())};
}

template <std::size_t bytes>
std::string_view print_element(const char* data, Form form, std::array<char, 48>& text) {
  const std::uint64_t bits = read_bits<bytes>(data);
  switch (form) {
    case Form::float32:
      return print_float(std::bit_cast<float>(static_cast<std::uint32_t>(bits)), "f", text);
    case Form::float64:
      return print_float(std::bit_cast<double>(bits), "", text);
    case Form::signed_integer:
      return print_signed<bytes>(bits, text);
    case Form::unsigned_integer:
      break;
  }
  return print_unsigned(bits, text);
}

template <std::size_t bytes>
void write_all(const std::string& data, Form form, ElementWriter& writer) {
  std::array<char, 48> text{};
  for (std::size_t i = 0; i + bytes <= data.size(); i += bytes) {
    writer.put(print_element<bytes>(data.data() + i, form, text));
  }
  writer.flush();
}

}  // namespace

ConstantArray array_of(const tir::Constant& constant) {
  const Layout layout = layout_of(constant);
  return {.element = c_type(layout),
          .element_bytes = static_cast<Bytes>(layout.bytes),
          .count = constant.bytes.size() / layout.bytes};
}

void write_elements(const tir::Constant& constant, std::string_view indent, TextSink& sink) {
  const Layout layout = layout_of(constant);
  ElementWriter writer(indent, sink);
  switch (layout.bytes) {
    case 1:
      return write_all<1>(constant.bytes, layout.form, writer);
    case 2:
      return write_all<2>(constant.bytes, layout.form, writer);
    case 4:
      return write_all<4>(constant.bytes, layout.form, writer);
    default:
      return write_all<8>(constant.bytes, layout.form, writer);
  }
}

void ByteWriter::put(char byte) {
  static constexpr std::string_view digits = "0123456789abcdef";
  if (!is_first_) buffer_ += ',';
  if (in_line_ == bytes_in_a_line) {
    buffer_ += line_end_;
    in_line_ = 0;
  }
  if (in_line_ == 0) buffer_ += indent_;
  is_first_ = false;
  ++in_line_;
  const auto value = static_cast<std::uint8_t>(byte);
  buffer_ += "0x";
  buffer_ += digits[value >> 4];
  buffer_ += digits[value & 15];
  if (buffer_.size() >= flush_at) finish();
}

void ByteWriter::write(std::string_view bytes) {
  for (const char byte : bytes) put(byte);
}

void ByteWriter::fill(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) put('\0');
}

void ByteWriter::finish() {
  sink_.write(buffer_);
  buffer_.clear();
}

}  // namespace usmp::codegen

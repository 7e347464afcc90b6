// SPDX-License-Identifier: Apache-2.0
#include "codegen/constant_data.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

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
std::uint64_t read_bits(const char* data, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(data[i]);
  return value;
}

// Exponent bits all set: infinity or NaN.
bool all_finite(const std::string& bytes, std::size_t size) {
  const std::uint64_t exponent = size == 4 ? 0x7f800000U : 0x7ff0000000000000U;
  for (std::size_t i = 0; i + size <= bytes.size(); i += size) {
    if ((read_bits(bytes.data() + i, size) & exponent) == exponent) return false;
  }
  return true;
}

Layout layout_of(const tir::Constant& constant) {
  const DataType scalar = constant.type.element();
  const auto bytes = static_cast<std::size_t>(scalar.element_bytes());
  if (!has_c_type(scalar) || constant.bytes.size() % bytes != 0) return {};
  if (scalar.is_int()) return {Form::signed_integer, bytes};
  if (scalar.is_float() && !is_half(scalar) && all_finite(constant.bytes, bytes)) {
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
  ElementWriter(std::string_view indent, TextSink& sink) : indent_(indent), sink_(sink) {}

  void put(std::string_view element) {
    if (!is_first_) buffer_ += ',';
    if (is_first_ || column_ + element.size() > line_width) {
      if (!is_first_) buffer_ += '\n';
      buffer_ += indent_;
      column_ = indent_.size();
    }
    is_first_ = false;
    buffer_ += element;
    column_ += element.size() + 1;
    if (buffer_.size() >= flush_at) flush();
  }

  void flush() {
    sink_.write(buffer_);
    buffer_.clear();
  }

 private:
  std::string_view indent_;
  TextSink& sink_;
  std::string buffer_;
  std::size_t column_ = 0;
  bool is_first_ = true;
};

template <class Float>
std::string_view print_float(Float value, std::string_view suffix, std::array<char, 48>& text) {
  const auto result = std::to_chars(text.data(), text.data() + 32, value);
  char* end = result.ptr;
  const std::string_view digits(text.data(), static_cast<std::size_t>(end - text.data()));
  const std::string_view fraction = digits.find_first_of(".e") == std::string_view::npos ? ".0" : "";
  for (const std::string_view part : {fraction, suffix}) {
    std::memcpy(end, part.data(), part.size());
    end += part.size();
  }
  return {text.data(), static_cast<std::size_t>(end - text.data())};
}

std::string_view print_signed(std::uint64_t bits, std::size_t bytes, std::array<char, 48>& text) {
  const auto unused = static_cast<unsigned>(64 - bytes * 8);
  const std::int64_t value = static_cast<std::int64_t>(bits << unused) >> unused;
  // The positive part of these two has no type of its own width.
  if (value == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807LL-1)";
  if (value == std::numeric_limits<std::int32_t>::min()) return "(-2147483647-1)";
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), static_cast<std::size_t>(result.ptr - text.data())};
}

std::string_view print_unsigned(std::uint64_t bits, std::array<char, 48>& text) {
  const auto result = std::to_chars(text.data(), text.data() + 32, bits);
  char* end = result.ptr;
  if (bits > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max())) *end++ = 'U';
  return {text.data(), static_cast<std::size_t>(end - text.data())};
}

std::string_view print_element(const char* data, Layout layout, std::array<char, 48>& text) {
  const std::uint64_t bits = read_bits(data, layout.bytes);
  switch (layout.form) {
    case Form::float32:
      return print_float(std::bit_cast<float>(static_cast<std::uint32_t>(bits)), "f", text);
    case Form::float64:
      return print_float(std::bit_cast<double>(bits), "", text);
    case Form::signed_integer:
      return print_signed(bits, layout.bytes, text);
    case Form::unsigned_integer:
      break;
  }
  return print_unsigned(bits, text);
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
  std::array<char, 48> text{};
  ElementWriter writer(indent, sink);
  for (std::size_t i = 0; i + layout.bytes <= constant.bytes.size(); i += layout.bytes) {
    writer.put(print_element(constant.bytes.data() + i, layout, text));
  }
  writer.flush();
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

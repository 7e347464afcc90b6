// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Decodes base64, and reads the blob field by field, each checked against what is left.
#include "tir_json/ndarray.hpp"

#include <cstdint>
#include <cstring>
#include <utility>

#include "tir_json/graph.hpp"
#include "usmp/support/base64.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tir_json {
namespace {

constexpr std::uint64_t ndarray_magic = 0xDD5E40F096B4A13F;
constexpr std::int32_t max_dimensions = 64;

constexpr std::pair<std::uint8_t, tir::TypeCode> type_codes[] = {
    {0, tir::TypeCode::int_}, {1, tir::TypeCode::uint}, {2, tir::TypeCode::float_}, {4, tir::TypeCode::bfloat}};

std::string decoded(std::string_view base64, const std::string& place) {
  DecodedBase64 result = decode_base64(base64);
  if (!result.fault.empty()) fail(place, result.fault);
  return std::move(result.bytes);
}

// Reads the little-endian fields of a blob in order.
class BlobReader {
 public:
  BlobReader(std::string_view blob, std::string place) : blob_(blob), place_(std::move(place)) {}

  template <class T>
  T read(const char* what) {
    if (blob_.size() - position_ < sizeof(T)) {
      fail(place_, "the NDArray blob ends after " + std::to_string(blob_.size()) + " bytes, within its " + what);
    }
    const std::uint64_t bits = little_endian(blob_, position_, sizeof(T));
    position_ += sizeof(T);
    return static_cast<T>(bits);
  }

  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] std::size_t rest() const { return blob_.size() - position_; }

 private:
  std::string_view blob_;
  std::string place_;
  std::size_t position_ = 0;
};

tir::DataType read_type(BlobReader& reader, const std::string& place) {
  const auto code = reader.read<std::uint8_t>("type");
  const auto bits = reader.read<std::uint8_t>("type");
  const auto lanes = reader.read<std::uint16_t>("type");
  for (const auto& [number, type_code] : type_codes) {
    if (number == code && bits >= 1 && bits <= 64 && lanes >= 1) return {type_code, bits, lanes};
  }
  fail(place, "the NDArray has type code " + std::to_string(code) + " with " + std::to_string(bits) + " bits and " +
                  std::to_string(lanes) + " lanes, expected int, uint, float or bfloat of 1 to 64 bits");
}

}  // namespace

std::string decode_text(std::string_view base64, const std::string& place) {
  std::string blob = decoded(base64, place);
  constexpr std::size_t length_size = sizeof(std::uint64_t);
  if (blob.size() < length_size) {
    fail(place, "found " + std::to_string(blob.size()) + " bytes, expected 8 bytes of length and the text");
  }
  const std::uint64_t length = little_endian(blob, 0, length_size);
  if (length != blob.size() - length_size) {
    fail(place, "found a text of " + std::to_string(blob.size() - length_size) + " bytes, expected " +
                    std::to_string(length) + ", as its first 8 bytes say");
  }
  blob.erase(0, length_size);
  return blob;
}

std::string encode_text(std::string_view text) {
  std::string blob;
  append_little_endian(blob, text.size(), sizeof(std::uint64_t));
  return encode_base64(blob.append(text));
}

tir::Constant decode_ndarray(std::string_view base64, const std::string& place) {
  std::string blob = decoded(base64, place);
  BlobReader reader(blob, place);
  if (reader.read<std::uint64_t>("magic") != ndarray_magic) {
    fail(place, "the NDArray blob does not begin with the magic number 0xDD5E40F096B4A13F");
  }
  reader.read<std::uint64_t>("reserved word");
  reader.read<std::int32_t>("device");
  reader.read<std::int32_t>("device");
  const auto dimensions = reader.read<std::int32_t>("number of dimensions");
  tir::Constant constant{.type = read_type(reader, place), .shape = {}, .bytes = {}};
  if (dimensions < 0 || dimensions > max_dimensions) {
    fail(place, "the NDArray has " + std::to_string(dimensions) + " dimensions, expected at most " +
                    std::to_string(max_dimensions));
  }

  std::optional<Bytes> size = constant.type.bytes();
  for (std::int32_t i = 0; i < dimensions; ++i) {
    const auto extent = reader.read<std::int64_t>("shape");
    if (extent < 0) fail(place, "the NDArray has a dimension of " + std::to_string(extent) + " elements");
    constant.shape.push_back(extent);
    if (size) size = checked_mul(*size, extent);
  }
  const auto claimed = reader.read<std::int64_t>("byte size");
  if (!size || *size != claimed) {
    fail(place, "the NDArray claims " + std::to_string(claimed) + " bytes, expected " +
                    (size ? std::to_string(*size) : "more than an int64 holds") + " from its shape and type");
  }
  if (static_cast<std::uint64_t>(claimed) != reader.rest()) {
    fail(place, "the NDArray claims " + std::to_string(claimed) + " bytes, but " + std::to_string(reader.rest()) +
                    " follow its header");
  }
  blob.erase(0, reader.position());
  constant.bytes = std::move(blob);
  return constant;
}

std::string encode_ndarray(const tir::Constant& constant) {
  constexpr std::uint64_t cpu = 1;
  std::string blob;
  append_little_endian(blob, ndarray_magic, 8);
  append_little_endian(blob, 0, 8);
  append_little_endian(blob, cpu, 4);
  append_little_endian(blob, 0, 4);
  append_little_endian(blob, constant.shape.size(), 4);
  for (const auto& [number, type_code] : type_codes) {
    if (type_code == constant.type.code) append_little_endian(blob, number, 1);
  }
  append_little_endian(blob, constant.type.bits, 1);
  append_little_endian(blob, constant.type.lanes, 2);
  for (const std::int64_t extent : constant.shape) append_little_endian(blob, static_cast<std::uint64_t>(extent), 8);
  append_little_endian(blob, constant.bytes.size(), 8);
  return encode_base64(blob.append(constant.bytes));
}

}  // namespace usmp::tir_json

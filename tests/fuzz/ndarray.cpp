// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// NDArray blobs, which are all that is read of a network's parameters: the bytes themselves, or (first byte odd) the
// base64 text around them.
#include "tir_json/ndarray.hpp"

#include <algorithm>
#include <optional>

#include "fuzz.hpp"
#include "usmp/support/base64.hpp"

using namespace usmp;

namespace {

std::string encoded(std::string_view bytes) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    unsigned group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8U | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (unsigned k = 0; k < 4; ++k) text += k <= count ? alphabet[group >> (18U - 6U * k) & 63U] : '=';
  }
  return text;
}

void check_constant(const tir::Constant& constant) {
  std::optional<Bytes> size = constant.type.bytes();
  for (const std::int64_t extent : constant.shape) {
    fuzz::require(extent >= 0, "a negative extent");
    if (size) size = checked_mul(*size, extent);
  }
  fuzz::require(size && static_cast<std::size_t>(*size) == constant.bytes.size(), "bytes that do not fit the shape");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest = fuzz::text_of(data + 1, size - 1);
  const bool is_text = data[0] % 2 == 1;
  const std::string text = is_text ? std::string(rest) : encoded(rest);
  if (!is_text) fuzz::require(decode_base64(text).bytes == rest, "base64 does not give its bytes back");
  fuzz::accepts({ErrorKind::archive}, [&] { check_constant(tir_json::decode_ndarray(text, "here")); });
  return 0;
}

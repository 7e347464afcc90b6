// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Base64 (RFC 4648, with padding, without white space).
#pragma once

#include <string>
#include <string_view>

namespace usmp {

// O(bytes).
[[nodiscard]] std::string encode_base64(std::string_view bytes);

// The bytes, or what is wrong with the text. O(text).
struct DecodedBase64 {
  std::string bytes;
  std::string fault;  // "character 4 of the base64 text is not a base64 character"; empty: none
};
[[nodiscard]] DecodedBase64 decode_base64(std::string_view text);

}  // namespace usmp

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What save_json writes in base64: runtime.NDArray with the blob inside, and texts of runtime.String that are not
// printable.
#pragma once

#include <string>
#include <string_view>

#include "usmp/tir/ir.hpp"

namespace usmp::tir_json {

// The text in a base64 text (layout: dmlc::Stream::Write of a string): its length in 8 bytes, little-endian, and then
// the text. Throws Error at `place` if it is not base64, or the length is not that of what follows.
[[nodiscard]] std::string decode_text(std::string_view base64, const std::string& place);
[[nodiscard]] std::string encode_text(std::string_view text);

// The NDArray in a base64 text (layout: TVM's NDArray::Save). Throws Error at `place` if its magic, type,
// shape and sizes do not agree. Nothing is allocated on the word of the header alone.
[[nodiscard]] tir::Constant decode_ndarray(std::string_view base64, const std::string& place);
[[nodiscard]] std::string encode_ndarray(const tir::Constant& constant);

}  // namespace usmp::tir_json

// SPDX-License-Identifier: Apache-2.0
// Decoding of runtime.NDArray: base64 and the blob inside.
#pragma once

#include <string>
#include <string_view>

#include "usmp/tir/ir.hpp"

namespace usmp::tir_json {

// Throws Error at `place` if the text is not base64 (RFC 4648 with padding, no white space).
[[nodiscard]] std::string decode_base64(std::string_view text, const std::string& place);

// The NDArray in a base64 text (layout: TVM's NDArray::Save). Throws Error at `place` if its magic,
// type, shape and sizes do not agree. Nothing is allocated on the word of the header alone.
[[nodiscard]] tir::Constant decode_ndarray(std::string_view base64, const std::string& place);

}  // namespace usmp::tir_json

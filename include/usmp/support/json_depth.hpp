// SPDX-License-Identifier: Apache-2.0
// Nesting depth of a JSON text, before it is parsed.
#pragma once

#include <cstddef>
#include <string_view>

namespace usmp {

// The maximum number of open brackets and braces, ignoring those in strings; some number for malformed text. O(text).
// For readers that build nlohmann's tree: its parser's callback also gets the depth, but takes time quadratic in the
// objects of a list.
[[nodiscard]] std::size_t json_depth(std::string_view text);

}  // namespace usmp

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// JSON texts, before nlohmann's parser reads them and when it refuses to.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace usmp {

// The maximum number of open brackets and braces, ignoring those in strings; some number for malformed text. O(text).
// For readers that build nlohmann's tree: its parser's callback also gets the depth, but takes time quadratic in the
// objects of a list.
[[nodiscard]] std::size_t json_depth(std::string_view text);

// The values of a text, keys included, or more; some number for malformed text. O(text).
[[nodiscard]] std::size_t json_values(std::string_view text);

// A key that an object has twice.
struct RepeatedKey {
  std::string key;       // as it is meant, without escapes
  std::size_t byte = 0;  // where it stands for the second time
};

// The first, by the end of its object. Of the two values, readers take one or the other, so that the text says
// different things to different programs. Of malformed text, something or nothing. O(text * log(keys of an object)).
[[nodiscard]] std::optional<RepeatedKey> repeated_key(std::string_view text);

// What nlohmann's parser says is wrong, without its number, the place, and what it quotes of the input: of
// "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while parsing value - invalid
// literal; last read: '?'", the part between the place and "; last read". O(text).
[[nodiscard]] std::string json_fault(std::string_view what);

}  // namespace usmp

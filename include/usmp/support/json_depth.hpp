// How deep a JSON text nests, told before it is parsed.
#pragma once

#include <cstddef>
#include <string_view>

namespace usmp {

// The most brackets and braces that are open at once, those in strings left out. Of malformed text some number.
// O(text). For readers that build nlohmann's tree: its parser's callback, which is told the depth too, takes time that
// grows with the square of a list's objects.
[[nodiscard]] std::size_t json_depth(std::string_view text);

}  // namespace usmp

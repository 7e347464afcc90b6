// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Pieces of input in messages.
#pragma once

#include <string>
#include <string_view>

namespace usmp::instance {

// In quotes, at most 40 bytes of it, control characters and what is not ASCII as '?'.
[[nodiscard]] inline std::string excerpt(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string shown = "'";
  for (const char character : text.substr(0, longest)) {
    shown += character >= ' ' && character <= '~' ? character : '?';
  }
  return shown + (text.size() > longest ? "...'" : "'");
}

}  // namespace usmp::instance

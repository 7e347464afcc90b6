// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Byte counts as a pools file writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace usmp::config {

// A decimal integer: digits without leading zeros, '-' allowed in front. Nothing for anything else and on overflow.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

// Whether the text is written as parse_size (usmp/config/pools.hpp) wants it, however large.
[[nodiscard]] bool is_size(std::string_view text);

}  // namespace usmp::config

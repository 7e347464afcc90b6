// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
#pragma once

#include <cstddef>

namespace usmp::instance {

// Limits for instance files of either format, and for answers of external algorithms.
inline constexpr std::size_t max_text_bytes = std::size_t{64} << 20;
inline constexpr std::size_t max_buffers = 1'000'000;         // in CSV, rows
inline constexpr std::size_t max_element_values = 1'000'000;  // in JSON, of one element of a list: one buffer

}  // namespace usmp::instance

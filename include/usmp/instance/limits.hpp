// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace usmp::instance {

// Limit for instance files of either format, and for answers of external algorithms.
inline constexpr std::size_t max_text_bytes = std::size_t{256} << 20;

}  // namespace usmp::instance

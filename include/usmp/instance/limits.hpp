#pragma once

#include <cstddef>

namespace usmp::instance {

// No instance file is larger, of either format, and no answer of an external algorithm.
inline constexpr std::size_t max_text_bytes = std::size_t{256} << 20;

}  // namespace usmp::instance

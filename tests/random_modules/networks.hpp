// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Random programs as TVM writes them for networks: what transformations look for, and what nearly is that.
#pragma once

#include <cstdint>

#include "random_modules/generate.hpp"

namespace usmp::random_modules {

// An entry that calls operators on tensors of small extents, some operators repeatedly, the tensors read once or more
// often; operators are chains of loop nests through buffers: elementwise, copies, pads, convolutions, pools, softmax,
// layouts, concatenation, upsampling, requantisation. The same for a seed on every machine.
[[nodiscard]] TestModule generate_network(std::uint64_t seed);

// Likewise, of convolutions, depthwise convolutions and dense layers alone, on integers of 8 and 16 bits, most of which
// get kernels.
[[nodiscard]] TestModule generate_products(std::uint64_t seed);

}  // namespace usmp::random_modules

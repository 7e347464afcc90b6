// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Windows of convolutions and pools over an image.
#pragma once

#include <cstdint>

#include "tflite/operators.hpp"

namespace usmp::tflite {

// Along one dimension.
struct Window {
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t kernel = 0;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t before = 0;  // elements of the first window in front of the image

  // Elements from the first of the first window to the last of the last one.
  [[nodiscard]] std::int64_t extent() const { return (out - 1) * stride + (kernel - 1) * dilation + 1; }
  // Whether a window reaches over the border.
  [[nodiscard]] bool leaves() const { return before > 0 || extent() - before > in; }
};

struct Windows {
  Window vertical;
  Window horizontal;
};

// The windows of input 0, an image, by the options and the padding that the node has. Refuses strides, dilations and
// kernels that are not positive or too large.
[[nodiscard]] Windows windows_of(const Emitter& e, std::int64_t kernel_height, std::int64_t kernel_width);

}  // namespace usmp::tflite

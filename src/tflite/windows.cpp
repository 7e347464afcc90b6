// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sizes of outputs and borders: SAME puts the odd element behind.
#include "tflite/windows.hpp"

#include <algorithm>

namespace usmp::tflite {
namespace {

constexpr std::int64_t most = 1 << 16;

Window window_of(const Emitter& e, std::int64_t in, std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
                 std::int64_t before, std::int64_t behind) {
  const auto is_possible = [](std::int64_t value) { return value >= 1 && value <= most; };
  e.require(is_possible(kernel) && is_possible(stride) && is_possible(dilation) && in >= 1,
            "kernel " + std::to_string(kernel) + ", stride " + std::to_string(stride) + ", dilation " +
                std::to_string(dilation) + " of " + std::to_string(in) + " elements",
            "positive ones below 65537");
  Window window{.in = in, .out = 0, .kernel = kernel, .stride = stride, .dilation = dilation};
  const std::int64_t whole = in + before + behind;
  const std::int64_t reach = (kernel - 1) * dilation + 1;
  if (e.options().padding == Padding::same) {
    window.out = (whole + stride - 1) / stride;
    before += std::max<std::int64_t>(0, (window.out - 1) * stride + reach - whole) / 2;
  } else {
    e.require(whole >= reach, "a window of " + std::to_string(reach) + " of " + std::to_string(whole) + " elements",
              "smaller ones");
    window.out = (whole - reach) / stride + 1;
  }
  window.before = before;
  return window;
}

}  // namespace

Windows windows_of(const Emitter& e, std::int64_t kernel_height, std::int64_t kernel_width) {
  const Shape& in = e.input(0).shape;
  const Options& options = e.options();
  const auto& padding = e.node().padding;
  return {window_of(e, in[1], kernel_height, options.stride_height, options.dilation_height, padding[0], padding[1]),
          window_of(e, in[2], kernel_width, options.stride_width, options.dilation_width, padding[2], padding[3])};
}

}  // namespace usmp::tflite

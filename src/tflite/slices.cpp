// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Ends of slices: negative ones count from behind, masks leave them out, all are cut to the dimension.
#include "tflite/slices.hpp"

#include <algorithm>

namespace usmp::tflite {

std::optional<Slice> slice_of(const Options& options, const Shape& shape, std::span<const std::int64_t> begin,
                              std::span<const std::int64_t> end, std::span<const std::int64_t> strides,
                              std::string& fault) {
  if (options.ellipsis_mask != 0 || options.new_axis_mask != 0) {
    fault = "found an ellipsis or a new axis, supported: begin, end and shrink_axis masks";
    return std::nullopt;
  }
  const std::size_t rank = shape.size();
  if (begin.size() != end.size() || begin.size() != strides.size() || begin.size() > rank) {
    fault = "found " + std::to_string(begin.size()) + " begins, " + std::to_string(end.size()) + " ends and " +
            std::to_string(strides.size()) + " strides, supported: as many as dimensions";
    return std::nullopt;
  }
  Slice slice{.begin = Shape(rank, 0), .stride = Shape(rank, 1), .count = shape};
  for (std::size_t i = 0; i < begin.size(); ++i) {
    const auto has = [&](std::int64_t mask) { return ((mask >> i) & 1) != 0; };
    const std::int64_t size = shape[i];
    const std::int64_t step = strides[i];
    if (step == 0) {
      fault = "found a stride of 0, supported: others";
      return std::nullopt;
    }
    const auto cut = [&](std::int64_t at) {
      if (at < 0) at += size;
      return step > 0 ? std::clamp<std::int64_t>(at, 0, size) : std::clamp<std::int64_t>(at, -1, size - 1);
    };
    const std::int64_t first = has(options.begin_mask) ? (step > 0 ? 0 : size - 1) : cut(begin[i]);
    std::int64_t last = cut(options.is_offset ? first + end[i] : end[i]);
    if (has(options.end_mask)) last = step > 0 ? size : -1;
    std::int64_t count = step > 0 ? (last - first + step - 1) / step : (first - last - step - 1) / -step;
    if (has(options.shrink_axis_mask)) count = 1;
    slice.begin[i] = first;
    slice.stride[i] = step;
    slice.count[i] = std::max<std::int64_t>(count, 0);
    if (slice.count[i] > 0 && (first < 0 || first >= size)) {
      fault = "found a slice that begins at " + std::to_string(begin[i]) + " of " + std::to_string(size) +
              " elements, supported: within";
      return std::nullopt;
    }
  }
  return slice;
}

}  // namespace usmp::tflite

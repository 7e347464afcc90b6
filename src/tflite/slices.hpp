// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What STRIDED_SLICE takes: of each dimension of the input where it begins, by which step it goes, and how often.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tflite/model.hpp"

namespace usmp::tflite {

struct Slice {
  Shape begin;
  Shape stride;
  Shape count;  // of all dimensions of the input, those that disappear, too
};

// Nothing: `fault` says why it is not supported.
[[nodiscard]] std::optional<Slice> slice_of(const Options& options, const Shape& shape,
                                            std::span<const std::int64_t> begin, std::span<const std::int64_t> end,
                                            std::span<const std::int64_t> strides, std::string& fault);

}  // namespace usmp::tflite

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Segments whose stages run by vertical strips of the last tensor, one strip after the other.
#pragma once

#include <cstdint>

#include "transform/rolling_segment.hpp"

namespace usmp::transform {

// Finds which columns each stage of a segment of strips computes for a strip, from the last one back to those that it
// reads from. False: the stages cannot run by strips. O(size of their loops · tensors that they read).
[[nodiscard]] bool find_columns(const tir::Module& module, const CallRun& run, Segment& segment);

// Divides a segment of strips into strips of so many columns, at least 1: rings, pixels computed and estimated bytes.
// False: some strip needs nothing of a tensor. O(stages · strips).
bool divide_into_strips(const CallRun& run, Segment& segment, std::int64_t width);

// Places for pixels of lines of `line` so that no two of `rows` consecutive lines and `columns` consecutive columns
// have the same: pixel p has place p mod result. At most `pixels`, those that there are. O(result · rows).
[[nodiscard]] std::int64_t strip_places(std::int64_t rows, std::int64_t columns, std::int64_t line,
                                        std::int64_t pixels);

}  // namespace usmp::transform

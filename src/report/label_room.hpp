// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Where in its rectangle of a memory map a buffer's label may stand, if other buffers share parts of it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/svg_elements.hpp"
#include "usmp/compare/figures.hpp"

namespace usmp::report {

// A rectangle of time and addresses.
struct Room {
  LiveRange ticks;
  Bytes low = 0;
  Bytes high = 0;

  friend bool operator==(const Room&, const Room&) = default;
};

// Parts of the rectangle of one of the buffer's live ranges that no other buffer has, best first: the longest stretch
// of time with all its bytes, then the largest run of bytes for all its time. Either may be missing. `shared`: those of
// the buffer. O(n log n).
[[nodiscard]] std::vector<Room> label_rooms(const plan_file::PlanDocument::Buffer& buffer, const LiveRange& range,
                                            const std::vector<const compare::PoolFigures::SharedBytes*>& shared);

// As much of a buffer's label as the room holds: "conv2d_nhwc #5 conv2d", "conv2d_nhwc", "con…nhwc". Empty: too little.
[[nodiscard]] std::string fitted_label(const std::string& name, const std::string& operator_name, Tenths room);

}  // namespace usmp::report

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Properties of storage before and after planning: what it holds, when it is live, which pool it is in. Planners see
// them in a problem, code generation and checks in a table of placements.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "usmp/support/checked.hpp"
#include "usmp/support/ids.hpp"

namespace usmp {

struct Pool;
using PoolId = Id<Pool>;  // index into the pools of a problem, and of everything derived from it

// A step of the linearised execution; statements are numbered from 0 in execution order.
using Tick = std::int64_t;

// Half-open: live at every tick t with begin <= t < end. Always begin < end.
struct LiveRange {
  Tick begin = 0;
  Tick end = 0;

  friend auto operator<=>(const LiveRange&, const LiveRange&) = default;
};

// Whether two sorted lists of live ranges share a tick. O(|a| + |b|).
[[nodiscard]] bool overlap(const std::vector<LiveRange>& a, const std::vector<LiveRange>& b);

// The ticks that two sorted lists of live ranges share, sorted. O(|a| + |b|).
[[nodiscard]] std::vector<LiveRange> common_ticks(const std::vector<LiveRange>& a, const std::vector<LiveRange>& b);

// What a buffer holds. Planners do not look at it; reports and the emitted code do.
enum class BufferKind {
  tensor,    // a tensor between operators
  scratch,   // allocated inside an operator
  input,     // a model input inside the workspace
  output,    // a model output inside the workspace
  constant,  // read-only data, live throughout
};

[[nodiscard]] const char* to_string(BufferKind kind);

enum class PoolKind { workspace, constant };

// "workspace" and, as pools files call them, "parameter".
[[nodiscard]] const char* to_string(PoolKind kind);

// Storage that holds some rows of a tensor at a time; of a chain by pixels a row is a pixel.
struct RowsHeld {
  std::int64_t rows = 1;  // in [1, of]
  std::int64_t of = 1;    // rows of the tensor
  Bytes row_bytes = 0;    // of all planes
  bool of_pixels = false;

  friend bool operator==(const RowsHeld&, const RowsHeld&) = default;
};

// "3 of 25 rows, 320 bytes each".
[[nodiscard]] std::string to_string(const RowsHeld& held);

struct Allocation {
  PoolId pool;
  Bytes offset = 0;  // from the pool's start

  [[nodiscard]] bool placed() const { return pool.valid(); }
  friend bool operator==(const Allocation&, const Allocation&) = default;
};

}  // namespace usmp

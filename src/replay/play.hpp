// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Runs the instructions and looks after the bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "replay/instructions.hpp"
#include "usmp/problem/storage.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::replay {

// Where a site that is followed lies, and who accesses it beside the program.
struct Place {
  PoolId pool;
  Bytes offset = 0;
  Bytes size = 0;
  bool is_written_before = false;
  bool is_read_afterwards = false;
  std::optional<tir::Ring> ring = {};  // with a stride in bytes: accesses name bytes of the tensor
};

struct Lost {
  std::uint32_t site = 0;
  std::uint32_t other = 0;      // has overwritten it; the site itself: another row of a ring has
  Bytes byte = 0;               // of the site
  std::size_t instruction = 0;  // that reads it; of the program's size: none
  std::vector<std::pair<tir::VarId, std::int64_t>> iteration = {};  // of the loops around it, the outermost one first
};

struct Played {
  std::vector<Reason> reasons;  // by site; none: all accesses were played
  std::uint64_t accesses = 0;
  std::vector<Lost> lost;  // each pair once in each direction at most, and a hundred at most
};

// Bytes of the sites and of what they cover together.
[[nodiscard]] Bytes bytes_of(const std::vector<Place>& places);

// O(steps + bytes_of(places)).
[[nodiscard]] Played play(const Program& program, const std::vector<Place>& places, std::uint64_t steps);

}  // namespace usmp::replay

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Replays a program's loads and stores at the places of a plan, and checks that no byte is overwritten before it is
// read. An independent check of buffers that share bytes while both are live. It does not use distances
// (liveness/distances.hpp) or their analysis: it runs the program's loops with concrete values and records which buffer
// wrote each byte last. Of storage that holds some rows of a tensor (tir::Ring) it also records which element each byte
// was stored for, knowing nothing of the schedule that makes so few rows enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "usmp/placement/placement.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::replay {

struct Options {
  // Limit for all loops together, in instructions of the replay; one takes a few nanoseconds. A loop whose estimate
  // exceeds the rest is skipped.
  std::uint64_t steps = 0;
  // Parameters of the entry that the application writes before the run; storage of kind input need not be listed.
  std::vector<tir::VarId> inputs = {};
};

// Why some accesses to a storage were not replayed.
enum class Reason : std::uint8_t {
  none,
  limit,      // of steps, or of bytes
  condition,  // an `if`, a loop or a predicate depends on data
  address,    // an index depends on data, leaves its type or its buffer, or the pointer may go to several buffers
  call,       // by a function without a body, or that does not run to its end
  escape,     // through a pointer that escapes
};

// "an address depends on data".
[[nodiscard]] const char* to_string(Reason reason);

// Two storages whose accesses were not all replayed; a ring stands with itself.
struct LeftOut {
  placement::StorageId one;
  placement::StorageId other;  // the larger id
  Reason reason = Reason::none;

  friend bool operator==(const LeftOut&, const LeftOut&) = default;
};

struct Result {
  std::size_t pairs = 0;          // of storages that are live together and share bytes of a pool; a ring with itself
  std::vector<LeftOut> left_out;  // of these; for all others every access was replayed. By ids
  std::uint64_t accesses = 0;     // loads and stores replayed, to storages of such pairs
  std::vector<std::string> violations;  // at most one per pair and direction, the first 100 found

  [[nodiscard]] std::size_t replayed() const { return pairs - left_out.size(); }
};

// Replays the entry of the module and the functions that it calls; the table must be of this module. Code that does not
// access storages of such pairs is skipped. Live ranges only determine the pairs: storages that are never live together
// may always share bytes. A violation is a read of a byte that the buffer wrote after its allocation and that another
// buffer has overwritten since:
//
//   element of 'a' at byte 120 of pool 'sram' is read after 'b' has overwritten it, in function 'f', iteration i = 3
//
// or, of a ring, a read of another element than the one last stored in its place. All parts of a statement are read
// before it stores. The application writes inputs before the run, and reads outputs after it. What cannot be replayed
// (see Reason) counts as correct, and as a write of unknown bytes: a correct plan never has a violation. Each storage
// must be within its pool (verify::check).
//
// O(module + conflicting pairs of one pool + Options::steps), memory O(bytes of the storages of pairs), at most
// max_bytes of them.
[[nodiscard]] Result replay(const tir::Module& module, const placement::Table& table, const Options& options);

inline constexpr Bytes max_bytes = Bytes{1} << 24;

}  // namespace usmp::replay

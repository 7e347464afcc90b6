// Plays a program's loads and stores at the places of a plan: is every byte that is read still there? An independent
// check of buffers that share bytes while both are live. It knows nothing of distances (liveness/distances.hpp) or of
// how they were found: it runs the program's loops with numbers for their variables and sees who wrote each byte last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "usmp/placement/placement.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::replay {

struct Options {
  // What may be spent on all loops together, in instructions of the replay; one takes a few nanoseconds. A loop that is
  // estimated to need more than what is left is not played.
  std::uint64_t steps = 0;
  // Parameters of the entry that the application writes before the program runs; those of storage of kind input need
  // not be named.
  std::vector<tir::VarId> inputs = {};
};

// Why not every access to a storage was played.
enum class Reason : std::uint8_t {
  none,
  limit,      // of steps, or of bytes
  condition,  // an `if`, a loop or a predicate depends on data
  address,    // an index depends on data, leaves its type or its buffer, or the pointer may go to several buffers
  call,       // by a function whose body is not at hand, or that does not run to its end
  escape,     // through a pointer that gets out of sight
};

// "an address depends on data".
[[nodiscard]] const char* to_string(Reason reason);

// Two storages that were not followed all the way.
struct LeftOut {
  placement::StorageId one;
  placement::StorageId other;  // the larger id
  Reason reason = Reason::none;

  friend bool operator==(const LeftOut&, const LeftOut&) = default;
};

struct Result {
  std::size_t pairs = 0;                // of storages that are live together and share bytes of a pool
  std::vector<LeftOut> left_out;        // of these; of all others every access was played. By ids
  std::uint64_t accesses = 0;           // loads and stores that were played, to storages of such pairs
  std::vector<std::string> violations;  // one a pair and direction at most, the first 100 that were met

  [[nodiscard]] std::size_t replayed() const { return pairs - left_out.size(); }
};

// Plays the entry of the module, which the table is of, into the functions that it calls, as far as accesses to
// storages of such pairs go; what does not touch them is passed over. Live ranges only say which pairs these are: of
// storages that are never live together the bytes may always be shared. A violation is a byte that its buffer wrote
// since it was allocated, that another buffer has overwritten since, and that is read then:
//
//   element of 'a' at byte 120 of pool 'sram' is read after 'b' has overwritten it, in function 'f', iteration i = 3
//
// All parts of a statement are read before it stores. The application writes inputs before the run, and reads outputs
// after it. What cannot be followed (see Reason) is taken for right, and for a write of unknown bytes: a plan that is
// right has no violation, whatever is not followed. Each storage is within its pool (verify::check).
//
// O(module + conflicting pairs of one pool + Options::steps), memory O(bytes of the storages of pairs), at most
// max_bytes of them.
[[nodiscard]] Result replay(const tir::Module& module, const placement::Table& table, const Options& options);

inline constexpr Bytes max_bytes = Bytes{1} << 24;

}  // namespace usmp::replay

// Which bytes of each storage a loop nest accesses, in the order in which it does.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "usmp/problem/problem.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::liveness {

// A group of accesses to one storage. Those of one group may happen in any order; groups follow each other.
struct Touch {
  std::size_t group = 0;
  Bytes begin = 0;  // no byte outside [begin, end) is accessed
  Bytes end = 0;
  bool writes = false;
};

struct Footprint {
  std::vector<Touch> touches;         // by group; of one group at most one that writes and one that reads
  std::optional<tir::DataType> type;  // of all elements; nothing: they differ
};

// By variable that the nest loads from or stores to. `sizes` says how many bytes the storage behind a variable has: no
// access is outside. Nothing if the nest does what this does not follow: pointers that are more than the base of a load
// or store, let expressions, more than the groups' worth of work. O(most_groups · size of the nest).
[[nodiscard]] std::optional<std::map<tir::VarId, Footprint>> walk_addresses(const tir::For& nest,
                                                                            const std::map<tir::VarId, Bytes>& sizes,
                                                                            std::size_t most_groups);

// How far above the start of `dying` the storage that is `born` has to start so that no byte of `dying` is accessed
// after or in the group in which it was written through `born`: nothing if every distance is right.
[[nodiscard]] Bytes distance_above(const Footprint& born, const Footprint& dying);

// The same with `born` below: how far above the start of `born` the dying one has to start.
[[nodiscard]] Bytes distance_below(const Footprint& born, const Footprint& dying);

}  // namespace usmp::liveness

// Buffers that may share bytes although both are live: one dies in the loop nest in which the other is born, and is
// read so far ahead (or behind) that its bytes may be overwritten piece by piece.
//
//   for i in 0 .. n:  out[i] = in[2 * i] + in[2 * i + 1]
//
// `out` may start where `in` starts: its element i stands where in[i] was, which nothing reads any more. It may not
// start higher than that by less than what `in` has left. A convolution with a window of three rows may write its
// output two rows below its input. Source of the idea: "diagonal memory optimisation", Blacker et al. 2021, and the
// in-place operators of MCUNet; they know operators by name, this looks at the addresses.
#pragma once

#include <vector>

#include "usmp/liveness/liveness.hpp"
#include "usmp/problem/problem.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::liveness {

// For pairs of workspace sites: each time both are live, that is one run of one outermost loop of one function, at the
// end of which one of them dies and at the beginning of which the other is born; neither is accessed there but by
// loads and stores through one variable each, with element types that C lets alias (one is a type of 8 bits, or both
// are the same).
//
// The loop is walked with its variables as numbers, as far down as that makes at most `most_groups` groups of accesses;
// what is inside a group counts as if it happened in any order, and as if every address between the lowest and the
// highest one were accessed. Of each group the bytes that the dying buffer is accessed at must not have been written in
// it or before it by the one that is born. So the distances are right, and exact up to the extent of a group.
//
// By `below` and `above`, each pair once a direction. Throws as `analyse` does. O(steps of `analyse` + loops · groups ·
// size of the loop).
[[nodiscard]] std::vector<StorageDistance> find_distances(const tir::Module& module, const Options& options = {});

inline constexpr std::size_t most_groups = 4096;

}  // namespace usmp::liveness

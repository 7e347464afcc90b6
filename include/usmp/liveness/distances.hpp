// Buffers that may share bytes although both are live: one dies in the loop nest in which the other is born, or in one
// of some that follow it, and is read so far ahead (or behind) that its bytes may be overwritten piece by piece.
//
//   for i in 0 .. n:  out[i] = in[2 * i] + in[2 * i + 1]
//
// `out` may start where `in` starts: its element i stands where in[i] was, which nothing reads any more. It may not
// start higher than that by less than what `in` has left. A convolution with a window of three rows may write its
// output two rows below its input. A concatenation that copies one input after the other needs no memory for them: each
// may stand where it goes to. Source of the idea: "diagonal memory optimisation", Blacker et al. 2021, and the in-place
// operators of MCUNet; they know operators by name, this looks at the addresses.
#pragma once

#include <vector>

#include "usmp/liveness/liveness.hpp"
#include "usmp/problem/problem.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::liveness {

// For pairs of workspace sites that one outermost loop accesses: the one that ends first is the dying one. From where
// the other one begins to where it ends, both are accessed by nothing but loads and stores in outermost loops of
// functions (at most 32 of them), in each through one variable, with element types that C lets alias (one is a type of
// 8 bits, or both are the same). If they live together several times, all of that holds each time.
//
// The loops are walked with their variables as numbers, as far down as that makes at most `most_groups` groups of
// accesses a loop; what is inside a group counts as if it happened in any order, and as if every address between the
// lowest and the highest one were accessed. Of each group the bytes that the dying buffer is accessed at must not have
// been written in it or before it by the one that is born. So the distances are right, and exact up to the extent of a
// group.
//
// By `below` and `above`, each pair once a direction. Throws as `analyse` does. O(steps of `analyse` + loops · groups ·
// size of the loop + pairs of sites in a loop · 32 · groups), and at most some 20 million accesses of pairs, after
// which no more pairs are found; loops that access more than 256 sites have none.
[[nodiscard]] std::vector<StorageDistance> find_distances(const tir::Module& module, const Options& options = {});

inline constexpr std::size_t most_groups = 4096;

// What two buffers may share in one statement if the order of statements lets them.
struct DyingDistance {
  StorageDistance distance;
  tir::VarId dying;  // one of the two: right only if nothing accesses it after the statement
};

// By statement of the entry's body: what `find_distances` would find if storage of the entry were accessed by that
// statement alone. Right where the one of the two that does not die is not accessed before the statement. By `dying`
// and the other one, each pair up to twice a direction: of two that live in one loop only, each may be the dying one.
// Throws and costs as `find_distances`.
[[nodiscard]] std::vector<std::vector<DyingDistance>> find_statement_distances(const tir::Module& module,
                                                                               const Options& options = {});

}  // namespace usmp::liveness

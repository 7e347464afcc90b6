// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Buffers that may share bytes although both are live: one dies in the loop nest in which the other is born, or in one
// of a few that follow it, and is read far enough ahead (or behind) that its bytes may be overwritten piece by piece.
//
//   for i in 0 .. n:  out[i] = in[2 * i] + in[2 * i + 1]
//
// `out` may start where `in` starts: its element i is where in[i] was, which is not read any more. If it starts higher,
// it must start above all that `in` has left. A convolution with a window of three rows may write its output two rows
// below its input. A concatenation that copies one input after the other needs no memory for them: each may be placed
// at its final position. Source of the idea: "diagonal memory optimisation", Blacker et al. 2021, and the in-place
// operators of MCUNet; they know operators by name, this analyses addresses.
#pragma once

#include <vector>

#include "usmp/liveness/liveness.hpp"
#include "usmp/problem/problem.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::liveness {

// For pairs of workspace sites that one outermost loop accesses: the one that ends first is the dying one. From the
// first to the last access of the other one, both are accessed only by loads and stores in outermost loops of functions
// (at most 32 of them), in each through one variable, with element types that C allows to alias (one has 8 bits, or
// both are the same). If they are live together several times, this holds each time.
//
// The loops are walked with concrete values of their variables, as deep as gives at most `most_groups` groups of
// accesses per loop. The accesses of a group are assumed to happen in any order, at every address between the lowest
// and the highest. The bytes at which a group accesses the dying buffer must not have been written by the new one in
// that group or before. So the distances are correct, and exact up to the extent of a group.
//
// Sorted by `below` and `above`, each pair once per direction. Throws as `analyse` does. O(steps of `analyse` + loops ·
// groups · size of the loop + pairs of sites in a loop · 32 · groups), and at most about 20 million accesses of pairs,
// after which no more pairs are found; loops that access more than 256 sites give none.
[[nodiscard]] std::vector<StorageDistance> find_distances(const tir::Module& module, const Options& options = {});

// The same, and analyse(module, options), of one walk.
struct AnalysedDistances {
  std::vector<StorageDistance> distances;
  Analysis analysis;
};
[[nodiscard]] AnalysedDistances analyse_distances(const tir::Module& module, const Options& options);

inline constexpr std::size_t most_groups = 4096;

// What two buffers may share in one statement if the order of statements lets them.
struct DyingDistance {
  StorageDistance distance;
  tir::VarId dying;  // one of the two: correct only if nothing accesses it after the statement
};

// By statement of the entry's body: what `find_distances` would find if only that statement accessed storage of the
// entry. Correct if the one that does not die is not accessed before the statement. Sorted by `dying` and the other
// one, each pair up to twice per direction: if both are live in one loop only, either may be the dying one. Throws and
// costs as `find_distances`.
[[nodiscard]] std::vector<std::vector<DyingDistance>> find_statement_distances(const tir::Module& module,
                                                                               const Options& options = {});

}  // namespace usmp::liveness

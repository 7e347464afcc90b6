// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Innermost loops whose conditions do not change in them → a branch around two loops.
//
// A padded row is written as `for i: row[i] = inside(y, x) ? in[…] : 0`: the condition is asked for each element
// although it is the same for all of them, and it keeps compilers from making vectors of the row. With the question in
// front of the loop, both loops are plain copies, fills or sums. Compilers do this themselves only at levels that few
// firmwares are built with (-O3 of GCC).
#pragma once

#include "usmp/tir/ir.hpp"

namespace usmp::shape {

// In all functions but opaque ones, changes innermost loops that have a constant number of iterations, at least two,
// and whose body is lets and stores: where a store's value asks, in every iteration, a condition (of select or
// if_then_else) that is made of variables from outside of the loop only, without memory or calls, the loop becomes
//   lets that the condition needs; if (condition) loop as if it holds; else loop as if it does not.
// The first such condition of a loop is taken that has at most 200 nodes, written out; loops with more than 200 choices
// stay as they are. What is read, computed and written, and in which order, stays the same. O(size of the module).
void unswitch(tir::Module& module);

}  // namespace usmp::shape

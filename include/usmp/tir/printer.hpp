// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// TIR as text for people and tests. The same module always gives the same text. There is no parser for it.
#pragma once

#include <string>

#include "usmp/tir/ir.hpp"

namespace usmp::tir {

// One function, e.g.
//
//   primfn fused_add(p0: int8*, T_add: int32*) target c {
//     allocate compute: int32[16]
//     for ax0 in [0, 16) {
//       compute[ax0] = int32(p0[ax0]) + 3
//     }
//   }
//
// The entry has " entry" after its target. An allocation names its storage scope (unless global), its condition and its
// candidate pools, and, if it holds some rows of a tensor, reads "allocate x: int8[960] holds 3 of 25 rows of 320"; an
// access of another type than the storage's reads x.as<int8>[i]; a predicate follows the index after "where". Integers
// that are not int32 and floats that are not float32 carry their type ("3i64", "0.5f64").
//
// Variables of one function that share a name get a suffix "_1", "_2", … in order of first appearance.
[[nodiscard]] std::string print(const Module& module, const Function& function);

// All functions, the entry first, then by name.
[[nodiscard]] std::string print(const Module& module);

[[nodiscard]] std::string print_expr(const Module& module, const Expr& expr);

}  // namespace usmp::tir

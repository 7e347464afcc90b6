// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Loop nests → functions whose pointer parameters are known not to alias.
//
// TVM keeps small buffers in local arrays, which a C compiler knows not to alias. In a pool they are accessed through
// pointers, and where two pointers may reach the same bytes the compiler must keep every load and store in order: up to
// four times slower on real operators. But buffers that one loop nest accesses are mostly live together, so the plan
// gives them disjoint bytes. C expresses this only for the parameters of a function (compilers ignore `restrict` on
// local pointers), and only while the function runs. A whole operator is too long, since buffers that are live at
// different times in it do share bytes. So each loop nest of an operator becomes a function.
#pragma once

#include "usmp/lower/lower.hpp"
#include "usmp/placement/placement.hpp"

namespace usmp::lower {

// Moves the top-level loops of operators' bodies, and those in scopes of loops over rows, into functions named
// "<operator>_nest<k>" (from 0), unless they call functions, and sets Param::no_alias where, in every call from the
// entry function, no other pointer of the nest reaches a byte of the parameter's buffer, or neither is written. An
// operator that is one loop over its parameters is marked itself; a nest without any such parameter is not moved.
// Memory fences separate the statements of an operator, and the entry's calls, where bytes pass to another buffer.
// Where buffers share bytes within one statement (a loop, a branch), the statements inside are fenced too. O(size of
// the module + statements · storages² · calls).
[[nodiscard]] Lowered outline(const Lowered& lowered, const placement::Table& table);

}  // namespace usmp::lower

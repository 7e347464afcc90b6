// Loop nests → functions whose pointer parameters are known not to alias.
//
// TVM keeps small buffers in local arrays, which a C compiler knows to be apart from everything else. In a pool they
// are behind pointers, and where two pointers may reach the same bytes the compiler must keep every load and store in
// order: up to four times slower on real operators. The plan knows better: buffers that one loop nest accesses are
// mostly live together, so they share no byte. C can be told so for the parameters of a function only (compilers ignore
// `restrict` on local pointers), and only for the time that the function runs: a whole operator would be too much,
// since buffers that are live at different times in it do share bytes. So each loop nest of an operator becomes a
// function.
#pragma once

#include "usmp/lower/lower.hpp"
#include "usmp/placement/placement.hpp"

namespace usmp::lower {

// Moves the loops that stand at the top of operators' bodies into functions named "<operator>_nest<k>" (from 0), unless
// they call functions, and sets Param::no_alias where, in every call from the entry function, no other pointer of the
// nest reaches a byte of the parameter's buffer, or neither is written. An operator that is one loop over its
// parameters is marked itself; a nest of which nothing can be said stays where it is. Between the statements of an
// operator, and between the entry's calls, stand memory fences: bytes may serve another buffer from there on. Where
// buffers share bytes within one statement (a loop, a branch), the statements inside are fenced too. O(size of the
// module + statements · storages² · calls).
[[nodiscard]] Lowered outline(const Lowered& lowered, const placement::Table& table);

}  // namespace usmp::lower

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Checks the normal form of ir.hpp: all invariants that stages rely on and that C++ types do not express. Front ends
// and passes produce only modules in this form.
//
// Module: functions are sorted by unique names, and one of them is the entry; names of pools are unique. Variables:
// each belongs to one function, is used only where a parameter or an enclosing statement declares it, and is not
// declared again in its own scope; storage is a pointer and has one size, and constants have as many bytes as their
// shape says; storage with a ring consists of whole planes of the rows that it holds, is unconditional, and is accessed
// only by loads and stores of its own scalar type. Statements: loop bounds, extents and indices are integers,
// conditions and predicates are bools, each with the right number of lanes; blocks nest no deeper than max_block_depth.
// Expressions: nodes and operators have the right number of operands, of compatible types, and literals fit their
// types; a call of one of the module's functions matches its parameters.
//
// Not checked: sizes (tir::allocation_size), whether an index is within its storage, recursion of calls, size and depth
// of expressions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "usmp/tir/ir.hpp"

namespace usmp::tir {

// Nested blocks, including the function's own: the limit for stages that recurse over blocks. C compilers have a lower
// limit; the reader rejects, and the emitter reports, what exceeds theirs.
inline constexpr std::size_t max_block_depth = 512;

enum class Form : std::uint8_t {
  planned,   // as analysed and planned
  outlined,  // after lower/outline.hpp: functions that were one share its variables
};

struct Fault {
  std::optional<std::size_t> function;  // index into Module::functions; nothing: the module as a whole is wrong
  std::string place;                    // in the function: "body[2].then[0]", a statement; "parameter 1". May be empty
  std::string message;                  // lower case, no full stop
};

// The first fault in program order; nothing: the module is well formed. Accepts any module whose expressions have no
// cycles. O(statements + nodes of expressions · log functions); shared nodes are checked once per scope.
[[nodiscard]] std::optional<Fault> find_fault(const Module& module, Form form = Form::planned);

// "function 'main', body[2]: message".
[[nodiscard]] std::string to_string(const Module& module, const Fault& fault);

// Throws Error of kind archive for the first fault; its place is "function 'main', body[2]". For front ends.
void verify(const Module& module);

// --- After passes ----------------------------------------------------------------------------------------------------

// Enables check_pass for the whole process. Off by default; tests and fuzzing switch it on.
void set_pass_checks(bool on);

// Called with the result of a pass: a fault is a bug, which is reported on stderr with the pass's name and ends the
// program. O(1) unless switched on.
void check_pass(const Module& module, std::string_view pass, Form form = Form::planned);

}  // namespace usmp::tir

// Whether a module is in the normal form of ir.hpp: all that stages take for granted and that no type of C++ says, in
// one place. Front ends hand over nothing else, and passes give nothing else.
//
// Of the module: functions are sorted by name, no two have the same, and one of them is the entry; pools have names of
// their own. Of variables: each belongs to one function, is used where a parameter or a statement around the use
// declares it, and is not declared again in its own scope; storage is a pointer, has one size, and its constants as
// many bytes as their shape says. Of statements: bounds of loops, extents and indices are integers, conditions and
// predicates bools, each with the lanes of what it is for; blocks nest no deeper than max_block_depth. Of
// expressions: nodes and operators have the operands that they need, of the types that go together, and literals fit
// their types; a call of one of the module's functions passes what its parameters are.
//
// Not judged: sizes (tir::allocation_size), whether an index is within its storage, recursion of calls, how large or
// deep expressions are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "usmp/tir/ir.hpp"

namespace usmp::tir {

// Blocks inside each other, the function's own included: what stages stand that recurse over blocks. Compilers of C
// take fewer; the reader refuses, and the emitter tells, what is beyond theirs.
inline constexpr std::size_t max_block_depth = 512;

enum class Form : std::uint8_t {
  planned,   // as analysed and planned
  outlined,  // behind lower/outline.hpp: functions that were one share its variables
};

struct Fault {
  std::optional<std::size_t> function;  // index into Module::functions; nothing: the module as a whole is wrong
  std::string place;                    // in the function: "body[2].then[0]", a statement; "parameter 1". May be empty
  std::string message;                  // lower case, no full stop
};

// The first fault in program order; nothing: the module is well formed. Stands any module whose expressions have no
// cycles. O(statements + nodes of expressions · log functions); what expressions share is looked at once in a scope.
[[nodiscard]] std::optional<Fault> find_fault(const Module& module, Form form = Form::planned);

// "function 'main', body[2]: message".
[[nodiscard]] std::string to_string(const Module& module, const Fault& fault);

// Throws Error of kind archive for the first fault; its place is "function 'main', body[2]". For front ends.
void verify(const Module& module);

// --- After passes ----------------------------------------------------------------------------------------------------

// Whether check_pass looks. It does not at first; tests and fuzzing switch it on. For the whole process.
void set_pass_checks(bool on);

// Called with what a pass has made: a fault of it is a bug, which is told on stderr with the pass's name and ends the
// program. O(1) unless switched on.
void check_pass(const Module& module, std::string_view pass, Form form = Form::planned);

}  // namespace usmp::tir

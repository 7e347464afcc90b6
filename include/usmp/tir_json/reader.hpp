// tvm.ir.save_json graphs → tir::Module. The JSON is read as a stream (SAX); only the nodes that planning reaches are
// built.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "usmp/support/error.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tir_json {

// Limits on what a module may contain; beyond them it is refused.
struct Limits {
  std::size_t nodes = 20'000'000;           // of the JSON graph
  std::size_t depth = 1000;                 // nesting of loops, branches and expressions of a function body (after the
                                            // normal form of tir/ir.hpp; a run of nested allocates counts once)
  std::size_t expanded_nodes = 20'000'000;  // expressions and statements of one function, shared ones once a use
};

// Builds the module. Throws Error of kind archive whose place is the JSON path ("nodes[17].attrs.body"): malformed
// JSON (byte offset), a node index out of range, a cycle, a missing or wrongly typed attribute, an unknown type_key or
// operator shape inside a function body, an NDArray whose blob does not fit its header, a variable used where nothing
// declares it or declared again in its own scope, one storage variable allocated with two sizes, no entry function or
// several, a limit exceeded. Sizes of allocations are not judged (see tir::allocation_size). Unknown nodes that no
// function body reaches are ignored.
[[nodiscard]] tir::Module read_module(std::string_view json, const Limits& limits = {});

}  // namespace usmp::tir_json

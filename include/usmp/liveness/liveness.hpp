// Which storage exists in a module and when each is live, over the AoT entry function and into every operator body at
// statement granularity.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "usmp/problem/problem.hpp"
#include "usmp/support/error.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::liveness {

struct Options {
  bool workspace_io = false;  // inputs and outputs become buffers too
};

// A buffer of the program and the IR node it stands for.
struct SiteTag;
using SiteId = Id<SiteTag>;  // index into Analysis::sites

struct Site {
  tir::VarId var;            // the storage variable (of the Allocate, AllocateConst or entry parameter)
  std::string name;          // the variable's TVM name; an input's or output's parameter name
  std::size_t function = 0;  // index into Module::functions of the function that declares it
  BufferKind kind = BufferKind::tensor;
  Bytes size = 0;
  Bytes alignment = 1;            // required: at least the executor's, at least the element's natural alignment
  std::vector<LiveRange> live;    // constants: [0, horizon). Empty: never accessed
  std::set<std::string> targets;  // of the functions that access it or hand it on
  std::vector<std::string> candidate_pools;  // the module's annotation, best first; empty: none
};

// One call of a function of the module, or of an extern one, from the entry function.
struct Call {
  std::string callee;
  LiveRange ticks;
};

// An allocate that is left alone because its size is not known at compile time.
struct Unplanned {
  tir::VarId var;
  std::string name;
  std::size_t function = 0;
  std::string reason;  // "extent 0 is not a constant"
};

struct Analysis {
  std::vector<Site> sites;  // inputs, outputs, then by first appearance in execution order
  std::vector<Call> calls;  // the entry's calls in execution order (a call in a loop stands once)
  std::vector<Unplanned> unplanned;
  std::vector<std::string> extern_callees;  // called functions that the module does not define, in order of appearance
  Tick horizon = 0;
};

// Statements are numbered in execution order, a loop body once, a called function's body once a call. A buffer is live
// from its first to its last access, and an access inside a loop that does not also contain the buffer's Allocate makes
// it live throughout the outermost such loop. Every statement's reads and writes count as simultaneous. Buffers reached
// through aliases (call arguments, Let, address_of, tvm_access_ptr, casts, selections between pointers) count as
// accessed; an extern or opaque callee reads and writes all it is handed.
//
// Inputs are live from tick 0 to their last access, outputs from their first access to the horizon; both only with
// Options::workspace_io.
//
// Throws Error of kind archive (place: function name): a negative or overflowing extent, recursion in the call graph, a
// call with a wrong number of arguments, a pointer whose storage cannot be told.
// O(ticks + accesses · depth).
[[nodiscard]] Analysis analyse(const tir::Module& module, const Options& options = {});

}  // namespace usmp::liveness

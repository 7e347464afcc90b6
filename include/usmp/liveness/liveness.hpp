// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which storage exists in a module and when each is live, over the AoT entry function and into every operator body at
// statement granularity.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "usmp/problem/problem.hpp"
#include "usmp/support/error.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::liveness {

// Which bytes loops access, as found so far: programs that are made of one by different passes have most loops in
// common, and none is walked twice. What is found is the same without it. Not for two threads at a time.
class FootprintMemo;
[[nodiscard]] std::shared_ptr<FootprintMemo> make_footprint_memo();

struct Options {
  bool workspace_io = false;  // inputs and outputs become buffers too
  // With workspace_io: which parameters of the entry those are (the archive's metadata knows). Both empty: every tensor
  // parameter, one that the program may write being an output. A parameter in both is live throughout.
  std::vector<tir::VarId> inputs;
  std::vector<tir::VarId> outputs;
  std::shared_ptr<FootprintMemo> memo = {};  // null: each analysis has its own
};

// A buffer of the program, and the IR node that declares it.
struct SiteTag;
using SiteId = Id<SiteTag>;  // index into Analysis::sites

struct Site {
  tir::VarId var;            // the storage variable (of the Allocate, AllocateConst or entry parameter)
  std::string name;          // the variable's TVM name; an input's or output's parameter name
  std::size_t function = 0;  // index into Module::functions of the function that declares it
  BufferKind kind = BufferKind::tensor;
  Bytes size = 0;
  Bytes alignment = 1;            // required: at least the executor's, at least the element's natural alignment
  std::vector<LiveRange> live;    // constants: [0, horizon). Empty: never accessed, so it needs no storage at all
  std::set<std::string> targets;  // of the functions that access it or pass it to an extern function
  std::vector<std::string> candidate_pools;  // the module's annotation, best first; empty: none
  std::optional<tir::Ring> ring = {};        // of the allocate; `size` is that of the rows held
  std::optional<std::size_t> row_operator =
      {};  // that makes it or reads the constant, index into by_rows of `function`
  // A further declaration of a constant's data, which has its place here (share_constants).
  struct Twin {
    tir::VarId var;
    std::size_t function = 0;  // index into Module::functions
  };
  std::vector<Twin> twins = {};
};

// What a ring holds; nothing: the site is none. O(1).
[[nodiscard]] std::optional<RowsHeld> rows_held(const Site& site);

// One call of a function of the module, or of an extern one, from the entry function.
struct Call {
  std::string callee;
  LiveRange ticks;
};

// An allocate that is not planned because its size is not known at compile time.
struct Unplanned {
  tir::VarId var;
  std::string name;
  std::size_t function = 0;
  std::string reason;  // "extent 0 is not a constant"
};

// Two sites that may share bytes although both are live, if `above` starts at least `bytes` above `below`.
struct StorageDistance {
  tir::VarId below;
  tir::VarId above;
  Bytes bytes = 0;           // >= 0, < size of `below`
  std::size_t function = 0;  // index into Module::functions: where both meet, the first time
};

struct Analysis {
  std::vector<Site> sites;  // inputs, outputs, then by first appearance of the declaration in execution order
  std::vector<Call> calls;  // the entry's calls in execution order (a call in a loop stands once)
  std::vector<Unplanned> unplanned;
  std::vector<std::string> extern_callees;  // called functions that the module does not define, in order of appearance
  std::vector<bool> reached;                // by function index: the entry and what it calls, directly or not
  Tick horizon = 0;                         // >= 1
  std::vector<StorageDistance> distances = {};  // empty after `analyse`, see find_distances
};

// Statements are numbered in execution order, a loop body once, a called function's body once per call. A buffer is
// live from its first to its last access, and an access inside a loop that does not also contain the buffer's Allocate
// makes it live throughout the outermost such loop, unless every iteration of that loop overwrites the whole buffer
// before it reads any of it (then the buffer counts as allocated inside the loop). Every statement's reads and writes
// count as simultaneous. Buffers reached through aliases (call arguments, Let, address_of, tvm_access_ptr, casts,
// selections between pointers) count as accessed; an extern or opaque callee reads and writes everything it is passed.
// A pointer that escapes (stored to memory, cast to an integer, returned) makes its buffers live throughout.
//
// Inputs are live from tick 0 to their last access, outputs from their first access to the horizon; both only with
// Options::workspace_io.
//
// A variable that one function allocates in several places is one site; functions that are never called have none.
//
// Throws Error of kind archive (place: function name): a negative or overflowing extent, an allocate of more than
// max_site_bytes, recursion in the call graph, a call with a wrong number of arguments, a pointer whose storage is
// unknown, an alignment that is not a power of two, more than max_steps accesses, statements, declarations and pointer
// targets in total. O(steps + live ranges · log).
[[nodiscard]] Analysis analyse(const tir::Module& module, const Options& options = {});

inline constexpr Bytes max_site_bytes = Bytes{1} << 48;
inline constexpr std::size_t max_steps = 20'000'000;

// Merges all constants that hold the same data object, are accessed by the same targets and have the same candidate
// pools into one site: the first one, with the others as its twins. The analysis must be of this module. O(size of the
// module · log).
void share_constants(Analysis& analysis, const tir::Module& module);

}  // namespace usmp::liveness

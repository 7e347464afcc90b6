// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Idea: a frame is what a call saves, and what a function computes with and finds no register for. The latter grows
// with the parameters, loop variables (and what walks along with them), lets and elements on the stack that are in
// scope at one time. How fast was measured with -fstack-usage, core by core; loops keep sums and addresses beside what
// they name, most so where a processor has few registers.
#include "usmp/lower/stack_estimate.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "usmp/program/call_graph.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::lower {
namespace {

constexpr Bytes dot4_names = 3;  // what is loaded and multiplied

struct Line {  // bytes of a frame by what is in scope
  Bytes bytes = 0;
  Bytes name = 0;

  [[nodiscard]] Bytes at(Bytes names) const { return bytes + name * names; }
};

struct Bend {  // the less of two: of much that is in scope, most is used rarely
  Line few;
  Line many;

  [[nodiscard]] Bytes at(Bytes names) const { return std::min(few.at(names), many.at(names)); }
};

// What GCC takes for one kind of processor.
struct Frames {
  Line caller;           // without loops: hands pointers on
  Line calling_loops;    // that compute nothing themselves
  Bend loops;            // that compute
  Bend float_loops;      // likewise, with floats
  Bytes run = 0;         // of the function that adds up a run
  Bytes run_arrays = 0;  // where arrays are passed to it: what they are aligned to, and their addresses
};

constexpr Frames of_64_bits{.caller = {48, 4},
                            .calling_loops = {32, 10},
                            .loops = {{32, 10}, {32, 10}},
                            .float_loops = {{32, 10}, {32, 10}},
                            .run = 96,
                            .run_arrays = 64};
constexpr Frames of_32_bits{.caller = {16, 4},
                            .calling_loops = {24, 5},
                            .loops = {{32, 10}, {114, 3}},
                            .float_loops = {{32, 10}, {112, 6}},
                            .run = 64,
                            .run_arrays = 16};
// A vector that stands in for several lets finds no register, either.
constexpr Frames of_helium{.caller = {16, 4},
                           .calling_loops = {24, 5},
                           .loops = {{60, 12}, {132, 4}},
                           .float_loops = {{80, 30}, {560, 12}},
                           .run = 96,
                           .run_arrays = 64};

std::vector<const Frames*> frames_of(Registers registers) {
  switch (registers) {
    case Registers::of_32_bits:
      return {&of_32_bits};
    case Registers::helium:
      return {&of_helium};
    case Registers::unknown:
      break;
  }
  return {&of_64_bits, &of_32_bits};
}

// Counts what is in scope while a function is walked.
class StackWalker {
 public:
  explicit StackWalker(Bytes params) : in_scope_{params}, most_(params) {}

  void open(const tir::Block& /*block*/, const tir::Stmt* owner) {
    in_scope_.push_back(in_scope_.back());
    if (owner == nullptr || !std::holds_alternative<tir::For>(owner->node)) return;
    has_loops_ = true;
    declare(2);
  }
  void close(const tir::Block& /*block*/, const tir::Stmt* /*owner*/) { in_scope_.pop_back(); }
  void statement(const tir::Stmt& stmt) {
    has_loops_ = has_loops_ || std::holds_alternative<tir::While>(stmt.node);
    const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
    const bool is_element = allocate != nullptr && allocate->on_stack;
    if (is_element || std::holds_alternative<tir::Let>(stmt.node)) declare(1);
    const auto* store = std::get_if<tir::Store>(&stmt.node);
    if (store != nullptr) {
      computes_ = true;
      has_floats_ = has_floats_ || store->value->type.is_float();
      if (store->value->op == tir::Op::dot4) declare(dot4_names);
    }
    const auto* evaluate = std::get_if<tir::Evaluate>(&stmt.node);
    has_runs_ = has_runs_ || (evaluate != nullptr && tir::is_run(evaluate->value->op));
  }

  [[nodiscard]] bool has_loops() const { return has_loops_; }
  [[nodiscard]] bool has_runs() const { return has_runs_; }
  [[nodiscard]] Bytes frame(const Frames& frames) const {
    if (!has_loops_) return frames.caller.at(most_);
    if (has_floats_) return frames.float_loops.at(most_);
    if (!computes_ && !has_runs_) return frames.calling_loops.at(most_);
    return frames.loops.at(most_);
  }

 private:
  void declare(Bytes names) {
    in_scope_.back() += names;
    most_ = std::max(most_, in_scope_.back());
  }

  std::vector<Bytes> in_scope_;
  Bytes most_;
  bool has_loops_ = false;
  bool has_runs_ = false;
  bool computes_ = false;
  bool has_floats_ = false;
};

// Compilers may give each array of a function a place of its own.
Bytes array_bytes(const tir::Function& function) {
  Bytes sum = 0;
  tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
    const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
    if (allocate == nullptr || !allocate->on_stack || tir::element_count(*allocate) == 1) return;
    sum = checked_add(sum, tir::allocation_size(*allocate).bytes.value_or(0)).value_or(sum);
  });
  return sum;
}

// Compilers may put functions into the frames of their callers, those that are kept apart excepted. These are on the
// stack one after another, unless they call each other.
Bytes array_bytes(const tir::Module& module, const program::CallGraph& graph) {
  Bytes joined = 0;
  std::vector<Bytes> apart(module.functions.size());  // of it and what it calls
  for (const std::size_t index : program::callees_first(module, graph, {module.entry})) {
    const tir::Function& function = module.functions[index];
    for (const program::CallSite& call : graph.calls[index]) apart[index] = std::max(apart[index], apart[call.callee]);
    Bytes& sum = function.keep_apart ? apart[index] : joined;
    sum = checked_add(sum, array_bytes(function)).value_or(sum);
  }
  return checked_add(joined, apart[module.entry]).value_or(joined);
}

struct Walked {
  std::size_t function = 0;
  StackWalker walker;
  bool joins_caller = false;  // what is called from one place and only calls others becomes part of its caller
};

// Walks what the entry calls, callees first.
std::vector<Walked> walk_all(const tir::Module& module, const program::CallGraph& graph) {
  std::vector<std::size_t> sites(module.functions.size());
  for (const auto& calls : graph.calls) {
    for (const program::CallSite& call : calls) ++sites[call.callee];
  }
  std::vector<Walked> all;
  for (const std::size_t index : program::callees_first(module, graph, {module.entry})) {
    const tir::Function& function = module.functions[index];
    StackWalker walker(std::ssize(function.params));
    tir::walk(function.body, walker);
    const bool joins_caller = index != module.entry && !function.keep_apart && !walker.has_loops() && sites[index] == 1;
    all.push_back({index, std::move(walker), joins_caller});
  }
  return all;
}

// Without arrays.
Bytes estimate(const tir::Module& module, const program::CallGraph& graph, const std::vector<Walked>& functions,
               const Frames& frames) {
  std::vector<Bytes> estimates(module.functions.size());
  for (const auto& [index, walker, joins_caller] : functions) {
    Bytes below = walker.has_runs() ? frames.run : 0;
    for (const program::CallSite& call : graph.calls[index]) below = std::max(below, estimates[call.callee]);
    estimates[index] = below + (joins_caller ? 0 : walker.frame(frames));
  }
  return estimates[module.entry];
}

}  // namespace

Bytes stack_estimate(const tir::Module& module, Registers registers) {
  const program::CallGraph graph = program::call_graph(module);
  const std::vector<Walked> functions = walk_all(module, graph);
  const bool has_runs = std::ranges::any_of(functions, [](const Walked& one) { return one.walker.has_runs(); });
  const Bytes arrays = array_bytes(module, graph);
  Bytes most = 0;
  for (const Frames* frames : frames_of(registers)) {
    const Bytes beside = arrays + (arrays > 0 && has_runs ? frames->run_arrays : 0);
    most = std::max(most, estimate(module, graph, functions, *frames) + beside);
  }
  return most;
}

}  // namespace usmp::lower

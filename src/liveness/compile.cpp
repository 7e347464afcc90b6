// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Function bodies → flat programs. What expressions do through pointers is read by program::PointerReader.
#include <algorithm>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "liveness/program.hpp"
#include "liveness/sink.hpp"
#include "liveness/sites.hpp"
#include "usmp/liveness/liveness.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::liveness {
namespace {

using tir::VarId;

class Compiler : public program::PointerUses {
 public:
  Compiler(const tir::Module& module, std::size_t function)
      : module_(module),
        function_(module.functions[function]),
        index_(static_cast<std::uint32_t>(function)),
        pointers_(module, function, *this) {}

  Program run() {
    for (const tir::Param& param : function_.params) program_.params.push_back(pointers_.declare(param.var));
    sunk_ = sink_allocates(module_, function_.body);
    tir::walk(function_.body, *this);
    program_.slot_vars = pointers_.vars();
    program_.slots = program_.slot_vars.size();
    return std::move(program_);
  }

  // --- Statements --------------------------------------------------------------------------------------------------

  // Called by tir::walk.
  void open(const tir::Block& body, const tir::Stmt* /*owner*/) {
    declared_.emplace_back();
    const auto sunk = sunk_.find(&body);
    if (sunk == sunk_.end()) return;
    for (const tir::Allocate* allocate : sunk->second) {
      if (!tir::stays_on_stack(module_, index_, *allocate)) emit_declare({.allocate = allocate, .constant = nullptr});
    }
  }

  void statement(const tir::Stmt& stmt) {
    if (declared_.size() == 1) program_.statements.push_back(program_.ops.size());
    compile(stmt);
  }

  void close(const tir::Block& /*body*/, const tir::Stmt* owner) {
    for (const VarId var : declared_.back()) in_scope_.erase(var);
    declared_.pop_back();
    if (owner != nullptr && is_loop(*owner)) emit(Op::Kind::loop_end);
  }

 private:
  // What runs at most once is no loop.
  static bool repeats(const tir::For& loop) {
    const auto extent = tir::as_int(*loop.extent);
    return !extent || *extent > 1;
  }

  static bool is_loop(const tir::Stmt& stmt) {
    const auto* loop = std::get_if<tir::For>(&stmt.node);
    return loop != nullptr ? repeats(*loop) : std::holds_alternative<tir::While>(stmt.node);
  }

  // The bounds are part of a loop, since code may evaluate them in each iteration.
  void compile(const tir::Stmt& stmt) {
    begin_loop(stmt);
    PointerSet targets = pointers_.read(stmt);
    std::visit(tir::Overloaded{[&](const tir::Allocate& s) {
                                 if (!accesses_.empty() || !calls_.empty()) end_statement();
                                 declare(s);
                               },
                               [&](const tir::AllocateConst& s) {
                                 enter_scope(s.var);
                                 emit_declare({.allocate = nullptr, .constant = &s});
                               },
                               [&](const tir::Let& s) {
                                 end_statement();
                                 if (s.value->type.is_handle()) bind(s.var, std::move(targets));
                               },
                               [](const tir::Scope&) {}, [&](const auto&) { end_statement(); }},
               stmt.node);
  }

  void begin_loop(const tir::Stmt& stmt) {
    const auto* loop = std::get_if<tir::For>(&stmt.node);
    if (loop == nullptr || !repeats(*loop)) {
      if (std::holds_alternative<tir::While>(stmt.node)) begin_nameless_loop();
      return;
    }
    program_.ops.push_back({.kind = Op::Kind::loop_begin, .index = count(program_.loops)});
    program_.loops.push_back(loop);
  }

  void declare(const tir::Allocate& s) {
    enter_scope(s.var);
    if (tir::stays_on_stack(module_, index_, s)) return bind(s.var, {});  // no storage that is planned
    emit_declare({.allocate = &s, .constant = nullptr});
  }

  // One place holds all instances of a variable, so two must never be alive together.
  void enter_scope(VarId var) {
    if (!in_scope_.insert(var).second) {
      fail_in(function_, "variable '" + module_.var(var).name + "' is allocated inside its own scope");
    }
    declared_.back().push_back(var);
  }

  void emit_declare(Declaration declaration) {
    const Slot slot = pointers_.declare(declaration.var());
    program_.ops.push_back({.kind = Op::Kind::declare, .slot = slot, .index = count(program_.declarations)});
    program_.declarations.push_back(declaration);
  }

  // Emits what the expressions of one statement gathered. C leaves open in which order a statement's parts are
  // evaluated, so if a call is walked beside anything else, they stand in a loop: each counts for the whole statement.
  void end_statement() {
    const auto walked = static_cast<std::size_t>(
        std::count_if(calls_.begin(), calls_.end(), [&](const Op& op) { return op.kind == Op::Kind::call; }));
    const bool alone = walked == 0 || calls_.size() + accesses_.size() == 1;
    const auto key = [](const Op& op) {
      return std::tuple(op.slot, op.index, op.kind, op.reads, op.writes, op.element_bytes);
    };
    std::sort(accesses_.begin(), accesses_.end(), [&](const Op& a, const Op& b) { return key(a) < key(b); });
    accesses_.erase(
        std::unique(accesses_.begin(), accesses_.end(), [&](const Op& a, const Op& b) { return key(a) == key(b); }),
        accesses_.end());
    if (!alone) begin_nameless_loop();
    program_.ops.insert(program_.ops.end(), accesses_.begin(), accesses_.end());
    program_.ops.insert(program_.ops.end(), calls_.begin(), calls_.end());
    if (walked == 0 || !alone) emit(Op::Kind::tick);
    if (!alone) emit(Op::Kind::loop_end);
    accesses_.clear();
    calls_.clear();
  }

  // --- Emission ----------------------------------------------------------------------------------------------------

  template <class T>
  static std::uint32_t count(const std::vector<T>& list) {
    return static_cast<std::uint32_t>(list.size());
  }

  void begin_nameless_loop() { program_.ops.push_back({.kind = Op::Kind::loop_begin, .index = no_loop}); }

  void emit(Op::Kind kind) { program_.ops.push_back({.kind = kind}); }

  void access(const PointerSet& pointers, const program::PointerAccess& access) override {
    for (const Slot slot : pointers) {
      accesses_.push_back({.kind = Op::Kind::access,
                           .reads = access.reads,
                           .writes = access.writes,
                           .element_bytes = static_cast<std::uint16_t>(access.element_bytes),
                           .slot = slot,
                           .index = static_cast<std::uint32_t>(access.function)});
    }
  }

  void escape(const PointerSet& pointers) override {
    for (const Slot slot : pointers) accesses_.push_back({.kind = Op::Kind::escape, .slot = slot, .index = index_});
  }

  void call(program::PointerCall call) override {
    calls_.push_back({.kind = call.is_walked ? Op::Kind::call : Op::Kind::opaque, .index = count(program_.calls)});
    program_.calls.push_back(std::move(call));
  }

  void bind(VarId var, PointerSet targets) {
    program_.ops.push_back(
        {.kind = Op::Kind::bind, .slot = pointers_.declare(var), .index = count(program_.pointer_sets)});
    program_.pointer_sets.push_back(std::move(targets));
  }

  const tir::Module& module_;
  const tir::Function& function_;
  std::uint32_t index_;
  Program program_;
  SunkAllocates sunk_;
  program::PointerReader pointers_;
  std::unordered_set<VarId> in_scope_;
  std::vector<std::vector<VarId>> declared_;  // allocated in the blocks that are open, until each ends
  std::vector<Op> accesses_;                  // of the statement being compiled
  std::vector<Op> calls_;
};

}  // namespace

Program compile(const tir::Module& module, std::size_t function) { return Compiler(module, function).run(); }

}  // namespace usmp::liveness

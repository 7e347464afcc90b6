// Function bodies → flat programs. An expression contributes what it reads, which pointers it hands to whom, and which
// functions it calls; pointers are followed by name only, so that a program is independent of its callers.
//
// An expression of handle type stands in one of two positions. Where the pointer is merely passed on (value of a Let,
// argument of a call, side of a selection) it becomes the set of variables that it may be based on. Everywhere else it
// gets out of sight and its storage counts as escaped. A variable of a let expression stands for the set of its value.
#include <algorithm>
#include <span>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "liveness/program.hpp"
#include "liveness/sink.hpp"
#include "liveness/sites.hpp"
#include "usmp/liveness/liveness.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::liveness {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::VarId;

// Adds the smaller set to the larger one. Both are sorted.
PointerSet united(PointerSet to, PointerSet from) {
  if (to.size() < from.size()) std::swap(to, from);
  if (from.empty()) return to;
  const auto middle = static_cast<std::ptrdiff_t>(to.size());
  to.insert(to.end(), from.begin(), from.end());
  std::inplace_merge(to.begin(), to.begin() + middle, to.end());
  to.erase(std::unique(to.begin(), to.end()), to.end());
  return to;
}

bool is_pointer(const Expr& expr) { return expr.type.is_handle() && expr.kind != ExprKind::string_imm; }

class Compiler {
 public:
  Compiler(const tir::Module& module, std::size_t function)
      : module_(module), function_(module.functions[function]), index_(static_cast<std::uint32_t>(function)) {}

  Program run() {
    for (const tir::Param& param : function_.params) program_.params.push_back(declare_slot(param.var));
    sunk_ = sink_allocates(module_, function_.body);
    tir::walk(function_.body, *this);
    program_.slots = slots_.size();
    program_.slot_vars.resize(slots_.size());
    for (const auto& [var, slot] : slots_) program_.slot_vars[slot] = var;
    return std::move(program_);
  }

  // --- Statements --------------------------------------------------------------------------------------------------

  // Of tir::walk.
  void open(const tir::Block& body, const tir::Stmt* /*owner*/) {
    declared_.emplace_back();
    const auto sunk = sunk_.find(&body);
    if (sunk == sunk_.end()) return;
    for (const tir::Allocate* allocate : sunk->second) emit_declare({.allocate = allocate, .constant = nullptr});
  }

  void statement(const tir::Stmt& stmt) {
    if (declared_.size() == 1) program_.statements.push_back(program_.ops.size());
    std::visit([&](const auto& node) { compile(node); }, stmt.node);
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

  void compile(const tir::Allocate& s) {
    for (const ExprRef& extent : s.extents) value(*extent);
    if (s.condition) value(*s.condition);
    if (!accesses_.empty() || !calls_.empty()) end_statement();
    enter_scope(s.var);
    if (s.on_stack) return bind(s.var, {});  // no storage that is planned
    emit_declare({.allocate = &s, .constant = nullptr});
  }

  void compile(const tir::AllocateConst& s) {
    enter_scope(s.var);
    emit_declare({.allocate = nullptr, .constant = &s});
  }

  // One place holds all instances of a variable, so two must never be alive together.
  void enter_scope(VarId var) {
    if (!in_scope_.insert(var).second) fail("variable " + quoted(var) + " is allocated inside its own scope");
    declared_.back().push_back(var);
  }

  void emit_declare(Declaration declaration) {
    const Slot slot = declare_slot(declaration.var());
    program_.ops.push_back({.kind = Op::Kind::declare, .slot = slot, .index = count(program_.declarations)});
    program_.declarations.push_back(declaration);
  }

  void compile(const tir::Let& s) {
    PointerSet targets = part(*s.value);
    end_statement();
    if (s.value->type.is_handle()) bind(s.var, std::move(targets));
  }

  void compile(const tir::Store& s) {
    access(s.storage, true, s.value->type);
    value(*s.index);
    value(*s.value);
    if (s.predicate) value(*s.predicate);
    end_statement();
  }

  void compile(const tir::Evaluate& s) {
    (void)part(*s.value);  // the result is dropped, so a pointer goes nowhere
    end_statement();
  }

  void compile(const tir::Assert& s) {
    value(*s.condition);
    end_statement();
  }

  // The bounds are part of the loop, since code may evaluate them in each iteration.
  void compile(const tir::For& s) {
    if (repeats(s)) {
      program_.ops.push_back({.kind = Op::Kind::loop_begin, .index = count(program_.loops)});
      program_.loops.push_back(&s);
    }
    value(*s.min);
    value(*s.extent);
    end_statement();
  }

  void compile(const tir::While& s) {
    begin_nameless_loop();
    value(*s.condition);
    end_statement();
  }

  void compile(const tir::IfThenElse& s) {
    value(*s.condition);
    end_statement();
  }

  void compile(const tir::Scope&) {}

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

  // --- Expressions -------------------------------------------------------------------------------------------------

  // The expression is evaluated and its value used as a number.
  void value(const Expr& expr) {
    const PointerSet targets = part(expr);
    if (is_pointer(expr)) escape(targets);
  }

  // The expression is evaluated, and what it points to is known to whoever asked.
  PointerSet part(const Expr& root) {
    const auto before = [&](const Expr& expr, std::size_t i, std::span<PointerSet> values) {
      if (expr.kind == ExprKind::let && i == 1) let_targets_[expr.var].push_back(values[0]);
    };
    const auto combine = [&](const Expr& expr, std::span<PointerSet> values) {
      PointerSet targets = evaluate(expr, values);
      return is_pointer(expr) ? std::move(targets) : PointerSet();
    };
    return tir::fold<PointerSet>(root, append_parts, before, combine);
  }

  // The load below address_of does not happen, but its index is evaluated; a function's name is nothing to evaluate.
  static void append_parts(const Expr& expr, std::vector<const Expr*>& parts) {
    const bool is_address = is_address_of_load(expr);
    const std::span<const ExprRef> operands(is_address ? expr.operands[0]->operands : expr.operands);
    for (const ExprRef& operand : operands.subspan(tir::named_call(expr) ? 1 : 0)) parts.push_back(operand.get());
  }

  static bool is_address_of_load(const Expr& expr) {
    return expr.kind == ExprKind::call && expr.op == tir::Op::address_of && expr.operands.size() == 1 &&
           expr.operands[0]->kind == ExprKind::load;
  }

  // What the expression does by itself, and what it points to, given what its parts point to.
  PointerSet evaluate(const Expr& expr, std::span<PointerSet> parts) {
    switch (expr.kind) {
      case ExprKind::var:
        return is_pointer(expr) ? targets_of(expr.var) : PointerSet();
      case ExprKind::load:
        // A pointer in memory can only be one that escaped when it was stored.
        access(expr.var, false, expr.type);
        escape_all(parts);
        return {};
      case ExprKind::let:
        let_targets_[expr.var].pop_back();
        if (!is_pointer(expr)) escape(parts[1]);
        return std::move(parts[1]);
      case ExprKind::call:
        return call(expr, parts);
      case ExprKind::eq:
      case ExprKind::ne:
        return {};  // comparing a pointer (with NULL) does not let it out
      default:
        // select, cast, arithmetic on a pointer; otherwise a pointer is taken for a number
        if (is_pointer(expr)) return united_all(parts);
        escape_all(parts);
        return {};
    }
  }

  // Gives what the result may point to.
  PointerSet call(const Expr& expr, std::span<PointerSet> parts) {
    if (const auto named = tir::named_call(expr))
      return named_call(*named, parts, expr.op == tir::Op::call_pure_extern);
    if (is_address_of_load(expr)) {
      escape_all(parts);
      return targets_of(expr.operands[0]->var);
    }
    PointerSet all = united_all(parts);
    if (tir::info(expr.op).derives_pointer) {
      // As a number (a reinterpreted pointer) the result is out of sight.
      if (!expr.type.is_handle() && expr.op != tir::Op::isnullptr) escape(all);
      return all;
    }
    if (expr.op == tir::Op::ret || expr.op == tir::Op::tvm_struct_set) {
      escape(all);  // handed out, or put into a structure that a later call unpacks
    } else {
      access_all(all, index_);
    }
    return all;
  }

  PointerSet named_call(const tir::NamedCall& named, std::span<PointerSet> operands, bool is_pure) {
    CallSite site{.callee = *named.name,
                  .function = 0,
                  .is_defined = false,
                  .is_pure = is_pure,
                  .arguments = {},
                  .is_variable = {}};
    const auto arguments = operands.first(named.arguments.size());
    site.arguments.assign(arguments.begin(), arguments.end());
    for (const ExprRef& argument : named.arguments) site.is_variable.push_back(is_declared_variable(*argument));
    PointerSet handed = united_all(operands);
    if (const auto function = module_.find(site.callee)) {
      site.is_defined = true;
      site.function = *function;
    }
    const bool walked = site.is_defined && !tir::is_opaque(module_, module_.functions[site.function]);
    if (walked) {
      check_arguments(site);
    } else {
      const std::uint32_t by = site.is_defined ? static_cast<std::uint32_t>(site.function) : index_;
      access_all(handed, by);
      for (std::size_t i = 0; i < site.arguments.size(); ++i) {
        access_all(site.arguments[i], by, handed_element_bytes(site, i, *named.arguments[i]));
      }
    }
    calls_.push_back({.kind = walked ? Op::Kind::call : Op::Kind::opaque, .index = count(program_.calls)});
    program_.calls.push_back(std::move(site));
    return handed;
  }

  // And not one of a let expression.
  [[nodiscard]] bool is_declared_variable(const Expr& argument) const {
    if (argument.kind != ExprKind::var || !slots_.contains(argument.var)) return false;
    const auto let = let_targets_.find(argument.var);
    return let == let_targets_.end() || let->second.empty();
  }

  // Of what an opaque callee is handed: as it declares its parameter, or as the pointer was made.
  [[nodiscard]] std::uint16_t handed_element_bytes(const CallSite& site, std::size_t index,
                                                   const Expr& argument) const {
    Bytes bytes = 1;
    if (site.is_defined && index < module_.functions[site.function].params.size()) {
      bytes = module_.functions[site.function].params[index].element.element_bytes();
    }
    const bool is_typed = argument.kind == ExprKind::call && !argument.operands.empty() &&
                          (argument.op == tir::Op::address_of || argument.op == tir::Op::tvm_access_ptr);
    if (is_typed) bytes = std::max(bytes, argument.operands[0]->type.element_bytes());
    return static_cast<std::uint16_t>(std::max<Bytes>(1, bytes));
  }

  void check_arguments(const CallSite& site) const {
    const std::size_t expected = module_.functions[site.function].params.size();
    if (site.arguments.size() == expected) return;
    fail("a call passes " + std::to_string(site.arguments.size()) + " arguments to '" + site.callee +
         "', which takes " + std::to_string(expected));
  }

  // --- Emission ----------------------------------------------------------------------------------------------------

  template <class T>
  static std::uint32_t count(const std::vector<T>& list) {
    return static_cast<std::uint32_t>(list.size());
  }

  void begin_nameless_loop() { program_.ops.push_back({.kind = Op::Kind::loop_begin, .index = no_loop}); }

  void emit(Op::Kind kind) { program_.ops.push_back({.kind = kind}); }

  void access(VarId var, bool writes, tir::DataType type) {
    const auto bytes = static_cast<std::uint16_t>(std::max<Bytes>(1, type.element_bytes()));
    for (const Slot slot : targets_of(var)) {
      accesses_.push_back({.kind = Op::Kind::access,
                           .reads = !writes,
                           .writes = writes,
                           .element_bytes = bytes,
                           .slot = slot,
                           .index = index_});
    }
  }

  void access_all(const PointerSet& slots, std::uint32_t by, std::uint16_t element_bytes = 1) {
    for (const Slot slot : slots) {
      accesses_.push_back({.kind = Op::Kind::access,
                           .reads = true,
                           .writes = true,
                           .element_bytes = element_bytes,
                           .slot = slot,
                           .index = by});
    }
  }

  void escape(const PointerSet& slots) {
    for (const Slot slot : slots) accesses_.push_back({.kind = Op::Kind::escape, .slot = slot, .index = index_});
  }

  void escape_all(std::span<const PointerSet> sets) {
    for (const PointerSet& slots : sets) escape(slots);
  }

  static PointerSet united_all(std::span<PointerSet> sets) {
    PointerSet all;
    for (PointerSet& set : sets) all = united(std::move(all), std::move(set));
    return all;
  }

  void bind(VarId var, PointerSet targets) {
    program_.ops.push_back({.kind = Op::Kind::bind, .slot = declare_slot(var), .index = count(program_.pointer_sets)});
    program_.pointer_sets.push_back(std::move(targets));
  }

  Slot declare_slot(VarId var) { return slots_.emplace(var, static_cast<Slot>(slots_.size())).first->second; }

  // What a pointer variable may point to.
  PointerSet targets_of(VarId var) const {
    const auto let = let_targets_.find(var);
    if (let != let_targets_.end() && !let->second.empty()) return let->second.back();
    return {slot_of(var)};
  }

  Slot slot_of(VarId var) const {
    const auto found = slots_.find(var);
    if (found == slots_.end())
      fail("variable " + quoted(var) + " points to storage that the function does not declare");
    return found->second;
  }

  std::string quoted(VarId var) const { return "'" + module_.var(var).name + "'"; }

  [[noreturn]] void fail(std::string message) const { fail_in(function_, std::move(message)); }

  const tir::Module& module_;
  const tir::Function& function_;
  std::uint32_t index_;
  Program program_;
  SunkAllocates sunk_;
  std::unordered_map<VarId, Slot> slots_;
  std::unordered_set<VarId> in_scope_;
  std::vector<std::vector<VarId>> declared_;  // allocated in the blocks that are open, until each ends
  std::unordered_map<VarId, std::vector<PointerSet>> let_targets_;  // of the let expressions around, the innermost last
  std::vector<Op> accesses_;                                        // of the statement being compiled
  std::vector<Op> calls_;
};

}  // namespace

Program compile(const tir::Module& module, std::size_t function) { return Compiler(module, function).run(); }

}  // namespace usmp::liveness

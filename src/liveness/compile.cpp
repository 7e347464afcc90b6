// Function bodies → flat programs. An expression contributes what it reads, which pointers it hands to whom, and which
// functions it calls; pointers are followed by name only, so that a program is independent of its callers.
//
// An expression of handle type stands in one of two positions. Where the pointer is merely passed on (value of a Let,
// argument of a call, side of a selection) it becomes the set of variables that it may be based on. Everywhere else it
// gets out of sight and its storage counts as escaped.
#include <algorithm>
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

void unite(PointerSet& to, const PointerSet& from) {
  to.insert(to.end(), from.begin(), from.end());
  std::sort(to.begin(), to.end());
  to.erase(std::unique(to.begin(), to.end()), to.end());
}

bool is_pointer(const Expr& expr) { return expr.type.is_handle() && expr.kind != ExprKind::string_imm; }

// Operators that give a pointer into the storage of their pointer operands and access nothing.
bool only_derives_pointer(const std::string& op) {
  return op == "tir.tvm_access_ptr" || op == "tir.reinterpret" || op == "tir.if_then_else" ||
         op == "tir.handle_add_byte_offset" || op == "tir.tvm_stack_make_array" || op == "tir.isnullptr";
}

class Compiler {
 public:
  Compiler(const tir::Module& module, std::size_t function)
      : module_(module), function_(module.functions[function]), index_(static_cast<std::uint32_t>(function)) {}

  Program run() {
    for (const tir::Param& param : function_.params) program_.params.push_back(declare_slot(param.var));
    sunk_ = sink_allocates(function_.body);
    block(function_.body);
    program_.slots = slots_.size();
    return std::move(program_);
  }

 private:
  // --- Statements --------------------------------------------------------------------------------------------------

  void block(const tir::Block& body) {
    std::vector<VarId> declared;
    if (const auto sunk = sunk_.find(&body); sunk != sunk_.end()) {
      for (const tir::Allocate* allocate : sunk->second) emit_declare({.allocate = allocate, .constant = nullptr});
    }
    for (const tir::Stmt& stmt : body) {
      std::visit(tir::Overloaded{[&](const tir::Allocate& s) { allocate(s, declared); },
                                 [&](const tir::AllocateConst& s) {
                                   enter_scope(s.var, declared);
                                   emit_declare({.allocate = nullptr, .constant = &s});
                                 },
                                 [&](const auto& s) { statement(s); }},
                 stmt.node);
    }
    for (const VarId var : declared) in_scope_.erase(var);
  }

  void allocate(const tir::Allocate& s, std::vector<VarId>& declared) {
    for (const ExprRef& extent : s.extents) value(*extent);
    if (s.condition) value(*s.condition);
    if (!accesses_.empty() || !calls_.empty()) end_statement();
    enter_scope(s.var, declared);
    emit_declare({.allocate = &s, .constant = nullptr});
  }

  // One place holds all instances of a variable, so two must never be alive together.
  void enter_scope(VarId var, std::vector<VarId>& declared) {
    if (!in_scope_.insert(var).second) fail("variable " + quoted(var) + " is allocated inside its own scope");
    declared.push_back(var);
  }

  void emit_declare(Declaration declaration) {
    const Slot slot = declare_slot(declaration.var());
    program_.ops.push_back({.kind = Op::Kind::declare, .slot = slot, .index = count(program_.declarations)});
    program_.declarations.push_back(declaration);
  }

  void statement(const tir::Let& s) {
    if (!s.value->type.is_handle()) {
      value(*s.value);
      return end_statement();
    }
    PointerSet targets = pointer(*s.value);
    end_statement();
    bind(s.var, std::move(targets));
  }

  void statement(const tir::Store& s) {
    access(s.storage, true, s.value->type);
    value(*s.index);
    value(*s.value);
    if (s.predicate) value(*s.predicate);
    end_statement();
  }

  void statement(const tir::Evaluate& s) {
    // The result is dropped, so a pointer goes nowhere.
    if (is_pointer(*s.value)) {
      (void)pointer(*s.value);
    } else {
      value(*s.value);
    }
    end_statement();
  }

  void statement(const tir::Assert& s) {
    value(*s.condition);
    end_statement();
  }

  // The bounds are part of the loop, since code may evaluate them in each iteration. What runs at most once is no loop.
  void statement(const tir::For& s) {
    const auto extent = tir::as_int(*s.extent);
    const bool repeats = !extent || *extent > 1;
    if (repeats) emit(Op::Kind::loop_begin);
    value(*s.min);
    value(*s.extent);
    end_statement();
    block(s.body);
    if (repeats) emit(Op::Kind::loop_end);
  }

  void statement(const tir::While& s) {
    emit(Op::Kind::loop_begin);
    value(*s.condition);
    end_statement();
    block(s.body);
    emit(Op::Kind::loop_end);
  }

  void statement(const tir::IfThenElse& s) {
    value(*s.condition);
    end_statement();
    block(s.then_body);
    block(s.else_body);
  }

  void statement(const tir::Scope& s) { block(s.body); }

  // Emits what the expressions of one statement gathered. C leaves open in which order a statement's parts are
  // evaluated, so if a call is walked beside anything else, they stand in a loop: each counts for the whole statement.
  void end_statement() {
    const auto walked = static_cast<std::size_t>(
        std::count_if(calls_.begin(), calls_.end(), [&](const Op& op) { return op.kind == Op::Kind::call; }));
    const bool alone = walked == 0 || calls_.size() + accesses_.size() == 1;
    const auto key = [](const Op& op) { return std::tuple(op.slot, op.index, op.kind, op.writes, op.element_bytes); };
    std::sort(accesses_.begin(), accesses_.end(), [&](const Op& a, const Op& b) { return key(a) < key(b); });
    accesses_.erase(
        std::unique(accesses_.begin(), accesses_.end(), [&](const Op& a, const Op& b) { return key(a) == key(b); }),
        accesses_.end());
    if (!alone) emit(Op::Kind::loop_begin);
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
    if (is_pointer(expr)) {
      for (const Slot slot : pointer(expr)) {
        accesses_.push_back({.kind = Op::Kind::escape, .slot = slot, .index = index_});
      }
      return;
    }
    switch (expr.kind) {
      case ExprKind::load:
        access(expr.var, false, expr.type);
        break;
      case ExprKind::let:
        let(expr);
        value(*expr.operands[1]);
        return;
      case ExprKind::call:
        (void)call(expr);
        return;
      case ExprKind::eq:
      case ExprKind::ne:
        // Comparing a pointer (with NULL) does not let it out.
        for (const ExprRef& operand : expr.operands) part(*operand);
        return;
      default:
        break;
    }
    for (const ExprRef& operand : expr.operands) value(*operand);
  }

  // The expression is evaluated, and what it points to is known to whoever asked.
  PointerSet part(const Expr& expr) {
    if (is_pointer(expr)) return pointer(expr);
    value(expr);
    return {};
  }

  PointerSet pointer(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::var:
        return {slot_of(expr.var)};
      case ExprKind::load:
        // A pointer in memory can only be one that escaped when it was stored.
        access(expr.var, false, expr.type);
        for (const ExprRef& operand : expr.operands) value(*operand);
        return {};
      case ExprKind::let:
        let(expr);
        return part(*expr.operands[1]);
      case ExprKind::call:
        return call(expr);
      default: {  // select, cast, arithmetic on a pointer
        PointerSet all;
        for (const ExprRef& operand : expr.operands) unite(all, part(*operand));
        return all;
      }
    }
  }

  void let(const Expr& expr) {
    PointerSet targets = part(*expr.operands[0]);
    if (expr.operands[0]->type.is_handle()) bind(expr.var, std::move(targets));
  }

  // Gives what the result may point to.
  PointerSet call(const Expr& expr) {
    if (const auto named = tir::named_call(expr)) return named_call(expr, *named);
    if (expr.text == "tir.address_of" && expr.operands.size() == 1 && expr.operands[0]->kind == ExprKind::load) {
      const Expr& load = *expr.operands[0];
      for (const ExprRef& operand : load.operands) value(*operand);
      return {slot_of(load.var)};
    }
    PointerSet all;
    for (const ExprRef& operand : expr.operands) unite(all, part(*operand));
    if (only_derives_pointer(expr.text)) {
      // As a number (a reinterpreted pointer) the result is out of sight.
      if (!expr.type.is_handle() && expr.text != "tir.isnullptr") escape(all);
      return all;
    }
    if (expr.text == "tir.ret" || expr.text == "tir.tvm_struct_set") {
      escape(all);  // handed out, or put into a structure that a later call unpacks
    } else {
      access_all(all, index_);
    }
    return all;
  }

  PointerSet named_call(const Expr& expr, const tir::NamedCall& named) {
    CallSite site{.callee = *named.name, .function = 0, .is_defined = false, .arguments = {}};
    PointerSet handed;
    for (std::size_t i = 1; i < expr.operands.size(); ++i) {
      PointerSet argument = part(*expr.operands[i]);
      unite(handed, argument);
      if (i <= named.arguments.size()) site.arguments.push_back(std::move(argument));
    }
    if (const auto function = module_.find(site.callee)) {
      site.is_defined = true;
      site.function = *function;
    }
    const bool walked = site.is_defined && !tir::is_opaque(module_, module_.functions[site.function]);
    if (walked) {
      check_arguments(site);
    } else {
      access_all(handed, site.is_defined ? static_cast<std::uint32_t>(site.function) : index_);
    }
    calls_.push_back({.kind = walked ? Op::Kind::call : Op::Kind::opaque, .index = count(program_.calls)});
    program_.calls.push_back(std::move(site));
    return handed;
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

  void emit(Op::Kind kind) { program_.ops.push_back({.kind = kind}); }

  void access(VarId var, bool writes, tir::DataType type) {
    const auto bytes = static_cast<std::uint16_t>(std::max<Bytes>(1, type.element_bytes()));
    accesses_.push_back(
        {.kind = Op::Kind::access, .writes = writes, .element_bytes = bytes, .slot = slot_of(var), .index = index_});
  }

  void access_all(const PointerSet& slots, std::uint32_t by) {
    for (const Slot slot : slots) {
      accesses_.push_back({.kind = Op::Kind::access, .writes = true, .slot = slot, .index = by});
    }
  }

  void escape(const PointerSet& slots) {
    for (const Slot slot : slots) accesses_.push_back({.kind = Op::Kind::escape, .slot = slot, .index = index_});
  }

  void bind(VarId var, PointerSet targets) {
    program_.ops.push_back({.kind = Op::Kind::bind, .slot = declare_slot(var), .index = count(program_.pointer_sets)});
    program_.pointer_sets.push_back(std::move(targets));
  }

  Slot declare_slot(VarId var) { return slots_.emplace(var, static_cast<Slot>(slots_.size())).first->second; }

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
  std::vector<Op> accesses_;  // of the statement being compiled
  std::vector<Op> calls_;
};

}  // namespace

Program compile(const tir::Module& module, std::size_t function) { return Compiler(module, function).run(); }

}  // namespace usmp::liveness

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Scans functions, callees first, for what they use and write, and spreads it to what pointers were made of.
#include "codegen/facts.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "codegen/c_library.hpp"
#include "codegen/constant_data.hpp"
#include "codegen/float_vectors.hpp"
#include "codegen/status.hpp"
#include "usmp/program/call_graph.hpp"
#include "usmp/program/pointers.hpp"
#include "usmp/support/error.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::codegen {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Function;
using tir::Module;
using tir::Stmt;
using tir::VarId;

// --- Pointers of one function ----------------------------------------------------------------------------------------

// Types that may alias each other in C share a class: signed and unsigned variants do; character types alias anything.
std::string aliasing_class(const std::string& storage_type) {
  if (storage_type == "int8_t" || storage_type == "uint8_t") return "";
  return storage_type[0] == 'u' ? storage_type.substr(1) : storage_type;
}

// Storage on the stack that is not set on every way to its first use. Each is either pending, with the number of blocks
// around it that need not run, or has been decided.
class StackScan {
 public:
  std::unordered_set<VarId> initialised;

  void open(const tir::Block& /*block*/, const Stmt* owner) {
    if (is_uncertain(owner)) ++uncertain_;
  }
  void close(const tir::Block& /*block*/, const Stmt* owner) {
    if (is_uncertain(owner)) --uncertain_;
  }

  void statement(const Stmt& stmt) {
    if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) {
      if (allocate->on_stack && !allocate->was_on_stack) pending_[allocate->var] = uncertain_;  // those are as TVM's
      return;
    }
    if (pending_.empty()) return;
    tir::for_each_expr_of(stmt, [&](const ExprRef& root) {
      tir::for_each_expr(*root, [&](const Expr& expr) {
        if (pending_.erase(expr.var) > 0) initialised.insert(expr.var);
      });
    });
    const auto* store = std::get_if<tir::Store>(&stmt.node);
    const auto found = store == nullptr ? pending_.end() : pending_.find(store->storage);
    if (found == pending_.end()) return;
    if (store->predicate != nullptr || found->second != uncertain_) initialised.insert(store->storage);
    pending_.erase(found);
  }

 private:
  static bool is_uncertain(const Stmt* owner) {
    if (owner == nullptr || std::holds_alternative<tir::Scope>(owner->node)) return false;
    const auto* loop = std::get_if<tir::For>(&owner->node);
    return loop == nullptr || tir::as_int(*loop->extent).value_or(0) <= 0;
  }

  std::unordered_map<VarId, std::size_t> pending_;
  std::size_t uncertain_ = 0;
};

class FunctionScan {
 public:
  FunctionScan(const EmissionInput& planned, std::size_t index, const std::vector<FunctionFacts>& known)
      : module_(planned.lowered.module), function_(module_.functions[index]), known_(known) {
    for (const lower::Placement& placement : planned.lowered.functions[index].placements) {
      placed_.insert(placement.var);
    }
  }

  FunctionFacts run() {
    mark_used();
    StackScan stack;
    tir::walk(function_.body, stack);
    facts_.initialised = std::move(stack.initialised);
    facts_.continued = continued_loops(function_.body);
    tir::for_each_stmt(function_.body, [&](const Stmt& stmt) { scan(stmt); });
    spread_uses();
    check_constants();
    find_mixed_types();
    declare_types();
    facts_.float_vectors = float_vectors(function_, facts_.pointers);
    return std::move(facts_);
  }

 private:
  // A Let that nobody uses is dropped, and with it its uses of other variables. Backwards, since uses follow.
  void mark_used() {
    std::vector<const Stmt*> statements;
    tir::for_each_stmt(function_.body, [&](const Stmt& stmt) { statements.push_back(&stmt); });
    for (std::size_t i = statements.size(); i-- > 0;) {
      const Stmt& stmt = *statements[i];
      if (const auto* let = std::get_if<tir::Let>(&stmt.node)) {
        if (!facts_.used.contains(let->var) && !has_side_effects(*let->value)) continue;
      }
      if (const auto* evaluate = std::get_if<tir::Evaluate>(&stmt.node)) {
        if (!is_worth_evaluating(*evaluate->value)) continue;
      }
      if (const auto* store = std::get_if<tir::Store>(&stmt.node)) facts_.used.insert(store->storage);
      tir::for_each_expr_of(stmt, [&](const ExprRef& root) {
        tir::for_each_expr(*root, [&](const Expr& expr) {
          if (expr.kind == ExprKind::var || expr.kind == ExprKind::load) facts_.used.insert(expr.var);
        });
      });
    }
  }

  // Written through a pointer means written through what it was made of, and so do accesses of wide types. A let's
  // value may hold lets, which are found behind it, so no order of the bindings sees every chain: what changes is
  // looked at again.
  void spread_uses() {
    std::unordered_map<VarId, std::vector<std::size_t>> bindings_of;
    std::vector<VarId> changed;
    for (std::size_t i = 0; i < bindings_.size(); ++i) {
      bindings_of[bindings_[i].first].push_back(i);
      changed.push_back(bindings_[i].first);
    }
    while (!changed.empty()) {
      const VarId var = changed.back();
      changed.pop_back();
      const PointerFacts& made = facts_.pointers[var];
      const Bytes alignment = alignment_of(facts_, var);
      const auto own = bindings_of.find(var);
      if (own == bindings_of.end()) continue;
      for (const std::size_t i : own->second) {
        const bool stored = made.stored && bindings_[i].second.size() == 1;  // one of several: which is not known
        for (const VarId base : bindings_[i].second) {
          bool is_new = align(base, alignment);
          if (made.written) is_new = mark_written(base, stored) || is_new;
          if (is_new) changed.push_back(base);
        }
      }
    }
  }

  // Whether that is news.
  bool align(VarId var, Bytes element_bytes) {
    if (element_bytes <= alignment_of(facts_, var)) return false;
    facts_.alignments[var] = static_cast<Bytes>(std::bit_ceil(static_cast<std::uint64_t>(element_bytes)));
    return true;
  }

  void scan(const Stmt& stmt) {
    if (const auto* let = std::get_if<tir::Let>(&stmt.node)) {
      if (let->value->type.is_handle()) bind(let->var, *let->value);
    } else if (const auto* store = std::get_if<tir::Store>(&stmt.node)) {
      access(store->storage, store->value->type);
      mark_written(store->storage, true);
    } else if (const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node)) {
      declare_constant(*constant);
    } else if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) {
      (void)facts_.pointers[allocate->var];
      declared_elements_[allocate->var] = allocate->type.element();
      if (allocate->on_stack) arrays_.insert(allocate->var);
    }
    tir::for_each_expr_of(
        stmt, [&](const ExprRef& root) { tir::for_each_expr(*root, [&](const Expr& expr) { scan_expr(expr); }); });
  }

  void scan_expr(const Expr& expr) {
    if (expr.kind == ExprKind::load) access(expr.var, expr.type);
    if (expr.kind == ExprKind::call && expr.op == tir::Op::tvm_access_ptr && !expr.operands.empty()) {
      align_bases(expr, expr.operands[0]->type.element_bytes());
    }
    if (expr.kind == ExprKind::let && expr.operands[0]->type.is_handle()) bind(expr.var, *expr.operands[0]);
    if (const auto call = tir::named_call(expr)) scan_call(*call);
    if (tir::is_run(expr.op)) mark_written(expr.operands[0]->var, true);
  }

  void scan_call(const tir::NamedCall& call) {
    const auto callee = module_.find(*call.name);
    const bool is_walked = callee && !tir::is_opaque(module_, module_.functions[*callee]);
    if (callee && module_.functions[*callee].params.size() != call.arguments.size()) {
      fail(function_, "a call passes " + std::to_string(call.arguments.size()) + " arguments to '" + *call.name +
                          "', which takes " + std::to_string(module_.functions[*callee].params.size()));
    }
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      const Expr& argument = *call.arguments[i];
      if (!argument.type.is_handle()) continue;
      if (!callee) collect_bases(argument, handed_out_);
      align_argument(argument, callee, i);
      bool written = true;
      bool stored = false;
      if (is_walked) {
        const FunctionFacts& facts = known_[*callee];
        const auto found = facts.pointers.find(module_.functions[*callee].params[i].var);
        written = found != facts.pointers.end() && found->second.written;
        stored = written && found->second.stored;
      } else if (argument.kind == ExprKind::call && argument.op == tir::Op::tvm_access_ptr) {
        const auto mode = argument.operands.size() == 5 ? tir::as_int(*argument.operands[4]) : std::nullopt;
        written = !mode || (*mode & 2) != 0;  // type, data, offset, extent, access: 1 reads, 2 writes
      }
      if (!written) continue;
      std::vector<VarId> bases;
      collect_bases(argument, bases);
      for (const VarId base : bases) mark_written(base, stored);
    }
  }

  // As the callee accesses it or declares its parameter.
  void align_argument(const Expr& argument, std::optional<std::size_t> callee, std::size_t param) {
    Bytes alignment = 1;
    if (callee) {
      const tir::Param& declared = module_.functions[*callee].params[param];
      alignment = std::max<Bytes>(
          {alignment, declared.element.element_bytes(), module_.var(declared.var).element.element_bytes()});
      alignment = std::max(alignment, alignment_of(known_[*callee], declared.var));
    }
    align_bases(argument, alignment);
  }

  void align_bases(const Expr& pointer, Bytes alignment) {
    std::vector<VarId> bases;
    collect_bases(pointer, bases);
    for (const VarId base : bases) (void)align(base, alignment);
  }

  // Whether that is news.
  bool mark_written(VarId var, bool stored) {
    PointerFacts& facts = facts_.pointers[var];
    const bool is_new = !facts.written || (stored && !facts.stored);
    facts.written = true;
    facts.stored = facts.stored || stored;
    return is_new;
  }

  void access(VarId var, tir::DataType type) {
    if (!has_c_type(type.element())) return;  // printing it will say so
    (void)align(var, type.element_bytes());
    auto& types = facts_.pointers[var].types;
    const std::string storage = storage_type(type.element());
    if (std::find(types.begin(), types.end(), storage) == types.end()) types.push_back(storage);
  }

  void bind(VarId var, const Expr& value) {
    std::vector<VarId> bases;
    collect_bases(value, bases);
    bindings_.emplace_back(var, std::move(bases));
    (void)facts_.pointers[var];
  }

  void declare_constant(const tir::AllocateConst& constant) {
    PointerFacts& facts = facts_.pointers[constant.var];
    facts.is_constant = true;
    constant_elements_[constant.var] = array_of(*constant.data).element;
  }

  // An extern is handed constants without const, but a store would be a fault at run time.
  void check_constants() const {
    for (const auto& [var, bases] : bindings_) {
      const auto found = facts_.pointers.find(var);
      if (found != facts_.pointers.end() && found->second.is_constant && !bases.empty()) {
        fail(function_, "constant '" + module_.var(var).name + "' is bound again");
      }
    }
    std::optional<VarId> first;
    for (const auto& [var, facts] : facts_.pointers) {  // the order does not matter: the least variable is taken
      if (facts.is_constant && facts.stored && (!first || var < *first)) first = var;
    }
    if (first) fail_written(*first);
  }

  [[noreturn]] void fail_written(VarId var) const {
    fail(function_, "constant '" + module_.var(var).name + "' is written to");
  }

  // Pointers made of one another belong to one storage, except what lowering places in a pool: those bytes have no
  // other name while they are in use.
  void find_mixed_types() {
    std::unordered_map<VarId, VarId> parent;
    const auto root_of = [&](VarId var) {
      while (parent.contains(var) && parent.at(var) != var) var = parent.at(var);
      return var;
    };
    for (const auto& [var, bases] : bindings_) {
      if (placed_.contains(var)) continue;
      for (const VarId base : bases) {
        const VarId a = root_of(var);
        const VarId b = root_of(base);
        if (a != b) parent[std::max(a, b)] = std::min(a, b);
      }
    }
    std::unordered_map<VarId, std::string> class_of_root;
    std::unordered_set<VarId> mixed;
    for (const auto& [var, facts] : facts_.pointers) {  // the order does not matter: a set of classes is collected
      const VarId root = root_of(var);
      for (const std::string& type : facts.types) {
        const std::string kind = aliasing_class(type);
        if (kind.empty()) continue;
        const auto [known, added] = class_of_root.emplace(root, kind);
        if (!added && known->second != kind) mixed.insert(root);
      }
      const auto constant = constant_elements_.find(var);
      if (constant == constant_elements_.end()) continue;
      // The array's declared type counts as well; a char array read as something else is no better.
      const bool differs = std::any_of(facts.types.begin(), facts.types.end(), [&](const std::string& type) {
        return !aliasing_class(type).empty() && aliasing_class(type) != aliasing_class(constant->second);
      });
      if (differs) mixed.insert(root);
    }
    for (auto& [var, facts] : facts_.pointers) facts.mixed_types = mixed.contains(root_of(var));
  }

  void declare_types() {
    const std::unordered_set<VarId> handed_out(handed_out_.begin(), handed_out_.end());
    for (auto& [var, facts] : facts_.pointers) {
      facts.type.is_const = !facts.written;
      if (facts.is_constant) {
        facts.type = {constant_elements_.at(var), true};
        continue;
      }
      if (!facts.types.empty()) facts.type.element = facts.types.front();
      const tir::DataType named = declared_element(var);
      const std::string preferred = has_c_type(named) ? storage_type(named) : "void";
      const bool is_accessed_so = std::find(facts.types.begin(), facts.types.end(), preferred) != facts.types.end();
      // What a function gets whose prototype is not known here has the type that the program gives it.
      const bool is_handed_out = handed_out.contains(var) && has_c_type(named);
      // An array has a type, also if only functions of the module access it.
      const bool is_passed = facts.types.empty() && arrays_.contains(var) && has_c_type(named);
      if (is_accessed_so || is_handed_out || is_passed) facts.type.element = preferred;
    }
    for (const tir::Param& param : function_.params) declare_param(param);
  }

  // A tensor's type is the interface that callers see, whatever the body makes of it.
  void declare_param(const tir::Param& param) {
    if (!module_.var(param.var).type.is_handle()) return;
    const bool is_new = !facts_.pointers.contains(param.var);
    PointerFacts& facts = facts_.pointers[param.var];
    if (is_new) facts.type.is_const = true;
    const tir::DataType element = has_c_type(param.element.element()) ? param.element : declared_element(param.var);
    if (has_c_type(element.element())) facts.type.element = storage_type(element.element());
    if (!param.is_tensor && element.is_void() && is_new) facts.type.is_const = false;  // a context, never looked at
  }

  tir::DataType declared_element(VarId var) const {
    const auto allocated = declared_elements_.find(var);
    return allocated != declared_elements_.end() ? allocated->second : module_.var(var).element.element();
  }

  const Module& module_;
  const Function& function_;
  const std::vector<FunctionFacts>& known_;
  FunctionFacts facts_;
  std::unordered_set<VarId> placed_;
  std::vector<VarId> handed_out_;  // to functions that the module does not have
  std::vector<std::pair<VarId, std::vector<VarId>>> bindings_;
  std::unordered_map<VarId, std::string> constant_elements_;
  std::unordered_map<VarId, tir::DataType> declared_elements_;
  std::unordered_set<VarId> arrays_;  // on the stack
};

}  // namespace

void fail(const Function& function, const std::string& message) {
  throw Error(ErrorKind::archive, {.file = {}, .member = {}, .place = "function " + function.name}, message);
}

Bytes alignment_of(const FunctionFacts& facts, VarId pointer) {
  const auto found = facts.alignments.find(pointer);
  return found == facts.alignments.end() ? 1 : found->second;
}

void collect_bases(const Expr& root, std::vector<VarId>& bases) {
  std::vector<const Expr*> parts = {&root};
  while (!parts.empty()) {
    const Expr& pointer = *parts.back();
    parts.pop_back();
    if (pointer.kind == ExprKind::var || pointer.kind == ExprKind::load) {
      bases.push_back(pointer.var);
      continue;
    }
    const auto first = static_cast<std::ptrdiff_t>(parts.size());
    program::append_pointer_parts(pointer, parts);
    std::reverse(parts.begin() + first, parts.end());
  }
}

bool has_side_effects(const Expr& root) {
  bool found = false;
  tir::for_each_expr(root, [&](const Expr& expr) {
    found = found || (expr.kind == ExprKind::call && !tir::info(expr.op).is_pure);
    return !found;
  });
  return found;
}

bool is_worth_evaluating(const Expr& value) { return tir::named_call(value).has_value() || has_side_effects(value); }

ModuleFacts find_facts(const EmissionInput& module) {
  ModuleFacts facts;
  const tir::Module& lowered = module.lowered.module;
  const program::CallGraph graph = program::call_graph(lowered);
  facts.order = program::callees_first(lowered, graph, {lowered.entry});
  facts.functions.resize(lowered.functions.size());
  const std::vector<bool> has_status = functions_with_status(lowered, graph, facts.order);
  for (const std::size_t index : facts.order) {
    facts.functions[index] = FunctionScan(module, index, facts.functions).run();
    facts.functions[index].gives_status = has_status[index];
  }
  return facts;
}

}  // namespace usmp::codegen

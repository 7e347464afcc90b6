// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Walks all functions with the scopes of their variables, and stops at the first fault.
#include "usmp/tir/verify.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tir/node_rules.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tir {
namespace {

constexpr const char* in_a_ring_pointer = " holds rows, but its address is taken";

// Checks a module, function by function. The first fault ends it: nothing behind it can be relied on.
class Verifier {
 public:
  Verifier(const Module& module, Form form)
      : module_(module), form_(form), owners_(module.vars.size()), open_(module.vars.size()) {}

  std::optional<Fault> run() {
    try {
      check_pools();
      check_functions();
      for (std::size_t i = 0; i < module_.functions.size(); ++i) check_function(i);
      return std::nullopt;
    } catch (const Found& found) {
      return Fault{function_, place(), found.message};
    }
  }

  // --- Called by walk
  void open(const Block& block, const Stmt* owner) {
    const auto* const branch = owner == nullptr ? nullptr : std::get_if<IfThenElse>(&owner->node);
    const char* name = "body";
    if (branch != nullptr) name = &block == &branch->then_body ? "then" : "else";
    blocks_.push_back({name, 0, declared_.size(), scope_});
    if (blocks_.size() > max_block_depth) {
      fail("blocks nest deeper than " + std::to_string(max_block_depth) + " levels");
    }
    const auto* const loop = owner == nullptr ? nullptr : std::get_if<For>(&owner->node);
    if (loop != nullptr) declare(loop->var);
  }
  void close(const Block& /*block*/, const Stmt* /*owner*/) {
    for (; declared_.size() > blocks_.back().declared; declared_.pop_back()) open_[declared_.back().index()] = false;
    scope_ = blocks_.back().scope;
    blocks_.pop_back();
  }
  void statement(const Stmt& stmt) {
    ++blocks_.back().statements;
    require_exprs(stmt);
    for_each_expr_of(stmt, [this](const ExprRef& expr) { check_tree(expr); });
    std::visit([this](const auto& s) { check(s); }, stmt.node);
  }

 private:
  struct Found {
    std::string message;
  };
  struct OpenBlock {
    const char* name;
    std::size_t statements;  // begun
    std::size_t declared;    // how many variables were, in front of it
    std::size_t scope;       // in front of it
  };

  [[noreturn]] static void fail(std::string message) { throw Found{std::move(message)}; }
  [[noreturn]] void fail_of(const char* text, VarId var, const char* rest) const {
    fail(text + std::string(" ") + name(var) + rest);
  }

  [[nodiscard]] std::string name(VarId var) const { return shown(module_.var(var).name); }

  [[nodiscard]] std::string place() const {
    if (parameter_) return "parameter " + std::to_string(*parameter_);
    std::string text;
    for (const OpenBlock& block : blocks_) {
      if (!text.empty()) text += '.';
      text += block.name;
      if (block.statements > 0) text += "[" + std::to_string(block.statements - 1) + "]";
    }
    return text;
  }

  // --- The module

  void check_pools() const {
    std::set<std::string> names;
    for (const AnnotatedPool& pool : module_.annotated_pools) {
      if (!names.insert(pool.name).second) fail("two memory pools are called " + shown(pool.name));
    }
  }

  void check_functions() const {
    const std::vector<Function>& functions = module_.functions;
    for (std::size_t i = 1; i < functions.size(); ++i) {
      if (functions[i].name == functions[i - 1].name) fail("two functions are called " + shown(functions[i].name));
      if (functions[i].name < functions[i - 1].name) {
        fail("functions are not sorted by name: " + shown(functions[i].name) + " stands behind " +
             shown(functions[i - 1].name));
      }
    }
    if (module_.entry >= functions.size()) fail("no entry function");
    for (std::size_t i = 0; i < functions.size(); ++i) {
      if (functions[i].is_entry == (i == module_.entry)) continue;
      fail("function " + shown(functions[i].name) +
           (functions[i].is_entry ? " says that it is the entry, but another one is" : " is the entry, but says no"));
    }
  }

  void check_function(std::size_t index) {
    function_ = index;
    sizes_.clear();
    allocates_.clear();
    trees_.clear();
    const Function& function = module_.functions[index];
    for (std::size_t i = 0; i < function.params.size(); ++i) {
      parameter_ = i;
      check_param(function.params[i]);
    }
    parameter_.reset();
    walk(function.body, *this);
    for (; !declared_.empty(); declared_.pop_back()) open_[declared_.back().index()] = false;
  }

  void check_param(const Param& param) {
    declare(param.var);
    if (param.is_tensor) require_storage(param.var);
    if (param.no_alias && !is_pointer(module_.var(param.var).type)) {
      fail_of("variable", param.var, " is no pointer and has no alias");
    }
  }

  // --- Variables

  void require_var(VarId var) const {
    if (var.index() >= module_.vars.size()) fail("a variable that the module does not have");
  }

  void declare(VarId var) {
    require_var(var);
    if (open_[var.index()]) fail_of("variable", var, " is declared again within its own scope");
    std::size_t& owner = owners_[var.index()];
    if (form_ == Form::planned && owner != 0 && owner != *function_ + 1)
      fail_of("variable", var, " is declared by two functions");
    owner = *function_ + 1;
    open_[var.index()] = true;
    declared_.push_back(var);
    scope_ = ++last_scope_;
  }

  void require_open(VarId var) const {
    require_var(var);
    if (!open_[var.index()]) fail_of("variable", var, " is used where nothing declares it");
  }

  void require_storage(VarId var) const {
    require_var(var);
    const DataType type = module_.var(var).type;
    if (is_pointer(type)) return;
    fail("variable " + name(var) + " of type " + shown(to_string(type)) + " is used as storage, expected a handle");
  }

  // One place holds the storage of a variable, wherever it is declared.
  void check_size(VarId var, const std::optional<Bytes>& size) {
    const auto [entry, is_new] = sizes_.emplace(var, size);
    if (!is_new && entry->second != size) fail_of("storage", var, " is allocated twice with different sizes");
  }

  // --- Expressions

  // What a let binds is in scope in its body only. A tree that has been looked at is not looked at again in the same
  // scope: what is declared there is the same.
  void check_tree(const ExprRef& root) {
    enum class Action : std::uint8_t { visit, open_let, close_let };
    struct Visit {
      const ExprRef* expr;
      Action action;
      std::size_t scope;  // of close_let: what to go back to
    };
    std::vector<Visit> steps = {{&root, Action::visit, 0}};
    while (!steps.empty()) {
      const Visit step = steps.back();
      steps.pop_back();
      if (step.action == Action::close_let) {
        open_[declared_.back().index()] = false;
        declared_.pop_back();
        scope_ = step.scope;
        continue;
      }
      const Expr& expr = **step.expr;
      if (step.action == Action::open_let) {
        steps.push_back({step.expr, Action::close_let, scope_});
        steps.push_back({&expr.operands[1], Action::visit, 0});
        declare(expr.var);
        continue;
      }
      if (is_known(*step.expr)) continue;
      check_node(expr);
      if (expr.kind == ExprKind::let) {
        steps.push_back({step.expr, Action::open_let, 0});
        steps.push_back({&expr.operands[0], Action::visit, 0});
        continue;
      }
      for (std::size_t i = expr.operands.size(); i-- > 0;) steps.push_back({&expr.operands[i], Action::visit, 0});
    }
  }

  // Whether the tree has been looked at in this scope; it counts as such from now on.
  bool is_known(const ExprRef& expr) {
    if (expr.use_count() == 1 || expr->operands.empty()) return false;
    const auto [entry, is_new] = trees_.emplace(expr.get(), scope_);
    if (!is_new && entry->second == scope_) return true;
    entry->second = scope_;
    return false;
  }

  void check_node(const Expr& expr) const {
    if (std::ranges::any_of(expr.operands, [](const ExprRef& operand) { return operand == nullptr; })) {
      fail("an operand is missing");
    }
    if (expr.kind == ExprKind::var || expr.kind == ExprKind::load) require_open(expr.var);
    if (expr.kind == ExprKind::load) require_storage(expr.var);
    if (expr.kind == ExprKind::let) require_var(expr.var);
    check_rings_in(expr);
    if (auto fault = fault_of_node(module_, expr)) fail(std::move(*fault));
  }

  // --- Rings

  // Storage with a ring is accessed by elements of its own type, and nothing else knows where they are.
  void check_rings_in(const Expr& expr) const {
    if (expr.kind == ExprKind::var && find_ring(expr.var) != nullptr) fail_of("storage", expr.var, in_a_ring_pointer);
    if (expr.kind == ExprKind::load) check_ring_access(expr.var, expr.type);
    if (expr.kind != ExprKind::call || expr.op != Op::address_of) return;
    for (const ExprRef& operand : expr.operands) {
      if (operand->kind == ExprKind::load && find_ring(operand->var) != nullptr) {
        fail_of("storage", operand->var, in_a_ring_pointer);
      }
    }
  }

  void check_ring_access(VarId storage, DataType type) const {
    const Allocate* const allocate = find_ring(storage);
    if (allocate == nullptr || allocate->type == type) return;
    fail("storage " + name(storage) + " holds rows of " + shown(to_string(allocate->type)) + ", but is accessed as " +
         shown(to_string(type)));
  }

  // Null: not such a storage.
  [[nodiscard]] const Allocate* find_ring(VarId var) const {
    const auto found = allocates_.find(var);
    return found == allocates_.end() || !found->second->ring ? nullptr : found->second;
  }

  void check_ring(const Allocate& s) {
    const auto [entry, is_new] = allocates_.emplace(s.var, &s);
    if (!is_new && entry->second->ring != s.ring) {
      fail_of("storage", s.var, " is allocated twice with different rings");
    }
    if (!s.ring) return;
    const Ring& ring = *s.ring;
    if (ring.stride < 1 || ring.rows < 1 || ring.extent < ring.rows) {
      fail("storage " + name(s.var) + " holds " + std::to_string(ring.rows) + " of " + std::to_string(ring.extent) +
           " rows of " + std::to_string(ring.stride));
    }
    if (s.on_stack || s.condition != nullptr || s.type.is_vector()) {
      fail_of("storage", s.var, " holds rows, but is a variable of C, conditional or of vectors");
    }
    const auto count = element_count(s);
    const auto held = checked_mul(ring.rows, ring.stride);
    const bool is_whole = count && held && *count > 0 && *count % *held == 0;
    // Elements of the tensor are numbered, too.
    const auto plane = checked_mul(ring.extent, ring.stride);
    if (!is_whole || !plane || !checked_mul(*count / *held, *plane)) {
      fail_of("storage", s.var, " does not consist of whole planes of the rows that it holds");
    }
  }

  // --- Statements

  // Those that may not be left out; `for_each_expr_of` takes that for granted.
  void require_exprs(const Stmt& stmt) const {
    const auto require = [](const ExprRef& expr) {
      if (expr == nullptr) fail("an expression is missing");
    };
    std::visit(Overloaded{[&](const Allocate& s) { std::ranges::for_each(s.extents, require); },
                          [](const AllocateConst& /*s*/) {}, [](const Scope& /*s*/) {},
                          [&](const Let& s) { require(s.value); },
                          [&](const Store& s) {
                            require(s.index);
                            require(s.value);
                          },
                          [&](const Evaluate& s) { require(s.value); },
                          [&](const For& s) {
                            require(s.min);
                            require(s.extent);
                          },
                          [&](const auto& s) { require(s.condition); }},
               stmt.node);
  }

  void check_condition(const ExprRef& condition, std::uint16_t lanes, const char* what) const {
    if (condition == nullptr || is_condition_for(condition->type, lanes)) return;
    fail(std::string(what) + " of type " + shown(to_string(condition->type)) + ", expected a bool");
  }

  void check(const Allocate& s) {
    require_storage(s.var);
    for (const ExprRef& extent : s.extents) {
      if (is_scalar_integer(extent->type)) continue;
      fail("an extent of type " + shown(to_string(extent->type)) + ", expected an integer type");
    }
    check_condition(s.condition, 1, "a condition");
    if (s.type.element_bytes() == 0) fail_of("storage", s.var, " has elements of no type");
    const std::optional<Bytes> size = allocation_size(s).bytes;
    const bool may_stay = s.was_on_stack ? size.has_value() : size == s.type.bytes();
    if (s.on_stack && !may_stay) fail_of("storage", s.var, " is a variable of C, but no single element");
    if (!std::has_single_bit(s.alignment)) fail_of("storage", s.var, " has an alignment that is no power of two");
    check_size(s.var, size);
    check_ring(s);
    declare(s.var);
  }

  void check(const AllocateConst& s) {
    require_storage(s.var);
    if (s.data == nullptr) fail_of("constant", s.var, " has no data");
    const Constant& data = *s.data;
    std::optional<Bytes> size = data.type.bytes();
    for (const std::int64_t extent : data.shape) {
      size = size && extent >= 0 ? checked_mul(*size, extent) : std::nullopt;
    }
    if (size != static_cast<Bytes>(data.bytes.size()))
      fail_of("constant", s.var, " does not have the bytes of its shape");
    if (data.type.element_bytes() != s.type.element_bytes()) {
      fail("constant " + name(s.var) + " is " + shown(to_string(s.type)) + ", but its data is " +
           shown(to_string(data.type)));
    }
    check_size(s.var, size);
    declare(s.var);
  }

  void check(const Let& s) {
    require_var(s.var);
    const DataType type = module_.var(s.var).type;
    if (s.value->type != type) {
      fail("variable " + name(s.var) + " of type " + shown(to_string(type)) + " is bound to a value of type " +
           shown(to_string(s.value->type)));
    }
    declare(s.var);
  }

  void check(const Store& s) {
    require_storage(s.storage);
    require_open(s.storage);
    const DataType index = s.index->type;
    const DataType value = s.value->type;
    check_ring_access(s.storage, value);
    if (value.is_void()) fail("nothing is stored to variable " + name(s.storage));
    if (!index.is_integer() || index.lanes != value.lanes) {
      fail("a value of type " + shown(to_string(value)) + " is stored to variable " + name(s.storage) +
           " at an index of type " + shown(to_string(index)));
    }
    check_condition(s.predicate, value.lanes, "a predicate");
  }

  void check(const Evaluate& /*s*/) const {}

  void check(const For& s) {
    require_var(s.var);
    const DataType type = module_.var(s.var).type;
    for (const DataType part : {type, s.min->type, s.extent->type}) {
      if (is_scalar_integer(part)) continue;
      fail("a loop variable or bound of type " + shown(to_string(part)) + ", expected an integer type");
    }
    if (s.min->type != type || s.extent->type != type) {
      fail("a loop over variable " + name(s.var) + " of type " + shown(to_string(type)) + " has bounds of types " +
           shown(to_string(s.min->type)) + " and " + shown(to_string(s.extent->type)));
    }
  }

  void check(const While& s) const { check_condition(s.condition, 1, "a condition"); }
  void check(const IfThenElse& s) const { check_condition(s.condition, 1, "a condition"); }
  void check(const Assert& s) const { check_condition(s.condition, 1, "a condition"); }
  void check(const Scope& /*s*/) const {}

  const Module& module_;
  Form form_;
  std::vector<std::size_t> owners_;  // by variable: index of the function that declares it, from 1; 0: none so far
  std::vector<bool> open_;           // by variable: in scope
  std::vector<VarId> declared_;      // in scope, the innermost last
  // Where nothing is declared or ends, the number is the same.
  std::size_t scope_ = 0;
  std::size_t last_scope_ = 0;
  // The function at hand.
  std::optional<std::size_t> function_;
  std::optional<std::size_t> parameter_;
  std::vector<OpenBlock> blocks_;
  std::unordered_map<VarId, std::optional<Bytes>> sizes_;  // of storage
  std::unordered_map<VarId, const Allocate*> allocates_;   // the first of each variable
  std::unordered_map<const Expr*, std::size_t> trees_;     // shared ones: the scope that they were last looked at in
};

std::atomic<bool> checks_passes = false;

}  // namespace

std::optional<Fault> find_fault(const Module& module, Form form) { return Verifier(module, form).run(); }

std::string to_string(const Module& module, const Fault& fault) {
  std::string text;
  if (fault.function) text = "function " + shown(module.functions[*fault.function].name);
  if (!fault.place.empty()) text += ", " + fault.place;
  return text.empty() ? fault.message : text + ": " + fault.message;
}

void verify(const Module& module) {
  const std::optional<Fault> fault = find_fault(module);
  if (!fault) return;
  std::string place;
  if (fault->function) place = "function " + shown(module.functions[*fault->function].name);
  if (!fault->place.empty()) place += ", " + fault->place;
  throw Error(ErrorKind::archive, {.file = {}, .member = {}, .place = std::move(place)}, fault->message);
}

void set_pass_checks(bool on) { checks_passes = on; }

void check_pass(const Module& module, std::string_view pass, Form form) {
  if (!checks_passes) return;
  const std::optional<Fault> fault = find_fault(module, form);
  if (!fault) return;
  std::fprintf(stderr, "bug: malformed after %.*s: %s\n", static_cast<int>(pass.size()), pass.data(),
               to_string(module, *fault).c_str());
  std::abort();
}

}  // namespace usmp::tir

// A copy B[i] = A[i] of all elements leaves two tensors with the same bytes. If nothing writes A while B is used, the
// readers of B may read A; if nothing else uses B, and B is an output, whoever writes A may write B.
//
// What a copy is, find_copy (narrow_copy.hpp) says.
//
// It must be called in the body of the entry itself, not in a loop or a branch, by a statement that does nothing else.
// Of A and B everything is known: they are arguments, as they are, of calls in that body, of functions that load and
// store their elements as scalars of the copied type, and of nothing else. Then
//  - readers of B read A if the entry allocates B, with exactly n elements; nothing but the copy writes B, and no call
//    before the copy uses B; and no call after the copy, up to the last that uses B, writes A. A may be an input: it is
//    then live longer, and still only read.
//  - A's users get B if B is a parameter of the entry that nothing but the copy uses, the entry allocates A, with
//    exactly n elements, B has as many, and nothing writes A after the copy.
// The one that goes must not be meant for other pools than the one that stays (candidate_memory_pools).
#include "transform/narrow_copies.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "transform/narrow_boundaries.hpp"
#include "transform/narrow_copy.hpp"
#include "transform/operator_walk.hpp"
#include "transform/simple_function.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using tir::DataType;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Function;
using tir::Module;
using tir::VarId;

// --- What uses a tensor ----------------------------------------------------------------------------------------------

// How an operator uses a parameter.
struct ParamUse {
  bool is_known = true;  // loads and stores of scalars of one type, and nothing else
  bool is_written = false;
  std::optional<DataType> type;  // nothing: no access
};

class ParamUses {
 public:
  explicit ParamUses(const Module& module) : module_(module) {}

  ParamUse of(std::size_t function, std::size_t param) {
    auto found = known_.find(function);
    if (found == known_.end()) found = known_.emplace(function, scan(module_.functions[function])).first;
    const auto use = found->second.find(module_.functions[function].params[param].var);
    return use == found->second.end() ? ParamUse{} : use->second;
  }

 private:
  using Uses = std::map<VarId, ParamUse>;

  static void access(ParamUse& use, DataType type) {
    use.is_known = use.is_known && !type.is_vector() && (!use.type || *use.type == type);
    use.type = type;
  }

  static Uses scan(const Function& function) {
    Uses uses;
    tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
      if (const auto* store = std::get_if<tir::Store>(&stmt.node)) {
        access(uses[store->storage], store->value->type);
        uses[store->storage].is_written = true;
      }
      tir::for_each_expr_of(stmt, [&](const ExprRef& root) {
        tir::for_each_expr(*root, [&](const Expr& expr) {
          if (expr.kind == ExprKind::var) uses[expr.var].is_known = false;
          if (expr.kind == ExprKind::load) access(uses[expr.var], expr.type);
          for (const ExprRef& operand : expr.operands) {
            if (expr.op == tir::Op::address_of && operand->kind == ExprKind::load) uses[operand->var].is_known = false;
          }
        });
      });
    });
    return uses;
  }

  const Module& module_;
  std::map<std::size_t, Uses> known_;  // by function
};

// A use of a tensor as an argument of a call in the body of the entry.
struct ArgumentUse {
  std::size_t statement = 0;
  ParamUse use;
};

// --- The entry -------------------------------------------------------------------------------------------------------

class CopyRemover {
 public:
  explicit CopyRemover(Module& module) : module_(module), param_uses_(module) {}

  std::vector<Change> run() {
    while (remove_one()) {
    }
    remove_functions();
    return std::move(changes_);
  }

 private:
  struct Call {
    std::size_t statement = 0;
    std::size_t function = 0;
    std::vector<VarId> arguments;
  };

  Function& entry() { return module_.functions[module_.entry]; }

  bool remove_one() {
    find_uses();
    for (const Call& call : calls_) {
      const std::optional<Copy> copy = copy_by(call.function);
      if (!copy || !plain_call(std::as_const(entry().body)[call.statement])) continue;
      const VarId from = call.arguments[copy->from];
      const VarId to = call.arguments[copy->to];
      if (from == to || !all_known(from, copy->element) || !all_known(to, copy->element)) continue;
      if (readers_may_read(from, to, *copy, call) && keeps_pools(to, from)) {
        apply(call, to, from, module_.var(from).name + " is read instead");
        return true;
      }
      if (writers_may_write(from, to, *copy, call) && keeps_pools(from, to)) {
        apply(call, from, to, module_.var(to).name + " is written instead");
        return true;
      }
    }
    return false;
  }

  std::optional<Copy> copy_by(std::size_t function) {
    const auto [found, is_new] = copies_.emplace(function, std::nullopt);
    if (is_new) found->second = find_copy(module_, module_.functions[function]);
    return found->second;
  }

  // Fills calls_, uses_, odd_ and allocates_ from the entry as it is now.
  void find_uses() {
    calls_.clear();
    uses_.clear();
    odd_.clear();
    allocates_.clear();
    for (std::size_t i = 0; i < entry().body.size(); ++i) {
      const tir::Stmt& stmt = std::as_const(entry().body)[i];
      if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) {
        const bool is_first = allocates_.emplace(allocate->var, allocate).second;
        if (!is_first) odd_.insert(allocate->var);
      }
      tir::for_each_expr_of(stmt, [&](const ExprRef& root) {
        tir::for_each_expr(*root, [&](const Expr& expr) { return scan(expr, i); });
      });
      if (const auto* store = std::get_if<tir::Store>(&stmt.node)) odd_.insert(store->storage);
      for (const tir::Block* block : tir::blocks_of(stmt)) note_odd(*block);
    }
  }

  // What stands inside loops and branches is not looked into.
  void note_odd(const tir::Block& block) {
    tir::for_each_stmt(block, [&](const tir::Stmt& stmt) {
      if (const auto* store = std::get_if<tir::Store>(&stmt.node)) odd_.insert(store->storage);
    });
    tir::for_each_expr_in(block, [&](const Expr& expr) {
      if (expr.kind == ExprKind::var || expr.kind == ExprKind::load) odd_.insert(expr.var);
    });
  }
  void note_odd(const Expr& root) {
    tir::for_each_expr(root, [&](const Expr& expr) {
      if (expr.kind == ExprKind::var || expr.kind == ExprKind::load) odd_.insert(expr.var);
    });
  }

  // Whether to look below.
  bool scan(const Expr& expr, std::size_t statement) {
    if (expr.kind == ExprKind::var || expr.kind == ExprKind::load) odd_.insert(expr.var);
    const auto named = tir::named_call(expr);
    const auto callee = named ? called_operator(module_, *named) : std::nullopt;
    if (!callee) return true;
    Call call{.statement = statement, .function = *callee, .arguments = {}};
    for (std::size_t i = 0; i < named->arguments.size(); ++i) {
      const Expr& argument = *named->arguments[i];
      if (argument.kind != ExprKind::var) {
        note_odd(argument);
        continue;
      }
      call.arguments.push_back(argument.var);
      uses_[argument.var].push_back({statement, param_uses_.of(*callee, i)});
    }
    if (call.arguments.size() == named->arguments.size()) calls_.push_back(std::move(call));
    return false;
  }

  bool all_known(VarId tensor, DataType element) const {
    if (odd_.contains(tensor)) return false;
    const std::vector<ArgumentUse>& uses = uses_.at(tensor);
    return std::all_of(uses.begin(), uses.end(), [&](const ArgumentUse& argument) {
      return argument.use.is_known && argument.use.type.value_or(element) == element;
    });
  }

  // Whether the entry allocates the tensor with exactly the elements that are copied.
  bool is_allocated(VarId tensor, const Copy& copy) const {
    const auto found = allocates_.find(tensor);
    if (found == allocates_.end() || found->second->condition) return false;
    return tir::allocation_size(*found->second).bytes == checked_mul(copy.count, copy.element.bytes());
  }

  bool is_written_within(VarId tensor, std::size_t after, std::size_t last) const {
    const std::vector<ArgumentUse>& uses = uses_.at(tensor);
    return std::any_of(uses.begin(), uses.end(), [&](const ArgumentUse& argument) {
      return argument.use.is_written && argument.statement > after && argument.statement <= last;
    });
  }

  bool readers_may_read(VarId from, VarId to, const Copy& copy, const Call& call) const {
    if (!is_allocated(to, copy) || (!allocates_.contains(from) && !is_entry_param(from))) return false;
    std::size_t last = call.statement;
    for (const ArgumentUse& argument : uses_.at(to)) {
      if (argument.statement == call.statement) continue;
      if (argument.statement < call.statement || argument.use.is_written) return false;
      last = std::max(last, argument.statement);
    }
    return !is_written_within(from, call.statement, last);
  }

  bool writers_may_write(VarId from, VarId to, const Copy& copy, const Call& call) const {
    const tir::Param* output = entry_param(to);
    if (output == nullptr || !is_allocated(from, copy) || uses_.at(to).size() != 1) return false;
    if (!output->shape || output->element != copy.element) return false;
    std::optional<std::int64_t> count = 1;
    for (const std::int64_t extent : *output->shape) count = count ? checked_mul(*count, extent) : std::nullopt;
    return count == copy.count &&
           !is_written_within(from, call.statement, module_.functions[module_.entry].body.size());
  }

  // Whether the pools that the module names for `gone` are those of `instead`. A copy may be there to have it in
  // others.
  bool keeps_pools(VarId gone, VarId instead) const {
    const std::vector<std::string>& asked = allocates_.at(gone)->candidate_pools;
    const auto kept = allocates_.find(instead);
    return asked.empty() || (kept != allocates_.end() && kept->second->candidate_pools == asked);
  }

  bool is_entry_param(VarId var) const { return entry_param(var) != nullptr; }
  const tir::Param* entry_param(VarId var) const {
    const std::vector<tir::Param>& params = module_.functions[module_.entry].params;
    const auto found =
        std::find_if(params.begin(), params.end(), [var](const tir::Param& param) { return param.var == var; });
    return found == params.end() ? nullptr : &*found;
  }

  // Without the call and the storage of `gone`, whose users get `instead`.
  void apply(const Call& call, VarId gone, VarId instead, const std::string& what) {
    changes_.push_back({Step::narrow, entry().name,
                        module_.var(gone).name + ": " + what + ", without " + module_.functions[call.function].name});
    callees_.insert(call.function);
    tir::Block& body = entry().body;
    body.erase(body.begin() + static_cast<std::ptrdiff_t>(call.statement));
    std::erase_if(body, [gone](const tir::Stmt& stmt) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      return allocate != nullptr && allocate->var == gone;
    });
    const ExprRef pointer = tir::make_var(module_, instead);
    rewrite_expressions(body, [&](const ExprRef& expr) {
      return expr->kind == ExprKind::var && expr->var == gone ? pointer : nullptr;
    });
  }

  void remove_functions() {
    std::set<std::size_t> called;
    for (const Function& function : module_.functions) {
      tir::for_each_expr_in(function.body, [&](const Expr& expr) {
        const auto call = tir::named_call(expr);
        const auto callee = call ? module_.find(*call->name) : std::nullopt;
        if (callee) called.insert(*callee);
      });
    }
    const std::vector<std::size_t> from_the_last(callees_.rbegin(), callees_.rend());
    for (const std::size_t callee : from_the_last) {  // so that smaller indices stay right
      if (called.contains(callee)) continue;
      module_.functions.erase(module_.functions.begin() + static_cast<std::ptrdiff_t>(callee));
      if (module_.entry > callee) --module_.entry;
    }
  }

  Module& module_;
  ParamUses param_uses_;
  std::map<std::size_t, std::optional<Copy>> copies_;  // by function: whether it is one
  std::vector<Call> calls_;                            // in the body of the entry, of variables alone
  std::map<VarId, std::vector<ArgumentUse>> uses_;
  std::set<VarId> odd_;                              // used in other ways, too
  std::map<VarId, const tir::Allocate*> allocates_;  // in the body of the entry
  std::set<std::size_t> callees_;                    // of calls that were removed
  std::vector<Change> changes_;
};

}  // namespace

std::vector<Change> remove_copies(Module& module) { return CopyRemover(module).run(); }

}  // namespace usmp::transform

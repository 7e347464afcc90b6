// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A copy B[i] = A[i] of all elements leaves two tensors with the same bytes. If nothing writes A while B is used, the
// readers of B may read A; if nothing else uses B, and B is an output, whoever writes A may write B.
//
// What a copy is, find_copy (narrow_copy.hpp) says.
//
// It must be called in the body of the entry itself, not in a loop or a branch, by a statement that does nothing else.
// Everything is known of A and B: they are arguments, as they are, of calls in that body, of functions that load and
// store their elements as scalars of the copied type, and of nothing else. Then
//  - readers of B read A if the entry allocates B, with exactly n elements; nothing but the copy writes B, and no call
//    before the copy uses B; and no call after the copy, up to the last that uses B, writes A. A may be an input: it is
//    then live longer, and still only read. No code that nobody has read runs in between, as it may write inputs.
//  - A's users get B if B is a parameter of the entry that nothing but the copy uses, the entry allocates A, with
//    exactly n elements, B has as many, and nothing writes A after the copy. Code that nobody has read in front of the
//    copy may use outputs, or leave the entry, which then has not written B.
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

#include "transform/device_states.hpp"
#include "transform/narrow_copy.hpp"
#include "usmp/loops/edit.hpp"
#include "usmp/program/edit.hpp"
#include "usmp/program/entry_calls.hpp"
#include "usmp/program/storage_uses.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using program::EntryCall;
using program::StorageUse;
using tir::DataType;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Function;
using tir::Module;
using tir::VarId;

// --- What uses a tensor ----------------------------------------------------------------------------------------------

// How operators use their parameters.
class ParamUses {
 public:
  explicit ParamUses(const Module& module) : module_(module) {}

  const StorageUse& of(std::size_t function, std::size_t param) {
    auto found = known_.find(function);
    if (found == known_.end())
      found = known_.emplace(function, program::storage_uses(module_.functions[function].body)).first;
    return found->second[module_.functions[function].params[param].var];
  }

 private:
  const Module& module_;
  std::map<std::size_t, std::map<VarId, StorageUse>> known_;  // by function
};

// The uses of a tensor as an argument of calls in the body of the entry. Each takes O(log uses).
class TensorUses {
 public:
  void add(std::size_t statement, const StorageUse& use) {
    statements_.insert(statement);
    if (use.stores > 0) writes_.insert(statement);
    if (!use.is_of_scalars()) ++unknown_;
    if (!use.types.empty()) ++count_of(use.types[0]);
  }

  // One that was added.
  void remove(std::size_t statement, const StorageUse& use) {
    statements_.erase(statements_.find(statement));
    if (use.stores > 0) writes_.erase(writes_.find(statement));
    if (!use.is_of_scalars()) --unknown_;
    if (!use.types.empty()) --count_of(use.types[0]);
  }

  // Those of the other tensor, too. O(the smaller of both · log uses).
  void take(TensorUses& other) {
    if (other.statements_.size() > statements_.size()) std::swap(*this, other);
    statements_.merge(other.statements_);
    writes_.merge(other.writes_);
    unknown_ += other.unknown_;
    for (const auto& [type, count] : other.types_) count_of(type) += count;
  }

  [[nodiscard]] bool all_known(DataType element) const {
    return unknown_ == 0 && std::ranges::all_of(types_, [element](const auto& count) {
             return count.second == 0 || count.first == element;
           });
  }

  [[nodiscard]] std::size_t count() const { return statements_.size(); }
  [[nodiscard]] std::size_t first() const { return *statements_.begin(); }
  [[nodiscard]] std::size_t last() const { return *statements_.rbegin(); }

  [[nodiscard]] bool is_written_within(std::size_t after, std::size_t last) const {
    const auto next = writes_.upper_bound(after);
    return next != writes_.end() && *next <= last;
  }

 private:
  std::size_t& count_of(DataType type) {
    const auto found = std::ranges::find(types_, type, &std::pair<DataType, std::size_t>::first);
    return found == types_.end() ? types_.emplace_back(type, 0).second : found->second;
  }

  std::multiset<std::size_t> statements_;
  std::multiset<std::size_t> writes_;
  std::size_t unknown_ = 0;
  std::vector<std::pair<DataType, std::size_t>> types_;  // a few
};

// --- The entry -------------------------------------------------------------------------------------------------------

// Small programs never get there.
constexpr std::size_t most_second_looks = 1000;

class CopyRemover {
 public:
  explicit CopyRemover(Module& module) : module_(module), param_uses_(module) {}

  std::vector<Change> run() {
    if (!has_copies()) return {};
    find_uses();
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if (copy_by(calls_[i].callee)) pending_.insert(i);
    }
    while (!pending_.empty()) look_at(pending_.extract(pending_.begin()).value());
    if (!removed_.empty()) rewrite();
    program::drop_uncalled(module_, callees_);
    return std::move(changes_);
  }

  [[nodiscard]] std::size_t looks() const { return looks_; }

 private:
  Function& entry() { return module_.functions[module_.entry]; }

  bool has_copies() {
    bool has = false;
    for (std::size_t i = 0; i < module_.functions.size(); ++i) {
      has = has || (i != module_.entry && copy_by(i).has_value());
    }
    return has;
  }

  // What it depends on is known of the tensors that the call passes, so it is looked at again only when one of them has
  // changed: the copy that goes next is always the first that may.
  void look_at(std::size_t index) {
    ++looks_;
    const EntryCall& call = calls_[index];
    if (!call.is_plain) return;
    const Copy& copy = *copy_by(call.callee);
    const VarId from = now(call.arguments[copy.from]);
    const VarId to = now(call.arguments[copy.to]);
    if (from != to && all_known(from, copy.element) && all_known(to, copy.element)) {
      if (readers_may_read(from, to, copy, call) && keeps_pools(to, from)) {
        apply(call, to, from, module_.var(from).name + " is read instead");
        return;
      }
      if (writers_may_write(from, to, copy, call) && keeps_pools(from, to)) {
        apply(call, from, to, module_.var(to).name + " is written instead");
        return;
      }
    }
    refused_[from].push_back(index);
    refused_[to].push_back(index);
  }

  [[nodiscard]] bool may_act(const tir::Stmt& stmt) const {
    bool acts = false;
    const auto look = [&](const ExprRef& root) {
      tir::for_each_expr(*root, [&](const Expr& expr) {
        const auto call = tir::named_call(expr);
        acts = acts || (call && expr.op != tir::Op::call_pure_extern && program::may_act(module_, *call));
      });
    };
    tir::for_each_expr_of(stmt, look);
    for (const tir::Block* block : tir::blocks_of(stmt)) {
      tir::for_each_stmt(*block, [&](const tir::Stmt& inner) { tir::for_each_expr_of(inner, look); });
    }
    return acts;
  }

  // Behind one statement, and in front of the other.
  [[nodiscard]] bool is_unread_between(std::size_t first, std::size_t last) const {
    const auto next = unread_.upper_bound(first);
    return next != unread_.end() && *next < last;
  }

  const std::optional<Copy>& copy_by(std::size_t function) {
    const auto [found, is_new] = copies_.emplace(function, std::nullopt);
    if (is_new) found->second = find_copy(module_, module_.functions[function]);
    return found->second;
  }

  // Fills calls_, uses_, other_uses_, allocates_, unread_ and params_ from the entry. What is called inside loops and
  // branches is not looked into.
  void find_uses() {
    for (const tir::Param& param : entry().params) params_.emplace(param.var, &param);
    program::EntryCalls found = program::entry_calls(module_);
    other_uses_ = std::move(found.used_otherwise);
    const tir::Block& body = std::as_const(entry()).body;
    DeviceStates devices(module_);
    for (std::size_t i = 0; i < body.size(); ++i) {
      const tir::Stmt& stmt = body[i];
      if (!devices.take(stmt) && may_act(stmt)) unread_.insert(i);
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      if (allocate == nullptr) continue;
      const bool is_first = allocates_.emplace(allocate->var, allocate).second;
      if (!is_first) other_uses_.insert(allocate->var);
    }
    for (EntryCall& call : found.calls) {
      for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        if (!call.arguments[i].valid()) continue;
        if (call.is_nested || call.is_opaque) {
          other_uses_.insert(call.arguments[i]);
        } else {
          uses_[call.arguments[i]].add(call.statement, param_uses_.of(call.callee, i));
        }
      }
      if (call.passes_variables_only && !call.is_nested && !call.is_opaque) calls_.push_back(std::move(call));
    }
  }

  bool all_known(VarId tensor, DataType element) const {
    if (other_uses_.contains(tensor)) return false;
    return uses_.at(tensor).all_known(element);
  }

  // Whether the entry allocates the tensor with exactly the elements that are copied.
  bool is_allocated(VarId tensor, const Copy& copy) const {
    const auto found = allocates_.find(tensor);
    if (found == allocates_.end() || found->second->condition) return false;
    return tir::allocation_size(*found->second).bytes == checked_mul(copy.count, copy.element.bytes());
  }

  bool readers_may_read(VarId from, VarId to, const Copy& copy, const EntryCall& call) const {
    if (!is_allocated(to, copy) || (!allocates_.contains(from) && !params_.contains(from))) return false;
    const TensorUses& uses = uses_.at(to);
    if (uses.first() < call.statement || uses.is_written_within(call.statement, uses.last())) return false;
    if (params_.contains(from) && is_unread_between(call.statement, uses.last())) return false;
    return !uses_.at(from).is_written_within(call.statement, uses.last());
  }

  bool writers_may_write(VarId from, VarId to, const Copy& copy, const EntryCall& call) const {
    const auto output = params_.find(to);
    if (output == params_.end() || !is_allocated(from, copy) || uses_.at(to).count() != 1) return false;
    const tir::Param& param = *output->second;
    if (!param.shape || param.element != copy.element) return false;
    std::optional<std::int64_t> count = 1;
    for (const std::int64_t extent : *param.shape) count = count ? checked_mul(*count, extent) : std::nullopt;
    if (is_unread_between(uses_.at(from).first(), call.statement)) return false;
    return count == copy.count && !uses_.at(from).is_written_within(call.statement, uses_.at(from).last());
  }

  // Whether the pools that the module names for `gone` are those of `instead`. A copy may be there to have it in
  // others.
  bool keeps_pools(VarId gone, VarId instead) const {
    const std::vector<std::string>& asked = allocates_.at(gone)->candidate_pools;
    const auto kept = allocates_.find(instead);
    return asked.empty() || (kept != allocates_.end() && kept->second->candidate_pools == asked);
  }

  // Notes that the call goes, and that users of `gone` get `instead`.
  void apply(const EntryCall& call, VarId gone, VarId instead, const std::string& what) {
    changes_.push_back({Step::narrow, entry().name,
                        module_.var(gone).name + ": " + what + ", without " + module_.functions[call.callee].name});
    callees_.insert(module_.functions[call.callee].name);
    removed_.insert(call.statement);
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      const VarId tensor = now(call.arguments[i]);
      uses_.at(tensor).remove(call.statement, param_uses_.of(call.callee, i));
      look_again(tensor);
    }
    uses_.at(instead).take(uses_.at(gone));
    uses_.erase(gone);
    instead_of_.emplace(gone, instead);
  }

  // At copies that were refused, as often as keeps the work in proportion.
  void look_again(VarId tensor) {
    const auto found = refused_.find(tensor);
    if (found == refused_.end()) return;
    for (const std::size_t index : found->second) {
      if (removed_.contains(calls_[index].statement)) continue;
      if (second_looks_ >= most_second_looks + 16 * calls_.size()) break;
      ++second_looks_;
      pending_.insert(index);
    }
    refused_.erase(found);
  }

  // What stands in the place of the tensor. O(log n) in the mean, since the ways get short.
  VarId now(VarId tensor) {
    VarId last = tensor;
    for (auto next = instead_of_.find(last); next != instead_of_.end(); next = instead_of_.find(last))
      last = next->second;
    while (tensor != last) tensor = std::exchange(instead_of_.at(tensor), last);
    return last;
  }

  // Without the calls and the storage of what is gone.
  void rewrite() {
    tir::Block& old_body = entry().body;
    tir::Block body;
    for (std::size_t i = 0; i < old_body.size(); ++i) {
      tir::Stmt& stmt = old_body[i];
      const auto* allocate = std::get_if<tir::Allocate>(&std::as_const(stmt).node);
      const bool goes = removed_.contains(i) || (allocate != nullptr && instead_of_.contains(allocate->var));
      if (!goes) body.push_back(std::move(stmt));
    }
    old_body = std::move(body);
    loops::rewrite_expressions(old_body, [&](const ExprRef& expr) {
      const bool is_gone = expr->kind == ExprKind::var && instead_of_.contains(expr->var);
      return is_gone ? tir::make_var(module_, now(expr->var)) : nullptr;
    });
  }

  Module& module_;
  ParamUses param_uses_;
  std::map<std::size_t, std::optional<Copy>> copies_;  // by function: whether it is one
  std::vector<EntryCall> calls_;                       // in the body of the entry, of variables alone
  std::map<VarId, TensorUses> uses_;
  std::set<VarId> other_uses_;                         // used in other ways, too
  std::map<VarId, const tir::Allocate*> allocates_;    // in the body of the entry
  std::map<VarId, const tir::Param*> params_;          // of the entry
  std::set<std::size_t> unread_;                       // statements of the entry of which nobody knows what they do
  std::set<std::size_t> pending_;                      // copies to look at, among calls_
  std::map<VarId, std::vector<std::size_t>> refused_;  // by a tensor that they pass
  std::size_t looks_ = 0;
  std::size_t second_looks_ = 0;
  std::map<VarId, VarId> instead_of_;  // tensors that are gone
  std::set<std::size_t> removed_;      // statements
  std::set<std::string> callees_;      // of calls that were removed
  std::vector<Change> changes_;
};

}  // namespace

std::vector<Change> remove_copies(Module& module, std::size_t* looks) {
  CopyRemover remover(module);
  std::vector<Change> changes = remover.run();
  if (looks != nullptr) *looks = remover.looks();
  return changes;
}

}  // namespace usmp::transform

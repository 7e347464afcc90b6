// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Joins tensors and parameters in classes, and refuses a class for any other use of a member.
#include "transform/narrow_boundaries.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <variant>

#include "usmp/program/call_graph.hpp"
#include "usmp/program/entry_calls.hpp"
#include "usmp/program/storage_uses.hpp"
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

// Variables that must have one element type, as a forest of their indices.
class Classes {
 public:
  explicit Classes(std::size_t vars) : parents_(vars) { std::iota(parents_.begin(), parents_.end(), std::size_t{0}); }

  std::size_t root(VarId var) {
    std::size_t at = var.index();
    while (parents_[at] != at) at = parents_[at] = parents_[parents_[at]];
    return at;
  }
  void join(VarId a, VarId b) {
    const std::size_t x = root(a);
    const std::size_t y = root(b);
    parents_[std::max(x, y)] = std::min(x, y);
  }

 private:
  std::vector<std::size_t> parents_;
};

class Finder {
 public:
  explicit Finder(const Module& module)
      : module_(module), graph_(program::call_graph(module)), classes_(module.vars.size()), uses_(module.vars.size()) {}

  std::vector<Boundary> find() {
    for (std::size_t i = 0; i < module_.functions.size(); ++i) {
      const Function& function = module_.functions[i];
      if (i == module_.entry) {
        scan_entry(function);
      } else if (tir::is_opaque(module_, function)) {
        for (const tir::Param& param : function.params) refuse(param.var);
      } else {
        scan_operator(i);
      }
    }
    return collect();
  }

 private:
  // What is known of the accesses through a variable; of a class, that of all its members together.
  struct Use {
    bool is_refused = false;
    bool is_stored = false;
    std::optional<DataType> type;
    std::size_t members = 1;
  };

  void refuse(VarId var) { uses_[var.index()].is_refused = true; }

  void scan_entry(const Function& entry) {
    for (const tir::Param& param : entry.params) refuse(param.var);
    tir::for_each_stmt(entry.body, [&](const tir::Stmt& stmt) {
      if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) add_allocate(*allocate);
    });
    const program::EntryCalls found = program::entry_calls(module_);
    for (const VarId var : found.used_otherwise) refuse(var);
    for (const std::size_t function : found.called_otherwise) refuse_params_of(function);
    for (const program::EntryCall& call : found.calls) scan_call(call);
  }

  // Members of a boundary are counted, each once.
  void add_allocate(const tir::Allocate& allocate) {
    allocates_.push_back(&allocate);
    const bool is_first = allocated_.insert(allocate.var).second;
    if (!is_first) refuse(allocate.var);
  }

  void scan_call(const program::EntryCall& call) {
    if (call.is_opaque) refuse_params_of(call.callee);
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      const VarId param = module_.functions[call.callee].params[i].var;
      const VarId argument = call.arguments[i];
      if (!argument.valid()) {
        refuse(param);
      } else if (call.is_opaque) {
        refuse(argument);
      } else {
        first_calls_.emplace(argument, first_calls_.size());
        classes_.join(argument, param);
      }
    }
  }

  void scan_operator(std::size_t index) {
    for (const auto& [var, found] : program::storage_uses(module_.functions[index].body)) {
      Use& use = uses_[var.index()];
      use.is_refused = use.is_refused || !found.is_of_scalars() || found.has_predicates;
      use.is_stored = use.is_stored || found.stores > 0;
      if (found.types.size() == 1) use.type = found.types[0];
    }
    for (const program::CallSite& call : graph_.calls[index]) refuse_params_of(call.callee);
  }

  // A call of the function is not what boundaries allow.
  void refuse_params_of(std::size_t function) {
    for (const tir::Param& param : module_.functions[function].params) refuse(param.var);
  }

  // The elements of a tensor; nothing if their number is not known to be whole.
  static std::optional<std::int64_t> elements(const tir::Allocate& allocate, DataType element) {
    const auto size = tir::allocation_size(allocate);
    if (allocate.condition || !size.bytes || *size.bytes % element.bytes() != 0) return std::nullopt;
    return *size.bytes / element.bytes();
  }

  // Without those that no call gets.
  std::vector<const tir::Allocate*> in_order_of_calls() const {
    std::vector<const tir::Allocate*> passed;
    std::copy_if(allocates_.begin(), allocates_.end(), std::back_inserter(passed),
                 [&](const tir::Allocate* allocate) { return first_calls_.contains(allocate->var); });
    std::sort(passed.begin(), passed.end(), [&](const tir::Allocate* a, const tir::Allocate* b) {
      return first_calls_.at(a->var) < first_calls_.at(b->var);
    });
    return passed;
  }

  std::vector<Boundary> collect() {
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      const std::size_t root = classes_.root(VarId(i));
      if (root == i) continue;
      Use& use = uses_[root];
      const Use& part = uses_[i];
      ++use.members;
      const bool differs = use.type && part.type && *use.type != *part.type;
      use.is_refused = use.is_refused || part.is_refused || differs;
      use.is_stored = use.is_stored || part.is_stored;
      if (part.type) use.type = part.type;
    }
    std::vector<Boundary> boundaries;
    std::map<std::size_t, std::size_t> places;  // root → index in boundaries
    for (const tir::Allocate* allocate : in_order_of_calls()) {
      const std::size_t root = classes_.root(allocate->var);
      const Use& use = uses_[root];
      if (use.is_refused || !use.is_stored || !use.type) continue;
      if (!use.type->is_integer() || use.type->bytes() < 2) continue;
      const auto [place, is_new] = places.emplace(root, boundaries.size());
      if (is_new) boundaries.push_back({.element = *use.type, .tensors = {}, .params = {}, .fewest_elements = 0});
      add_tensor(boundaries[place->second], *allocate);
    }
    add_params(boundaries, places);
    std::erase_if(boundaries, [&](const Boundary& boundary) { return !are_all_tensors(boundary); });
    return boundaries;
  }

  // A tensor whose size does not fit takes the whole boundary with it: it is counted, but not listed.
  static void add_tensor(Boundary& boundary, const tir::Allocate& allocate) {
    const auto count = elements(allocate, boundary.element);
    if (!count) return;
    const bool is_first = boundary.tensors.empty();
    boundary.fewest_elements = is_first ? *count : std::min(boundary.fewest_elements, *count);
    boundary.tensors.push_back(allocate.var);
  }

  void add_params(std::vector<Boundary>& boundaries, const std::map<std::size_t, std::size_t>& places) {
    for (std::size_t i = 0; i < module_.functions.size(); ++i) {
      for (const tir::Param& param : module_.functions[i].params) {
        const auto place = places.find(classes_.root(param.var));
        if (place == places.end()) continue;
        std::vector<BoundaryParam>& params = boundaries[place->second].params;
        const bool is_known = !params.empty() && params.back().function == i && params.back().var == param.var;
        if (!is_known) params.push_back({i, param.var});
      }
    }
  }

  // Whether all that is passed to the parameters is allocated by the entry, and of fitting size.
  bool are_all_tensors(const Boundary& boundary) {
    if (boundary.tensors.empty()) return false;
    const Use& use = uses_[classes_.root(boundary.tensors.front())];
    return use.members == boundary.tensors.size() + boundary.params.size();
  }

  const Module& module_;
  const program::CallGraph graph_;
  Classes classes_;
  std::vector<Use> uses_;  // by variable; from `collect` on, at the root of a class, of the class
  std::vector<const tir::Allocate*> allocates_;
  std::set<VarId> allocated_;
  std::map<VarId, std::size_t> first_calls_;  // where each argument comes first
};

}  // namespace

std::vector<Boundary> find_boundaries(const Module& module) { return Finder(module).find(); }

}  // namespace usmp::transform

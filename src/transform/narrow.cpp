// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Tensors between operators in the smallest exact type.
//
// Idea: what an operator stores is the end of a chain like int16(int8(max(min(x, 127), -128))) - 83. Every link of it
// has a range of values, and one of them is narrowest. That one is stored, in the smallest type that holds its range,
// and whoever reads the tensor computes the links behind it again. The widest link that is as narrow as any is taken,
// so that readers compute least; but if a link is an element that was read at the same index, that one, because the
// operator is then a copy, which narrow_copies.cpp removes.
//
// It is exact: after a store of x, an element's bytes stand for T(x) for the same steps T at every load; T is integer
// arithmetic of the same types on the same value. It is done if all of this can be shown:
//  1. All accesses to the tensor, and to all tensors that pass through the same parameters, are known, and are scalar
//     loads and stores of one integer type (find_boundaries). Inputs and outputs of the network stay as they are.
//  2. All stores end in the same steps T, with the same constants. (T may be no steps at all.)
//  3. The range of x, by interval analysis of what C computes, lies in the narrower type and in the type of x in the
//     program: casts from one to the other and back are exact.
//  4. The range of T(x) lies in the type of the tensor: the store did not cut it.
//  5. The narrower type has fewer bytes.
// What costs more than an instruction or two (EpilogueStep::is_costly) is moved only into readers that load no more
// elements than the tensor has; other steps are repeated at each load.
//
// An element that is read but was never stored is undefined before and after.
//
// Cost: a round takes O(size of the operators that touch it) for each boundary; boundaries stand in the order in which
// they are written, and a round follows only one that made a tensor narrower. Mostly two rounds.
#include "transform/narrow.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "transform/narrow_boundaries.hpp"
#include "transform/narrow_copies.hpp"
#include "transform/narrow_epilogue.hpp"
#include "usmp/arith/ranges.hpp"
#include "usmp/loops/edit.hpp"
#include "usmp/loops/range_walk.hpp"
#include "usmp/program/constant_table.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/tir/integer_types.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using tir::DataType;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Module;
using tir::VarId;

constexpr DataType small_types[] = {{tir::TypeCode::int_, 8, 1},  {tir::TypeCode::uint, 8, 1},
                                    {tir::TypeCode::int_, 16, 1}, {tir::TypeCode::uint, 16, 1},
                                    {tir::TypeCode::int_, 32, 1}, {tir::TypeCode::uint, 32, 1}};

bool fits(const Interval& range, DataType type) {
  const auto limits = tir::range_of_type(type);
  return limits && range.low >= limits->low && range.high <= limits->high;
}

// A store to a boundary: its epilogue and the range of each value of it.
struct StoredEpilogue {
  Epilogue epilogue;
  std::vector<std::optional<Interval>> ranges;  // of epilogue.values
  ExprRef index;
};

// What is stored instead: values[depth] of each epilogue, in a narrower type.
struct Choice {
  std::size_t depth = 0;
  DataType stored;                  // in memory
  DataType computed;                // of the value in the program
  std::vector<EpilogueStep> steps;  // `depth` of them, the same for all stores
};

class Narrower {
 public:
  explicit Narrower(Module& module) : module_(module), constants_(module) {
    constant_of_ = [this](const Expr& expr) { return constants_.value_of(expr); };
  }

  // Whether the boundary is narrower now.
  bool narrow(Boundary& boundary) {
    const std::vector<StoredEpilogue> stores = find_stores(boundary);
    const auto choice = choose(stores, boundary);
    if (!choice) return false;
    for (std::size_t i = 0; i < boundary.params.size(); ++i) {
      const bool is_new = i == 0 || boundary.params[i].function != boundary.params[i - 1].function;
      if (is_new) rewrite(module_.functions[boundary.params[i].function], vars_of(boundary), *choice);
    }
    retype(boundary, choice->stored);
    return true;
  }

 private:
  static std::set<VarId> vars_of(const Boundary& boundary) {
    std::set<VarId> vars;
    for (const BoundaryParam& param : boundary.params) vars.insert(param.var);
    return vars;
  }

  // Also notes whether costly steps may move.
  std::vector<StoredEpilogue> find_stores(const Boundary& boundary) {
    std::vector<StoredEpilogue> stores;
    const std::set<VarId> vars = vars_of(boundary);
    std::map<VarId, std::optional<std::int64_t>> loads;  // at most so many in a call
    for (std::size_t i = 0; i < boundary.params.size(); ++i) {
      if (i > 0 && boundary.params[i].function == boundary.params[i - 1].function) continue;
      const tir::Function& function = module_.functions[boundary.params[i].function];
      arith::Ranges at_start;
      constants_.bind(at_start, function);
      loops::visit_with_ranges(function, std::move(at_start),
                               [&](const tir::Stmt& stmt, const loops::RangeContext& context) {
                                 const auto* store = std::get_if<tir::Store>(&stmt.node);
                                 if (store != nullptr && vars.contains(store->storage))
                                   stores.push_back(stored_epilogue(*store, context));
                                 count_loads(stmt, context, vars, loads);
                               });
    }
    costly_may_move_ = std::all_of(loads.begin(), loads.end(), [&](const auto& entry) {
      return entry.second && *entry.second <= boundary.fewest_elements;
    });
    return stores;
  }

  StoredEpilogue stored_epilogue(const tir::Store& store, const loops::RangeContext& context) const {
    StoredEpilogue result{.epilogue = find_epilogue(store.value, constant_of_), .ranges = {}, .index = store.index};
    for (const ExprRef& value : result.epilogue.values) result.ranges.push_back(context.ranges.of(*value));
    return result;
  }

  static void count_loads(const tir::Stmt& stmt, const loops::RangeContext& context, const std::set<VarId>& vars,
                          std::map<VarId, std::optional<std::int64_t>>& loads) {
    tir::for_each_expr_of(stmt, [&](const ExprRef& root) {
      tir::for_each_expr(*root, [&](const Expr& expr) {
        if (expr.kind != ExprKind::load || !vars.contains(expr.var)) return;
        auto& count = loads.emplace(expr.var, 0).first->second;
        count = count && context.runs ? checked_add(*count, *context.runs) : std::nullopt;
      });
    });
  }

  // How many steps all stores end in.
  std::size_t common_depth(const std::vector<StoredEpilogue>& stores) const {
    const Epilogue& first = stores.front().epilogue;
    for (std::size_t depth = 0; depth < first.steps.size(); ++depth) {
      const EpilogueStep& step = first.steps[depth];
      if (step.is_costly && !costly_may_move_) return depth;
      for (const StoredEpilogue& store : stores) {
        if (depth == store.epilogue.steps.size() || !is_same_step(step, store.epilogue.steps[depth]) ||
            store.epilogue.values[depth + 1]->type != first.values[depth + 1]->type) {
          return depth;
        }
      }
    }
    return first.steps.size();
  }

  // Joins the ranges of the values at this depth of all stores.
  static std::optional<Interval> joined_range(const std::vector<StoredEpilogue>& stores, std::size_t depth) {
    std::optional<Interval> joined;
    for (const StoredEpilogue& store : stores) {
      const auto& range = store.ranges[depth];
      if (!range) return std::nullopt;
      joined = joined ? hull(*joined, *range) : *range;
    }
    return joined;
  }

  std::optional<Choice> choose(const std::vector<StoredEpilogue>& stores, const Boundary& boundary) const {
    const auto whole = stores.empty() ? std::nullopt : joined_range(stores, 0);
    if (!whole || !fits(*whole, boundary.element)) return std::nullopt;
    std::optional<Choice> best;
    for (std::size_t depth = 0; depth <= common_depth(stores); ++depth) {
      const DataType computed = stores.front().epilogue.values[depth]->type;
      const auto range = joined_range(stores, depth);
      if (!range || !fits(*range, computed)) continue;
      const auto* const type = std::find_if(std::begin(small_types), std::end(small_types),
                                            [&](DataType candidate) { return fits(*range, candidate); });
      if (type == std::end(small_types) || type->bytes() >= boundary.element.bytes()) continue;
      const bool is_better = !best || type->bytes() < best->stored.bytes() ||
                             (type->bytes() == best->stored.bytes() && is_copy(stores, depth, *type));
      if (is_better) best = Choice{.depth = depth, .stored = *type, .computed = computed, .steps = {}};
    }
    if (best)
      best->steps.assign(stores.front().epilogue.steps.begin(),
                         stores.front().epilogue.steps.begin() + static_cast<std::ptrdiff_t>(best->depth));
    return best;
  }

  // Whether the values at this depth are elements that are loaded in the type and at the index of the store.
  static bool is_copy(const std::vector<StoredEpilogue>& stores, std::size_t depth, DataType type) {
    return std::all_of(stores.begin(), stores.end(), [&](const StoredEpilogue& store) {
      const Expr& value = *store.epilogue.values[depth];
      return value.kind == ExprKind::load && value.type == type && tir::is_same(*value.operands.front(), *store.index);
    });
  }

  void rewrite(tir::Function& function, const std::set<VarId>& vars, const Choice& choice) const {
    rewrite_stores(function.body, vars, choice);
    loops::rewrite_expressions(function.body, [&](const ExprRef& expr) -> ExprRef {
      if (expr->kind != ExprKind::load || !vars.contains(expr->var)) return nullptr;
      ExprRef value = tir::make_load(choice.stored, expr->var, expr->operands.front());
      if (choice.stored != choice.computed) value = tir::make_cast(choice.computed, std::move(value));
      return apply_steps(choice.steps, choice.depth, std::move(value));
    });
  }

  void rewrite_stores(tir::Block& body, const std::set<VarId>& vars, const Choice& choice) const {
    tir::for_each_block(body, [&](tir::Block& block) {
      for (tir::Stmt& stmt : block) {
        auto* store = std::get_if<tir::Store>(&stmt.node);
        if (store != nullptr && vars.contains(store->storage)) store->value = narrow_value(store->value, choice);
      }
    });
  }

  // A cast that only undoes a widening is left out with it.
  ExprRef narrow_value(const ExprRef& value, const Choice& choice) const {
    ExprRef inner = find_epilogue(value, constant_of_).values[choice.depth];
    const bool only_widens = inner->kind == ExprKind::cast && inner->operands.front()->type == choice.stored;
    if (inner->type != choice.stored && only_widens) inner = inner->operands.front();
    return inner->type == choice.stored ? inner : tir::make_cast(choice.stored, std::move(inner));
  }

  void retype(Boundary& boundary, DataType narrow_type) {
    for (const BoundaryParam& param : boundary.params) {
      module_.vars[param.var.index()].element = narrow_type;
      for (tir::Param& formal : module_.functions[param.function].params) {
        if (formal.var == param.var && formal.is_tensor) formal.element = narrow_type;
      }
    }
    resize(boundary, narrow_type);
    boundary.element = narrow_type;
  }

  void resize(const Boundary& boundary, DataType narrow_type) {
    const std::set<VarId> tensors(boundary.tensors.begin(), boundary.tensors.end());
    tir::for_each_block(module_.functions[module_.entry].body, [&](tir::Block& block) {
      for (tir::Stmt& stmt : block) {
        auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
        if (allocate != nullptr && tensors.contains(allocate->var)) resize(*allocate, boundary.element, narrow_type);
      }
    });
  }

  // Storage of bytes stays storage of bytes.
  void resize(tir::Allocate& allocate, DataType old_type, DataType narrow_type) {
    const std::int64_t elements = *tir::allocation_size(allocate).bytes / old_type.bytes();
    const bool is_bytes = allocate.type.bytes() == 1;
    if (!is_bytes) allocate.type = module_.vars[allocate.var.index()].element = narrow_type;
    allocate.extents = {tir::make_int(is_bytes ? elements * narrow_type.bytes() : elements, extent_type(allocate))};
  }

  static DataType extent_type(const tir::Allocate& allocate) {
    return allocate.extents.empty() ? tir::int32_type : allocate.extents.front()->type;
  }

  Module& module_;
  program::ConstantTable constants_;
  ConstantOf constant_of_;
  bool costly_may_move_ = false;
};

Change described(const Module& module, const Boundary& boundary, DataType before) {
  const std::string types = ": " + tir::to_string(boundary.element) + " instead of " + tir::to_string(before);
  std::string names;
  for (const VarId tensor : boundary.tensors) names += (names.empty() ? "" : ", ") + module.var(tensor).name;
  Change change{Step::narrow, module.functions[module.entry].name, names + types, {}};
  for (const BoundaryParam& param : boundary.params)
    change.notes.push_back({module.functions[param.function].name, module.var(param.var).name + types});
  return change;
}

}  // namespace

std::vector<Change> narrow(Module& module) {
  std::vector<Boundary> boundaries = find_boundaries(module);
  std::vector<DataType> before;
  before.reserve(boundaries.size());
  for (const Boundary& boundary : boundaries) before.push_back(boundary.element);

  Narrower narrower(module);
  for (bool changed = true; changed;) {
    changed = false;
    for (Boundary& boundary : boundaries) {
      if (boundary.element.bytes() > 1 && narrower.narrow(boundary)) changed = true;
    }
  }
  std::vector<Change> changes;
  for (std::size_t i = 0; i < boundaries.size(); ++i) {
    if (boundaries[i].element == before[i]) continue;
    changes.push_back(described(module, boundaries[i], before[i]));
  }
  for (Change& change : remove_copies(module)) changes.push_back(std::move(change));
  return changes;
}

}  // namespace usmp::transform

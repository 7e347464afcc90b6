// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Callers before callees, so that what is known of arguments is known of parameters.
#include "execute/access_checks.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "usmp/loops/range_walk.hpp"
#include "usmp/program/call_graph.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/support/printable.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::execute {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Op;
using tir::VarId;

// Bytes of the storage in front of a pointer and from it on.
struct Reach {
  Bytes before = 0;
  Bytes behind = 0;
};
using KnownReach = std::optional<Reach>;

KnownReach moved(const Reach& from, std::optional<Bytes> by) {
  if (!by || *by < -from.before || *by > from.behind) return std::nullopt;
  return Reach{from.before + *by, from.behind - *by};
}

// What an index is checked with; without `low`, `high` and the number it is the index again.
bool is_check(const Expr& expr) {
  const auto call = tir::named_call(expr);
  return call && *call->name == index_check;
}

const ExprRef* checked_index(const Expr& expr) {
  if (expr.kind != ExprKind::cast || !is_check(*expr.operands[0])) return nullptr;
  return &expr.operands[0]->operands[1]->operands[0];
}

// The index of a vector access as its first lane, and where that may be at most in front of and behind the others.
struct Lanes {
  ExprRef base;
  std::int64_t first = 0;  // <= 0
  std::int64_t last = 0;   // >= 0
};

std::optional<Lanes> lanes_of(const ExprRef& index) {
  if (!index->type.is_vector()) return Lanes{index};
  if (index->kind == ExprKind::broadcast) return Lanes{index->operands[0]};
  if (index->kind != ExprKind::ramp) return std::nullopt;
  const auto stride = tir::as_int(*index->operands[1]);
  const auto way = stride ? checked_mul(*stride, std::int64_t{index->type.lanes} - 1) : std::nullopt;
  if (!way) return std::nullopt;
  return Lanes{index->operands[0], std::min<std::int64_t>(*way, 0), std::max<std::int64_t>(*way, 0)};
}

class Checker {
 public:
  explicit Checker(const tir::Module& module)
      : result_{module, {}, {.name = index_check, .prototype = index_check_prototype, .member = {}}} {
    const program::CallGraph graph = program::call_graph(module);
    const std::vector<std::size_t> order = program::callees_first(module, graph);
    start(module.functions[module.entry]);
    for (std::size_t i = order.size(); i-- > 0;) {
      function_ = order[i];
      check_function();
    }
  }

  CheckedModule run() && { return std::move(result_); }

 private:
  void start(const tir::Function& entry) {
    for (const tir::Param& param : entry.params) {
      if (const auto size = tir::size_of(param)) reaches_[param.var] = Reach{0, *size};
    }
  }

  void check_function() {
    const tir::Function before = result_.module.functions[function_];  // what is visited stays as it is
    std::vector<ExprRef> changed;                                      // in the order of the visit
    loops::visit_with_ranges(before, {}, [&](const tir::Stmt& stmt, const loops::RangeContext& context) {
      note_storage(stmt);
      tir::ExprRewriter rewriter([&](const ExprRef& expr) { return changed_expr(expr, context.ranges); });
      const auto* store = std::get_if<tir::Store>(&stmt.node);
      tir::for_each_expr_of(stmt, [&](const ExprRef& expr) {
        changed.push_back(expr == nullptr ? expr : rewriter.rewritten(expr));
        if (store != nullptr && expr == store->index && store->predicate == nullptr) {
          const ExprRef index =
              checked(changed.back(), store->storage, store->value->type.element(), "stores", context.ranges);
          if (index != nullptr) changed.back() = index;
        }
      });
    });
    std::size_t next = 0;
    std::vector<std::pair<tir::Block*, std::size_t>> frames = {{&result_.module.functions[function_].body, 0}};
    while (!frames.empty()) {
      auto& [block, at] = frames.back();
      if (at == block->size()) {
        frames.pop_back();
        continue;
      }
      tir::Stmt& stmt = (*block)[at++];
      tir::for_each_expr_of(stmt, [&](ExprRef& expr) { expr = changed[next++]; });
      const tir::InnerBlocks<tir::Block> inner = tir::blocks_of(stmt);
      for (std::size_t i = inner.size(); i-- > 0;) frames.emplace_back(inner[i], 0);
    }
  }

  void note_storage(const tir::Stmt& stmt) {
    if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) {
      const auto size = tir::allocation_size(*allocate).bytes;
      if (size && allocate->condition == nullptr && !allocate->ring) reaches_[allocate->var] = Reach{0, *size};
    } else if (const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node)) {
      reaches_[constant->var] = Reach{0, static_cast<Bytes>(constant->data->bytes.size())};
    } else if (const auto* let = std::get_if<tir::Let>(&stmt.node)) {
      if (result_.module.var(let->var).type.is_handle()) reaches_[let->var] = reach_of(*let->value);
    }
  }

  [[nodiscard]] KnownReach reach_of(const Expr& pointer) const {
    Bytes offset = 0;
    for (const Expr* expr = &pointer;;) {
      if (expr->kind == ExprKind::var) {
        const auto found = reaches_.find(expr->var);
        return found == reaches_.end() || !found->second ? std::nullopt : moved(*found->second, offset);
      }
      if (expr->kind == ExprKind::cast && expr->operands[0]->type.is_handle()) {
        expr = expr->operands[0].get();
      } else if (expr->kind == ExprKind::call && expr->op == Op::address_of &&
                 expr->operands[0]->kind == ExprKind::load) {
        const Expr& load = *expr->operands[0];
        const auto index = tir::as_int(*load.operands[0]);
        const auto bytes = index ? checked_mul(*index, load.type.element_bytes()) : std::nullopt;
        const auto sum = bytes ? checked_add(offset, *bytes) : std::nullopt;
        const auto found = reaches_.find(load.var);
        return !sum || found == reaches_.end() || !found->second ? std::nullopt : moved(*found->second, sum);
      } else if (expr->kind == ExprKind::call && expr->op == Op::handle_add_byte_offset) {
        const auto bytes = tir::as_int(*expr->operands[1]);
        const auto sum = bytes ? checked_add(offset, *bytes) : std::nullopt;
        if (!sum) return std::nullopt;
        offset = *sum;
        expr = expr->operands[0].get();
      } else {
        return std::nullopt;
      }
    }
  }

  // Nothing is known of a parameter of which some call says nothing.
  void pass(const tir::NamedCall& call) {
    const auto callee = result_.module.find(*call.name);
    if (!callee) return;
    const std::vector<tir::Param>& params = result_.module.functions[*callee].params;
    for (std::size_t i = 0; i < std::min(params.size(), call.arguments.size()); ++i) {
      if (!call.arguments[i]->type.is_handle()) continue;
      const KnownReach reach = reach_of(*call.arguments[i]);
      const auto [known, is_new] = reaches_.try_emplace(params[i].var, reach);
      if (is_new) continue;
      KnownReach& sum = known->second;
      sum = !sum || !reach
                ? std::nullopt
                : KnownReach(Reach{std::max(sum->before, reach->before), std::max(sum->behind, reach->behind)});
    }
  }

  ExprRef changed_expr(const ExprRef& expr, arith::Ranges& ranges) {
    if (const auto call = tir::named_call(*expr)) {
      pass(*call);
    } else if (expr->kind == ExprKind::load && expr->operands.size() == 1) {
      const ExprRef index = checked(expr->operands[0], expr->var, expr->type.element(), "loads", ranges);
      if (index == nullptr) return nullptr;
      std::vector<ExprRef> operands = {index};
      return tir::with_operands(*expr, operands);
    } else if (expr->kind == ExprKind::call && expr->op == Op::address_of &&
               expr->operands[0]->kind == ExprKind::load) {
      // An address is no access.
      const Expr& load = *expr->operands[0];
      const ExprRef* index = checked_index(*load.operands[0]);
      if (index == nullptr) return nullptr;
      std::vector<ExprRef> operands = {*index};
      std::vector<ExprRef> pointers = {tir::with_operands(load, operands)};
      return tir::with_operands(*expr, pointers);
    }
    return nullptr;
  }

  // Null: it needs no check, or cannot be checked.
  ExprRef checked(const ExprRef& index, VarId storage, tir::DataType element, const char* verb, arith::Ranges& ranges) {
    const auto found = reaches_.find(storage);
    const auto lanes = lanes_of(index);
    const Bytes width = element.element_bytes();
    if (found == reaches_.end() || !found->second || !lanes || width <= 0) return nullptr;
    const Reach& reach = *found->second;
    const std::int64_t low = -(reach.before / width);
    const std::int64_t high = reach.behind / width;
    const auto range = ranges.of(*index);
    if (range && range->low >= low && range->high < high) return nullptr;
    const std::string count = std::to_string(high - low) + (high - low == 1 ? " element" : " elements");
    result_.accesses.push_back({"function '" + printable(result_.module.functions[function_].name) + "' " + verb,
                                "'" + printable(result_.module.var(storage).name) + "', which has " + count +
                                    (low < 0 ? ", from " + std::to_string(low) + " on" : "")});
    const tir::DataType type = lanes->base->type;
    const ExprRef base = tir::make_call(
        tir::int64_type, Op::call_pure_extern,
        {tir::make_string(index_check), tir::make_cast(tir::int64_type, lanes->base),
         tir::make_int(low - lanes->first, tir::int64_type), tir::make_int(high - lanes->last, tir::int64_type),
         tir::make_int(static_cast<std::int64_t>(result_.accesses.size()) - 1, tir::int64_type)});
    ExprRef result = tir::make_cast(type, base);
    if (!index->type.is_vector()) return result;
    std::vector<ExprRef> operands(index->operands.size());
    operands[0] = std::move(result);
    return tir::with_operands(*index, operands);
  }

  CheckedModule result_;
  std::size_t function_ = 0;
  std::map<VarId, KnownReach> reaches_;  // of what is declared, bound or passed so far
};

}  // namespace

CheckedModule with_access_checks(const tir::Module& module) { return Checker(module).run(); }

std::string outside_text(const CheckedAccess& access, std::int64_t index) {
  return access.before + " element " + std::to_string(index) + " of " + access.behind;
}

}  // namespace usmp::execute

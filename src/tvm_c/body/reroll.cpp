// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds rows of stores that begin with what is stored last, and merges each into one store in a loop.
#include "tvm_c/body/reroll.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tvm_c/body/numbers.hpp"
#include "usmp/arith/facts.hpp"
#include "usmp/loops/edit.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::Store;
using tir::VarId;

// Variables that become one array: its elements.
struct Lanes {
  std::vector<VarId> scalars;
  VarId array;
  bool is_sound = true;  // so far
};

struct Lane {
  std::size_t of = 0;  // Lanes
  std::size_t index = 0;
};

class Reroller {
 public:
  Reroller(tir::Module& module, tir::Function& function) : module_(module), function_(function), facts_(module) {}

  void run() {
    collect_scalars();
    if (scalars_.size() < 2) return;
    for_each_row([&](const std::vector<Store*>& row, Block&, std::size_t) { note_last(row); });
    if (lanes_.empty()) return;
    new_lane();
    check();
    module_.vars.pop_back();
    for (Lanes& one : lanes_) {
      if (one.is_sound) one.array = new_var(module_.var(one.scalars[0]).name, one.scalars[0]);
    }
    rewrite();
  }

 private:
  // On the stack of the C.
  void collect_scalars() {
    scalars_ = numbers_of(function_.body);
    tir::for_each_stmt(function_.body, [&](const Stmt& stmt) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      if (allocate != nullptr && (allocate->condition != nullptr || !allocate->was_on_stack))
        scalars_.erase(allocate->var);
    });
  }

  // Stores next to each other, with declarations of variables between them. `visit` gets them, their block and the
  // place of the first; it may replace statements from there on.
  template <class Visit>
  void for_each_row(const Visit& visit) {
    std::vector<Block*> blocks;
    tir::for_each_block(function_.body, [&](Block& block) { blocks.push_back(&block); });
    for (std::size_t i = blocks.size(); i-- > 0;) {
      Block& block = *blocks[i];
      for (std::size_t begin = 0; begin < block.size();) {
        std::vector<Store*> row;
        std::size_t end = begin;
        for (; end < block.size(); ++end) {
          auto* store = std::get_if<Store>(&block[end].node);
          const auto* allocate = std::get_if<tir::Allocate>(&block[end].node);
          const bool is_scalar = allocate != nullptr && scalars_.contains(allocate->var);
          if (store == nullptr && !is_scalar) break;
          if (store != nullptr) row.push_back(store);
        }
        if (!row.empty()) visit(row, block, begin);
        begin = end + 1;
      }
    }
  }

  // --- What the variables are --------------------------------------------------------------------------------------

  // Parts of the row that store to one tensor at equal distances.
  void note_last(const std::vector<Store*>& row) {
    for (std::size_t begin = 0; begin < row.size();) {
      const std::size_t end = end_of_last(row, begin);
      if (end - begin >= 2)
        note_lanes({row.begin() + static_cast<std::ptrdiff_t>(begin), row.begin() + static_cast<std::ptrdiff_t>(end)});
      begin = end;
    }
  }

  std::size_t end_of_last(const std::vector<Store*>& row, std::size_t begin) {
    std::size_t end = begin + 1;
    if (scalars_.contains(row[begin]->storage) || row[begin]->predicate != nullptr) return end;
    std::optional<std::int64_t> step;
    for (; end < row.size() && row[end]->storage == row[begin]->storage && row[end]->predicate == nullptr; ++end) {
      const auto here = distance(*row[end - 1]->index, *row[end]->index);
      if (!here || *here == 0 || (step && *step != *here)) break;
      step = here;
    }
    return end;
  }

  void note_lanes(const std::vector<Store*>& row) {
    std::vector<VarId> scalars;
    for (const Store* store : row) {
      const Expr& value = *store->value;
      if (value.kind != ExprKind::load || !scalars_.contains(value.var)) return;
      scalars.push_back(value.var);
    }
    const tir::DataType type = module_.var(scalars[0]).element;
    const bool are_new = std::ranges::none_of(scalars, [&](VarId var) { return lane_of_.contains(var); });
    const bool are_alike = std::ranges::all_of(scalars, [&](VarId var) { return module_.var(var).element == type; });
    const std::set<VarId> distinct(scalars.begin(), scalars.end());
    if (!are_new || !are_alike || distinct.size() != scalars.size()) return;
    for (std::size_t i = 0; i < scalars.size(); ++i) lane_of_[scalars[i]] = {lanes_.size(), i};
    lanes_.push_back({std::move(scalars), {}, true});
  }

  // --- Whether all statements are in rows ----------------------------------------------------------------------------

  void check() {
    std::set<const Store*> in_rows;
    for_each_row([&](const std::vector<Store*>& row, Block&, std::size_t) {
      for (std::size_t at = 0; at < row.size();) {
        const auto part = part_at(row, at);
        if (part && merged(*part)) in_rows.insert(part->stores.begin(), part->stores.end());
        at += part ? part->stores.size() : 1;
      }
    });
    // Declared in one block.
    std::map<VarId, const Block*> declared;
    tir::for_each_block(function_.body, [&](Block& block) {
      for (const Stmt& stmt : block) {
        if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) declared[allocate->var] = &block;
      }
    });
    for (Lanes& one : lanes_) {
      for (const VarId var : one.scalars) one.is_sound = one.is_sound && declared[var] == declared[one.scalars[0]];
    }
    tir::for_each_stmt(function_.body, [&](const Stmt& stmt) {
      const auto* store = std::get_if<Store>(&stmt.node);
      if (store != nullptr && in_rows.contains(store)) return;
      if (store != nullptr) refuse(store->storage);
      tir::for_each_expr_of(stmt, [&](const ExprRef& root) {
        tir::for_each_expr(*root, [&](const Expr& expr) {
          if (expr.kind == ExprKind::load) refuse(expr.var);
        });
      });
    });
  }

  void refuse(VarId var) {
    const auto lane = lane_of_.find(var);
    if (lane != lane_of_.end()) lanes_[lane->second.of].is_sound = false;
  }

  // Stores of a row, one a lane, by lane.
  struct Part {
    std::size_t lanes = 0;
    std::vector<Store*> stores;
  };

  // From the place on.
  std::optional<Part> part_at(const std::vector<Store*>& row, std::size_t at) {
    const auto lane = lane_written_or_read(*row[at]);
    if (!lane || !lanes_[lane->of].is_sound) return std::nullopt;
    const std::size_t count = lanes_[lane->of].scalars.size();
    if (at + count > row.size()) return std::nullopt;
    Part part{lane->of, std::vector<Store*>(count, nullptr)};
    for (std::size_t i = at; i < at + count; ++i) {
      const auto one = lane_written_or_read(*row[i]);
      if (!one || one->of != part.lanes || part.stores[one->index] != nullptr) return std::nullopt;
      part.stores[one->index] = row[i];
    }
    return part;
  }

  std::optional<Lane> lane_written_or_read(const Store& store) const {
    const VarId var = scalars_.contains(store.storage)      ? store.storage
                      : store.value->kind == ExprKind::load ? store.value->var
                                                            : VarId();
    const auto lane = lane_of_.find(var);
    return lane == lane_of_.end() ? std::nullopt : std::optional(lane->second);
  }

  // --- One store for the row -----------------------------------------------------------------------------------------

  // b - a, if it is always the same.
  std::optional<std::int64_t> distance(const Expr& a, const Expr& b) const {
    const auto first = facts_.affine(a);
    const auto second = facts_.affine(b);
    if (!first || !second || !(first->terms == second->terms)) return std::nullopt;
    return checked_sub(second->constant, first->constant);
  }

  // The step from one to the next, if all are equal.
  std::optional<std::int64_t> step(const std::vector<ExprRef>& exprs) const {
    const auto first = distance(*exprs[0], *exprs[1]);
    for (std::size_t i = 2; i < exprs.size(); ++i) {
      if (!first || distance(*exprs[i - 1], *exprs[i]) != first) return std::nullopt;
    }
    return first;
  }

  // The expression whose value is that of exprs[lane]. Null: there is none.
  ExprRef merged_index(const std::vector<ExprRef>& exprs) {
    const auto by = step(exprs);
    if (!by || *by < INT32_MIN || *by > INT32_MAX || exprs[0]->type != tir::int32_type) return nullptr;
    if (*by == 0) return exprs[0];
    ExprRef moved = tir::make_var(module_, lane_);
    if (*by != 1) moved = tir::make_binary(ExprKind::mul, std::move(moved), tir::make_int(*by));
    if (tir::as_int(*exprs[0]) == 0) return moved;
    return tir::make_binary(ExprKind::add, exprs[0], std::move(moved));
  }

  // NOLINTNEXTLINE(misc-no-recursion): as high as expressions are
  ExprRef merged(const std::vector<ExprRef>& exprs, const Part& part) {
    const Expr& first = *exprs[0];
    const auto is_like = [&](const ExprRef& expr) {
      return expr->kind == first.kind && expr->op == first.op && expr->type == first.type && expr->text == first.text &&
             expr->operands.size() == first.operands.size();
    };
    if (!std::ranges::all_of(exprs, is_like)) return nullptr;
    if (first.kind == ExprKind::int_imm) return first.type == tir::int32_type ? merged_index(exprs) : same(exprs);
    if (first.kind == ExprKind::float_imm || first.kind == ExprKind::var) return same(exprs);
    if (first.kind == ExprKind::load) return merged_load(exprs, part);
    if (first.kind == ExprKind::call && !tir::is_pure(first)) return nullptr;
    Expr result = first;
    for (std::size_t i = 0; i < first.operands.size(); ++i) {
      std::vector<ExprRef> operands;
      operands.reserve(exprs.size());
      for (const ExprRef& expr : exprs) operands.push_back(expr->operands[i]);
      ExprRef operand = merged(operands, part);
      if (operand == nullptr) return nullptr;
      result.operands[i] = std::move(operand);
    }
    return tir::make_expr(std::move(result));
  }

  static ExprRef same(const std::vector<ExprRef>& exprs) {
    const auto is_same = [&](const ExprRef& expr) {
      return expr->var == exprs[0]->var && expr->int_value == exprs[0]->int_value &&
             expr->float_value == exprs[0]->float_value;
    };
    return std::ranges::all_of(exprs, is_same) ? exprs[0] : nullptr;
  }

  ExprRef merged_load(const std::vector<ExprRef>& exprs, const Part& part) {
    if (exprs[0]->operands.size() != 1) return nullptr;
    if (lane_of_.contains(exprs[0]->var)) {
      for (std::size_t i = 0; i < exprs.size(); ++i) {
        const auto lane = lane_of_.find(exprs[i]->var);
        if (lane == lane_of_.end() || lane->second.of != part.lanes || lane->second.index != i) return nullptr;
      }
      return tir::make_load(exprs[0]->type, lanes_[part.lanes].array, tir::make_var(module_, lane_));
    }
    std::vector<ExprRef> indices;
    for (const ExprRef& expr : exprs) {
      if (expr->var != exprs[0]->var || scalars_.contains(expr->var)) return nullptr;
      indices.push_back(expr->operands[0]);
    }
    ExprRef index = merged_index(indices);
    return index == nullptr ? nullptr : tir::make_load(exprs[0]->type, exprs[0]->var, std::move(index));
  }

  // Stores do not read what others of the row write: those of variables read only their own.
  std::optional<Store> merged(const Part& part) {
    std::vector<ExprRef> indices;
    std::vector<ExprRef> values;
    const bool to_scalars = scalars_.contains(part.stores[0]->storage);
    for (const Store* store : part.stores) {
      if (store->predicate != nullptr || scalars_.contains(store->storage) != to_scalars) return std::nullopt;
      if (!to_scalars && store->storage != part.stores[0]->storage) return std::nullopt;
      indices.push_back(store->index);
      values.push_back(store->value);
    }
    Store result = *part.stores[0];
    result.value = merged(values, part);
    result.index = to_scalars ? tir::make_var(module_, lane_) : merged_index(indices);
    if (to_scalars) result.storage = lanes_[part.lanes].array;
    if (result.value == nullptr || result.index == nullptr) return std::nullopt;
    return result;
  }

  // --- Rewriting -----------------------------------------------------------------------------------------------------

  VarId new_var(const std::string& name, VarId like) {
    const VarId var(module_.vars.size());
    module_.vars.push_back({name, module_.var(like).type, module_.var(like).element, {}});
    return var;
  }

  void new_lane() { lane_ = loops::fresh_var(module_, "lane", tir::int32_type); }

  void rewrite() {
    std::vector<Block*> blocks;
    tir::for_each_block(function_.body, [&](Block& block) { blocks.push_back(&block); });
    for (std::size_t i = blocks.size(); i-- > 0;) rewrite(*blocks[i]);
  }

  void rewrite(Block& block) {
    std::vector<Store*> row;
    std::set<const Store*> gone;
    std::map<const Store*, Stmt> loops;  // in the place of the last of them
    const auto end_row = [&] {
      for (std::size_t at = 0; at < row.size();) {
        const auto part = part_at(row, at);
        const std::size_t count = part ? part->stores.size() : 1;
        if (part) {
          new_lane();
          std::optional<Store> store = merged(*part);
          gone.insert(part->stores.begin(), part->stores.end());
          Stmt loop;
          loop.node = tir::For{lane_, tir::make_int(0), tir::make_int(static_cast<std::int64_t>(count)), {}};
          std::get<tir::For>(loop.node).body.emplace_back().node = std::move(*store);
          loops[row[at + count - 1]] = std::move(loop);
        }
        at += count;
      }
      row.clear();
    };
    for (Stmt& stmt : block) {
      auto* store = std::get_if<Store>(&stmt.node);
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      if (store != nullptr) {
        row.push_back(store);
      } else if (allocate == nullptr || !scalars_.contains(allocate->var)) {
        end_row();
      }
    }
    end_row();
    Block result;
    for (Stmt& stmt : block) {
      const auto* store = std::get_if<Store>(&stmt.node);
      auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      if (store != nullptr && loops.contains(store)) {
        result.push_back(std::move(loops[store]));
      } else if (store != nullptr && gone.contains(store)) {
        continue;
      } else if (allocate != nullptr && lane_of_.contains(allocate->var) &&
                 lanes_[lane_of_[allocate->var].of].is_sound) {
        declare_once(*allocate, stmt, result);
      } else {
        result.push_back(std::move(stmt));
      }
    }
    block = std::move(result);
  }

  void declare_once(tir::Allocate& allocate, Stmt& stmt, Block& result) {
    Lanes& one = lanes_[lane_of_[allocate.var].of];
    if (!declared_.insert(one.array).second) return;
    allocate.var = one.array;
    allocate.extents = {tir::make_int(static_cast<std::int64_t>(one.scalars.size()))};
    result.push_back(std::move(stmt));
  }

  tir::Module& module_;
  tir::Function& function_;
  arith::Facts facts_;
  std::set<VarId> scalars_;
  std::vector<Lanes> lanes_;
  std::map<VarId, Lane> lane_of_;
  VarId lane_;  // of the loop that is made
  std::set<VarId> declared_;
};

}  // namespace

void reroll(tir::Module& module, tir::Function& function) { Reroller(module, function).run(); }

}  // namespace usmp::tvm_c

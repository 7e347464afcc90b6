// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Checks all of a loop's accesses first; what is changed afterwards cannot fail, but for the forms of indices, which a
// copy shows.
#include "transform/wide_tiles.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "usmp/arith/facts.hpp"
#include "usmp/loops/accesses.hpp"
#include "usmp/loops/edit.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/tir/element_order.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

// Loops directly inside each other, the last over the lanes, around one store.
struct LaneNest {
  std::vector<tir::For*> loops;
  tir::Store* store = nullptr;

  [[nodiscard]] tir::For& lanes() const { return *loops.back(); }
};

std::optional<LaneNest> lane_nest(Stmt& stmt, std::int64_t lanes) {
  LaneNest nest;
  for (auto* loop = std::get_if<tir::For>(&stmt.node); loop != nullptr; loop = tir::only_loop(loop->body)) {
    if (loop->row_runs != 0) return std::nullopt;
    nest.loops.push_back(loop);
  }
  if (nest.loops.empty()) return std::nullopt;
  const tir::For& last = nest.lanes();
  if (tir::as_int(*last.min) != 0 || tir::as_int(*last.extent) != lanes || last.body.size() != 1) return std::nullopt;
  nest.store = std::get_if<tir::Store>(&nest.lanes().body[0].node);
  const bool is_plain = nest.store != nullptr && nest.store->predicate == nullptr && tir::is_pure(*nest.store->value) &&
                        tir::is_pure(*nest.store->index);
  return is_plain ? std::optional(std::move(nest)) : std::nullopt;
}

// A constant's index: each variable's range is a digit.
struct IndexDigit {
  VarId var;
  std::int64_t extent = 1;
  std::int64_t before = 1;  // distance of neighbours
  std::int64_t after = 1;
};

class TileWidener {
 public:
  TileWidener(tir::Module& module, std::size_t index, const ParamAliases& aliases)
      : module_(module), index_(index), function_(module.functions[index]), aliases_(aliases), facts_(module) {}

  std::vector<VarId> run() {
    all_ = loops::accesses_of(function_.body);
    tir::for_each_stmt(function_.body, [&](const Stmt& stmt) {
      if (const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node))
        constants_[constant->var] = constant->data;
    });
    const auto before = [this](Block& block, std::size_t& at, arith::Facts& here) {
      auto* loop = std::get_if<tir::For>(&block[at].node);
      auto wide = loop == nullptr ? std::nullopt : widened(*loop, here);
      if (!wide) return loops::Next::enter;
      const auto place = block.erase(block.begin() + static_cast<std::ptrdiff_t>(at));
      block.insert(place, std::make_move_iterator(wide->begin()), std::make_move_iterator(wide->end()));
      at += wide->size() - 1;
      return loops::Next::skip;
    };
    loops::edit(function_.body, facts_, {.before = before, .after = {}});
    tir::for_each_block(function_.body, [&](Block& block) {
      for (Stmt& stmt : block) {
        auto* constant = std::get_if<tir::AllocateConst>(&stmt.node);
        if (constant != nullptr) constant->data = constants_.at(constant->var);
      }
    });
    return std::move(arrays_);
  }

 private:
  // In the place of the loop; of one that is left of all tiles, what it holds.
  std::optional<Block> widened(const tir::For& original, arith::Facts& facts) {
    const auto tiles = tir::as_int(*original.extent);
    const bool is_loop = tir::as_int(*original.min) == 0 && tiles && *tiles >= 2 && original.row_runs == 0 &&
                         module_.var(original.var).type == tir::int32_type;
    if (!is_loop || !find_array(original)) return std::nullopt;
    const std::int64_t lanes = *tir::element_count(array_);
    std::int64_t at_once = std::min(*tiles, most_lanes / lanes);
    while (at_once > 1 && *tiles % at_once != 0) --at_once;
    tir::Allocate wide = array_;
    wide.extents = {tir::make_int(at_once * lanes)};
    if (at_once < 2 || !tir::stays_on_stack(module_, index_, wide)) return std::nullopt;
    tir::For loop = original;
    if (!loops::expand_lets(loop.body, {})) return std::nullopt;
    std::vector<LaneNest> nests;
    for (Stmt& stmt : loop.body) {
      if (std::holds_alternative<tir::Allocate>(stmt.node)) continue;
      auto nest = lane_nest(stmt, lanes);
      if (!nest || !are_bounds_fixed(*nest, loop.var)) return std::nullopt;
      nests.push_back(std::move(*nest));
    }
    const std::size_t mark = facts.mark();
    const std::size_t vars = module_.vars.size();
    facts.bind_loop(loop);
    const auto constants = constants_;
    bool is_possible = are_independent(loop, nests, facts) && put_side_by_side(loop, nests, facts);
    facts.restore(mark);
    is_possible = is_possible && widen(loop, nests, at_once, lanes, facts);
    facts.restore(mark);
    if (!is_possible) {
      constants_ = constants;
      module_.vars.resize(vars);
      return std::nullopt;
    }
    arrays_.push_back(array_.var);
    if (at_once == *tiles) return std::move(loop.body);
    Block result;
    result.push_back(Stmt{std::move(loop)});
    return result;
  }

  // The array is the only thing that the loop declares.
  bool find_array(const tir::For& loop) {
    std::size_t found = 0;
    for (const Stmt& stmt : loop.body) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      if (allocate == nullptr) continue;
      array_ = *allocate;
      ++found;
    }
    return found == 1 && array_.type == tir::int32_type && array_.was_on_stack &&
           tir::stays_on_stack(module_, index_, array_) && tir::element_count(array_).value_or(0) >= 1;
  }

  // Lanes are not among the loops that are asked.
  static bool are_bounds_fixed(const LaneNest& nest, VarId tile) {
    return std::ranges::all_of(nest.loops, [&](const tir::For* loop) {
      return loops::loaded_by(*loop->min).empty() && loops::loaded_by(*loop->extent).empty() &&
             !tir::mentions(*loop->min, tile) && !tir::mentions(*loop->extent, tile);
    });
  }

  static void bind(const LaneNest& nest, arith::Facts& facts) {
    for (const tir::For* loop : nest.loops) facts.bind_loop(*loop);
  }

  // Whether tiles touch different elements of what is stored, and nothing reaches that in another way; and whether
  // tiles have data of their own, as those that share them have enough to do, and weights, as other tiles may be
  // pixels.
  bool are_independent(const tir::For& loop, const std::vector<LaneNest>& nests, arith::Facts& facts) const {
    loops::Accesses accesses;
    loops::add_accesses(Stmt{loop}, accesses);
    for (const auto& stored : accesses.stores) {
      const VarId storage = stored.first;
      if (storage == array_.var) continue;
      const auto meets = [&](const auto& access) {
        return access.first != storage && access.first != array_.var && aliases_.may_alias(access.first, storage);
      };
      if (std::ranges::any_of(accesses.loads, meets) || std::ranges::any_of(accesses.stores, meets)) return false;
    }
    std::set<VarId> inside = {loop.var};
    for (const LaneNest& nest : nests) {
      for (const tir::For* one : nest.loops) inside.insert(one->var);
    }
    std::map<VarId, std::pair<arith::Affine, std::int64_t>> divided;  // what does not change, and a tile's elements
    bool are_apart = true;
    bool have_own_data = false;  // terms
    bool have_own_weights = false;
    for (const LaneNest& nest : nests) {
      const bool are_terms = nest.store->storage == array_.var && nest.loops.size() > 1;
      const std::size_t mark = facts.mark();
      bind(nest, facts);
      loops::visit_accesses(
          Stmt{*nest.store}, facts, [&](VarId var, const Expr& index, bool, const arith::Facts& here) {
            const auto form = here.affine(index);
            if (var == array_.var) {
              are_apart = are_apart && form == arith::variable(nest.lanes().var);
            } else if (accesses.stores_of(var) > 0) {
              are_apart = are_apart && form && is_divided(*form, loop.var, inside, divided, var, here);
            } else if (are_terms && form && constants_.contains(var)) {
              have_own_weights = have_own_weights || form->factor(loop.var) != 0;
            } else if (are_terms && form) {
              have_own_data = have_own_data || form->factor(nest.lanes().var) == 1;
            }
          });
      facts.restore(mark);
    }
    return are_apart && have_own_data && have_own_weights;
  }

  static bool is_divided(const arith::Affine& index, VarId tile, const std::set<VarId>& inside,
                         std::map<VarId, std::pair<arith::Affine, std::int64_t>>& divided, VarId storage,
                         const arith::Facts& facts) {
    arith::Affine fixed;
    arith::Affine rest;
    rest.constant = index.constant;
    for (const arith::Terms::Term& term : index.without(tile).terms) {
      const arith::Atom& atom = term.first;
      const bool changes = std::ranges::any_of(inside, [&](VarId var) {
        return atom.kind == arith::Atom::Kind::var ? atom.var == var : atom.whole->mentions(var);
      });
      (changes ? rest : fixed).terms.add(term);
    }
    fixed.measure();
    rest.measure();
    const std::int64_t distance = index.factor(tile);
    const auto reach = facts.interval(rest);
    if (distance < 1 || rest.mentions(tile) || !reach || !reach->within({0, distance - 1})) return false;
    const auto [first, is_first] = divided.try_emplace(storage, fixed, distance);
    return first->second == std::pair(fixed, distance);
  }

  // --- Constants -----------------------------------------------------------------------------------------------------

  // Whether all loads of constants are of lanes side by side, in tiles side by side, then.
  bool put_side_by_side(const tir::For& loop, const std::vector<LaneNest>& nests, arith::Facts& facts) {
    const std::int64_t lanes = *tir::element_count(array_);
    bool is_possible = true;
    for (const LaneNest& nest : nests) {
      const std::size_t mark = facts.mark();
      bind(nest, facts);
      tir::ExprRewriter rewriter([&](const ExprRef& expr) -> ExprRef {
        if (!is_possible || expr->kind != ExprKind::load || !constants_.contains(expr->var)) return nullptr;
        const auto index = facts.affine(*expr->operands[0]);
        const std::int64_t lane = index ? index->factor(nest.lanes().var) : 0;
        const auto tile = checked_mul(lane, lanes);
        if (index && tile && index->factor(loop.var) == *tile) return nullptr;
        ExprRef moved = index ? rearranged(*expr, *index, loop.var, nest.lanes().var, facts) : nullptr;
        is_possible = moved != nullptr;
        return moved;
      });
      nest.store->value = rewriter.rewritten(nest.store->value);
      facts.restore(mark);
    }
    return is_possible;
  }

  // The load of the constant with the tile and the lane as its lowest digits. Null: it has to stay as it is.
  ExprRef rearranged(const Expr& load, const arith::Affine& index, VarId tile, VarId lane, const arith::Facts& facts) {
    const std::shared_ptr<const tir::Constant> data = constants_.at(load.var);
    if (load.operands.size() != 1 || load.type != data->type || load.type.is_vector() || all_.loads_of(load.var) != 1 ||
        all_.stores_of(load.var) != 0 || is_equal_to_another(*data) || index.constant != 0) {
      return nullptr;
    }
    std::vector<IndexDigit> digits;
    for (const auto& [atom, factor] : index.terms) {
      if (atom.kind != arith::Atom::Kind::var) return nullptr;
      const auto range = facts.interval(arith::variable(atom.var));
      if (!range || range->low != 0 || range->high >= INT32_MAX) return nullptr;
      digits.push_back({atom.var, range->high + 1, factor, 1});
    }
    std::ranges::stable_sort(digits, std::ranges::greater{}, &IndexDigit::before);
    std::int64_t size = 1;
    for (std::size_t i = digits.size(); i-- > 0;) {
      if (digits[i].before != size) return nullptr;
      size *= digits[i].extent;
    }
    const auto bytes = static_cast<std::size_t>(data->type.bytes());
    if (size != static_cast<std::int64_t>(data->bytes.size() / bytes)) return nullptr;
    const auto place = [&](const IndexDigit& digit) { return digit.var == lane ? 2 : digit.var == tile ? 1 : 0; };
    std::vector<IndexDigit> order = digits;
    std::ranges::stable_sort(order, {}, place);
    std::int64_t distance = 1;
    for (std::size_t i = order.size(); i-- > 0;) {
      order[i].after = distance;
      distance *= order[i].extent;
    }
    std::ranges::stable_sort(order, std::ranges::greater{}, &IndexDigit::before);
    arith::Affine moved;
    for (const IndexDigit& digit : order) {
      const auto term = scaled(arith::variable(digit.var), digit.after);
      const auto with = term ? arith::sum(moved, *term) : std::nullopt;
      if (!with) return nullptr;
      moved = *with;
    }
    const tir::DataType type = load.operands[0]->type;
    if (!facts.fits(moved, type)) return nullptr;
    auto after = std::make_shared<tir::Constant>(*data);
    std::vector<tir::ElementDigit> places;
    places.reserve(order.size());
    for (const IndexDigit& digit : order) places.push_back({digit.before, digit.after});
    after->bytes = tir::reordered(*data, places);
    constants_[load.var] = std::move(after);
    return tir::make_load(load.type, load.var, facts.expr(moved, type));
  }

  // Which is stored once for both.
  bool is_equal_to_another(const tir::Constant& data) const {
    std::size_t equal = 0;
    for (const tir::Function& function : module_.functions) {
      tir::for_each_stmt(function.body, [&](const Stmt& stmt) {
        const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node);
        if (constant != nullptr && constant->data->bytes == data.bytes) ++equal;
      });
    }
    return equal > 1;
  }

  // --- The loop ------------------------------------------------------------------------------------------------------

  // False: an index depends on the tile or the lane alone.
  bool widen(tir::For& loop, const std::vector<LaneNest>& nests, std::int64_t at_once, std::int64_t lanes,
             arith::Facts& facts) {
    for (Stmt& stmt : loop.body) {
      if (auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) allocate->extents = {tir::make_int(at_once * lanes)};
    }
    const VarId group = loops::fresh_var(module_, module_.var(loop.var).name, tir::int32_type);
    const VarId tile = std::exchange(loop.var, group);
    loop.extent = tir::make_int(*tir::as_int(*loop.extent) / at_once);
    facts.bind_loop(loop);
    const ExprRef count = tir::make_int(lanes);
    bool is_plain = true;
    for (const LaneNest& nest : nests) {
      tir::For& innermost = nest.lanes();
      if (module_.var(innermost.var).type != tir::int32_type) return false;
      const VarId lane = innermost.var;
      innermost.var = loops::fresh_var(module_, module_.var(lane).name, tir::int32_type);
      innermost.extent = tir::make_int(at_once * lanes);
      const ExprRef both = tir::make_var(module_, innermost.var);
      ExprRef number = tir::make_binary(ExprKind::floor_div, both, count);  // of the tile
      if (tir::as_int(*loop.extent) != 1) {
        const ExprRef first = tir::make_binary(ExprKind::mul, tir::make_var(module_, group), tir::make_int(at_once));
        number = tir::make_binary(ExprKind::add, first, std::move(number));
      }
      const loops::Substitution values = {{lane, tir::make_binary(ExprKind::floor_mod, both, count)},
                                          {tile, std::move(number)}};
      const std::size_t mark = facts.mark();
      bind(nest, facts);
      const auto renewed = [&](ExprRef& root) {
        root = facts.simplified(loops::substituted(root, facts, values));
        tir::for_each_expr(*root, [&](const Expr& expr) {
          const bool divides = expr.kind == ExprKind::floor_div || expr.kind == ExprKind::floor_mod;
          is_plain = is_plain && !(divides && tir::mentions(*expr.operands[0], innermost.var));
        });
      };
      tir::Store& store = *nest.store;
      const bool is_in_array = store.storage == array_.var;
      set_element(store.value, both);
      renewed(store.value);
      if (is_in_array) {
        store.index = both;
      } else {
        renewed(store.index);
      }
      facts.restore(mark);
    }
    return is_plain;
  }

  // What is loaded from the array is of the lane.
  void set_element(ExprRef& root, const ExprRef& lane) const {
    tir::ExprRewriter rewriter([&](const ExprRef& expr) -> ExprRef {
      const bool is_element = expr->kind == ExprKind::load && expr->var == array_.var;
      return is_element ? tir::make_load(expr->type, expr->var, lane) : nullptr;
    });
    root = rewriter.rewritten(root);
  }

  tir::Module& module_;
  const std::size_t index_;
  tir::Function& function_;
  const ParamAliases& aliases_;
  arith::Facts facts_;
  loops::Accesses all_;
  std::map<VarId, std::shared_ptr<const tir::Constant>> constants_;  // as they are to be
  tir::Allocate array_;                                              // of the loop at hand
  std::vector<VarId> arrays_;
};

}  // namespace

std::vector<VarId> widen_tiles(tir::Module& module, std::size_t function, const ParamAliases& aliases) {
  return TileWidener(module, function, aliases).run();
}

}  // namespace usmp::transform

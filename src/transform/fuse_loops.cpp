// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Divides the indices of two loops by their variables, and moves both bodies into one loop if the pieces match.
#include "transform/fuse_loops.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "usmp/arith/facts.hpp"
#include "usmp/loops/edit.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

// How one loop accesses one storage: every index is stride · (loop variable) + rest, with rest in [0, stride) and free
// of the variable. Then iterations touch different elements.
class LoopPartition {
 public:
  LoopPartition(const tir::For& loop, VarId storage, arith::Facts& facts) : loop_(loop) {
    loops::visit_accesses(Stmt{loop}, facts, [&](VarId var, const Expr& index, bool, const arith::Facts& here) {
      if (var == storage) add(index, here);
    });
  }

  // Nothing: not divided so, or not accessed at all.
  [[nodiscard]] std::optional<std::int64_t> stride() const { return divided_ ? stride_ : std::nullopt; }

 private:
  void add(const Expr& index, const arith::Facts& facts) {
    if (!divided_) return;
    divided_ = false;
    const auto form = facts.affine(index);
    if (!form) return;
    const std::int64_t factor = form->factor(loop_.var);
    if (factor < 1 || (stride_ && *stride_ != factor)) return;
    const arith::Affine rest = form->without(loop_.var);
    if (rest.mentions(loop_.var)) return;
    const auto reach = facts.interval(rest);
    if (!reach || !reach->within({0, factor - 1})) return;
    stride_ = factor;
    divided_ = true;
  }

  const tir::For& loop_;
  std::optional<std::int64_t> stride_;
  bool divided_ = true;
};

// A loop over [0, count).
std::optional<std::int64_t> count_of(const tir::For& loop) {
  const auto extent = tir::as_int(*loop.extent);
  if (tir::as_int(*loop.min) != 0 || !extent || *extent < 1) return std::nullopt;
  return extent;
}

class LoopFuser {
 public:
  LoopFuser(tir::Module& module, std::size_t function, const ParamAliases& aliases)
      : module_(module), function_(function), aliases_(aliases), facts_(module) {}

  std::vector<VarId> run() {
    all_ = loops::accesses_of(body());
    const auto before = [this](Block& block, std::size_t& i, arith::Facts&) {
      while (fuse_with_next(block, i)) {
      }
      return loops::Next::enter;
    };
    loops::edit(body(), facts_, {.before = before, .after = {}});
    return std::move(shrunk_);
  }

 private:
  Block& body() { return module_.functions[function_].body; }

  // Fuses the loop at `i` with the next one of the block, or the next two, if only declarations stand between them.
  bool fuse_with_next(Block& block, std::size_t& i) {
    const auto next = loop_at(block, i) != nullptr ? next_loop(block, i) : std::nullopt;
    if (!next) return false;
    const auto a = count_of(*loop_at(block, i));
    const auto b = count_of(*loop_at(block, *next));
    if (!a || !b) return false;
    const std::size_t vars = module_.vars.size();
    const tir::For& first = *loop_at(block, i);
    const tir::For& second = *loop_at(block, *next);
    auto fused = *a == *b       ? fuse(block, {&first, &second})
                 : *b % *a == 0 ? fuse(block, first, loops::split(module_, second, *a))
                 : *a % *b == 0 ? fuse(block, loops::split(module_, first, *b), second)
                                : std::nullopt;
    std::size_t last = *next;
    if (!fused && *a == *b) {  // such as what sums begin with, their terms, and what becomes of them
      const auto third = next_loop(block, *next);
      if (third && count_of(*loop_at(block, *third)) == a) {
        fused = fuse(block, {&first, &second, loop_at(block, *third)});
        last = *third;
      }
    }
    if (!fused) {
      module_.vars.resize(vars);  // those of a split that led to nothing
      return false;
    }
    const std::size_t at = i;
    block[last] = Stmt{std::move(*fused)};
    std::size_t place = 0;
    std::erase_if(block, [&](const Stmt& stmt) {
      const std::size_t here = place++;
      if (here >= at && here < last && std::holds_alternative<tir::For>(stmt.node)) return true;
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      return allocate != nullptr && moved_.contains(allocate->var);
    });
    i = 0;
    while (loop_at(block, i) == nullptr || loop_at(block, i)->var != fused_var_) ++i;
    shrunk_.insert(shrunk_.end(), moved_.begin(), moved_.end());
    all_ = loops::accesses_of(body());
    return true;
  }

  static const tir::For* loop_at(const Block& block, std::size_t i) { return std::get_if<tir::For>(&block[i].node); }

  // Behind which only declarations stand in front of it.
  static std::optional<std::size_t> next_loop(const Block& block, std::size_t i) {
    std::size_t next = i + 1;
    while (next < block.size() && (std::holds_alternative<tir::Allocate>(block[next].node) ||
                                   std::holds_alternative<tir::AllocateConst>(block[next].node))) {
      ++next;
    }
    return next < block.size() && loop_at(block, next) != nullptr ? std::optional(next) : std::nullopt;
  }

  std::optional<tir::For> fuse(const Block& block, const tir::For& first, const tir::For& second) {
    return fuse(block, {&first, &second});
  }

  // Nothing: not possible, or no buffer gets smaller. Leaves what it moves into the loop in moved_.
  std::optional<tir::For> fuse(const Block& block, const std::vector<const tir::For*>& nests) {
    std::vector<loops::Accesses> each;
    loops::Accesses together;
    for (const tir::For* loop : nests) {
      if (module_.var(loop->var).type != module_.var(nests[0]->var).type) return std::nullopt;
      loops::add_accesses(Stmt{*loop}, each.emplace_back());
      loops::add_accesses(Stmt{*loop}, together);
    }
    std::map<VarId, std::int64_t> smaller;  // buffers, with the elements that they need
    for (const VarId storage : storages_of(together)) {
      std::vector<const tir::For*> accessing;
      for (std::size_t i = 0; i < nests.size(); ++i) {
        if (is_accessed(each[i], storage)) accessing.push_back(nests[i]);
      }
      if (accessing.size() < 2 || together.stores_of(storage) == 0) continue;
      const auto stride = common_stride(accessing, storage);
      if (!stride) return std::nullopt;
      const tir::Allocate* const allocate = declared_in(block, storage);
      if (allocate != nullptr && is_all(together, storage) && *stride < tir::element_count(*allocate).value_or(0)) {
        smaller.emplace(storage, *stride);
      }
    }
    if (smaller.empty()) return std::nullopt;
    for (std::size_t i = 1; i < each.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (may_conflict(each[j], each[i])) return std::nullopt;
      }
    }
    return fused_loop(block, nests, smaller);
  }

  static std::set<VarId> storages_of(const loops::Accesses& accesses) {
    std::set<VarId> storages;
    for (const auto& [storage, count] : accesses.loads) storages.insert(storage);
    for (const auto& [storage, count] : accesses.stores) storages.insert(storage);
    return storages;
  }

  static bool is_accessed(const loops::Accesses& accesses, VarId storage) {
    return accesses.loads_of(storage) + accesses.stores_of(storage) > 0;
  }

  // Whether these are all accesses of the storage.
  [[nodiscard]] bool is_all(const loops::Accesses& accesses, VarId storage) const {
    return accesses.loads_of(storage) == all_.loads_of(storage) &&
           accesses.stores_of(storage) == all_.stores_of(storage);
  }

  // Whether different storages of the loops may share bytes that one of them writes.
  [[nodiscard]] bool may_conflict(const loops::Accesses& a, const loops::Accesses& b) const {
    const auto written_and_accessed = [&](const loops::Accesses& writer, const loops::Accesses& other) {
      return std::any_of(writer.stores.begin(), writer.stores.end(), [&](const auto& store) {
        const auto meets = [&](const auto& access) {
          return access.first != store.first && aliases_.may_alias(access.first, store.first);
        };
        return std::any_of(other.loads.begin(), other.loads.end(), meets) ||
               std::any_of(other.stores.begin(), other.stores.end(), meets);
      });
    };
    return written_and_accessed(a, b) || written_and_accessed(b, a);
  }

  std::optional<std::int64_t> common_stride(const std::vector<const tir::For*>& nests, VarId storage) {
    std::optional<std::int64_t> common;
    for (const tir::For* loop : nests) {
      const auto stride = stride_of(*loop, storage);
      if (!stride || (common && *common != *stride)) return std::nullopt;
      common = stride;
    }
    return common;
  }

  std::optional<std::int64_t> stride_of(const tir::For& loop, VarId storage) {
    const std::size_t mark = facts_.mark();
    const auto stride = LoopPartition(loop, storage, facts_).stride();
    facts_.restore(mark);
    return stride;
  }

  static const tir::Allocate* declared_in(const Block& block, VarId storage) {
    for (const Stmt& stmt : block) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      if (allocate != nullptr && allocate->var == storage) return allocate;
    }
    return nullptr;
  }

  tir::For fused_loop(const Block& block, const std::vector<const tir::For*>& nests,
                      const std::map<VarId, std::int64_t>& smaller) {
    const tir::For& first = *nests[0];
    fused_var_ = first.var;
    tir::For loop = first;
    for (std::size_t i = 1; i < nests.size(); ++i) {
      Block rest = nests[i]->body;
      loops::rename(rest, {{nests[i]->var, tir::make_var(module_, first.var)}});
      std::move(rest.begin(), rest.end(), std::back_inserter(loop.body));
    }
    Stmt whole{std::move(loop)};
    moved_.clear();
    for (const auto& [storage, elements] : smaller) {
      shift(whole, storage, {tir::make_var(module_, first.var), elements});
      moved_.insert(storage);
    }
    tir::For result = std::move(std::get<tir::For>(whole.node));
    std::size_t position = 0;
    for (const auto& [storage, elements] : smaller) {
      tir::Allocate allocate = *declared_in(block, storage);
      allocate.extents = {tir::make_int(elements)};
      result.body.insert(result.body.begin() + static_cast<std::ptrdiff_t>(position++), Stmt{std::move(allocate)});
    }
    return result;
  }

  struct Offset {
    ExprRef iteration;
    std::int64_t elements;  // of an iteration
  };

  // Every index of the storage, less the offset.
  void shift(Stmt& stmt, VarId storage, const Offset& offset) {
    const std::size_t mark = facts_.mark();
    loops::rewrite_indices(stmt, storage, facts_,
                           [&](const ExprRef& index, const arith::Facts& here) { return less(index, offset, here); });
    facts_.restore(mark);
  }

  static ExprRef less(const ExprRef& index, const Offset& offset, const arith::Facts& facts) {
    const tir::DataType type = index->type;
    const ExprRef iteration =
        offset.iteration->type == type ? offset.iteration : tir::make_cast(type, offset.iteration);
    const ExprRef first = tir::make_binary(ExprKind::mul, iteration, tir::make_int(offset.elements, type));
    const auto value = facts.affine(*index);
    const auto taken = facts.affine(*first);
    const auto rest = value && taken ? difference(*value, *taken) : std::nullopt;
    return rest && facts.fits(*rest, type) ? facts.expr(*rest, type) : tir::make_binary(ExprKind::sub, index, first);
  }

  tir::Module& module_;
  const std::size_t function_;
  const ParamAliases& aliases_;
  arith::Facts facts_;
  loops::Accesses all_;
  std::set<VarId> moved_;  // by the last fusion, into its loop
  VarId fused_var_;        // of that
  std::vector<VarId> shrunk_;
};

}  // namespace

std::vector<VarId> fuse_loops(tir::Module& module, std::size_t function, const ParamAliases& aliases) {
  return LoopFuser(module, function, aliases).run();
}

}  // namespace usmp::transform

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Groups loops side by side until their sums take as many bytes as registers hold, and copies the nest for each group.
#include "shape/split_sums.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "usmp/arith/ranges.hpp"
#include "usmp/loops/reduction.hpp"
#include "usmp/loops/sum_storage.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::shape {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

constexpr Bytes most_bytes = 192;

// One of the loops side by side.
struct Sums {
  VarId storage;
  tir::DataType type;
  Interval elements;
};

class Splitter {
 public:
  explicit Splitter(tir::Function& function) : function_(function), storage_(function) {}

  void run() {
    std::vector<Block*> pending = {&function_.body};
    while (!pending.empty()) {
      Block& block = *pending.back();
      pending.pop_back();
      Block result;
      for (Stmt& stmt : block) {
        const auto* loop = std::get_if<tir::For>(&stmt.node);
        Block groups = loop == nullptr ? Block() : split(*loop);
        if (groups.empty()) groups.push_back(std::move(stmt));
        std::move(groups.begin(), groups.end(), std::back_inserter(result));
      }
      block = std::move(result);
      for (Stmt& stmt : block) {
        for (Block* inner : tir::blocks_of(stmt)) {
          while (tir::For* loop = tir::only_loop(*inner)) inner = &loop->body;
          pending.push_back(inner);
        }
      }
    }
  }

 private:
  // What stands in the loop's place; empty: it stays.
  [[nodiscard]] Block split(const tir::For& outermost) const {
    std::vector<const tir::For*> around = {&outermost};
    while (const tir::For* loop = tir::only_loop(around.back()->body)) around.push_back(loop);
    const Block* block = &around.back()->body;
    if (block->size() < 2) return {};
    std::vector<Sums> all;
    for (const Stmt& stmt : *block) {
      const auto* loop = std::get_if<tir::For>(&stmt.node);
      const std::optional<Sums> sums = loop == nullptr ? std::nullopt : sums_of(*loop);
      if (!sums) return {};
      all.push_back(*sums);
    }
    if (!are_apart(all) || !may_repeat(around, all[0].storage)) return {};
    Block result;
    for (std::size_t begin = 0; begin < all.size();) {
      const std::size_t end = end_of_group(all, begin);
      if (begin == 0 && end == all.size()) return {};
      result.push_back(with_part(around, begin, end));
      begin = end;
    }
    return result;
  }

  [[nodiscard]] std::optional<Sums> sums_of(const tir::For& loop) const {
    if (!tir::as_int(*loop.min) || tir::as_int(*loop.extent).value_or(0) < 1 || loop.body.empty()) return std::nullopt;
    const auto* store = std::get_if<tir::Store>(&loop.body.back().node);
    const Expr* term = store == nullptr ? nullptr : loops::added_term(*store);
    if (term == nullptr || store->value->type.is_vector() || !storage_.is_alone(store->storage)) return std::nullopt;
    arith::Ranges ranges;
    ranges.bind_loop(loop.var, *loop.min, *loop.extent);
    for (std::size_t i = 0; i + 1 < loop.body.size(); ++i) {
      const auto* let = std::get_if<tir::Let>(&loop.body[i].node);
      if (let == nullptr || !storage_.may_read(*let->value, store->storage)) return std::nullopt;
      ranges.bind_let(let->var, *let->value);
    }
    if (!storage_.may_read(*store->index, store->storage) || !storage_.may_read(*term, store->storage))
      return std::nullopt;
    const auto elements = ranges.of(*store->index);
    if (!elements || elements->low < 0 || elements->high > std::numeric_limits<std::int32_t>::max()) return {};
    return Sums{store->storage, store->value->type, *elements};
  }

  // Whether the loops around run the same number of times again once there are other sums.
  [[nodiscard]] bool may_repeat(const std::vector<const tir::For*>& around, VarId sums) const {
    return std::ranges::all_of(around, [&](const tir::For* loop) {
      return storage_.may_read(*loop->min, sums) && storage_.may_read(*loop->extent, sums);
    });
  }

  // As many as fit, and at least one.
  [[nodiscard]] static std::size_t end_of_group(const std::vector<Sums>& all, std::size_t begin) {
    Bytes bytes = 0;
    std::size_t end = begin;
    for (; end < all.size(); ++end) {
      bytes += (all[end].elements.high - all[end].elements.low + 1) * all[end].type.element_bytes();
      if (end > begin && bytes > most_bytes) break;
    }
    return end;
  }

  // Whether all are of one storage and type, and no two share an element.
  [[nodiscard]] static bool are_apart(std::vector<Sums> all) {
    std::sort(all.begin(), all.end(), [](const Sums& a, const Sums& b) { return a.elements.low < b.elements.low; });
    for (std::size_t i = 1; i < all.size(); ++i) {
      if (all[i].storage != all[0].storage || all[i].type != all[0].type) return false;
      if (all[i].elements.low <= all[i - 1].elements.high) return false;
    }
    return true;
  }

  // The loops with statements [begin, end) of the innermost one.
  [[nodiscard]] static Stmt with_part(const std::vector<const tir::For*>& loops, std::size_t begin, std::size_t end) {
    const Block& all = loops.back()->body;
    Block body(all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(end));
    for (std::size_t i = loops.size(); i-- > 0;) {
      Block loop;
      loop.push_back({tir::For{loops[i]->var, loops[i]->min, loops[i]->extent, std::move(body)}});
      body = std::move(loop);
    }
    return std::move(body[0]);
  }

  tir::Function& function_;
  loops::SumStorage storage_;
};

}  // namespace

void split_sums(tir::Module& module) {
  for (tir::Function& function : module.functions) {
    if (!tir::is_opaque(module, function)) Splitter(function).run();
  }
}

}  // namespace usmp::shape

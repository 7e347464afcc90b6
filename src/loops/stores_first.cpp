// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Descends to the first statement that accesses the storage: its nest has to store a dense range of indices.
#include "usmp/loops/stores_first.hpp"

#include <algorithm>
#include <map>

#include "usmp/arith/facts.hpp"
#include "usmp/loops/accesses.hpp"
#include "usmp/loops/coverage.hpp"

namespace usmp::loops {
namespace {

using tir::Stmt;
using tir::VarId;

class StoresFirst {
 public:
  StoresFirst(const tir::Module& module, VarId storage, std::int64_t elements)
      : module_(module), storage_(storage), elements_(elements) {}

  [[nodiscard]] bool hold(const tir::Block& outermost) const {
    const tir::Block* block = &outermost;
    while (true) {
      const auto first = std::ranges::find_if(*block, [&](const Stmt& stmt) { return mentions(stmt); });
      if (first == block->end()) return true;  // not accessed
      if (fills(*first)) return true;
      // A loop that runs at least once: each of its iterations has to.
      const auto* loop = std::get_if<tir::For>(&first->node);
      if (loop == nullptr || tir::as_int(*loop->extent).value_or(0) < 1) return false;
      block = &loop->body;
    }
  }

 private:
  [[nodiscard]] bool mentions(const Stmt& stmt) const {
    Accesses accesses;
    add_accesses(stmt, accesses);
    return accesses.loads_of(storage_) + accesses.stores_of(storage_) > 0;
  }

  // A nest of loops around one store, which nothing guards.
  [[nodiscard]] bool fills(const Stmt& root) const {
    arith::Facts facts(module_);
    std::map<VarId, Interval> ranges;
    const Stmt* stmt = &root;
    while (const auto* loop = std::get_if<tir::For>(&stmt->node)) {
      const auto range = constant_range(*loop);
      if (!range || loop->body.size() != 1) return false;
      facts.bind_loop(*loop);
      ranges[loop->var] = *range;
      stmt = &loop->body[0];
    }
    const auto* store = std::get_if<tir::Store>(&stmt->node);
    if (store == nullptr || store->storage != storage_ || store->predicate != nullptr) return false;
    if (loaded_by(*store->value).contains(storage_)) return false;
    const auto index = facts.affine(*store->index);  // nothing: of a vector, or made of loads
    const auto numbers = index ? mixed_radix(*index, ranges) : std::nullopt;
    const auto values = numbers ? dense_values(*numbers) : std::nullopt;
    return values && values->low == 0 && values->high == elements_ - 1;
  }

  const tir::Module& module_;
  VarId storage_;
  std::int64_t elements_;
};

}  // namespace

bool stores_first(const tir::Module& module, const tir::Block& block, VarId storage, std::int64_t elements) {
  return StoresFirst(module, storage, elements).hold(block);
}

}  // namespace usmp::loops

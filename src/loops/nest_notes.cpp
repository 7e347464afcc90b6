// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Walks a nest once and keeps what is asked again and again.
#include "loops/nest_notes.hpp"

#include <utility>
#include <variant>

#include "usmp/loops/walk.hpp"

namespace usmp::loops {

NestNotes notes_of(const tir::Stmt& nest, arith::Facts& facts) {
  NestNotes notes;
  if (const auto* loop = std::get_if<tir::For>(&nest.node)) notes.loop = loop->var;
  visit_accesses(nest, facts, [&](tir::VarId storage, const tir::Expr& index, bool is_store, const arith::Facts& here) {
    NestAccess access{storage, is_store, here.affine(index), std::nullopt};
    if (is_store && access.index) access.elements = here.interval(*access.index);
    if (is_store) notes.stored.insert(storage);
    notes.by_storage[storage].push_back(notes.accesses.size());
    notes.accesses.push_back(std::move(access));
  });
  return notes;
}

}  // namespace usmp::loops

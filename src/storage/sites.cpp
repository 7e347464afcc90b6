// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Collects the allocates in one walk, and notes how deep each stands.
#include "storage/sites.hpp"

#include "usmp/tir/visit.hpp"

namespace usmp::storage {
namespace {

struct Walker {
  Sites sites;
  std::set<tir::VarId> once;
  std::size_t blocks = 0;

  void open(const tir::Block& /*block*/, const tir::Stmt* /*owner*/) { ++blocks; }
  void close(const tir::Block& /*block*/, const tir::Stmt* /*owner*/) { --blocks; }
  void statement(const tir::Stmt& stmt) {
    const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
    if (allocate == nullptr) return;
    sites.all.push_back({allocate, blocks - 1});
    if (!once.insert(allocate->var).second) sites.twice.insert(allocate->var);
  }
};

}  // namespace

Sites sites_of(const tir::Block& body) {
  Walker walker;
  tir::walk(body, walker);
  return std::move(walker.sites);
}

}  // namespace usmp::storage

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Joins used bytes, capacity, proof and reserved bytes to lines.
#include "report/pool_lines.hpp"

#include "report/all_modules.hpp"
#include "report/layout.hpp"
#include "report/peak.hpp"
#include "report/proved.hpp"

namespace usmp::report {
namespace {

using compare::PoolFigures;
using plan_file::PlanDocument;

std::string usage(const PlanDocument::Pool& pool, const PoolFigures& figures) {
  std::string text = bytes_text(pool.used) + " used";
  if (pool.capacity) text += " of " + std::to_string(*pool.capacity);
  if (pool.address) text += ", at " + hex_text(*pool.address);
  if (pool.reserved > 0) text += ", " + reserved_text(pool);
  return text + against_bound(pool, figures, false);
}

std::vector<std::string> own_lines(const PlanDocument::Pool& pool, const PoolFigures& figures) {
  if (figures.buffers.empty()) return {"holds nothing" + (pool.capacity ? " of " + bytes_text(*pool.capacity) : "")};
  if (pool.kind != PoolKind::workspace) return {usage(pool, figures)};
  return {usage(pool, figures), used_text(pool, figures) + "; " + bytes_text(figures.asked) + " without reuse"};
}

}  // namespace

std::string reserved_text(const PlanDocument::Pool& pool) {
  std::string beside = std::to_string(pool.beside) + " of modules that run side by side with it";
  if (pool.beside > 0 && pool.beside == pool.reserved) return beside;
  return std::to_string(pool.reserved) + " reserved" + (pool.beside > 0 ? ", " + beside : "");
}

std::vector<std::string> pool_lines(const PlanDocument::Pool& pool, const PoolFigures& figures) {
  std::vector<std::string> lines = own_lines(pool, figures);
  if (pool.all_modules) lines.push_back("of all modules " + all_modules_text(*pool.all_modules, pool.kind));
  return lines;
}

}  // namespace usmp::report

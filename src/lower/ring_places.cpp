// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Divides an element's number into plane, row and rest, and takes the row modulo the rows that are held.
#include "lower/ring_places.hpp"

#include <map>
#include <optional>
#include <utility>

#include "usmp/loops/walk.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::lower {
namespace {

using arith::Affine;
using tir::ExprKind;
using tir::ExprRef;
using tir::make_binary;
using tir::make_int;
using tir::VarId;

struct RingStorage {
  tir::Ring ring;
  std::int64_t planes = 1;
};

// Takes the rings off the allocates.
std::map<VarId, RingStorage> take_rings(tir::Block& body) {
  std::map<VarId, RingStorage> rings;
  tir::for_each_block(body, [&](tir::Block& block) {
    for (tir::Stmt& stmt : block) {
      auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      if (allocate == nullptr || !allocate->ring) continue;
      const tir::Ring ring = *allocate->ring;
      rings[allocate->var] = {ring, *tir::element_count(*allocate) / (ring.rows * ring.stride)};
      allocate->ring.reset();
    }
  });
  return rings;
}

// The parts of an element's number.
struct Parts {
  Affine plane;
  Affine row;
  Affine rest;
};

std::optional<Parts> parts_of(const ExprRef& index, const RingStorage& storage, const arith::Facts& facts) {
  const tir::Ring& ring = storage.ring;
  std::optional<Affine> within = facts.affine(*index);
  if (!within) return std::nullopt;
  Affine plane;
  if (storage.planes > 1) {
    auto division = facts.divide(*within, ring.stride * ring.extent);
    if (!division) return std::nullopt;
    plane = std::move(division->quotient);
    within = std::move(division->remainder);
  }
  auto division = facts.divide(*within, ring.stride);
  if (!division) return std::nullopt;
  return Parts{std::move(plane), std::move(division->quotient), std::move(division->remainder)};
}

// From any number of an element that there is: it is not negative.
ExprRef place_of_any(ExprRef element, const RingStorage& storage) {
  const tir::Ring& ring = storage.ring;
  if (!element->type.is_int() || element->type.bits < 32) element = tir::make_cast(tir::int64_type, element);
  const auto part = [&](ExprKind kind, const ExprRef& value, std::int64_t by) {
    return make_binary(kind, value, make_int(by, value->type));
  };
  const ExprRef plane = part(ExprKind::div, element, ring.stride * ring.extent);
  const ExprRef row = part(ExprKind::mod, part(ExprKind::div, element, ring.stride), ring.extent);
  const ExprRef place = make_binary(ExprKind::add, part(ExprKind::mul, plane, ring.rows * ring.stride),
                                    part(ExprKind::mul, part(ExprKind::mod, row, ring.rows), ring.stride));
  return make_binary(ExprKind::add, place, part(ExprKind::mod, element, ring.stride));
}

ExprRef place_of(const ExprRef& index, const RingStorage& storage, const arith::Facts& facts) {
  const tir::Ring& ring = storage.ring;
  if (ring.rows == ring.extent) return index;
  const tir::DataType type = index->type;
  const auto parts = parts_of(index, storage, facts);
  const auto fits = [&](const Affine& part) { return facts.fits(part, type); };
  if (!parts || !fits(parts->plane) || !fits(parts->row) || !fits(parts->rest)) return place_of_any(index, storage);
  ExprRef place;
  const auto add = [&](const Affine& part, std::int64_t factor, std::int64_t modulus) {
    ExprRef value = facts.expr(part, type);
    // The row of an element that there is is not negative.
    if (modulus > 0) value = make_binary(ExprKind::mod, value, make_int(modulus, type));
    if (tir::as_int(*value) == 0) return;
    if (factor != 1) value = make_binary(ExprKind::mul, value, make_int(factor, type));
    place = place ? make_binary(ExprKind::add, place, value) : value;
  };
  add(parts->plane, ring.rows * ring.stride, 0);
  if (ring.rows > 1) add(parts->row, ring.stride, ring.rows);
  add(parts->rest, 1, 0);
  return place ? place : make_int(0, type);
}

void lower_rings(tir::Block& body, arith::Facts& facts, const std::map<VarId, RingStorage>& rings) {
  const auto loads = [&](const ExprRef& expr, const arith::Facts& here) -> ExprRef {
    const auto ring = expr->kind == ExprKind::load ? rings.find(expr->var) : rings.end();
    if (ring == rings.end()) return nullptr;
    return tir::make_load(expr->type, expr->var, place_of(expr->operands[0], ring->second, here));
  };
  const std::size_t mark = facts.mark();
  for (tir::Stmt& stmt : body) loops::rewrite(stmt, facts, loads);
  facts.restore(mark);
  const auto stores = [&](tir::Block& block, std::size_t& at, const arith::Facts& here) {
    auto* store = std::get_if<tir::Store>(&block[at].node);
    const auto ring = store == nullptr ? rings.end() : rings.find(store->storage);
    if (ring != rings.end()) store->index = place_of(store->index, ring->second, here);
    return loops::Next::enter;
  };
  loops::edit(body, facts, {.before = stores, .after = {}});
}

}  // namespace

void lower_rings(tir::Module& module) {
  for (tir::Function& function : module.functions) {
    const std::map<VarId, RingStorage> rings = take_rings(function.body);
    if (rings.empty()) continue;
    arith::Facts facts(module);
    lower_rings(function.body, facts, rings);
  }
}

}  // namespace usmp::lower

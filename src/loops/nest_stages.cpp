// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Makes a stage of each nest and each loop that may divide it.
#include "loops/nest_stages.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "usmp/loops/walk.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::loops {
namespace {

using arith::Atom;
using tir::Expr;
using tir::VarId;

// The number of iterations of a nest's outermost loop. Nothing: it does not begin at 0, or is not known.
std::optional<std::int64_t> extent_of(const tir::For& loop) {
  return tir::as_int(*loop.min) == 0 ? tir::as_int(*loop.extent) : std::nullopt;
}

std::vector<Touched>::const_iterator along_axis(const std::vector<Touched>& all, const Axis& axis) {
  return std::ranges::find_if(all, [&](const Touched& one) { return one.rows().axis == axis; });
}

// The first of the smallest ones. Long rows stay if shorter ones would only leave out their ends.
const Rows& smallest_of(const std::vector<Touched>& all) {
  const Rows* best = &all.front().rows();
  for (const Touched& one : all) {
    const double least = 0.5 / static_cast<double>(best->axis.extent);
    const double gain = best->share() - one.rows().share();
    if (gain > 0 && gain >= least) best = &one.rows();
  }
  return *best;
}

}  // namespace

NestStages::NestStages(const tir::Module& module, const tir::Function& function, Tensors tensors,
                       const KnownNests& known)
    : module_(module), function_(function), tensors_(std::move(tensors)), known_(known) {
  for (const std::shared_ptr<NestNotes>& nest : known_) {
    Tensors accessed;
    for (const auto& [storage, accesses] : nest->by_storage) {
      const auto tensor = tensors_.find(storage);
      if (tensor != tensors_.end()) accessed.insert(*tensor);
    }
    if (accessed == nest->tensors) continue;
    nest->tensors = std::move(accessed);
    nest->divisions.clear();
  }
}

std::set<RowLoop> NestStages::row_loops(std::size_t nest, VarId storage, const Axis& axis) {
  std::set<RowLoop> loops;
  const tir::For& outer = loop_of(nest);
  const auto extent = extent_of(outer);
  if (!extent) return {};
  const auto note_factor = [&](std::int64_t factor) {
    if (factor <= 0 || (factor < axis.stride && axis.stride % factor != 0)) return;
    const std::int64_t by = factor < axis.stride ? axis.stride / factor : 1;
    const auto period = checked_mul(by, axis.extent);
    if (!period || *extent % by != 0 || (*period < *extent && *extent % *period != 0)) return;
    loops.insert({outer.var, by, *period < *extent && factor <= axis.stride ? axis.extent : 0});
  };
  const auto note = [&](const arith::Affine& index) {
    note_factor(index.factor(outer.var));
    for (const auto& [atom, times] : index.terms) {
      if (atom.kind == Atom::Kind::var || !atom.whole->mentions(outer.var)) continue;
      // Rows that the index takes out of the variable itself.
      const auto quotient = quotient_of_var(atom);
      if (quotient && quotient->first == outer.var) loops.insert({outer.var, quotient->second, 0});
      if (atom.kind == Atom::Kind::remainder && *atom.whole == arith::variable(outer.var)) note_factor(times);
    }
  };
  const NestNotes& known = *known_[nest];
  const auto of_storage = known.by_storage.find(storage);
  if (of_storage == known.by_storage.end()) return loops;
  for (const std::size_t access : of_storage->second) {
    if (known.accesses[access].index) note(*known.accesses[access].index);
  }
  return loops;
}

std::set<RowLoop> NestStages::row_loops(std::size_t nest, VarId storage) {
  std::set<RowLoop> loops;
  for (const Axis& axis : tensor(storage).axes) loops.merge(row_loops(nest, storage, axis));
  return loops;
}

std::set<RowLoop> NestStages::chosen_loops(std::size_t nest) {
  std::set<RowLoop> loops;
  for (const auto& [storage, tensor] : tensors_of(nest)) {
    const auto chosen = chosen_.find(storage);
    if (chosen != chosen_.end()) loops.merge(row_loops(nest, storage, chosen->second));
  }
  return loops;
}

std::vector<Stage> NestStages::stages_with(std::size_t nest, const std::set<RowLoop>& loops) {
  divide(nest, loops);
  const NestNotes& known = *known_[nest];
  std::vector<Stage> stages;
  stages.reserve(loops.size());
  for (const RowLoop& loop : loops) {
    const Division& division = known.divisions.at(loop);
    Stage stage = division.stage;
    bool divides = false;
    for (const auto& [var, all] : division.touched) {
      const Rows& rows = rows_of(var, all);
      divides = divides || rows.advance.step != 0;
      (known.stored.contains(var) ? stage.provided : stage.required).push_back(rows);
    }
    if (!divides) stage.iterations = 1;
    stages.push_back(std::move(stage));
  }
  return stages;
}

double NestStages::touched_by(const Stage& stage) const {
  double touched = 0;
  for (const std::vector<Rows>* side : {&stage.provided, &stage.required}) {
    for (const Rows& rows : *side) touched += rows.share() * static_cast<double>(tensor(rows.storage).elements);
  }
  return touched;
}

// Divides the nest by those of the loops that it has not been divided by yet, walking it once for all.
void NestStages::divide(std::size_t nest, const std::set<RowLoop>& loops) {
  NestNotes& known = *known_[nest];
  const auto extent = extent_of(loop_of(nest));
  std::vector<Division*> divisions;
  for (const RowLoop& loop : loops) {
    const auto found = known.divisions.find(loop);
    if (found != known.divisions.end() && is_current(found->second)) continue;
    const std::int64_t iterations = !loop.var.valid() || !extent ? 1
                                    : loop.rows > 0              ? loop.rows
                                                                 : (*extent - 1) / loop.by + 1;
    Division division{.stage = {.statement = 0,
                                .var = loop.var,
                                .by = loop.by,
                                .rows = loop.rows,
                                .iterations = iterations,
                                .provided = {},
                                .required = {}},
                      .digits = Digits(loop),
                      .touched = {}};
    divisions.push_back(&known.divisions.insert_or_assign(loop, std::move(division)).first->second);
  }
  if (divisions.empty()) return;
  std::size_t access = 0;
  arith::Facts facts(module_);
  visit_accesses(function_.body[nest], facts, [&](VarId var, const Expr&, bool, const arith::Facts& here) {
    const std::optional<arith::Affine>& form = known.accesses[access++].index;
    if (!tensors_.contains(var)) return;  // a constant, or the nest's own
    for (Division* division : divisions) {
      auto& all = division->touched[var];
      if (all.empty()) start(var, all);
      const auto split = form && division->stage.iterations > 1 ? division->digits.written(*form) : std::nullopt;
      for (Touched& rows : all) {
        const auto row = split ? row_of(*split, rows.rows().axis, tensor(var).elements, here) : std::nullopt;
        rows.add(row, division->digits, here);
      }
    }
  });
}

// Whether each tensor has been looked at along the axes that it may be divided along now.
bool NestStages::is_current(const Division& division) const {
  return std::ranges::all_of(division.touched, [&](const auto& touched) {
    const auto chosen = chosen_.find(touched.first);
    if (chosen != chosen_.end()) return along_axis(touched.second, chosen->second) != touched.second.end();
    return touched.second.size() >= tensor(touched.first).axes.size();
  });
}

const Rows& NestStages::rows_of(VarId var, const std::vector<Touched>& all) const {
  const auto chosen = chosen_.find(var);
  return chosen == chosen_.end() ? smallest_of(all) : along_axis(all, chosen->second)->rows();
}

void NestStages::start(VarId var, std::vector<Touched>& all) const {
  const auto chosen = chosen_.find(var);
  if (chosen != chosen_.end()) {
    all.emplace_back(var, chosen->second);
    return;
  }
  for (const Axis& axis : tensor(var).axes) all.emplace_back(var, axis);
  if (all.empty()) all.emplace_back(var, Axis{1, tensor(var).elements});
}

}  // namespace usmp::loops

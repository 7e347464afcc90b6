// SPDX-License-Identifier: Apache-2.0
// Tests: tests/loops/stage_test.cpp.
#include "usmp/loops/stage.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "loops/row_loop.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::loops {
namespace {

using arith::Atom;
using tir::Expr;
using tir::Stmt;
using tir::VarId;

// The storages that are divided into rows, with their sizes.
struct Tensors {
  std::map<VarId, std::int64_t> elements;
  std::map<VarId, std::vector<Axis>> axes;
};

std::vector<Axis> axes_of_shape(const std::vector<std::int64_t>& shape) {
  std::vector<Axis> axes;
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] > 1) axes.push_back({stride, shape[i]});
    const auto next = checked_mul(stride, shape[i]);
    if (!next || *next < 1) return {};
    stride = *next;
  }
  std::reverse(axes.begin(), axes.end());
  return axes;
}

// The accesses of storage that is visible between the statements of a function's body.
class PipelineFinder {
 public:
  PipelineFinder(const tir::Module& module, const tir::Function& function) : module_(module), function_(function) {
    for (const tir::Param& param : function.params) {
      if (param.is_tensor && param.shape) declare(param.var, *param.shape);
    }
    for (const Stmt& stmt : function.body) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      const auto count = allocate == nullptr ? std::nullopt : tir::element_count(*allocate);
      if (!count) continue;
      std::vector<std::int64_t> shape;
      for (const tir::ExprRef& extent : allocate->extents) shape.push_back(*tir::as_int(*extent));
      declare(allocate->var, shape);
      if (shape.size() == 1) flat_.insert(allocate->var);
    }
    find_factors();
  }

  std::vector<Pipeline> find(std::string* why) {
    std::vector<Pipeline> all;
    std::string reason = "no parameter of it has a shape";
    for (const VarId storage : ends()) {
      for (const Axis& axis : tensors_.axes[storage]) {
        if (auto pipeline = along(storage, axis, reason)) all.push_back(std::move(*pipeline));
      }
    }
    if (all.empty() && why != nullptr) *why = reason;
    return all;
  }

 private:
  void declare(VarId var, const std::vector<std::int64_t>& shape) {
    std::int64_t elements = 1;
    for (const std::int64_t extent : shape) {
      const auto next = checked_mul(elements, extent);
      if (!next || *next < 1) return;
      elements = *next;
    }
    tensors_.elements[var] = elements;
    tensors_.axes[var] = axes_of_shape(shape);
  }

  // Of flat buffers, the dimensions that the factors of their indices suggest.
  void find_factors() {
    std::map<VarId, std::set<std::int64_t>> factors;
    arith::Facts facts(module_);
    const auto note = [&](VarId storage, const Expr& index, bool, const arith::Facts& here) {
      const auto form = flat_.contains(storage) ? here.affine(index) : std::nullopt;
      if (!form) return;
      for (const auto& [atom, factor] : form->terms) {
        if (factor > 0) factors[storage].insert(factor);
      }
    };
    visit_accesses(function_.body, facts, note);
    for (const auto& [storage, strides] : factors) {
      std::vector<Axis> axes;  // long rows first
      std::int64_t above = tensors_.elements[storage];
      for (const std::int64_t stride : std::vector<std::int64_t>(strides.rbegin(), strides.rend())) {
        if (above % stride != 0) continue;
        if (above / stride > 1) axes.push_back({stride, above / stride});
        above = stride;
      }
      if (above > 1) axes.push_back({1, above});
      if (!axes.empty()) tensors_.axes[storage] = std::move(axes);
    }
  }

  // Tensors that a division may start from: those that the function gets from outside, outputs first.
  [[nodiscard]] std::vector<VarId> ends() const {
    std::vector<VarId> stored;
    std::vector<VarId> loaded;
    std::set<VarId> written;
    tir::for_each_stmt(function_.body, [&](const Stmt& stmt) {
      if (const auto* store = std::get_if<tir::Store>(&stmt.node)) written.insert(store->storage);
    });
    for (const tir::Param& param : function_.params) {
      if (tensors_.axes.contains(param.var)) (written.contains(param.var) ? stored : loaded).push_back(param.var);
    }
    stored.insert(stored.end(), loaded.begin(), loaded.end());
    return stored;
  }

  // With the end divided along the axis, from the last statement to the first.
  std::optional<Pipeline> along(VarId end, const Axis& axis, std::string& why) {
    Pipeline pipeline{.end = end, .axis = axis, .stages = {}, .share = 1};
    chosen_.clear();
    chosen_[end] = axis;
    double touched = 0;
    double all = 0;
    for (std::size_t i = function_.body.size(); i-- > 0;) {
      if (std::holds_alternative<tir::Let>(function_.body[i].node)) {
        why = "values are computed between its nests";
        return std::nullopt;
      }
      if (!std::holds_alternative<tir::For>(function_.body[i].node)) continue;
      Stage stage = stage_at(i);
      touched += touched_by(stage);
      for (const std::vector<Rows>* side : {&stage.provided, &stage.required}) {
        for (const Rows& rows : *side) all += static_cast<double>(tensors_.elements[rows.storage]);
      }
      pipeline.stages.insert(pipeline.stages.begin(), std::move(stage));
    }
    const bool divides = std::ranges::any_of(pipeline.stages, [](const Stage& stage) { return stage.iterations > 1; });
    if (!divides) {
      why = "no nest of it has a loop over rows";
      return std::nullopt;
    }
    pipeline.share = touched / all;
    return pipeline;
  }

  // The nest's stage in which a tensor that is divided already is divided so; else the one that touches least; else one
  // iteration of all.
  Stage stage_at(std::size_t statement) {
    const Stmt& nest = function_.body[statement];
    std::set<RowLoop> loops;
    for (const auto& [storage, axis] : chosen_) loops.merge(row_loops(nest, storage, axis));
    std::optional<Stage> stage = best_stage(nest, loops);
    if (!stage) {
      for (const auto& [storage, axes] : tensors_.axes) {
        for (const Axis& axis : axes) loops.merge(row_loops(nest, storage, axis));
      }
      stage = best_stage(nest, loops);
    }
    if (!stage) stage = stage_with(nest, {});
    stage->statement = statement;
    for (const std::vector<Rows>* side : {&stage->provided, &stage->required}) {
      for (const Rows& rows : *side) chosen_.emplace(rows.storage, rows.axis);
    }
    return *stage;
  }

  // Nothing: none divides anything.
  std::optional<Stage> best_stage(const Stmt& nest, const std::set<RowLoop>& loops) {
    std::optional<Stage> best;
    for (const RowLoop& loop : loops) {
      Stage stage = stage_with(nest, loop);
      if (stage.iterations > 1 && (!best || touched_by(stage) < touched_by(*best))) best = std::move(stage);
    }
    return best;
  }

  // Elements that an iteration touches.
  [[nodiscard]] double touched_by(const Stage& stage) const {
    double touched = 0;
    for (const std::vector<Rows>* side : {&stage.provided, &stage.required}) {
      for (const Rows& rows : *side) touched += rows.share() * static_cast<double>(tensors_.elements.at(rows.storage));
    }
    return touched;
  }

  // Outermost loops of the nest, or quotients of one, that the row of an access of the storage moves with.
  std::set<RowLoop> row_loops(const Stmt& nest, VarId storage, const Axis& axis) const {
    std::set<RowLoop> loops;
    const auto& outer = std::get<tir::For>(nest.node);
    arith::Facts facts(module_);
    const auto extent = tir::as_int(*outer.min) == 0 ? tir::as_int(*outer.extent) : std::nullopt;
    if (!extent) return {};
    const auto note_factor = [&](std::int64_t factor) {
      if (factor <= 0 || (factor < axis.stride && axis.stride % factor != 0)) return;
      const std::int64_t by = factor < axis.stride ? axis.stride / factor : 1;
      const auto period = checked_mul(by, axis.extent);
      loops.insert({outer.var, by, period && *period < *extent && factor <= axis.stride ? axis.extent : 0});
    };
    const auto note = [&](const Expr& index, const arith::Facts& here) {
      const auto form = here.affine(index);
      if (!form) return;
      note_factor(form->factor(outer.var));
      for (const auto& [atom, times] : form->terms) {
        if (atom.kind == Atom::Kind::var || !atom.whole->mentions(outer.var)) continue;
        // Rows that the index takes out of the variable itself.
        if (atom.kind == Atom::Kind::quotient && *atom.whole == arith::variable(outer.var)) {
          loops.insert({outer.var, atom.by, 0});
        }
        if (atom.kind == Atom::Kind::remainder && *atom.whole == arith::variable(outer.var)) note_factor(times);
      }
    };
    visit_accesses(nest, facts, [&](VarId var, const Expr& index, bool, const arith::Facts& here) {
      if (var == storage) note(index, here);
    });
    return loops;
  }

  // One iteration of all: the loop's variable is none, or an iteration of it touches all of everything.
  Stage stage_with(const Stmt& nest, const RowLoop& loop) {
    const auto& outer = std::get<tir::For>(nest.node);
    const auto extent = tir::as_int(*outer.min) == 0 ? tir::as_int(*outer.extent) : std::nullopt;
    Stage stage{.statement = 0,
                .var = loop.var,
                .by = loop.by,
                .rows = loop.rows,
                .iterations = loop.var.valid() && extent ? loop.rows > 0 ? loop.rows : (*extent - 1) / loop.by + 1 : 1,
                .provided = {},
                .required = {}};
    std::map<VarId, std::vector<Touched>> touched;  // with each axis that the tensor may be divided along
    std::set<VarId> stored;
    arith::Facts facts(module_);
    const Digits digits(loop);
    visit_accesses(nest, facts, [&](VarId var, const Expr& index, bool is_store, const arith::Facts& here) {
      if (!tensors_.axes.contains(var)) return;  // a constant, or the nest's own
      if (is_store) stored.insert(var);
      auto& all = touched[var];
      if (all.empty()) start(var, all);
      const auto form = here.affine(index);
      const auto split = form && stage.iterations > 1 ? digits.written(*form) : std::nullopt;
      for (Touched& rows : all) {
        const auto row = split ? row_of(*split, rows.rows().axis, tensors_.elements[var], here) : std::nullopt;
        rows.add(row, digits, here);
      }
    });
    bool divides = false;
    for (const auto& [var, all] : touched) {
      const auto best = std::min_element(all.begin(), all.end(), [](const Touched& a, const Touched& b) {
        return a.rows().share() < b.rows().share();
      });
      divides = divides || best->rows().step != 0;
      (stored.contains(var) ? stage.provided : stage.required).push_back(best->rows());
    }
    if (!divides) stage.iterations = 1;
    return stage;
  }

  void start(VarId var, std::vector<Touched>& all) const {
    const auto chosen = chosen_.find(var);
    if (chosen != chosen_.end()) {
      all.emplace_back(var, chosen->second);
      return;
    }
    for (const Axis& axis : tensors_.axes.at(var)) all.emplace_back(var, axis);
    if (all.empty()) all.emplace_back(var, Axis{1, tensors_.elements.at(var)});
  }

  const tir::Module& module_;
  const tir::Function& function_;
  Tensors tensors_;
  std::set<VarId> flat_;          // buffers of one dimension
  std::map<VarId, Axis> chosen_;  // how tensors are divided
};

}  // namespace

std::vector<Pipeline> pipelines_of(const tir::Module& module, const tir::Function& function, std::string* why) {
  return PipelineFinder(module, function).find(why);
}

const Pipeline& smallest(const std::vector<Pipeline>& pipelines) {
  return *std::ranges::min_element(pipelines, {}, &Pipeline::share);
}

}  // namespace usmp::loops

// Tests: tests/loops/stage_test.cpp.
#include "usmp/loops/stage.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "usmp/loops/walk.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::loops {
namespace {

using arith::Affine;
using arith::Atom;
using tir::Expr;
using tir::ExprKind;
using tir::Stmt;
using tir::VarId;

using Axes = std::map<VarId, std::vector<Axis>>;

Atom atom_of(Atom::Kind kind, Affine whole, std::int64_t by) {
  return {.kind = kind, .var = {}, .whole = std::make_shared<const Affine>(std::move(whole)), .by = by};
}

Affine term_of(const Atom& atom) {
  Affine value;
  value.terms.emplace(atom, 1);
  value.measure();
  return value;
}

// The row loop: iteration n is that in which (v / by) mod rows is n, or v / by where rows is 0.
struct RowLoop {
  VarId var;
  std::int64_t by = 1;
  std::int64_t rows = 0;

  friend auto operator<=>(const RowLoop&, const RowLoop&) = default;
};

// v = above · rows · by + n · by + below, each of which stays where the others move.
class Digits {
 public:
  explicit Digits(const RowLoop& loop) : loop_(loop) {
    const Affine v = arith::variable(loop.var);
    const std::int64_t period = loop.rows * loop.by;
    if (loop.rows > 0) above_ = atom_of(Atom::Kind::quotient, v, period);
    if (loop.by > 1) below_ = atom_of(Atom::Kind::remainder, v, loop.by);
    const Affine within = loop.rows > 0 ? term_of(atom_of(Atom::Kind::remainder, v, period)) : v;
    n_ = loop.by > 1 ? atom_of(Atom::Kind::quotient, within, loop.by) : within.terms.begin()->first;
    within_ = within.terms.begin()->first;
  }

  [[nodiscard]] bool is_n(const Atom& atom) const { return atom == n_; }
  // n / k for a k above 1; else 0.
  [[nodiscard]] std::int64_t fraction(const Atom& atom) const {
    if (atom.kind != Atom::Kind::quotient || atom.by % loop_.by != 0 || atom.by == loop_.by) return 0;
    return *atom.whole == term_of(within_) ? atom.by / loop_.by : 0;
  }
  // Whether the atom may have another value in another row.
  [[nodiscard]] bool moves(const Atom& atom) const {
    if (atom == above_ || atom == below_) return false;
    return atom.kind == Atom::Kind::var ? atom.var == loop_.var : atom.whole->mentions(loop_.var);
  }

  // The value with v, and what else is a sum of the digits, written as one. Nothing: a number leaves int64.
  [[nodiscard]] std::optional<Affine> written(const Affine& value) const {
    std::optional<Affine> result = Affine();
    result->constant = value.constant;
    for (const auto& [atom, factor] : value.terms) {
      const auto part = scaled(sum_of(atom), factor);
      result = part && result ? sum(*result, *part) : std::nullopt;
    }
    return result;
  }

 private:
  [[nodiscard]] Affine sum_of(const Atom& atom) const {
    const Affine v = arith::variable(loop_.var);
    const bool is_v = atom.kind == Atom::Kind::var && atom.var == loop_.var;
    if (is_v) return all(loop_.by, loop_.rows * loop_.by, below_);
    if (atom.kind == Atom::Kind::var || loop_.rows == 0) return term_of(atom);
    if (atom == within_) return all(loop_.by, 0, below_);  // v mod (rows · by)
    if (atom.kind == Atom::Kind::quotient && *atom.whole == v && atom.by == loop_.by) return all(1, loop_.rows, {});
    const bool is_n = atom.kind == Atom::Kind::remainder && atom.by == loop_.rows && loop_.by > 1 &&
                      *atom.whole == term_of(atom_of(Atom::Kind::quotient, v, loop_.by));
    return term_of(is_n ? n_ : atom);
  }

  [[nodiscard]] Affine all(std::int64_t n, std::int64_t above, const std::optional<Atom>& below) const {
    Affine value;
    value.terms.emplace(n_, n);
    if (above_ && above != 0) value.terms.emplace(*above_, above);
    if (below) value.terms.emplace(*below, 1);
    value.measure();
    return value;
  }

  RowLoop loop_;
  Atom n_;
  Atom within_;
  std::optional<Atom> above_;
  std::optional<Atom> below_;
};

// The row in which an element stands.
std::optional<Affine> row_of(const Affine& index, const Axis& axis, std::int64_t elements, const arith::Facts& facts) {
  const auto along = facts.divide(index, axis.stride);
  if (!along || axis.stride * axis.extent >= elements) {
    return along ? std::optional(along->quotient) : std::nullopt;
  }
  const auto row = facts.divide(along->quotient, axis.extent);
  return row ? std::optional(row->remainder) : std::nullopt;
}

// What one access touches in an iteration, and what many do.
class Touched {
 public:
  Touched(VarId storage, const Axis& axis)
      : rows_{.storage = storage, .axis = axis, .step = 0, .per = 1, .reach = {}} {}

  void add(const std::optional<Affine>& row, const Digits& digits, const arith::Facts& facts) {
    std::int64_t step = 0;
    std::int64_t per = 1;
    Interval reach{0, rows_.axis.extent - 1};
    if (row) find_step(*row, digits, facts, step, per, reach);
    reach = {std::max<std::int64_t>(reach.low, step == 0 ? 0 : reach.low),
             step == 0 ? std::min(reach.high, rows_.axis.extent - 1) : reach.high};
    if (is_first_) {
      rows_.step = step;
      rows_.per = per;
      rows_.reach = reach;
    } else if (rows_.step == step && rows_.per == per) {
      rows_.reach = hull(rows_.reach, reach);
    } else {
      all();
    }
    is_first_ = false;
  }

  void all() {
    rows_.step = 0;
    rows_.per = 1;
    rows_.reach = {0, rows_.axis.extent - 1};
    is_first_ = false;
  }

  [[nodiscard]] const Rows& rows() const { return rows_; }

 private:
  static void find_step(const Affine& row, const Digits& digits, const arith::Facts& facts, std::int64_t& step,
                        std::int64_t& per, Interval& reach) {
    Affine rest;
    rest.constant = row.constant;
    std::int64_t found_step = 0;
    std::int64_t found_per = 1;
    for (const auto& [atom, factor] : row.terms) {
      const std::int64_t fraction = digits.is_n(atom) ? 1 : digits.fraction(atom);
      if (fraction == 0) {
        rest.terms.emplace(atom, factor);
      } else if (found_step != 0) {
        return;  // moves with both
      } else {
        found_step = factor;
        found_per = fraction;
      }
    }
    rest.measure();
    for (const auto& [atom, factor] : rest.terms) {
      if (digits.moves(atom)) return;
    }
    const auto around = facts.interval(rest);
    if (!around || around->low > around->high) return;
    step = found_step;
    per = found_per;
    reach = *around;
  }

  Rows rows_;
  bool is_first_ = true;
};

// The storages that are divided into rows, with their sizes.
struct Tensors {
  std::map<VarId, std::int64_t> elements;
  Axes axes;
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
    const auto note = [&](VarId storage, const Expr& index, const arith::Facts& here) {
      const auto form = flat_.contains(storage) ? here.affine(index) : std::nullopt;
      if (!form) return;
      for (const auto& [atom, factor] : form->terms) {
        if (factor > 0) factors[storage].insert(factor);
      }
    };
    visit(function_.body, facts,
          {.before =
               [&](const Stmt& stmt, const arith::Facts& here) {
                 const auto* store = std::get_if<tir::Store>(&stmt.node);
                 if (store != nullptr) note(store->storage, *store->index, here);
               },
           .after = {},
           .expr =
               [&](const Expr& expr, const arith::Facts& here) {
                 if (expr.kind == ExprKind::load) note(expr.var, *expr.operands[0], here);
               }});
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
    each_access(nest, facts, [&](VarId var, const Expr& index, bool, const arith::Facts& here) {
      if (var == storage) note(index, here);
    });
    return loops;
  }

  template <class Visit>
  static void each_access(const Stmt& nest, arith::Facts& facts, const Visit& visit_access) {
    visit(nest, facts,
          {.before =
               [&](const Stmt& stmt, const arith::Facts& here) {
                 const auto* store = std::get_if<tir::Store>(&stmt.node);
                 if (store != nullptr) visit_access(store->storage, *store->index, true, here);
               },
           .after = {},
           .expr =
               [&](const Expr& expr, const arith::Facts& here) {
                 if (expr.kind == ExprKind::load) visit_access(expr.var, *expr.operands[0], false, here);
               }});
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
    each_access(nest, facts, [&](VarId var, const Expr& index, bool is_store, const arith::Facts& here) {
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

double Rows::share() const {
  const auto rows = static_cast<double>(reach.high - reach.low + 1);
  return std::min(1.0, rows / static_cast<double>(axis.extent));
}

Interval Rows::in(std::int64_t iteration) const {
  const std::int64_t first = step * floor_quotient(iteration, per);
  return {std::max<std::int64_t>(first + reach.low, 0), std::min(first + reach.high, axis.extent - 1)};
}

std::vector<Pipeline> pipelines_of(const tir::Module& module, const tir::Function& function, std::string* why) {
  return PipelineFinder(module, function).find(why);
}

const Pipeline& smallest(const std::vector<Pipeline>& pipelines) {
  return *std::ranges::min_element(pipelines, {}, &Pipeline::share);
}

}  // namespace usmp::loops

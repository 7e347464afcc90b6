// SPDX-License-Identifier: Apache-2.0
// Tests: tests/loops/stage_test.cpp.
#include "usmp/loops/stage.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "loops/row_loop.hpp"
#include "usmp/loops/accesses.hpp"
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

// `joins`: two neighbours together, too.
std::vector<Axis> axes_of_shape(const std::vector<std::int64_t>& shape, bool joins) {
  std::vector<Axis> axes;
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] > 1) {
      const auto both = joins && !axes.empty() ? checked_mul(shape[i], axes.back().extent) : std::nullopt;
      if (both && axes.back().stride * axes.back().extent == stride) axes.push_back({axes.back().stride, *both});
      axes.push_back({stride, shape[i]});
    }
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
  // `prefers_long_rows`: see stages().
  // `lines`: see pixel_stages().
  PipelineFinder(const tir::Module& module, const tir::Function& function, bool prefers_long_rows = false,
                 const std::map<VarId, Axis>* lines = nullptr)
      : module_(module), function_(function), prefers_long_rows_(prefers_long_rows), lines_(lines) {
    for (const tir::Param& param : function.params) {
      if (!param.is_tensor || !param.shape) continue;
      declare(param.var, *param.shape);
      if (prefers_long_rows && param.shape->size() == 1) flat_.insert(param.var);
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

  // Where few divisions let a nest read a part at a time, there is little choice: there the axes are chosen first, and
  // then from tensor to tensor. Outer dimensions are preferred: the rows of an image, not its columns or pixels.
  std::vector<Stage> stages() {
    std::map<std::size_t, std::size_t> choices;  // by statement
    std::map<VarId, std::vector<std::size_t>> nests_with;
    for (std::size_t i = 0; i < function_.body.size(); ++i) {
      const Stmt& nest = function_.body[i];
      if (!std::holds_alternative<tir::For>(nest.node)) continue;
      choices[i] = 0;
      std::set<RowLoop> loops;
      const std::set<VarId>& accessed = tensors_of(nest);
      for (const VarId storage : accessed) {
        nests_with[storage].push_back(i);
        if (accessed.size() > most_tensors) continue;
        for (const Axis& axis : tensors_.axes[storage]) loops.merge(row_loops(nest, storage, axis));
      }
      choices[i] = static_cast<std::size_t>(std::ranges::count_if(stages_with(nest, loops), streams));
    }
    std::vector<std::size_t> seeds;
    seeds.reserve(choices.size());
    for (const auto& [statement, count] : choices) seeds.push_back(statement);
    std::ranges::stable_sort(seeds, {}, [&](std::size_t statement) { return choices.at(statement) - 1; });
    std::map<std::size_t, Stage> done;
    for (const std::size_t seed : seeds) {
      std::vector<std::size_t> pending = {seed};
      for (std::size_t next = 0; next < pending.size(); ++next) {
        const std::size_t statement = pending[next];
        if (done.contains(statement)) continue;
        Stage stage = stage_at(statement);
        // What a nest reads at once may be divided in any way.
        for (const std::vector<Rows>* side : {&stage.provided, &stage.required}) {
          for (const Rows& rows : *side) {
            if (rows.advance.step == 0 || stage.iterations == 1) continue;
            const auto others = std::exchange(nests_with.at(rows.storage), {});  // once is enough
            pending.insert(pending.end(), others.begin(), others.end());
          }
        }
        done.emplace(statement, std::move(stage));
      }
    }
    align_writers(done);
    std::vector<Stage> all;
    all.reserve(done.size());
    for (auto& [statement, stage] : done) all.push_back(std::move(stage));
    return all;
  }

  // A tensor's pixel is what an iteration of the loop that writes it writes; else, of a loop that reads it reads. First
  // these are found, then the stages.
  std::vector<Stage> pixel_stages() {
    for (auto& [storage, axes] : tensors_.axes) {
      const auto line = lines_->find(storage);
      if (line != lines_->end()) std::erase_if(axes, [&](const Axis& axis) { return !is_part(axis, line->second); });
    }
    std::vector<std::size_t> nests;
    for (std::size_t i = 0; i < function_.body.size(); ++i) {
      if (std::holds_alternative<tir::For>(function_.body[i].node)) nests.push_back(i);
    }
    for (const std::size_t nest : nests) choose_pixels(function_.body[nest]);
    for (std::size_t i = nests.size(); i-- > 0;) choose_pixels(function_.body[nests[i]]);
    std::vector<Stage> stages;
    for (const std::size_t nest : nests) {
      auto stage = finest_stage(function_.body[nest], chosen_loops(function_.body[nest]));
      if (!stage) continue;
      stage->statement = nest;
      find_lines(function_.body[nest], *stage);
      stages.push_back(std::move(*stage));
    }
    return stages;
  }

 private:
  static constexpr std::size_t most_tensors = 64;  // of a nest that stages() looks for a division of

  // Of a nest's accesses of tensors, in the order of visit_accesses().
  struct Indices {
    std::vector<std::optional<arith::Affine>> forms;
    std::map<VarId, std::vector<std::size_t>> by_storage;
  };

  // A nest divided by one loop.
  struct Division {
    Stage stage;  // without rows
    Digits digits;
    std::map<VarId, std::vector<Touched>> touched;  // along each axis; of what was divided by then, along its own
  };

  // What is known of a nest: the stages that are looked for differ in how tensors are divided, not in what is accessed.
  struct Nest {
    std::optional<std::set<VarId>> tensors;
    std::optional<Indices> indices;
    std::set<VarId> stored;
    std::map<RowLoop, Division> divisions;
  };

  void declare(VarId var, const std::vector<std::int64_t>& shape) {
    std::int64_t elements = 1;
    for (const std::int64_t extent : shape) {
      const auto next = checked_mul(elements, extent);
      if (!next || *next < 1) return;
      elements = *next;
    }
    tensors_.elements[var] = elements;
    tensors_.axes[var] = axes_of_shape(shape, lines_ != nullptr);
  }

  // A factor may be a multiple of a dimension's stride, as with strided windows: all divisions between two factors.
  static std::vector<Axis> axes_between(std::set<std::int64_t> strides, std::int64_t elements) {
    constexpr std::size_t most_axes = 32;
    strides.insert({1, elements});
    std::vector<Axis> axes;  // long rows first
    for (auto stride = strides.rbegin(); stride != strides.rend(); ++stride) {
      for (const std::int64_t whole : strides) {
        if (whole > *stride && whole % *stride == 0 && elements % whole == 0 && axes.size() < most_axes) {
          axes.push_back({*stride, whole / *stride});
        }
      }
    }
    return axes;
  }

  // What the indices of a flat buffer suggest.
  struct Strides {
    std::set<std::int64_t> stored;
    std::set<std::int64_t> loaded;
    // What stores write, as intervals: their beginnings, and their size, if it is the same for all of them.
    std::set<std::int64_t> begins;
    std::optional<std::int64_t> size = {};

    [[nodiscard]] std::set<std::int64_t> all() const {
      std::set<std::int64_t> both = stored;
      both.insert(loaded.begin(), loaded.end());
      return both;
    }

    // Without those of strided windows: small multiples of a dimension's stride, by which nothing is stored.
    [[nodiscard]] std::set<std::int64_t> of_dimensions() const {
      constexpr std::int64_t most_times = 4;
      std::set<std::int64_t> both = all();
      if (stored.empty()) return both;
      std::erase_if(both, [&](std::int64_t stride) {
        if (stored.contains(stride)) return false;
        for (std::int64_t times = 2; times <= most_times; ++times) {
          if (stride % times == 0 && (stored.contains(stride / times) || loaded.contains(stride / times))) return true;
        }
        return false;
      });
      return both;
    }
  };

  // Rows do not reach beyond a part, so that nests which write different ones provide the same rows.
  static std::vector<Axis> axes_of(const Strides& strides, std::int64_t elements) {
    std::set<std::int64_t> dimensions = strides.of_dimensions();
    const std::int64_t part = part_of(strides, elements);
    if (part > 0) dimensions.insert(part);
    std::vector<Axis> axes = axes_between(std::move(dimensions), elements);
    if (part > 0)
      std::erase_if(axes, [&](const Axis& axis) { return axis.stride < part && axis.stride * axis.extent > part; });
    return axes;
  }

  static void note_store(Strides& strides, const std::optional<Interval>& elements) {
    const std::int64_t size = elements ? elements->high - elements->low + 1 : 0;
    if (!strides.size) strides.size = size;
    if (*strides.size != size) strides.size = 0;
    if (elements) strides.begins.insert(elements->low);
  }

  // The size of equal parts of the buffer each of which other stores write, as concatenations along the outermost
  // dimension do; 0: there are none.
  static std::int64_t part_of(const Strides& strides, std::int64_t elements) {
    const std::int64_t size = strides.size.value_or(0);
    const auto count = static_cast<std::int64_t>(strides.begins.size());
    if (size < 2 || count < 2 || elements % size != 0 || elements / size != count) return 0;
    const bool are_apart = std::ranges::all_of(strides.begins, [&](std::int64_t begin) { return begin % size == 0; });
    return are_apart ? size : 0;
  }

  // Where windows end at the borders of an image, bounds of loops take a variable apart, though indices need not.
  void note_borders(std::map<VarId, std::set<std::int64_t>>& divisors) const {
    const auto note = [&](const tir::ExprRef& bound) {
      tir::for_each_expr(*bound, [&](const Expr& expr) {
        if (!tir::is_division(expr.kind) || expr.operands[0]->kind != tir::ExprKind::var) return;
        const auto by = tir::as_int(*expr.operands[1]);
        if (by && *by > 1) divisors[expr.operands[0]->var].insert(*by);
      });
    };
    tir::for_each_stmt(function_.body, [&](const Stmt& stmt) {
      const auto* loop = std::get_if<tir::For>(&stmt.node);
      if (loop == nullptr) return;
      note(loop->min);
      note(loop->extent);
    });
  }

  // Of flat buffers, the dimensions that the factors of their indices suggest.
  void find_factors() {
    std::map<VarId, Strides> found;
    struct Moves {
      VarId storage;
      VarId var;
      std::int64_t factor;
      bool is_store;
    };
    std::vector<Moves> moves;
    std::map<VarId, std::set<std::int64_t>> divisors;  // of loop variables
    arith::Facts facts(module_);
    const auto note = [&](VarId storage, const Expr& index, bool is_store, const arith::Facts& here) {
      const bool is_flat = flat_.contains(storage);
      const auto form = is_flat || prefers_long_rows_ ? here.affine(index) : std::nullopt;
      if (!form) return;
      for (const auto& [atom, factor] : form->terms) {
        if (atom.kind != Atom::Kind::var && atom.whole->terms.size() == 1) {
          const auto& [inner, times] = *atom.whole->terms.begin();
          const bool is_var = inner.kind == Atom::Kind::var && *atom.whole == arith::variable(inner.var);
          if (is_var) divisors[inner.var].insert(atom.by);
        }
        if (!is_flat || factor <= 0) continue;
        Strides& strides = found[storage];
        (is_store ? strides.stored : strides.loaded).insert(factor);
        if (atom.kind == Atom::Kind::var) moves.push_back({storage, atom.var, factor, is_store});
      }
      if (is_flat && is_store) note_store(found[storage], here.interval(*form));
    };
    visit_accesses(function_.body, facts, note);
    if (prefers_long_rows_) {
      note_borders(divisors);
      // A loop over two dimensions, which other accesses take apart.
      for (const Moves& one : moves) {
        for (const std::int64_t by : divisors[one.var]) {
          const auto stride = checked_mul(one.factor, by);
          if (!stride || *stride >= tensors_.elements[one.storage]) continue;
          (one.is_store ? found[one.storage].stored : found[one.storage].loaded).insert(*stride);
        }
      }
    }
    for (const auto& [storage, strides] : found) {
      if (prefers_long_rows_) {
        tensors_.axes[storage] = axes_of(strides, tensors_.elements[storage]);
        continue;
      }
      const std::set<std::int64_t> ascending = strides.all();
      const std::vector<std::int64_t> all(ascending.begin(), ascending.end());
      std::vector<Axis> axes;  // long rows first
      std::int64_t above = tensors_.elements[storage];
      for (std::size_t i = all.size(); i-- > 0;) {
        if (above % all[i] != 0) continue;
        if (above / all[i] > 1) axes.push_back({all[i], above / all[i]});
        above = all[i];
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

  static const Rows& rows_of(const std::vector<Rows>& all, VarId storage) {
    return *std::ranges::find(all, storage, &Rows::storage);
  }

  // Nests that write parts of one tensor become stages that provide the same rows of it in the same iterations, those
  // of one of them, if all of them can.
  void align_writers(std::map<std::size_t, Stage>& stages) {
    constexpr std::size_t most_writers = 16;
    std::map<VarId, std::vector<std::size_t>> writers;
    for (const auto& [statement, stage] : stages) {
      for (const Rows& rows : stage.provided) writers[rows.storage].push_back(statement);
    }
    for (const auto& [tensor, statements] : writers) {
      const VarId storage = tensor;
      if (statements.size() < 2 || statements.size() > most_writers) continue;
      const auto has_rows = [&](std::size_t statement) {
        const Stage& stage = stages.at(statement);
        return stage.iterations > 1 && is_by_rows(rows_of(stage.provided, storage));
      };
      if (!std::ranges::all_of(statements, has_rows)) continue;
      for (const std::size_t model : statements) {
        std::map<std::size_t, Stage> alike;
        for (const std::size_t other : statements) {
          auto stage = stage_like(stages.at(other), stages.at(model), storage);
          if (!stage) break;
          alike.emplace(other, std::move(*stage));
        }
        if (alike.size() < statements.size()) continue;
        for (auto& [statement, stage] : alike) stages.at(statement) = std::move(stage);
        break;
      }
    }
  }

  // The nest as a stage that provides the same rows as the model. Nothing: there is none.
  std::optional<Stage> stage_like(const Stage& own, const Stage& model, VarId storage) {
    const auto is_alike = [&](const Stage& stage) {
      return stage.iterations == model.iterations &&
             rows_of(stage.provided, storage) == rows_of(model.provided, storage);
    };
    if (is_alike(own)) return own;
    const Stmt& nest = function_.body[own.statement];
    if (tensors_of(nest).size() > most_tensors) return std::nullopt;
    for (Stage& stage : stages_with(nest, chosen_loops(nest))) {
      if (!is_alike(stage)) continue;
      std::optional<Stage> found = std::move(stage);
      found->statement = own.statement;
      return found;
    }
    return std::nullopt;
  }

  // The nest's stage in which a tensor that is divided already is divided so; else the one that touches least; else one
  // iteration of all.
  Stage stage_at(std::size_t statement) {
    const Stmt& nest = function_.body[statement];
    const std::set<VarId>& accessed = tensors_of(nest);
    std::set<RowLoop> loops;
    for (const VarId storage : accessed) {
      const auto chosen = chosen_.find(storage);
      if (chosen != chosen_.end()) loops.merge(row_loops(nest, storage, chosen->second));
    }
    std::optional<Stage> stage = prefers_long_rows_ ? std::nullopt : best_stage(nest, loops);
    if (!stage) {
      for (const VarId storage : accessed) {
        if (prefers_long_rows_ && accessed.size() > most_tensors) break;
        for (const Axis& axis : tensors_.axes[storage]) loops.merge(row_loops(nest, storage, axis));
      }
      stage = best_stage(nest, loops);
    }
    if (!stage) stage = std::move(stages_with(nest, {RowLoop{}}).front());
    stage->statement = statement;
    for (const std::vector<Rows>* side : {&stage->provided, &stage->required}) {
      for (const Rows& rows : *side) {
        if (!prefers_long_rows_ || rows.advance.step != 0) chosen_.emplace(rows.storage, rows.axis);
      }
    }
    return *stage;
  }

  const std::set<VarId>& tensors_of(const Stmt& nest) {
    std::optional<std::set<VarId>>& known = nests_[&nest].tensors;
    if (known) return *known;
    std::set<VarId>& accessed = known.emplace();
    Accesses accesses;
    add_accesses(nest, accesses);
    for (const auto* places : {&accesses.loads, &accesses.stores}) {
      for (const auto& [storage, count] : *places) {
        if (tensors_.axes.contains(storage)) accessed.insert(storage);
      }
    }
    return accessed;
  }

  // Whether it reads a part of each tensor at a time.
  static bool streams(const Stage& stage) {
    return stage.iterations > 1 && !stage.required.empty() &&
           std::ranges::all_of(stage.required, [](const Rows& rows) { return rows.advance.step > 0; }) &&
           std::ranges::any_of(stage.provided, is_by_rows);
  }

  // Whether each iteration touches rows of its own.
  static bool is_by_rows(const Rows& rows) {
    return rows.advance.turn >= 0 && rows.advance.step > rows.reach.high - rows.reach.low;
  }

  // Divided tensors that are divided so already, divided tensors, length of a row; what an iteration touches.
  using Rank = std::tuple<std::int64_t, std::int64_t, std::int64_t, double>;
  [[nodiscard]] Rank rank_of(const Stage& stage) const {
    std::int64_t known = 0;
    std::int64_t divided = 0;
    for (const std::vector<Rows>* side : {&stage.provided, &stage.required}) {
      for (const Rows& rows : *side) {
        if (!prefers_long_rows_ || rows.advance.step <= 0) continue;
        ++divided;
        known += chosen_.contains(rows.storage) ? 1 : 0;
      }
    }
    return {known, divided, divided > 0 ? stage.by : 0, -touched_by(stage)};
  }

  // Nothing: none divides anything.
  std::optional<Stage> best_stage(const Stmt& nest, const std::set<RowLoop>& loops) {
    std::optional<Stage> best;
    Rank of_best;
    for (Stage& stage : stages_with(nest, loops)) {
      if (stage.iterations <= 1) continue;
      const Rank rank = rank_of(stage);
      if (best && rank <= of_best) continue;
      best = std::move(stage);
      of_best = rank;
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

  // Whether the rows are parts of lines.
  static bool is_part(const Axis& axis, const Axis& line) {
    return axis.stride * axis.extent == line.stride * line.extent && line.stride % axis.stride == 0;
  }

  // The loops that move with what is known to be pixels.
  std::set<RowLoop> chosen_loops(const Stmt& nest) {
    std::set<RowLoop> loops;
    for (const VarId storage : tensors_of(nest)) {
      const auto chosen = chosen_.find(storage);
      if (chosen != chosen_.end()) loops.merge(row_loops(nest, storage, chosen->second));
    }
    return loops;
  }

  // Of the tensors that the nest writes whose pixels are not known.
  void choose_pixels(const Stmt& nest) {
    const std::set<VarId>& accessed = tensors_of(nest);
    if (accessed.size() > most_tensors) return;
    std::set<RowLoop> loops = chosen_loops(nest);
    for (const VarId storage : accessed) {
      if (!lines_->contains(storage) || chosen_.contains(storage)) continue;
      for (const Axis& axis : tensors_.axes.at(storage)) loops.merge(row_loops(nest, storage, axis));
    }
    std::map<VarId, Axis> pixels;
    for (const Stage& stage : stages_with(nest, loops)) {
      if (!advances(stage)) continue;
      for (const Rows& rows : stage.provided) {
        if (!lines_->contains(rows.storage) || chosen_.contains(rows.storage) || !is_pixel(rows)) continue;
        const auto [known, is_new] = pixels.emplace(rows.storage, rows.axis);
        if (!is_new && rows.axis.stride < known->second.stride) known->second = rows.axis;
      }
    }
    chosen_.merge(pixels);
  }

  // Whether each iteration reads something else than the one before.
  [[nodiscard]] bool advances(const Stage& stage) const {
    return stage.iterations > 1 && std::ranges::all_of(stage.required, [&](const Rows& rows) {
             return !lines_->contains(rows.storage) || (rows.advance.step > 0 && rows.advance.per == 1);
           });
  }

  // Whether the rows are one of several elements, and no line.
  [[nodiscard]] bool is_pixel(const Rows& rows) const {
    const bool is_one = rows.advance == Advance{.step = 1} && rows.reach.is_point();
    return is_one && rows.axis != lines_->at(rows.storage) && rows.axis.extent < tensors_.elements.at(rows.storage);
  }

  // The stage that divides the most tensors, of these the one that touches least.
  std::optional<Stage> finest_stage(const Stmt& nest, const std::set<RowLoop>& loops) {
    std::optional<Stage> best;
    std::pair<std::int64_t, double> of_best;
    for (Stage& stage : stages_with(nest, loops)) {
      if (stage.iterations <= 1) continue;
      const auto is_divided = [](const Rows& rows) { return rows.advance.step > 0; };
      const auto divided =
          std::ranges::count_if(stage.provided, is_divided) + std::ranges::count_if(stage.required, is_divided);
      const std::pair rank{std::int64_t{divided}, -touched_by(stage)};
      if (best && rank <= of_best) continue;
      best = std::move(stage);
      of_best = rank;
    }
    return best;
  }

  // Iterations that are pixels of one line of what is written; 0: not known.
  [[nodiscard]] std::int64_t line_of(const Stage& stage) const {
    if (stage.by != 1 || stage.rows != 0) return 0;
    for (const Rows& rows : stage.provided) {
      const auto line = lines_->find(rows.storage);
      if (line == lines_->end() || rows.advance != Advance{.step = 1} || !rows.reach.is_point()) continue;
      if (is_part(rows.axis, line->second)) return line->second.stride / rows.axis.stride;
    }
    return 0;
  }

  // The lines in which the windows of the stage are.
  void find_lines(const Stmt& nest, Stage& stage) {
    const std::int64_t length = line_of(stage);
    if (length < 2) return;
    const Digits digits({stage.var, 1, 0});
    std::map<VarId, Touched> touched;
    arith::Facts facts(module_);
    visit_accesses(nest, facts, [&](VarId var, const Expr& index, bool, const arith::Facts& here) {
      const auto line = lines_->find(var);
      if (line == lines_->end()) return;
      const auto form = here.affine(index);
      const auto split = form ? digits.in_lines(*form, length) : std::nullopt;
      const auto row = split ? row_of(*split, line->second, tensors_.elements[var], here) : std::nullopt;
      touched.try_emplace(var, var, line->second).first->second.add(row, digits, here);
    });
    for (Rows& rows : stage.required) {
      const auto found = touched.find(rows.storage);
      if (rows.advance.step == 0 || rows.reach.is_point() || found == touched.end()) continue;
      const auto lines = found->second.rows().along(rows.axis);
      if (lines && lines->advance.step > 0) rows.lines = Window{lines->advance, lines->reach};
    }
  }

  const Indices& indices_of(const Stmt& nest) {
    std::optional<Indices>& known = nests_[&nest].indices;
    if (known) return *known;
    Indices& indices = known.emplace();
    arith::Facts facts(module_);
    visit_accesses(nest, facts, [&](VarId var, const Expr& index, bool, const arith::Facts& here) {
      if (!tensors_.axes.contains(var)) return;  // a constant, or the nest's own
      indices.by_storage[var].push_back(indices.forms.size());
      indices.forms.push_back(here.affine(index));
    });
    return indices;
  }

  // Outermost loops of the nest, or quotients of one, that the row of an access of the storage moves with.
  std::set<RowLoop> row_loops(const Stmt& nest, VarId storage, const Axis& axis) {
    std::set<RowLoop> loops;
    const auto& outer = std::get<tir::For>(nest.node);
    const auto extent = tir::as_int(*outer.min) == 0 ? tir::as_int(*outer.extent) : std::nullopt;
    if (!extent) return {};
    const auto note_factor = [&](std::int64_t factor) {
      if (factor <= 0 || (factor < axis.stride && axis.stride % factor != 0)) return;
      const std::int64_t by = factor < axis.stride ? axis.stride / factor : 1;
      const auto period = checked_mul(by, axis.extent);
      if (prefers_long_rows_ && (!period || *extent % by != 0 || (*period < *extent && *extent % *period != 0))) return;
      loops.insert({outer.var, by, period && *period < *extent && factor <= axis.stride ? axis.extent : 0});
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
    const Indices& indices = indices_of(nest);
    const auto of_storage = indices.by_storage.find(storage);
    if (of_storage == indices.by_storage.end()) return loops;
    for (const std::size_t access : of_storage->second) {
      if (indices.forms[access]) note(*indices.forms[access]);
    }
    return loops;
  }

  // With each of the loops, in their order. One iteration of all: the loop's variable is none, or an iteration of it
  // touches all of everything.
  std::vector<Stage> stages_with(const Stmt& nest, const std::set<RowLoop>& loops) {
    divide(nest, loops);
    const Nest& known = nests_[&nest];
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

  // Divides the nest by those of the loops that it has not been divided by yet, walking it once for all.
  void divide(const Stmt& nest, const std::set<RowLoop>& loops) {
    const Indices& indices = indices_of(nest);
    Nest& known = nests_[&nest];
    const auto& outer = std::get<tir::For>(nest.node);
    const auto extent = tir::as_int(*outer.min) == 0 ? tir::as_int(*outer.extent) : std::nullopt;
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
    visit_accesses(nest, facts, [&](VarId var, const Expr&, bool is_store, const arith::Facts& here) {
      if (!tensors_.axes.contains(var)) return;
      if (is_store) known.stored.insert(var);
      const std::optional<arith::Affine>& form = indices.forms[access++];
      for (Division* division : divisions) {
        auto& all = division->touched[var];
        if (all.empty()) start(var, all);
        const auto split = form && division->stage.iterations > 1 ? division->digits.written(*form) : std::nullopt;
        for (Touched& rows : all) {
          const auto row = split ? row_of(*split, rows.rows().axis, tensors_.elements[var], here) : std::nullopt;
          rows.add(row, division->digits, here);
        }
      }
    });
  }

  // Whether each tensor has been looked at along the axes that it may be divided along now.
  [[nodiscard]] bool is_current(const Division& division) const {
    return std::ranges::all_of(division.touched, [&](const auto& touched) {
      const auto chosen = chosen_.find(touched.first);
      if (chosen != chosen_.end()) return along_axis(touched.second, chosen->second) != touched.second.end();
      return touched.second.size() >= tensors_.axes.at(touched.first).size();
    });
  }

  static std::vector<Touched>::const_iterator along_axis(const std::vector<Touched>& all, const Axis& axis) {
    return std::ranges::find_if(all, [&](const Touched& one) { return one.rows().axis == axis; });
  }

  [[nodiscard]] const Rows& rows_of(VarId var, const std::vector<Touched>& all) const {
    const auto chosen = chosen_.find(var);
    return chosen == chosen_.end() ? smallest_of(all) : along_axis(all, chosen->second)->rows();
  }

  // The first of the smallest ones. Long rows stay if shorter ones would only leave out their ends.
  [[nodiscard]] const Rows& smallest_of(const std::vector<Touched>& all) const {
    const Rows* best = &all.front().rows();
    for (const Touched& one : all) {
      const double least = prefers_long_rows_ ? 0.5 / static_cast<double>(best->axis.extent) : 0.0;
      const double gain = best->share() - one.rows().share();
      if (gain > 0 && gain >= least) best = &one.rows();
    }
    return *best;
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
  const bool prefers_long_rows_;
  const std::map<VarId, Axis>* lines_;  // by tensor, the axis of its lines; null: pixels are not looked for
  Tensors tensors_;
  std::set<VarId> flat_;          // buffers of one dimension
  std::map<VarId, Axis> chosen_;  // how tensors are divided
  std::map<const Stmt*, Nest> nests_;
};

}  // namespace

std::vector<Pipeline> pipelines_of(const tir::Module& module, const tir::Function& function, std::string* why) {
  return PipelineFinder(module, function).find(why);
}

std::vector<Stage> stages_of(const tir::Module& module, const tir::Function& function) {
  return PipelineFinder(module, function, true).stages();
}

std::vector<Stage> pixel_stages_of(const tir::Module& module, const tir::Function& function,
                                   const std::vector<Stage>& stages) {
  std::map<VarId, Axis> lines;
  for (const Stage& stage : stages) {
    for (const std::vector<Rows>* side : {&stage.provided, &stage.required}) {
      for (const Rows& rows : *side) {
        if (rows.advance.step > 0) lines.emplace(rows.storage, rows.axis);
      }
    }
  }
  return PipelineFinder(module, function, true, &lines).pixel_stages();
}

const Pipeline& smallest(const std::vector<Pipeline>& pipelines) {
  return *std::ranges::min_element(pipelines, {}, &Pipeline::share);
}

}  // namespace usmp::loops

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Chooses the row loop of a nest, and computes provided and required rows from its accesses.
#include "usmp/loops/stage.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "loops/nest_stages.hpp"

namespace usmp::loops {
namespace {

using tir::VarId;

const Rows& rows_of(const std::vector<Rows>& all, VarId storage) {
  return *std::ranges::find(all, storage, &Rows::storage);
}

// Whether each iteration touches rows of its own.
bool is_by_rows(const Rows& rows) {
  return rows.advance.turn >= 0 && rows.advance.step > rows.reach.high - rows.reach.low;
}

// Whether it reads a part of each tensor at a time.
bool streams(const Stage& stage) {
  return stage.iterations > 1 && !stage.required.empty() &&
         std::ranges::all_of(stage.required, [](const Rows& rows) { return rows.advance.step > 0; }) &&
         std::ranges::any_of(stage.provided, is_by_rows);
}

// Chooses an axis for each tensor. Outer dimensions are preferred: the rows of an image, not its columns or pixels.
class RowChooser {
 public:
  RowChooser(const tir::Module& module, const tir::Function& function, KnownNests& known)
      : function_(function), nests_(module, function, divisible_tensors(module, function, false, known), known) {}

  // Where few divisions let a nest read a part at a time, there is little choice: there the axes are chosen first, and
  // then from tensor to tensor.
  std::vector<Stage> stages() {
    std::map<std::size_t, std::size_t> choices;  // by statement
    std::map<VarId, std::vector<std::size_t>> nests_with;
    for (std::size_t i = 0; i < function_.body.size(); ++i) {
      if (!std::holds_alternative<tir::For>(function_.body[i].node)) continue;
      std::set<RowLoop> loops;
      const Tensors& accessed = nests_.tensors_of(i);
      for (const auto& [storage, tensor] : accessed) {
        nests_with[storage].push_back(i);
        if (accessed.size() <= most_tensors) loops.merge(nests_.row_loops(i, storage));
      }
      choices[i] = static_cast<std::size_t>(std::ranges::count_if(nests_.stages_with(i, loops), streams));
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

 private:
  // The nest's stage in which tensors that are divided already are divided so, if any; among these the one that divides
  // most, and touches least; else one iteration of all. Chooses the axes of the others.
  Stage stage_at(std::size_t statement) {
    const Tensors& accessed = nests_.tensors_of(statement);
    std::set<RowLoop> loops = nests_.chosen_loops(statement);
    if (accessed.size() <= most_tensors) {
      for (const auto& [storage, tensor] : accessed) loops.merge(nests_.row_loops(statement, storage));
    }
    std::optional<Stage> stage = best_stage(statement, loops);
    if (!stage) stage = std::move(nests_.stages_with(statement, {RowLoop{}}).front());
    stage->statement = statement;
    for (const std::vector<Rows>* side : {&stage->provided, &stage->required}) {
      for (const Rows& rows : *side) {
        if (rows.advance.step != 0) nests_.choose(rows.storage, rows.axis);
      }
    }
    return *stage;
  }

  // Nothing: none divides anything.
  std::optional<Stage> best_stage(std::size_t nest, const std::set<RowLoop>& loops) {
    std::optional<Stage> best;
    Rank of_best;
    for (Stage& stage : nests_.stages_with(nest, loops)) {
      if (stage.iterations <= 1) continue;
      const Rank rank = rank_of(stage);
      if (best && rank <= of_best) continue;
      best = std::move(stage);
      of_best = rank;
    }
    return best;
  }

  // Divided tensors that are divided so already, divided tensors, length of a row; what an iteration touches.
  using Rank = std::tuple<std::int64_t, std::int64_t, std::int64_t, double>;
  [[nodiscard]] Rank rank_of(const Stage& stage) const {
    std::int64_t known = 0;
    std::int64_t divided = 0;
    for (const std::vector<Rows>* side : {&stage.provided, &stage.required}) {
      for (const Rows& rows : *side) {
        if (rows.advance.step <= 0) continue;
        ++divided;
        known += nests_.is_chosen(rows.storage) ? 1 : 0;
      }
    }
    return {known, divided, divided > 0 ? stage.by : 0, -nests_.touched_by(stage)};
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
    const std::size_t nest = own.statement;
    if (nests_.tensors_of(nest).size() > most_tensors) return std::nullopt;
    for (Stage& stage : nests_.stages_with(nest, nests_.chosen_loops(nest))) {
      if (!is_alike(stage)) continue;
      std::optional<Stage> found = std::move(stage);
      found->statement = own.statement;
      return found;
    }
    return std::nullopt;
  }

  const tir::Function& function_;
  NestStages nests_;
};

}  // namespace

std::vector<Stage> stages_of(const tir::Module& module, const tir::Function& function, KnownNests& known) {
  return RowChooser(module, function, known).stages();
}

std::vector<Stage> stages_of(const tir::Module& module, const tir::Function& function) {
  KnownNests none;
  return stages_of(module, function, none);
}

}  // namespace usmp::loops

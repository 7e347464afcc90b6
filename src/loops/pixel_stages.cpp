// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Divides stages of rows once more, into pixels of a row.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "loops/nest_stages.hpp"
#include "usmp/loops/stage.hpp"
#include "usmp/loops/walk.hpp"

namespace usmp::loops {
namespace {

using tir::Expr;
using tir::VarId;

using Lines = std::map<VarId, Axis>;  // by tensor, the axis of its lines

Lines lines_of(const std::vector<Stage>& stages) {
  Lines lines;
  for (const Stage& stage : stages) {
    for (const std::vector<Rows>* side : {&stage.provided, &stage.required}) {
      for (const Rows& rows : *side) {
        if (rows.advance.step > 0) lines.emplace(rows.storage, rows.axis);
      }
    }
  }
  return lines;
}

// Whether the rows are parts of lines.
bool is_part(const Axis& axis, const Axis& line) {
  return axis.stride * axis.extent == line.stride * line.extent && line.stride % axis.stride == 0;
}

Tensors tensors_in_lines(const tir::Module& module, const tir::Function& function, const Lines& lines,
                         KnownNests& known) {
  Tensors tensors = divisible_tensors(module, function, true, known);
  for (auto& [storage, tensor] : tensors) {
    const auto line = lines.find(storage);
    if (line != lines.end()) std::erase_if(tensor.axes, [&](const Axis& axis) { return !is_part(axis, line->second); });
  }
  return tensors;
}

// A tensor's pixel is what an iteration of the loop that writes it writes; else, of a loop that reads it reads. First
// these are found, then the stages.
class PixelChooser {
 public:
  PixelChooser(const tir::Module& module, const tir::Function& function, Lines lines, KnownNests& known)
      : module_(module),
        function_(function),
        lines_(std::move(lines)),
        nests_(module, function, tensors_in_lines(module, function, lines_, known), known),
        known_(known) {}

  std::vector<Stage> stages() {
    std::vector<std::size_t> nests;
    for (std::size_t i = 0; i < function_.body.size(); ++i) {
      if (std::holds_alternative<tir::For>(function_.body[i].node)) nests.push_back(i);
    }
    for (const std::size_t nest : nests) choose_pixels(nest);
    for (std::size_t i = nests.size(); i-- > 0;) choose_pixels(nests[i]);
    std::vector<Stage> stages;
    for (const std::size_t nest : nests) {
      auto stage = finest_stage(nest);
      if (!stage) continue;
      stage->statement = nest;
      find_lines(nest, *stage);
      stages.push_back(std::move(*stage));
    }
    return stages;
  }

 private:
  // Chooses pixels for tensors that the nest writes and whose pixels are not known.
  void choose_pixels(std::size_t nest) {
    const Tensors& accessed = nests_.tensors_of(nest);
    if (accessed.size() > most_tensors) return;
    std::set<RowLoop> loops = nests_.chosen_loops(nest);
    for (const auto& [storage, tensor] : accessed) {
      if (lines_.contains(storage) && !nests_.is_chosen(storage)) loops.merge(nests_.row_loops(nest, storage));
    }
    std::map<VarId, Axis> pixels;
    for (const Stage& stage : nests_.stages_with(nest, loops)) {
      if (!advances(stage)) continue;
      for (const Rows& rows : stage.provided) {
        if (!lines_.contains(rows.storage) || nests_.is_chosen(rows.storage) || !is_pixel(rows)) continue;
        const auto [known, is_new] = pixels.emplace(rows.storage, rows.axis);
        if (!is_new && rows.axis.stride < known->second.stride) known->second = rows.axis;
      }
    }
    for (const auto& [storage, axis] : pixels) nests_.choose(storage, axis);
  }

  // Whether each iteration reads something else than the one before.
  [[nodiscard]] bool advances(const Stage& stage) const {
    return stage.iterations > 1 && std::ranges::all_of(stage.required, [&](const Rows& rows) {
             return !lines_.contains(rows.storage) || (rows.advance.step > 0 && rows.advance.per == 1);
           });
  }

  // Whether the rows are one of several elements, and no line.
  [[nodiscard]] bool is_pixel(const Rows& rows) const {
    const bool is_one = rows.advance == Advance{.step = 1} && rows.reach.is_point();
    return is_one && rows.axis != lines_.at(rows.storage) && rows.axis.extent < nests_.tensor(rows.storage).elements;
  }

  // The stage that divides the most tensors, of these the one that touches least.
  std::optional<Stage> finest_stage(std::size_t nest) {
    std::optional<Stage> best;
    std::pair<std::int64_t, double> of_best;
    for (Stage& stage : nests_.stages_with(nest, nests_.chosen_loops(nest))) {
      if (stage.iterations <= 1) continue;
      const auto is_divided = [](const Rows& rows) { return rows.advance.step > 0; };
      const auto divided =
          std::ranges::count_if(stage.provided, is_divided) + std::ranges::count_if(stage.required, is_divided);
      const std::pair rank{std::int64_t{divided}, -nests_.touched_by(stage)};
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
      const auto line = lines_.find(rows.storage);
      if (line == lines_.end() || rows.advance != Advance{.step = 1} || !rows.reach.is_point()) continue;
      if (is_part(rows.axis, line->second)) return line->second.stride / rows.axis.stride;
    }
    return 0;
  }

  // The lines in which the windows of the stage are.
  void find_lines(std::size_t nest, Stage& stage) const {
    const std::int64_t length = line_of(stage);
    if (length < 2) return;
    const Digits digits({stage.var, 1, 0});
    std::map<VarId, Touched> touched;
    arith::Facts facts(module_);
    std::size_t access = 0;
    visit_accesses(function_.body[nest], facts, [&](VarId var, const Expr&, bool, const arith::Facts& here) {
      const std::optional<arith::Affine>& form = known_[nest]->accesses[access++].index;
      const auto line = lines_.find(var);
      if (line == lines_.end()) return;
      const auto split = form ? digits.in_lines(*form, length) : std::nullopt;
      const auto row = split ? row_of(*split, line->second, nests_.tensor(var).elements, here) : std::nullopt;
      touched.try_emplace(var, var, line->second).first->second.add(row, digits, here);
    });
    for (Rows& rows : stage.required) {
      const auto found = touched.find(rows.storage);
      if (rows.advance.step == 0 || rows.reach.is_point() || found == touched.end()) continue;
      const auto lines = found->second.rows().along(rows.axis);
      if (lines && lines->advance.step > 0) rows.lines = Window{lines->advance, lines->reach};
    }
  }

  const tir::Module& module_;
  const tir::Function& function_;
  const Lines lines_;
  NestStages nests_;
  const KnownNests& known_;
};

}  // namespace

std::vector<Stage> pixel_stages_of(const tir::Module& module, const tir::Function& function,
                                   const std::vector<Stage>& stages, KnownNests& known) {
  return PixelChooser(module, function, lines_of(stages), known).stages();
}

}  // namespace usmp::loops

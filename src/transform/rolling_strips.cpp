// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads steps and reaches of columns off the indices of loads, stage by stage from the last one.
#include "transform/rolling_strips.hpp"

#include <algorithm>
#include <cassert>
#include <optional>
#include <vector>

#include "usmp/arith/facts.hpp"
#include "usmp/loops/walk.hpp"

namespace usmp::transform {
namespace {

using loops::Rows;
using tir::ExprKind;
using tir::make_binary;
using tir::VarId;

// Whether iteration n of the stage's units is pixel n of its tensor, and notes how long its lines are.
bool has_pixels(const CallRun& run, Segment& segment, std::size_t s) {
  StripColumns& columns = segment.columns[s];
  const RolledStage& rolled = segment.stages[s];
  const RowSupply& supply = *segment.chain.stages[s].supply;
  const loops::Axis& lines = segment.axes[supply.tensor];
  if (supply.step != 1 || supply.reach != Interval{0, 0}) return false;
  for (const std::size_t u : rolled.units) {
    const Rows* pixels = rows_in(stage_of(run, u, Grain::strips).provided, *rolled.tensor);
    if (pixels == nullptr || pixels->advance != loops::Advance{.step = 1} || pixels->reach != Interval{0, 0}) {
      return false;
    }
    columns.pixels = pixels->axis;
    const std::int64_t pixel = pixels->axis.stride;
    if (pixel >= lines.stride || lines.stride % pixel != 0) return false;
    columns.columns = lines.stride / pixel;
    if (columns.columns > most_stage_iterations) return false;
    const std::int64_t all = columns.columns * lines.extent;
    if (pixels->axis.extent != all || stage_of(run, u, Grain::strips).iterations != all) return false;
    if (segment.chain.stages[s].iterations != lines.extent) return false;
  }
  return true;
}

// Column x of a stage's tensor is computed from these columns of another one: step · x + reach, and maybe fewer.
struct ColumnsRead {
  std::int64_t step = 0;
  Interval reach;
};

// The loop of a stage's unit by the columns of its tensor.
class ColumnLoop {
 public:
  ColumnLoop(const tir::Module& module, const CallRun& run, std::size_t unit, std::int64_t columns)
      : facts_(module), run_(run), loop_(loop_of(run, unit, Grain::strips)) {
    const loops::Stage& stage = stage_of(run, unit, Grain::strips);
    const std::int64_t rows = stage.rows > 0 ? stage.rows : stage.iterations;
    const auto digit = [&](VarId var, std::int64_t count) {
      facts_.bind_interval(var, Interval{0, count - 1});
      return tir::make_var(module, var);
    };
    const auto joined = [](const tir::ExprRef& high, std::int64_t by, const tir::ExprRef& low) {
      return make_binary(ExprKind::add, make_binary(ExprKind::mul, high, tir::make_int(by)), low);
    };
    const tir::ExprRef pixel = joined(digit(run.line, rows / columns), columns, digit(run.column, columns));
    const tir::ExprRef plane = digit(run.plane, *tir::as_int(*loop_.extent) / (stage.by * rows));
    facts_.bind_value(loop_.var, *joined(joined(plane, rows, pixel), stage.by, digit(run.part, stage.by)));
  }

  // Adds what the unit reads of the tensor, in lines of so many elements, to `all`. False: not known.
  bool add(VarId tensor, std::int64_t line, std::int64_t pixel, std::optional<ColumnsRead>& all) {
    bool is_known = true;
    loops::visit_accesses(loop_.body, facts_, [&](VarId var, const tir::Expr& index, bool, const arith::Facts& here) {
      if (var != tensor || !is_known) return;
      const auto read = columns_at(index, line, pixel, here);
      is_known = read && (!all || all->step == read->step);
      if (is_known) all = ColumnsRead{read->step, all ? hull(all->reach, read->reach) : read->reach};
    });
    return is_known;
  }

 private:
  [[nodiscard]] std::optional<ColumnsRead> columns_at(const tir::Expr& index, std::int64_t line, std::int64_t pixel,
                                                      const arith::Facts& here) const {
    const auto place = here.affine(index);
    const auto in_line = place ? here.divide(*place, line) : std::nullopt;
    const auto column = in_line ? here.divide(in_line->remainder, pixel) : std::nullopt;
    const std::int64_t step = column ? column->quotient.factor(run_.column) : 0;
    if (step < 1) return std::nullopt;
    const auto reach = here.interval(column->quotient.without(run_.column));
    return reach ? std::optional(ColumnsRead{step, *reach}) : std::nullopt;
  }

  arith::Facts facts_;
  const CallRun& run_;
  const tir::For& loop_;
};

// So far from a strip's first column; and so many columns of the last tensor by the scale. The program's numbers fit
// then.
constexpr std::int64_t most_columns = std::int64_t{1} << 29;
bool is_small(std::int64_t columns) { return columns > -most_columns && columns < most_columns; }

// What stage `s`, which reads the tensor of `from`, needs of its columns. The schedule says of which lines.
std::optional<StripColumns> columns_needed(const tir::Module& module, const CallRun& run, const Segment& segment,
                                           std::size_t s, std::size_t from) {
  const StripColumns& own = segment.columns[s];
  StripColumns needed = segment.columns[from];
  const std::int64_t line = needed.columns * needed.pixels.stride;
  std::optional<ColumnsRead> read;
  for (const std::size_t u : segment.stages[s].units) {
    ColumnLoop loop(module, run, u, own.columns);
    if (!loop.add(*segment.stages[from].tensor, line, needed.pixels.stride, read)) return std::nullopt;
  }
  assert(read);  // by a unit that has rows of it
  if (!is_small(read->step) || !is_small(read->reach.low) || !is_small(read->reach.high)) return std::nullopt;
  needed.scale = own.scale * read->step;
  needed.low = own.low * read->step + read->reach.low;
  needed.high = (own.high - 1) * read->step + read->reach.high + 1;
  const bool fits = needed.scale < most_columns / segment.columns.back().columns;
  return fits && is_small(needed.low) && is_small(needed.high) ? std::optional(needed) : std::nullopt;
}

}  // namespace

Interval StripColumns::in(std::int64_t strip, std::int64_t width) const {
  return {std::max<std::int64_t>(0, scale * width * strip + low),
          std::min(columns, scale * width * (strip + 1) + high) - 1};
}

bool find_columns(const tir::Module& module, const CallRun& run, Segment& segment) {
  const std::size_t count = segment.stages.size();
  segment.columns.resize(count);
  for (std::size_t s = 0; s < count; ++s) {
    const std::optional<RowSupply>& supply = segment.chain.stages[s].supply;
    const bool is_last = s + 1 == count;
    if (!supply || segment.chain.tensors[supply->tensor].is_whole != is_last) return false;
    if (!has_pixels(run, segment, s)) return false;
  }
  std::vector<bool> is_known(count, false);
  for (std::size_t s = count; s-- > 0;) {
    if (s + 1 < count && !is_known[s]) return false;
    for (const RowNeed& need : segment.chain.stages[s].needs) {
      const auto supplier = std::ranges::find_if(segment.chain.stages, [&](const RowStage& other) {
        return other.supply && other.supply->tensor == need.tensor;
      });
      if (supplier == segment.chain.stages.end()) continue;  // whole
      const auto from = static_cast<std::size_t>(supplier - segment.chain.stages.begin());
      const auto needed = columns_needed(module, run, segment, s, from);
      if (!needed) return false;
      StripColumns& all = segment.columns[from];
      if (is_known[from]) {
        if (all.scale != needed->scale) return false;
        all.low = std::min(all.low, needed->low);
        all.high = std::max(all.high, needed->high);
      } else {
        all = *needed;
        is_known[from] = true;
      }
    }
  }
  return true;
}

std::int64_t strip_places(std::int64_t rows, std::int64_t columns, std::int64_t line, std::int64_t pixels) {
  const auto are_apart = [&](std::int64_t places) {
    for (std::int64_t i = 1; i < rows; ++i) {
      const std::int64_t apart = i * line % places;
      if (apart < columns || apart > places - columns) return false;
    }
    return true;
  };
  std::int64_t places = std::min(rows * columns, pixels);
  while (places < pixels && !are_apart(places)) ++places;
  return places;
}

bool divide_into_strips(const CallRun& run, Segment& segment, std::int64_t width) {
  const std::size_t count = segment.stages.size();
  const std::int64_t columns = segment.columns[count - 1].columns;
  segment.strip_width = width;
  segment.strips = (columns + width - 1) / width;
  segment.strip_pixels.assign(segment.chain.tensors.size(), 0);
  segment.computed.assign(count, 0);
  Bytes rings = 0;
  for (std::size_t s = 0; s < count; ++s) {
    std::int64_t widest = 0;
    std::int64_t all = 0;
    for (std::int64_t strip = 0; strip < segment.strips; ++strip) {
      const Interval needed = segment.columns[s].in(strip, width);
      if (needed.low > needed.high) return false;
      widest = std::max(widest, needed.high - needed.low + 1);
      all += needed.high - needed.low + 1;
    }
    segment.computed[s] = all * segment.schedule.runs[s];
    const std::size_t tensor = segment.chain.stages[s].supply->tensor;
    if (segment.chain.tensors[tensor].is_whole) continue;
    const std::int64_t pixels = segment.columns[s].pixels.extent;
    segment.strip_pixels[tensor] =
        strip_places(segment.schedule.ring_rows[tensor], widest, segment.columns[s].columns, pixels);
    rings += run.storages.at(*segment.stages[s].tensor).bytes() / pixels * segment.strip_pixels[tensor];
  }
  // Whole tensors are read and written strip by strip: none of their rows is dead before the last one.
  Bytes whole = 0;
  for (const RowTensor& tensor : segment.chain.tensors) {
    if (tensor.is_free) continue;
    const bool is_ring = !tensor.is_whole && std::ranges::any_of(segment.chain.stages, [&](const RowStage& stage) {
      return stage.supply && &segment.chain.tensors[stage.supply->tensor] == &tensor;
    });
    if (!is_ring) whole += tensor.rows * tensor.row_bytes;
  }
  segment.chain_bytes = rings + whole;
  return true;
}

}  // namespace usmp::transform

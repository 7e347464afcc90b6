// SPDX-License-Identifier: Apache-2.0
#include "transform/rolling_strips.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace usmp::transform {
namespace {

using loops::Rows;
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
    const std::int64_t all = columns.columns * lines.extent;
    if (pixels->axis.extent != all || stage_of(run, u, Grain::strips).iterations != all) return false;
    if (segment.chain.stages[s].iterations != lines.extent) return false;
  }
  return true;
}

// What stage `s` needs of the columns of the tensor of `from`: an iteration's rows of pixels are a box of lines and
// columns, of which the first and the last pixel are known, and the lines.
std::optional<StripColumns> columns_needed(const CallRun& run, const Segment& segment, std::size_t s, std::size_t from,
                                           const RowNeed& need) {
  const StripColumns& own = segment.columns[s];
  const loops::Axis& lines = segment.axes[need.tensor];
  const VarId tensor = *segment.stages[from].tensor;
  if (need.lines || need.advance.per != 1 || need.advance.turn != 0 || need.advance.step < 1) return std::nullopt;
  std::optional<StripColumns> needed;
  for (const std::size_t u : segment.stages[s].units) {
    const Rows* pixels = rows_in(stage_of(run, u, Grain::strips).required, tensor);
    if (pixels == nullptr) {
      if (std::ranges::binary_search(run.units[u].reads, tensor)) return std::nullopt;
      continue;
    }
    const loops::Advance& advance = pixels->advance;
    const std::int64_t line = lines.stride / pixels->axis.stride;
    if (pixels->axis.stride * line != lines.stride || advance.per != 1 || advance.step < 1) return std::nullopt;
    if (advance.turn != 0 && advance.width != own.columns) return std::nullopt;
    if (advance.step * own.columns + advance.turn != need.advance.step * line) return std::nullopt;
    const Interval reach{pixels->reach.low - need.reach.low * line, pixels->reach.high - need.reach.high * line};
    if (reach.low > reach.high || reach.low <= -line || reach.high >= line) return std::nullopt;
    StripColumns of_unit = segment.columns[from];
    of_unit.scale = own.scale * advance.step;
    of_unit.low = own.low * advance.step + reach.low;
    of_unit.high = (own.high - 1) * advance.step + reach.high + 1;
    if (needed) {
      if (needed->scale != of_unit.scale) return std::nullopt;
      of_unit.low = std::min(of_unit.low, needed->low);
      of_unit.high = std::max(of_unit.high, needed->high);
    }
    needed = of_unit;
  }
  return needed;
}

}  // namespace

Interval StripColumns::in(std::int64_t strip, std::int64_t width) const {
  return {std::max<std::int64_t>(0, scale * width * strip + low),
          std::min(columns, scale * width * (strip + 1) + high) - 1};
}

bool find_columns(const CallRun& run, Segment& segment) {
  const std::size_t count = segment.stages.size();
  segment.columns.resize(count);
  std::vector<bool> is_known(count, false);
  for (std::size_t s = count; s-- > 0;) {
    const RowStage& row = segment.chain.stages[s];
    const bool is_last = s + 1 == count;
    if (!row.supply || segment.chain.tensors[row.supply->tensor].is_whole != is_last) return false;
    if (!is_last && !is_known[s]) return false;
    if (!has_pixels(run, segment, s)) return false;
    for (const RowNeed& need : row.needs) {
      const auto supplier = std::ranges::find_if(segment.chain.stages, [&](const RowStage& other) {
        return other.supply && other.supply->tensor == need.tensor;
      });
      if (supplier == segment.chain.stages.end()) continue;  // whole
      const auto from = static_cast<std::size_t>(supplier - segment.chain.stages.begin());
      const auto needed = columns_needed(run, segment, s, from, need);
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

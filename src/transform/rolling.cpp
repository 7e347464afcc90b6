// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Estimates all parts that calls may be divided into, picks the best division, and writes its functions.
#include "transform/rolling.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "transform/plain_entry.hpp"
#include "transform/rolling_body.hpp"
#include "transform/rolling_strips.hpp"
#include "transform/rolling_units.hpp"
#include "usmp/loops/cost.hpp"
#include "usmp/operators/operators.hpp"
#include "usmp/program/edit.hpp"
#include "usmp/support/text.hpp"

namespace usmp::transform {
namespace {

using tir::VarId;

// Calls [first, last) of a run, as they are (one call) or as a chain.
struct Part {
  std::size_t first = 0;
  std::size_t last = 0;
  Bytes bytes = 0;
  bool is_chain = false;
  Grain grain = Grain::rows;
  std::int64_t strip_width = 0;  // columns; of strips
  double extra_work = 0;         // of pixels that are computed again

  // Calls in chains, and of these in chains by pixels or strips.
  [[nodiscard]] std::pair<std::size_t, std::size_t> rolled_calls() const {
    const std::size_t rolled = is_chain ? last - first : 0;
    return {rolled, grain == Grain::rows ? 0 : rolled};
  }
};

// All parts that calls may be divided into, by their first call.
using Parts = std::vector<std::vector<Part>>;

// The iterations of the call's stages.
std::int64_t iterations_of(const CallRun& run, std::size_t call, Grain grain) {
  std::int64_t iterations = 0;
  const auto [first, last] = run.units_of(call, call + 1);
  for (std::size_t u = first; u < last; ++u) {
    if (!run.units[u].stage) continue;
    iterations += std::min(stage_of(run, u, grain).iterations, most_stage_iterations);
  }
  return iterations;
}

std::vector<Grain> grains_of(RollingGrain asked) {
  if (asked == RollingGrain::rows) return {Grain::rows};
  if (asked == RollingGrain::pixels) return {Grain::pixels};
  if (asked == RollingGrain::strips) return {};
  return {Grain::rows, Grain::pixels};
}

// Work of one run of each unit's loop, as it is; 0 if it is not known.
std::vector<double> work_of_units(const CallRun& run) {
  std::vector<double> work;
  for (const Unit& unit : run.units) {
    tir::Function function;
    function.body.push_back(run.function.body[unit.statement]);
    work.push_back(loops::work_of(function).value_or(0));
  }
  return work;
}

// The work of what is computed more than once.
double extra_work(const CallRun& run, const Segment& segment, const std::vector<double>& work_of_unit) {
  double extra = 0;
  for (std::size_t s = 0; s < segment.stages.size(); ++s) {
    const std::int64_t once = segment.schedule.runs[s] * segment.columns[s].columns;
    double of_pixel = 0;
    for (const std::size_t u : segment.stages[s].units) {
      of_pixel += work_of_unit[u] / static_cast<double>(stage_of(run, u, Grain::strips).iterations);
    }
    extra += of_pixel * static_cast<double>(segment.computed[s] - once);
  }
  return extra;
}

// Those of all widths that cost no more work than that. Of widths that give as many strips, the smallest.
void add_strips(const tir::Module& module, const CallRun& run, std::vector<Part>& parts, std::size_t first,
                std::size_t last, const std::vector<double>& work_of_unit, double most_extra) {
  std::optional<Segment> segment = rolled_segment(module, run, first, last, Grain::strips);
  if (!segment) return;
  const std::int64_t columns = segment->columns.back().columns;
  std::int64_t known = 1;
  for (std::int64_t count = 2; count <= columns; ++count) {
    const std::int64_t width = (columns + count - 1) / count;
    const std::int64_t strips = (columns + width - 1) / width;
    if (strips == known) continue;
    known = strips;
    if (!divide_into_strips(run, *segment, width)) continue;
    const double extra = extra_work(run, *segment, work_of_unit);
    if (extra <= most_extra) parts.push_back({first, last, segment->bytes(), true, Grain::strips, width, extra});
  }
}

// What a division has to keep within.
struct Limits {
  Bytes most = no_limit;                                   // of each part
  Bytes room = no_limit;                                   // of the memories that are preferred
  double most_extra = std::numeric_limits<double>::max();  // work
};

// The least bytes beyond the room, of all parts together, then the least extra work, then the fewest rolled calls in a
// division in which no part needs more than `most`; nothing: it takes more extra work.
std::optional<std::vector<const Part*>> division(const Parts& parts, const Limits& limits) {
  struct Best {
    Bytes beyond = 0;
    double extra = 0;
    std::pair<std::size_t, std::size_t> rolled;
    const Part* part = nullptr;
    bool is_possible = false;
  };
  std::vector<Best> best(parts.size() + 1);
  best[parts.size()].is_possible = true;
  for (std::size_t first = parts.size(); first-- > 0;) {
    for (const Part& part : parts[first]) {
      if (part.bytes > limits.most || !best[part.last].is_possible) continue;
      auto rolled = part.rolled_calls();
      rolled.first += best[part.last].rolled.first;
      rolled.second += best[part.last].rolled.second;
      const double extra = part.extra_work + best[part.last].extra;
      const Bytes beyond = std::max<Bytes>(0, part.bytes - limits.room) + best[part.last].beyond;
      const Best& known = best[first];
      if (!known.is_possible || std::tie(beyond, extra, rolled) < std::tie(known.beyond, known.extra, known.rolled)) {
        best[first] = {beyond, extra, rolled, &part, true};
      }
    }
  }
  if (!best[0].is_possible || best[0].extra > limits.most_extra) return std::nullopt;
  std::vector<const Part*> chosen;
  for (std::size_t at = 0; at < parts.size(); at = chosen.back()->last) chosen.push_back(best[at].part);
  return chosen;
}

// The division whose largest part is smallest, or of which the least does not fit into the room.
std::vector<const Part*> best_division(const Parts& parts, std::optional<Bytes> room, double most_extra) {
  if (room) return *division(parts, {.room = *room});
  std::set<Bytes> sizes;
  for (const auto& from : parts) {
    for (const Part& part : from) sizes.insert(part.bytes);
  }
  const std::vector<Bytes> all(sizes.begin(), sizes.end());
  std::size_t low = 0;
  std::size_t high = all.size() - 1;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (division(parts, {.most = all[middle], .most_extra = most_extra})) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return *division(parts, {.most = all[low], .most_extra = most_extra});
}

Bytes largest(const std::vector<const Part*>& division) {
  Bytes bytes = 0;
  for (const Part* part : division) bytes = std::max(bytes, part->bytes);
  return bytes;
}

// `most_extra`: work of pixels that are computed again; nothing: no strips.
Parts parts_of(const tir::Module& module, const CallRun& run, const Options& options,
               std::optional<double> most_extra) {
  const std::size_t most_calls = std::clamp<std::size_t>(most_segments / run.calls.size(), 2, most_rolled_calls);
  Parts parts(run.calls.size());
  for (std::size_t first = 0; first < run.calls.size(); ++first) {
    parts[first].push_back({first, first + 1, plain_bytes(run, first), false});
  }
  for (const Grain grain : grains_of(options.rolling_grain)) {
    // A part with more bytes is in no better division.
    const Bytes most = options.rolling_room ? no_limit : largest(best_division(parts, std::nullopt, 0));
    // Iterations, of all segments together.
    constexpr std::int64_t most_work = 30'000'000;
    std::int64_t work = 0;
    for (std::size_t first = 0; first < run.calls.size(); ++first) {
      const std::size_t end = std::min(run.calls.size(), first + most_calls);
      std::int64_t in_segment = 0;
      for (std::size_t last = first + 1; last <= end; ++last) {
        in_segment += iterations_of(run, last - 1, grain);
        work += in_segment;
        if (work > most_work) break;
        const auto segment = rolled_segment(module, run, first, last, grain, most);
        if (segment) parts[first].push_back({first, last, segment->bytes(), true, grain});
      }
    }
  }
  if (most_extra) {
    const std::vector<double> work_of_unit = work_of_units(run);
    for (std::size_t first = 0; first < run.calls.size(); ++first) {
      const std::size_t end = std::min(run.calls.size(), first + most_calls);
      for (std::size_t last = first + 1; last <= end; ++last) {
        add_strips(module, run, parts[first], first, last, work_of_unit, *most_extra);
      }
    }
  }
  return parts;
}

// "operators 2 to 5 run row by row, rings of 10 rows hold 3200 of 25600 bytes", "pixel by pixel", or "row by row of 4
// strips of 18 columns".
std::string text_of(const CallRun& run, const Segment& segment, const std::vector<tir::RowOperator>& operators) {
  std::int64_t rows = 0;
  Bytes held = 0;
  Bytes all = 0;
  for (const auto& [var, index] : segment.tensors) {
    const auto ring = segment.ring_of(index);
    if (!ring) continue;
    const Bytes bytes = run.storages.at(var).bytes();
    rows += ring->rows;
    held += bytes / ring->extent * ring->rows;
    all += bytes;
  }
  const bool has_pixels = std::ranges::any_of(segment.stages, [&](const RolledStage& stage) {
    return stage.grain == Grain::pixels && run.units[stage.units.front()].pixels.has_value();
  });
  const std::string first = std::to_string(operators.front().number);
  const std::string which = operators.size() == 1
                                ? "operator " + first + " runs"
                                : "operators " + first + " to " + std::to_string(operators.back().number) + " run";
  const std::string rings =
      segment.strips > 0
          ? " row by row of " + std::to_string(segment.strips) + " strips of " + std::to_string(segment.strip_width) +
                (segment.strip_width == 1 ? " column" : " columns") + ", rings hold "
      : has_pixels ? " pixel by pixel, rings hold "
                   : " row by row, rings of " + std::to_string(rows) + (rows == 1 ? " row hold " : " rows hold ");
  return which + rings + std::to_string(held) + " of " + bytes_text(all);
}

std::vector<Change> roll_within(tir::Module& module, const Options& options, std::optional<double> most_extra) {
  const auto entry = read_plain_entry(module);
  if (!entry) return {};
  const std::set<std::string> before = program::called_names(module);
  program::FreshNames names(module);
  std::vector<Change> changes;
  std::set<std::size_t> gone;  // statements of the entry
  std::set<VarId> dropped;
  std::vector<tir::Function> made;  // indices of functions are in use
  for (const CallRun& run : call_runs(module, *entry, options.liveness.workspace_io)) {
    const Parts parts = parts_of(module, run, options, most_extra);
    for (const Part* part : best_division(parts, options.rolling_room, most_extra.value_or(0))) {
      if (most_extra) *most_extra -= part->extra_work;
      if (!part->is_chain) continue;
      Segment segment = *rolled_segment(module, run, part->first, part->last, part->grain);
      if (part->strip_width > 0) divide_into_strips(run, segment, part->strip_width);
      RolledFunction rolled = rolled_function(module, run, segment);
      const program::EntryCall& last = *run.calls[part->last - 1];
      const std::string name = names.add(module.functions[last.callee].name + "_rolled");
      rolled.function.name = name;
      for (std::size_t i = part->first; i < part->last; ++i) {
        const tir::Function& one = module.functions[run.calls[i]->callee];
        const auto number = static_cast<std::size_t>(run.calls[i] - entry->calls.data()) + 1;
        rolled.function.by_rows.push_back({number, one.name, operators::kind_of(module, one)});
      }
      for (std::size_t i = part->first; i + 1 < part->last; ++i) gone.insert(run.calls[i]->statement);
      replace_call(module, last.statement, name, rolled.arguments);
      changes.push_back({Step::rolling, name, text_of(run, segment, rolled.function.by_rows), {}});
      const std::size_t first_call = static_cast<std::size_t>(run.calls[part->first] - entry->calls.data());
      const std::size_t last_call = first_call + (part->last - part->first);
      const std::set<VarId> stay(rolled.arguments.begin(), rolled.arguments.end());
      for (std::size_t i = first_call; i < last_call; ++i) {
        for (const VarId var : entry->calls[i].arguments) {
          const bool is_local = !entry->is_used_before(var, first_call) && !entry->is_used_behind(var, last_call);
          if (is_local && !stay.contains(var)) dropped.insert(var);
        }
      }
      made.push_back(std::move(rolled.function));
    }
  }
  if (changes.empty()) return {};
  program::insert_functions(module, std::move(made));
  tir::Block& body = module.functions[module.entry].body;
  tir::Block stay;
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (!gone.contains(i)) stay.push_back(std::move(body[i]));
  }
  body = std::move(stay);
  program::drop_allocates(body, dropped);
  program::drop_uncalled(module, before);
  return changes;
}

}  // namespace

std::optional<std::string> too_large_to_roll(const tir::Module& module) {
  const auto calls = std::ranges::count_if(module.functions[module.entry].body, [](const tir::Stmt& stmt) {
    return std::holds_alternative<tir::Evaluate>(stmt.node);
  });
  if (static_cast<std::size_t>(calls) <= most_segments) return std::nullopt;
  return "more than " + std::to_string(most_segments) + " calls";
}

std::vector<Change> roll(tir::Module& module, const Options& options) {
  const double once = loops::work_of(module);
  const double most = once * (1 + static_cast<double>(options.strip_percent) / 100);
  double extra = most - once;
  // What a pixel costs is an estimate; what the program costs in the end counts.
  constexpr int most_tries = 4;
  const bool may_have_strips = options.strip_percent > 0 && !options.rolling_room;
  for (int i = 0; may_have_strips && i < most_tries && extra > 0; ++i) {
    tir::Module rolled = module;
    std::vector<Change> changes = roll_within(rolled, options, extra);
    const double over = loops::work_of(rolled) - most;
    if (over <= 0) {
      module = std::move(rolled);
      return changes;
    }
    extra -= 2 * over;
  }
  return roll_within(module, options, std::nullopt);
}

}  // namespace usmp::transform

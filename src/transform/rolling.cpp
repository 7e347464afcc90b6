// SPDX-License-Identifier: Apache-2.0
#include "transform/rolling.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "transform/plain_entry.hpp"
#include "transform/rolling_body.hpp"
#include "transform/rolling_segment.hpp"
#include "transform/rolling_units.hpp"
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

  // Calls in chains, and of these in chains by pixels.
  [[nodiscard]] std::pair<std::size_t, std::size_t> rolled_calls() const {
    const std::size_t rolled = is_chain ? last - first : 0;
    return {rolled, grain == Grain::pixels ? rolled : 0};
  }
};

// All parts that calls may be divided into, by their first call.
using Parts = std::vector<std::vector<Part>>;

// Of the call's stages.
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
  return {Grain::rows, Grain::pixels};
}

Parts parts_of(const tir::Module& module, const CallRun& run, RollingGrain asked) {
  constexpr std::size_t most_segments = 10'000;
  const std::size_t most_calls = std::clamp<std::size_t>(most_segments / run.calls.size(), 2, most_rolled_calls);
  Parts parts(run.calls.size());
  for (std::size_t first = 0; first < run.calls.size(); ++first) {
    parts[first].push_back({first, first + 1, plain_bytes(run, first), false});
  }
  for (const Grain grain : grains_of(asked)) {
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
        const auto segment = rolled_segment(module, run, first, last, grain);
        if (segment) parts[first].push_back({first, last, segment->bytes, true, grain});
      }
    }
  }
  return parts;
}

// The fewest rolled calls in a division in which no part needs more than `most`; nothing: there is none.
std::optional<std::vector<const Part*>> division(const Parts& parts, Bytes most) {
  struct Best {
    std::pair<std::size_t, std::size_t> rolled;
    const Part* part = nullptr;
    bool is_possible = false;
  };
  std::vector<Best> best(parts.size() + 1);
  best[parts.size()].is_possible = true;
  for (std::size_t first = parts.size(); first-- > 0;) {
    for (const Part& part : parts[first]) {
      if (part.bytes > most || !best[part.last].is_possible) continue;
      auto rolled = part.rolled_calls();
      rolled.first += best[part.last].rolled.first;
      rolled.second += best[part.last].rolled.second;
      if (!best[first].is_possible || rolled < best[first].rolled) best[first] = {rolled, &part, true};
    }
  }
  if (!best[0].is_possible) return std::nullopt;
  std::vector<const Part*> chosen;
  for (std::size_t at = 0; at < parts.size(); at = chosen.back()->last) chosen.push_back(best[at].part);
  return chosen;
}

// The division whose largest part is smallest.
std::vector<const Part*> best_division(const Parts& parts) {
  std::set<Bytes> sizes;
  for (const auto& from : parts) {
    for (const Part& part : from) sizes.insert(part.bytes);
  }
  const std::vector<Bytes> all(sizes.begin(), sizes.end());
  std::size_t low = 0;
  std::size_t high = all.size() - 1;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (division(parts, all[middle])) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return *division(parts, all[low]);
}

// "operators 2 to 5 run row by row, rings of 10 rows hold 3200 of 25600 bytes", or "pixel by pixel"
std::string text_of(const CallRun& run, const Segment& segment, const std::vector<tir::RowOperator>& operators) {
  std::int64_t rows = 0;
  Bytes held = 0;
  Bytes all = 0;
  for (const auto& [var, index] : segment.tensors) {
    const std::int64_t of_ring = segment.schedule.ring_rows[index];
    const RowTensor& tensor = segment.chain.tensors[index];
    if (tensor.is_whole || of_ring >= tensor.rows) continue;
    rows += of_ring;
    held += of_ring * tensor.row_bytes;
    all += run.storages.at(var).bytes();
  }
  const bool has_pixels = std::ranges::any_of(segment.stages, [&](const RolledStage& stage) {
    return stage.grain == Grain::pixels && run.units[stage.units.front()].pixels.has_value();
  });
  const std::string first = std::to_string(operators.front().number);
  const std::string which = operators.size() == 1
                                ? "operator " + first + " runs"
                                : "operators " + first + " to " + std::to_string(operators.back().number) + " run";
  const std::string rings =
      has_pixels ? " pixel by pixel, rings hold "
                 : " row by row, rings of " + std::to_string(rows) + (rows == 1 ? " row hold " : " rows hold ");
  return which + rings + std::to_string(held) + " of " + bytes_text(all);
}

}  // namespace

std::vector<Change> roll(tir::Module& module, const Options& options) {
  const auto entry = read_plain_entry(module);
  if (!entry) return {};
  const std::set<std::string> before = program::called_names(module);
  std::vector<Change> changes;
  std::set<std::size_t> gone;  // statements of the entry
  std::set<VarId> dropped;
  std::vector<tir::Function> made;  // indices of functions are in use
  for (const CallRun& run : call_runs(module, *entry, options.liveness.workspace_io)) {
    const Parts parts = parts_of(module, run, options.rolling_grain);
    for (const Part* part : best_division(parts)) {
      if (!part->is_chain) continue;
      const Segment segment = *rolled_segment(module, run, part->first, part->last, part->grain);
      RolledFunction rolled = rolled_function(module, run, segment);
      const program::EntryCall& last = *run.calls[part->last - 1];
      const std::string name = program::fresh_name(module, module.functions[last.callee].name + "_rolled");
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
      for (const auto& [var, calls] : entry->calls_with) {
        if (calls.front() >= first_call && calls.back() < last_call && !std::ranges::count(rolled.arguments, var)) {
          dropped.insert(var);
        }
      }
      made.push_back(std::move(rolled.function));
    }
  }
  if (changes.empty()) return {};
  for (tir::Function& function : made) program::insert_function(module, std::move(function));
  tir::Block& body = module.functions[module.entry].body;
  const std::vector<std::size_t> statements(gone.begin(), gone.end());
  for (std::size_t i = statements.size(); i-- > 0;) {
    body.erase(body.begin() + static_cast<std::ptrdiff_t>(statements[i]));
  }
  for (const VarId var : dropped) program::drop_allocate(body, var);
  program::drop_uncalled(module, before);
  return changes;
}

}  // namespace usmp::transform

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
#include "usmp/program/edit.hpp"

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

std::string text_of(const tir::Module& module, const CallRun& run, const Segment& segment) {
  // By tensor: its rows are pixels.
  std::map<VarId, bool> are_pixels;
  bool has_pixels = false;
  for (const RolledStage& stage : segment.stages) {
    const bool is_fine = stage.grain == Grain::pixels && run.units[stage.units.front()].pixels.has_value();
    has_pixels = has_pixels || is_fine;
    if (stage.tensor) are_pixels[*stage.tensor] = is_fine;
  }
  std::string text = std::to_string(segment.last_call - segment.first_call) + " operators run ";
  text += has_pixels ? "pixel by pixel" : "row by row";
  const char* separator = "; ";
  for (const auto& [var, tensor] : segment.tensors) {
    const std::int64_t rows = segment.schedule.ring_rows[tensor];
    const RowTensor& whole = segment.chain.tensors[tensor];
    if (whole.is_whole || rows >= whole.rows) continue;
    const RunStorage& storage = run.storages.at(var);
    const VarId named = storage.outside.value_or(var);
    text += separator + module.var(named).name + ": " + std::to_string(rows) + " of " + std::to_string(whole.rows) +
            (are_pixels.at(var) ? " pixels, " : " rows, ") + std::to_string(rows * whole.row_bytes) + " of " +
            std::to_string(storage.bytes()) + " bytes";
    separator = ", ";
  }
  return text;
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
      for (std::size_t i = part->first; i + 1 < part->last; ++i) gone.insert(run.calls[i]->statement);
      replace_call(module, last.statement, name, rolled.arguments);
      changes.push_back({Step::rolling, name, text_of(module, run, segment), {}});
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

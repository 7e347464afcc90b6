#include "usmp/report/text.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>

#include "report/layout.hpp"
#include "report/proved.hpp"
#include "usmp/bounds/load.hpp"

namespace usmp::report {
namespace {

constexpr std::size_t rows_at_peak = 10;  // of each pool, unless verbose

namespace ansi {
constexpr std::string_view bold = "\x1b[1m";
constexpr std::string_view yellow = "\x1b[33m";
constexpr std::string_view reset = "\x1b[0m";
}  // namespace ansi

// GNU ld's spelling of a region's size: the largest unit that divides it. ld writes 0 as "0 GB".
std::string region_size(Bytes size) {
  struct Unit {
    Bytes bytes;
    std::string_view name;
  };
  constexpr std::array<Unit, 3> units = {{{Bytes{1} << 30, " GB"}, {Bytes{1} << 20, " MB"}, {Bytes{1} << 10, " KB"}}};
  for (const Unit& unit : units) {
    if (size != 0 && size % unit.bytes == 0) return std::to_string(size / unit.bytes) + std::string(unit.name);
  }
  return std::to_string(size) + " B";
}

class PlanText {
 public:
  PlanText(const Summary& summary, const TextOptions& options)
      : summary_(summary), options_(options), problem_(summary.assembly->problem), buffers_(problem_.pools.size()) {
    assert(summary.plan->allocations.size() == problem_.buffers.size());
    for (std::size_t i = 0; i < problem_.buffers.size(); ++i) {
      const Allocation& allocation = summary.plan->allocations[i];
      if (allocation.placed()) buffers_[allocation.pool.index()].emplace_back(i);
    }
  }

  std::string text() && {
    title();
    regions();
    against_bounds();
    out_ += spilled_text(summary_.spilled, summary_.spilled_bound, options_.color);
    out_ += search_text(summary_.stopped, summary_.iterations);
    against_unplanned();
    transformed();
    for (const PoolId pool : summary_.pool_order()) peak(pool);
    if (options_.verbose) all_buffers();
    unplanned();
    imported();
    warnings();
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::string colored(std::string_view color, const std::string& text) const {
    return options_.color ? std::string(color) + text + std::string(ansi::reset) : text;
  }

  // After an empty line; the caller ends the line.
  std::string& heading(const std::string& text) {
    out_ += "\n";
    return out_ += colored(ansi::bold, text);
  }

  void title() {
    out_ += colored(ansi::bold, "module " + printable(summary_.module) + " of " + printable(summary_.archive)) +
            ", planned by " + printable(summary_.algorithm) + "\n\n";
  }

  // The layout of GNU ld's --print-memory-usage.
  void regions() {
    constexpr std::size_t ld_name_width = 16;
    constexpr std::size_t size_width = 13;
    constexpr std::size_t percent_width = 11;
    std::size_t width = ld_name_width;
    for (const Pool& pool : problem_.pools) width = std::max(width, printable(pool.name).size());
    out_ += colored(ansi::bold, pad_right("Memory region", width + 6) + "Used Size  Region Size  %age Used") + "\n";
    for (const PoolId id : summary_.pool_order()) {
      const Pool& pool = problem_.pool(id);
      const Bytes used = summary_.used[id.index()];
      out_ += pad_left(printable(pool.name), width) + ": " + pad_left(std::to_string(used) + " B", size_width) +
              pad_left(pool.capacity ? region_size(*pool.capacity) : "unbounded", size_width) +
              pad_left(pool.capacity && *pool.capacity > 0 ? percent(used, *pool.capacity) : "-", percent_width) + "\n";
    }
    out_ += "\n";
  }

  void against_bounds() {
    for (const PoolId id : summary_.pool_order()) {
      const Bytes used = summary_.used[id.index()];
      const Bytes reserved = problem_.pool(id).reserved;
      const bounds::PoolBound& bound = summary_.bounds[id.index()];
      out_ += printable(problem_.pool(id).name) + ": " + bytes_text(used);
      if (used > 0 && reserved > 0) out_ += " (" + std::to_string(reserved) + " reserved)";
      out_ += ", " + proved_text(used, bound.bytes, bound.reason, options_.color) +
              (summary_.minimized == id ? ", minimised first" : "");
      out_ += "\n";
    }
  }

  void against_unplanned() {
    if (!summary_.unplanned_workspace) return;
    const Bytes used = summary_.workspace_used();
    const Bytes unplanned = *summary_.unplanned_workspace;
    out_ += "workspace: " + bytes_text(used);
    if (used == unplanned) {
      out_ += ", as many as the unplanned build\n";
      return;
    }
    const Bytes difference = used < unplanned ? unplanned - used : used - unplanned;
    out_ += ", " + std::to_string(difference);
    if (unplanned > 0) out_ += " (" + percent(difference, unplanned) + ")";
    out_ += (used < unplanned ? " fewer than the " : " more than the ") + std::to_string(unplanned) +
            " of the unplanned build\n";
  }

  void transformed() {
    bool any = false;
    for (const transform::StepResult& step : summary_.transformed) {
      if (step.changes.empty()) continue;
      if (!any) heading("Transformed") += ", with the load that the buffers have then\n";
      any = true;
      const std::string count =
          std::to_string(step.changes.size()) + (step.changes.size() == 1 ? " change" : " changes");
      out_ += "  " + pad_right(std::string(transform::name_of(step.step)), 9) + "  " +
              pad_left(std::to_string(step.load_before), 8) + " -> " + pad_left(bytes_text(step.load_after), 14) +
              "  " + count + "\n";
      if (!options_.verbose) continue;
      for (const transform::Change& change : step.changes) {
        out_ += "    " + printable(change.function) + ": " + printable(change.text) + "\n";
      }
    }
  }

  // Constants are all live at every tick, so a parameter pool has no peak to speak of.
  void peak(PoolId id) {
    const Pool& pool = problem_.pool(id);
    if (pool.kind != PoolKind::workspace) return;
    const bounds::Load load = bounds::load(problem_, buffers_[id.index()]);
    if (load.bytes == 0) return;
    std::vector<BufferId> live;
    const std::vector<LiveRange> at_peak = {{load.at, load.at + 1}};
    for (const BufferId buffer : buffers_[id.index()]) {
      if (overlap(problem_.buffer(buffer).live, at_peak)) live.push_back(buffer);
    }
    std::stable_sort(live.begin(), live.end(),
                     [&](BufferId a, BufferId b) { return problem_.buffer(a).size > problem_.buffer(b).size; });
    const std::size_t shown = options_.verbose ? live.size() : std::min(live.size(), rows_at_peak);
    heading("Live at the peak of " + printable(pool.name));
    out_ += " (" + bytes_text(load.bytes) + " at tick " + std::to_string(load.at) + " of " +
            std::to_string(problem_.horizon) + ")\n";
    Table table = buffer_table();
    for (std::size_t i = 0; i < shown; ++i) table.add(row(live[i]));
    out_ += table.text("  ");
    if (shown < live.size()) out_ += "  and " + std::to_string(live.size() - shown) + " more\n";
  }

  void all_buffers() {
    std::vector<BufferId> all;
    for (const PoolId pool : summary_.pool_order()) {
      std::vector<BufferId> ids = buffers_[pool.index()];
      std::stable_sort(ids.begin(), ids.end(), [&](BufferId a, BufferId b) {
        return summary_.plan->of(a).offset < summary_.plan->of(b).offset;
      });
      all.insert(all.end(), ids.begin(), ids.end());
    }
    if (all.empty()) return;
    heading("All buffers");
    out_ += "\n";
    Table table = buffer_table();
    for (const BufferId id : all) table.add(row(id));
    out_ += table.text("  ");
  }

  [[nodiscard]] Table buffer_table() const {
    using Align = Table::Align;
    std::vector<Table::Column> columns = {{"Pool", Align::left}, {"Offset", Align::right}, {"Size", Align::right},
                                          {"Kind", Align::left}, {"Buffer", Align::left},  {"Function", Align::left}};
    if (options_.verbose) columns.push_back({"Live", Align::left});
    return Table(std::move(columns));
  }

  [[nodiscard]] std::vector<std::string> row(BufferId id) const {
    const Buffer& buffer = problem_.buffer(id);
    const Allocation& allocation = summary_.plan->of(id);
    std::vector<std::string> cells = {printable(problem_.pool(allocation.pool).name),
                                      std::to_string(allocation.offset),
                                      std::to_string(buffer.size),
                                      std::string(to_string(buffer.kind)) + (buffer.pinned ? ", pinned" : ""),
                                      printable(buffer.name),
                                      printable(buffer.function)};
    if (options_.verbose) cells.push_back(live_text(buffer.live));
    return cells;
  }

  void unplanned() {
    if (summary_.analysis->unplanned.empty()) return;
    heading("Left to run time");
    out_ += ", the size is not known before\n";
    for (const liveness::Unplanned& allocate : summary_.analysis->unplanned) {
      const std::string function = summary_.function_name(allocate.function);
      out_ += "  " + printable(allocate.name) + (function.empty() ? "" : " in " + printable(function)) + ": " +
              printable(allocate.reason) + "\n";
    }
  }

  void imported() {
    const std::vector<ImportedC> sources = imported_c(summary_);
    if (sources.empty()) return;
    heading("C of the archive that stands in the output");
    out_ += " (pragma_import_c)\n";
    for (const ImportedC& source : sources) {
      out_ += "  " + printable(source.function) + ": " + std::to_string(source.bytes) + " bytes, " +
              printable(source.first_line) + "\n";
    }
  }

  void warnings() {
    if (summary_.warnings.empty()) return;
    out_ += "\n";
    for (const std::string& warning : summary_.warnings) {
      out_ += colored(ansi::yellow, "warning:");
      out_ += ' ';
      out_ += printable(warning) + "\n";
    }
  }

  const Summary& summary_;
  const TextOptions& options_;
  const Problem& problem_;
  std::vector<std::vector<BufferId>> buffers_;  // placed there, by PoolId
  std::string out_;
};

}  // namespace

std::string plan_text(const Summary& summary, const TextOptions& options) { return PlanText(summary, options).text(); }

std::string stop_text(StopReason reason) {
  switch (reason) {
    case StopReason::finished:
      return "finished";
    case StopReason::node_limit:
      return "stopped by the node limit";
    case StopReason::time_limit:
      return "stopped by the time limit";
    case StopReason::interrupted:
      return "interrupted";
  }
  return "?";
}

std::string shortage_text(const Problem& problem, const Shortage& shortage) {
  const Buffer& buffer = problem.buffer(shortage.buffer);
  std::string text = "buffer '" + printable(buffer.name) + "' (";
  if (!buffer.function.empty()) text += printable(buffer.function) + ", ";
  text += "size " + bytes_text(buffer.size) + ") does not fit:";
  for (const Shortage::PoolNeed& need : shortage.pools) {
    text += "\n  " + printable(problem.pool(need.pool).name) + ": required " + std::to_string(need.required) +
            ", available " + std::to_string(need.available) + ", missing " + bytes_text(need.missing());
  }
  return text;
}

}  // namespace usmp::report

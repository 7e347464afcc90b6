// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Shows a plan on a terminal: regions as GNU ld does, pools, what is live at their peaks, warnings.
#include "usmp/report/text.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "report/layout.hpp"
#include "report/peak.hpp"
#include "report/pool_lines.hpp"
#include "report/proved.hpp"
#include "report/steps.hpp"
#include "report/summary.hpp"
#include "usmp/compare/figures.hpp"
#include "usmp/support/text.hpp"

namespace usmp::report {
namespace {

using compare::knows_kinds;
using compare::plan_figures;
using compare::PlanFigures;
using compare::PoolFigures;
using plan_file::ImportedC;
using plan_file::PlanDocument;

constexpr std::size_t lines_at_peak = 10;  // of each pool, unless verbose

namespace ansi {
constexpr std::string_view bold = "\x1b[1m";
constexpr std::string_view yellow = "\x1b[33m";
constexpr std::string_view reset = "\x1b[0m";
}  // namespace ansi

// As a pools file takes it: the largest unit that divides the size.
std::string region_size(Bytes size) {
  struct Unit {
    Bytes bytes;
    std::string_view name;
  };
  constexpr std::array<Unit, 3> units = {{{Bytes{1} << 30, "GiB"}, {Bytes{1} << 20, "MiB"}, {Bytes{1} << 10, "KiB"}}};
  for (const Unit& unit : units) {
    if (size != 0 && size % unit.bytes == 0) return std::to_string(size / unit.bytes) + std::string(unit.name);
  }
  return std::to_string(size);
}

class PlanText {
 public:
  PlanText(const PlanDocument& plan, const TextOptions& options)
      : plan_(plan), options_(options), figures_(plan_figures(plan)) {
    has_rings_ = std::ranges::any_of(plan.buffers, [](const auto& buffer) { return buffer.rows.has_value(); });
  }

  std::string text() && {
    title();
    regions();
    against_bounds();
    accesses();
    spilled();
    if (plan_.search) out_ += search_text(plan_.search->stopped, plan_.search->iterations);
    for (const std::string& line : summary_lines(plan_)) out_ += line + "\n";
    transformed();
    for (std::size_t i = 0; i < plan_.pools.size() && (options_.peak || options_.verbose); ++i)
      peak(plan_.pools[i], figures_.pools[i]);
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
    out_ += colored(ansi::bold, "module " + printable(plan_.module) + " of " + printable(plan_.archive)) + ", " +
            printable(planned_text(plan_)) + "\n\n";
  }

  // The layout of GNU ld's --print-memory-usage.
  void regions() {
    constexpr std::size_t ld_name_width = 16;
    constexpr std::size_t size_width = 13;
    constexpr std::size_t percent_width = 11;
    std::size_t width = ld_name_width;
    for (const PlanDocument::Pool& pool : plan_.pools) width = std::max(width, printable(pool.name).size());
    out_ += colored(ansi::bold, pad_right("Memory region", width + 6) + "Used Size  Region Size  %age Used") + "\n";
    for (const PlanDocument::Pool& pool : plan_.pools) {
      out_ += pad_left(printable(pool.name), width) + ": " + pad_left(std::to_string(pool.used), size_width) +
              pad_left(pool.capacity ? region_size(*pool.capacity) : "unbounded", size_width) +
              pad_left(pool.capacity && *pool.capacity > 0 ? percent(pool.used, *pool.capacity) : "-", percent_width) +
              "\n";
    }
    out_ += "\n";
  }

  void against_bounds() {
    for (std::size_t i = 0; i < plan_.pools.size(); ++i) {
      const PlanDocument::Pool& pool = plan_.pools[i];
      out_ += printable(pool.name) + ": " + bytes_text(pool.used);
      if (pool.address && pool.used > 0) out_ += " at " + hex_text(*pool.address);
      if (pool.used > 0 && pool.reserved > 0) out_ += " (" + reserved_text(pool) + ")";
      out_ += against_bound(pool, figures_.pools[i], options_.color);
      if (plan_.search && plan_.search->minimized == pool.name) out_ += ", minimized first";
      out_ += "\n";
    }
  }

  void accesses() {
    if (!plan_.charge) return;
    const PlanDocument::Charge& charge = *plan_.charge;
    out_ += std::string(charge.in_cycles ? "cycles of accesses (estimate): " : "accesses outside first choices: ") +
            std::to_string(charge.value) + ", " + proved_text(charge.value, charge.lower_bound, {}, options_.color) +
            "\n";
    for (const PoolKind kind : {PoolKind::workspace, PoolKind::constant}) {
      std::int64_t all = 0;
      for (const PlanDocument::Pool& pool : plan_.pools) {
        if (pool.kind == kind && pool.accesses) all += pool.accesses->loads + pool.accesses->stores;
      }
      for (const PlanDocument::Pool& pool : plan_.pools) {
        if (pool.kind == kind && pool.accesses) out_ += accesses_line(pool, all);
      }
    }
  }

  // "flash: 3072 loads, 0 stores (75.00% of the parameter pools'), 12288 bytes, about 9216 cycles".
  static std::string accesses_line(const PlanDocument::Pool& pool, std::int64_t all) {
    const PlanDocument::Accesses& accesses = *pool.accesses;
    std::string line = printable(pool.name) + ": " + std::to_string(accesses.loads) + " loads, " +
                       std::to_string(accesses.stores) + " stores";
    if (all > 0) {
      line += " (" + percent(accesses.loads + accesses.stores, all) + " of the " + to_string(pool.kind) + " pools')";
    }
    line += ", " + bytes_text(accesses.bytes);
    if (accesses.cycles) line += ", about " + std::to_string(*accesses.cycles) + " cycles";
    return line + "\n";
  }

  void spilled() {
    std::vector<Bytes> bytes;
    std::vector<Bytes> bounds;
    std::vector<Choices> choices;
    for (const PlanDocument::Buffer& buffer : plan_.buffers) choices.push_back({buffer.candidates, buffer.pool});
    for (const PlanDocument::Spilled& spilled : plan_.spilled) {
      bytes.push_back(spilled.bytes);
      bounds.push_back(spilled.lower_bound);
    }
    out_ += spilled_text(bytes, bounds, choices, options_.color);
  }

  void transformed() {
    bool any = false;
    for (const PlanDocument::StepOutcome& step : plan_.transformed) {
      if (!step.is_worth_a_line()) continue;
      if (!any) heading("Transformations") += " (peak live bytes" + without_io(plan_) + " before -> after)\n";
      any = true;
      out_ += "  " + pad_right(printable(step.step), 9) + "  " + pad_left(std::to_string(step.load_before), 8) +
              " -> " + pad_left(bytes_text(step.load_after), 14) + "  " + outcome_text(step) + "\n";
      if (step.step == "rolling") {
        for (const std::string& line : row_lines(plan_)) out_ += "    " + line + "\n";
      }
      if (!options_.verbose) continue;
      for (const PlanDocument::Change& change : step.changes) {
        out_ += "    " + printable(change.function) + ": " + printable(change.what) + "\n";
      }
    }
  }

  // Constants are all live at every tick, so a parameter pool has no peak to speak of.
  void peak(const PlanDocument::Pool& pool, const PoolFigures& figures) {
    if (pool.kind != PoolKind::workspace || figures.load == 0) return;
    const std::vector<std::size_t>& live = figures.at_peak;
    const std::vector<std::size_t> shown =
        shown_at_peak(plan_, figures, options_.verbose ? live.size() : lines_at_peak);
    heading("Occupied at the peak of " + printable(pool.name));
    out_ += " (" + peak_text(plan_, figures) + ")\n";
    const bool shares = shares_at_peak(figures);
    Table table = buffer_table(shares);
    for (const std::size_t i : shown) {
      std::vector<std::string> cells = row(live[i]);
      if (shares) {
        cells.insert(cells.begin() + counted_column, std::to_string(figures.counted[i]));
        cells.push_back(shared_at_peak(plan_, figures, live[i]));
      }
      table.add(std::move(cells));
    }
    out_ += table.text("  ");
    if (shown.size() < live.size())
      out_ += "  and " + std::to_string(live.size() - shown.size()) + " smaller ones (--verbose lists all)\n";
    if (shares) out_ += "  Counted: shared bytes count once, for the larger buffer.\n";
    if (const std::string text = live_at_peak_text(figures); !text.empty()) out_ += "  " + text + "\n";
  }

  void all_buffers() {
    std::vector<std::size_t> all;
    for (const PoolFigures& pool : figures_.pools) {
      std::vector<std::size_t> ids = pool.buffers;
      std::stable_sort(ids.begin(), ids.end(),
                       [&](std::size_t a, std::size_t b) { return plan_.buffers[a].offset < plan_.buffers[b].offset; });
      all.insert(all.end(), ids.begin(), ids.end());
    }
    if (all.empty()) return;
    heading("All buffers");
    out_ += "\n";
    Table table = buffer_table(false);
    for (const std::size_t index : all) table.add(row(index));
    out_ += table.text("  ");
  }

  static constexpr std::ptrdiff_t counted_column = 3;

  [[nodiscard]] Table buffer_table(bool shares) const {
    std::vector<Table::Column> columns = {
        {"Pool", Align::left}, {"Offset", Align::right}, {"Size", Align::right},
        {"Kind", Align::left}, {"Buffer", Align::left},  {knows_kinds(plan_) ? "Operator" : "Function", Align::left}};
    if (options_.verbose) columns.push_back({"Live", Align::left});
    if (has_rings_) columns.push_back({"Ring", Align::left});
    if (shares) {
      columns.insert(columns.begin() + counted_column, {"Counted", Align::right});
      columns.push_back({"Shares", Align::left});
    }
    return Table(std::move(columns));
  }

  // The operator, or the function that declares the buffer.
  [[nodiscard]] std::string owner_of(std::size_t buffer) const {
    return printable(figures_.operators[buffer] && knows_kinds(plan_) ? figures_.operators_text(plan_, buffer)
                                                                      : plan_.buffers[buffer].function);
  }

  [[nodiscard]] std::vector<std::string> row(std::size_t index) const {
    const PlanDocument::Buffer& buffer = plan_.buffers[index];
    std::vector<std::string> cells = {
        printable(buffer.pool),      std::to_string(buffer.offset),
        std::to_string(buffer.size), std::string(to_string(buffer.kind)) + (buffer.pinned ? ", pinned" : ""),
        printable(buffer.name),      owner_of(index)};
    if (options_.verbose) cells.push_back(live_text(*buffer.live));
    if (has_rings_) cells.push_back(buffer.rows ? to_string(*buffer.rows) : "");
    return cells;
  }

  void unplanned() {
    if (plan_.unplanned.empty()) return;
    heading("Allocated at run time");
    out_ += ", since the size is not known at compile time\n";
    for (const PlanDocument::Unplanned& allocate : plan_.unplanned) {
      out_ += "  " + printable(allocate.name) +
              (allocate.function.empty() ? "" : " in " + printable(allocate.function)) + ": " +
              printable(allocate.reason) + "\n";
    }
  }

  void imported() {
    if (plan_.imported_c.empty() && plan_.tvm_headers.empty()) return;
    heading("C of the archive that is copied to the output unchanged");
    out_ += '\n';
    for (const ImportedC& source : plan_.imported_c) {
      out_ += "  " + printable(source.function) + ": " + std::to_string(source.bytes) + " bytes, " +
              printable(source.first_line) + "\n";
    }
    if (plan_.tvm_headers.empty()) return;
    out_ += "  It includes headers of TVM, whose directories the compiler needs (-I): " +
            printable(joined(plan_.tvm_headers, ", ")) + "\n";
  }

  void warnings() {
    if (plan_.warnings.empty()) return;
    out_ += "\n";
    for (const std::string& warning : plan_.warnings) {
      out_ += colored(ansi::yellow, "warning:");
      out_ += ' ';
      out_ += printable(warning) + "\n";
    }
  }

  const PlanDocument& plan_;
  const TextOptions& options_;
  PlanFigures figures_;
  bool has_rings_ = false;
  std::string out_;
};

}  // namespace

std::string plan_text(const PlanDocument& plan, const TextOptions& options) { return PlanText(plan, options).text(); }

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

}  // namespace usmp::report

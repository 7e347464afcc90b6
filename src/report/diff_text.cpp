// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Differences for people: a table of the pools, then the buffers that changed. Text, Markdown and HTML have the same
// cells.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "report/all_modules.hpp"
#include "report/diff_tables.hpp"
#include "report/layout.hpp"
#include "report/markdown.hpp"
#include "report/markup.hpp"
#include "report/steps.hpp"
#include "usmp/report/diff.hpp"

namespace usmp::report {
namespace {

using compare::BufferChange;
using compare::BufferDiff;
using compare::BufferPlace;
using compare::Diff;
using compare::PlanDiff;
using compare::PoolDiff;
using compare::PoolState;
using compare::StepDiff;
using plan_file::PlanDocument;

constexpr std::array buffer_changes = {BufferChange::added, BufferChange::removed, BufferChange::resized,
                                       BufferChange::moved};
constexpr std::size_t most_rows = 20;  // of buffers and of changes, unless verbose

std::string signed_number(Bytes value) { return (value > 0 ? "+" : "") + std::to_string(value); }

std::string count_of(std::size_t count, BufferChange change) { return std::to_string(count) + " " + to_string(change); }

std::string either(const std::string& before, const std::string& after) {
  return before == after ? after : before + " -> " + after;
}

// A figure of a pool before and after; "-" where a plan does not have it.
template <class Figure>
std::string figures(const PoolDiff& pool, const Figure& figure) {
  return either(pool.before ? figure(*pool.before) : "-", pool.after ? figure(*pool.after) : "-");
}

// What buffers occupy, and what is live if that alone differs: then buffers may share other bytes than they do.
std::string peak_cell(const PoolDiff& pool) {
  std::string text = figures(pool, [](const PoolState& f) { return std::to_string(f.occupied_at_peak); });
  const bool live = pool.before && pool.after && pool.before->occupied_at_peak == pool.after->occupied_at_peak &&
                    pool.before->live_at_peak != pool.after->live_at_peak;
  if (live) text += " (live " + figures(pool, [](const PoolState& f) { return std::to_string(f.live_at_peak); }) + ")";
  return text;
}

std::vector<std::string> pool_cells(const PoolDiff& pool) {
  const Bytes before = pool.before ? pool.before->used : 0;
  return {printable(pool.name),
          figures(pool, [](const PoolState& f) { return std::to_string(f.used); }),
          pool.growth() == 0 ? "-" : signed_number(pool.growth()),
          pool.growth() == 0 || before == 0 ? "-" : (pool.growth() > 0 ? "+" : "") + percent(pool.growth(), before),
          peak_cell(pool),
          figures(pool, [](const PoolState& f) { return f.capacity ? std::to_string(*f.capacity) : "unbounded"; })};
}

std::vector<Table::Column> pool_columns() {
  return {{"Pool", Align::left},
          {"Used", Align::right},
          {"Change", Align::right},
          {"Change %", Align::right},
          {"Occupied at peak", Align::right},
          {"Capacity", Align::right}};
}

std::string place_text(const std::optional<BufferPlace>& place, const std::string& other_pool) {
  if (!place || place->pool.empty()) return "-";
  return (place->pool == other_pool ? "" : printable(place->pool) + " ") + std::to_string(place->offset);
}

// "sram 0 -> 64", "dtcm 0 -> sram 64".
std::string places(const BufferDiff& buffer) {
  const std::string before = place_text(buffer.before, "");
  return either(before, place_text(buffer.after,
                                   before == "-" || place_text(buffer.after, "") == before ? "" : buffer.before->pool));
}

const std::string& operator_of(const BufferPlace& place) {
  if (!place.caller.empty()) return place.caller;
  return place.producer.empty() ? place.function : place.producer;
}

class PoolChanges {
 public:
  void add(const std::string& pool, Bytes bytes) {
    const auto [place, is_new] = places_.emplace(pool, changes_.size());
    if (is_new) changes_.emplace_back(pool, 0);
    changes_[place->second].second += bytes;
  }

  void add_at_peak(const BufferDiff& buffer) {
    if (buffer.before) add(buffer.before->pool, -buffer.before->bytes_at_peak);
    if (buffer.after) add(buffer.after->pool, buffer.after->bytes_at_peak);
  }

  // "dtcm -6272, sram +6272"; empty if nothing changed.
  [[nodiscard]] std::string text() const {
    std::string text;
    for (const auto& [pool, bytes] : changes_) {
      if (bytes != 0) text += (text.empty() ? "" : ", ") + printable(pool) + " " + signed_number(bytes);
    }
    return text;
  }

 private:
  std::vector<std::pair<std::string, Bytes>> changes_;  // in the order in which pools came
  std::map<std::string, std::size_t> places_;
};

std::string at_peak_cell(const BufferDiff& buffer) {
  PoolChanges changes;
  if (buffer.changes_pools()) changes.add_at_peak(buffer);
  std::string text = changes.text();
  if (!text.empty()) return text;
  return buffer.changes_pools() || buffer.growth_at_peak() == 0 ? "-" : signed_number(buffer.growth_at_peak());
}

std::vector<std::string> buffer_cells(const BufferDiff& buffer) {
  const BufferPlace& shown = buffer.shown();
  std::string name = printable(shown.name);
  if (buffer.before && buffer.after && buffer.before->name != shown.name) {
    name += " (was " + printable(buffer.before->name) + ")";
  }
  const auto size = [](const std::optional<BufferPlace>& place) { return place ? std::to_string(place->size) : "-"; };
  const auto number = [](Bytes value) { return value == 0 ? "-" : signed_number(value); };
  return {at_peak_cell(buffer),
          number(buffer.effect),
          to_string(buffer.change),
          std::move(name),
          either(size(buffer.before), size(buffer.after)),
          places(buffer),
          printable(operator_of(shown))};
}

std::vector<Table::Column> buffer_columns() {
  return {{"At peak", Align::right}, {"Effect", Align::right}, {"Change", Align::left},  {"Buffer", Align::left},
          {"Size", Align::right},    {"Place", Align::left},   {"Operator", Align::left}};
}

// The index of the first constant: they stand behind the others.
std::size_t first_constant(const PlanDiff& diff) {
  const auto first = std::ranges::find(diff.buffers, BufferKind::constant,
                                       [](const BufferDiff& buffer) { return buffer.shown().kind; });
  return static_cast<std::size_t>(first - diff.buffers.begin());
}

// "constants: 2 gone, 9 resized, 50992 -> 26072 bytes": of those that differ; empty if there are none. Sizes are of
// those that are live at some time, as in PlanDocument::constant_bytes.
std::string constants_text(const PlanDiff& diff) {
  const std::size_t first = first_constant(diff);
  if (first == diff.buffers.size()) return {};
  const auto bytes_of = [](const std::optional<BufferPlace>& place) {
    return place && place->is_used ? place->size : 0;
  };
  Bytes before = 0;
  Bytes after = 0;
  std::string text = "constants: ";
  for (const BufferChange change : buffer_changes) {
    std::size_t count = 0;
    for (std::size_t i = first; i < diff.buffers.size(); ++i) {
      if (diff.buffers[i].change == change) ++count;
    }
    if (count > 0) text += count_of(count, change) + ", ";
  }
  for (std::size_t i = first; i < diff.buffers.size(); ++i) {
    before += bytes_of(diff.buffers[i].before);
    after += bytes_of(diff.buffers[i].after);
  }
  return text + either(std::to_string(before), std::to_string(after)) + " bytes";
}

// "2 new, 1 moved, 20 unchanged, 3 under another name".
std::string counts_text(const PlanDiff& diff) {
  std::string text;
  for (const BufferChange change : buffer_changes) {
    const auto count = std::count_if(diff.buffers.begin(), diff.buffers.end(),
                                     [&](const BufferDiff& buffer) { return buffer.change == change; });
    if (count > 0) text += count_of(static_cast<std::size_t>(count), change) + ", ";
  }
  text += std::to_string(diff.same) + " unchanged";
  if (diff.renamed > 0) text += ", " + std::to_string(diff.renamed) + " under another name";
  return text;
}

std::string sides_text(const PlanDiff& diff) {
  std::string text = "module " + either(printable(diff.before.module), printable(diff.after.module));
  text += ": " + printable(diff.before.file) + " (" + printable(diff.before.algorithm) + ") -> " +
          printable(diff.after.file) + " (" + printable(diff.after.algorithm) + ")";
  return text;
}

// "; of all modules 9536 bytes, set by kws -> 8000 bytes, set by vww"; nothing if the module was planned alone.
std::string all_modules_clause(const PoolDiff& pool) {
  const std::string alone = "planned alone";
  const auto text_of = [&](const std::optional<PoolState>& state) {
    return state && state->all_modules ? printable(all_modules_text(*state->all_modules, pool.kind)) : alone;
  };
  const std::string text = !pool.before  ? text_of(pool.after)
                           : !pool.after ? text_of(pool.before)
                                         : either(text_of(pool.before), text_of(pool.after));
  return text == alone ? "" : "; of all modules " + text;
}

// What happened to each pool, in a sentence.
std::string own_sentence(const PoolDiff& pool) {
  const std::string name = printable(pool.name);
  if (!pool.before) return name + " is new and uses " + bytes_text(pool.after->used);
  if (!pool.after) return name + " is gone, it used " + bytes_text(pool.before->used);
  if (pool.growth() == 0) return name + " uses " + bytes_text(pool.after->used) + " as before";
  const Bytes change = std::abs(pool.growth());
  std::string text = name + (pool.growth() < 0 ? " shrank by " : " grew by ") + bytes_text(change);
  if (pool.before->used > 0) text += " (" + percent(change, pool.before->used) + ")";
  return text + " to " + std::to_string(pool.after->used);
}

std::string pool_sentence(const PoolDiff& pool) { return own_sentence(pool) + all_modules_clause(pool); }

std::size_t rows_shown(std::size_t all, bool verbose) { return verbose ? all : std::min(all, most_rows); }

std::string more_text(std::size_t all, std::size_t shown) {
  if (shown == all) return {};
  return "and " + std::to_string(all - shown) + " more";
}

// What the rows that are shown do not have of the changes at the peak: "dtcm +64".
std::string other_changes(const PlanDiff& diff, std::size_t shown) {
  PoolChanges changes;
  for (const PoolDiff& pool : diff.pools) {
    if (pool.kind == PoolKind::workspace) changes.add(pool.name, pool.same_growth_at_peak);
  }
  const std::size_t constants = first_constant(diff);
  for (std::size_t i = shown; i < constants; ++i) changes.add_at_peak(diff.buffers[i]);
  return changes.text();
}

std::vector<Table::Column> step_columns() {
  return {{"Transformation", Align::left}, {"Before", Align::left}, {"After", Align::left}};
}

std::string outcome_cell(const std::optional<PlanDocument::StepOutcome>& step) {
  if (!step) return "-";
  return "peak live " + std::to_string(step->load_before) + " -> " + bytes_text(step->load_after) + ", " +
         outcome_text(*step);
}

std::vector<std::string> step_cells(const StepDiff& step) {
  return {printable(step.step), outcome_cell(step.before), outcome_cell(step.after)};
}

std::vector<Table::Column> change_columns() {
  return {{"Change", Align::left}, {"Transformation", Align::left}, {"What", Align::left}, {"Function", Align::left}};
}

// A row for each change that one plan alone has. Of equal plans, and if one was made without transformations, they tell
// nothing that the rows of the transformations do not: there are none then, if not `all`.
std::vector<std::vector<std::string>> change_rows(const PlanDiff& diff, bool all) {
  std::vector<std::vector<std::string>> rows;
  if (!all && (!diff.differs() || !diff.before.transformed || !diff.after.transformed)) return rows;
  for (const StepDiff& step : diff.steps) {
    const auto add = [&](BufferChange change, const std::vector<PlanDocument::Change>& changes) {
      for (const PlanDocument::Change& one : changes) {
        rows.push_back({to_string(change), printable(step.step), printable(one.what), printable(one.function)});
      }
    };
    add(BufferChange::removed, step.only_before);
    add(BufferChange::added, step.only_after);
  }
  return rows;
}

struct ChangeCounts {
  std::size_t gone = 0;
  std::size_t added = 0;

  [[nodiscard]] std::size_t all() const { return gone + added; }
  // "3 gone, 12 new".
  [[nodiscard]] std::string text() const {
    return count_of(gone, BufferChange::removed) + ", " + count_of(added, BufferChange::added);
  }
};

ChangeCounts change_counts(const PlanDiff& diff) {
  ChangeCounts counts;
  for (const StepDiff& step : diff.steps) {
    counts.gone += step.only_before.size();
    counts.added += step.only_after.size();
  }
  return counts;
}

constexpr const char* at_peak_text =
    "At peak: change of the bytes that the buffer occupies at the peak of its pool; shared bytes count once.";
constexpr const char* others_text = "at the peak, buffers not listed: ";
constexpr const char* effect_text =
    "Effect: change of the bytes by which the buffer extends beyond the smaller used size of its pool.";

std::string bold(const std::string& text, const DiffTextOptions& options) {
  return options.color ? "\x1b[1m" + text + "\x1b[0m" : text;
}

void add_steps_text(const PlanDiff& diff, const DiffTextOptions& options, std::string& out) {
  if (diff.steps.empty()) return;
  const ChangeCounts counts = change_counts(diff);
  std::vector<std::vector<std::string>> rows = change_rows(diff, options.verbose);
  out += "\n" + bold("Transformations", options) + ": " + counts.text() +
         (rows.empty() && counts.all() > 0 ? " (--verbose lists them)\n" : "\n");
  Table steps(step_columns());
  for (const StepDiff& step : diff.steps) steps.add(step_cells(step));
  out += steps.text("  ");
  if (rows.empty()) return;
  const std::size_t shown = rows_shown(rows.size(), options.verbose);
  Table changes(change_columns());
  for (std::size_t i = 0; i < shown; ++i) changes.add(std::move(rows[i]));
  out += "\n" + changes.text("  ");
  const std::string more = more_text(rows.size(), shown);
  if (!more.empty()) out += "  " + more + " (--verbose lists all)\n";
}

void add_pools_and_buffers_text(const PlanDiff& diff, const DiffTextOptions& options, std::string& out) {
  if (!diff.differs()) {
    out += "  no difference in pools and buffers (" + counts_text(diff) + ")\n";
    return;
  }
  Table pools(pool_columns());
  for (const PoolDiff& pool : diff.pools) pools.add(pool_cells(pool));
  out += "\n" + pools.text("  ") + "\n" + bold("Buffers", options) + ": " + counts_text(diff) + "\n";
  if (diff.buffers.empty()) return;
  const std::size_t all = options.verbose ? diff.buffers.size() : first_constant(diff);
  const std::size_t shown = rows_shown(all, options.verbose);
  if (shown > 0) {
    Table buffers(buffer_columns());
    for (std::size_t i = 0; i < shown; ++i) buffers.add(buffer_cells(diff.buffers[i]));
    out += buffers.text("  ");
  }
  const std::string more = more_text(all, shown);
  if (!more.empty()) out += "  " + more + " (--verbose lists all)\n";
  if (const std::string others = other_changes(diff, shown); !others.empty())
    out += std::string("  ") + others_text + others + "\n";
  if (const std::string constants = constants_text(diff); !constants.empty()) out += "  " + constants + "\n";
  if (shown == 0) return;
  out += std::string("  ") + at_peak_text + "\n  " + effect_text + "\n";
}

void add_module_text(const PlanDiff& diff, const DiffTextOptions& options, std::string& out) {
  out += bold(sides_text(diff), options) + "\n";
  for (const PoolDiff& pool : diff.pools) out += "  " + pool_sentence(pool) + "\n";
  for (const std::string& warning : diff.warnings) out += "  warning: " + printable(warning) + "\n";
  add_pools_and_buffers_text(diff, options, out);
  add_steps_text(diff, options, out);
}

std::string cells_row(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = markdown_text(cell);
  return markdown_row(cells);
}

void add_steps_markdown(const PlanDiff& diff, std::string& out) {
  if (diff.steps.empty()) return;
  const ChangeCounts counts = change_counts(diff);
  out += "\nTransformations: " + counts.text() + "\n\n" + markdown_head(step_columns());
  for (const StepDiff& step : diff.steps) out += cells_row(step_cells(step));
  const std::vector<std::vector<std::string>> rows = change_rows(diff, false);
  if (rows.empty()) return;
  const std::size_t shown = rows_shown(rows.size(), false);
  out += "\n" + markdown_head(change_columns());
  for (std::size_t i = 0; i < shown; ++i) out += cells_row(rows[i]);
  const std::string more = more_text(rows.size(), shown);
  if (!more.empty()) out += "\n" + more + ".\n";
}

void add_pools_and_buffers_markdown(const PlanDiff& diff, std::string& out) {
  out += "\n" + markdown_head(pool_columns());
  for (const PoolDiff& pool : diff.pools) out += cells_row(pool_cells(pool));
  out += "\nBuffers: " + counts_text(diff) + "\n";
  if (diff.buffers.empty()) return;
  const std::size_t all = first_constant(diff);
  const std::size_t shown = rows_shown(all, false);
  if (shown > 0) out += "\n" + markdown_head(buffer_columns());
  for (std::size_t i = 0; i < shown; ++i) out += cells_row(buffer_cells(diff.buffers[i]));
  if (const std::string more = more_text(all, shown); !more.empty()) out += "\n" + more + ".\n";
  if (const std::string others = other_changes(diff, shown); !others.empty())
    out += "\n" + markdown_text(others_text + others) + ".\n";
  if (const std::string constants = constants_text(diff); !constants.empty())
    out += "\n" + markdown_text(constants) + ".\n";
  if (shown > 0) out += std::string("\n") + at_peak_text + " " + effect_text + "\n";
}

void add_module_markdown(const PlanDiff& diff, std::string& out) {
  out += "### " + markdown_text(sides_text(diff)) + "\n\n";
  for (const PoolDiff& pool : diff.pools) out += "- " + markdown_text(pool_sentence(pool)) + "\n";
  for (const std::string& warning : diff.warnings) out += "- warning: " + markdown_text(warning) + "\n";
  add_pools_and_buffers_markdown(diff, out);
  add_steps_markdown(diff, out);
}

std::string html_table(const std::vector<Table::Column>& columns, const std::vector<std::vector<std::string>>& rows) {
  std::string text = "<div class=\"scroll\"><table>\n<tr>";
  for (const Table::Column& column : columns) text += "<th>" + markup_text(column.heading) + "</th>";
  text += "</tr>\n";
  for (const std::vector<std::string>& row : rows) {
    text += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += std::string(columns[i].align == Align::right ? "<td class=\"number\">" : "<td>") + markup_text(row[i]) +
              "</td>";
    }
    text += "</tr>\n";
  }
  return text + "</table></div>\n";
}

std::string html_line(const std::string& text) { return text.empty() ? text : "<p>" + markup_text(text) + "</p>\n"; }

std::string html_steps(const PlanDiff& diff) {
  if (diff.steps.empty()) return {};
  std::vector<std::vector<std::string>> outcomes;
  for (const StepDiff& step : diff.steps) outcomes.push_back(step_cells(step));
  std::string text =
      "<h3>Transformations</h3>\n" + html_line(change_counts(diff).text()) + html_table(step_columns(), outcomes);
  std::vector<std::vector<std::string>> rows = change_rows(diff, false);
  if (rows.empty()) return text;
  const std::size_t all = rows.size();
  rows.resize(rows_shown(all, false));
  return text + html_table(change_columns(), rows) + html_line(more_text(all, rows.size()));
}

template <class AddModule>
std::string each_module(const Diff& diff, const AddModule& add_module, const std::string& front) {
  std::string out;
  for (const PlanDiff& module : diff.modules) {
    if (!out.empty()) out += '\n';
    add_module(module, out);
  }
  if (!out.empty() && !(diff.only_before.empty() && diff.only_after.empty())) out += '\n';
  for (const std::string& name : diff.only_before) out += front + "module " + printable(name) + " is gone\n";
  for (const std::string& name : diff.only_after) out += front + "module " + printable(name) + " is new\n";
  return out;
}

}  // namespace

std::string diff_text(const Diff& diff, const DiffTextOptions& options) {
  return each_module(
      diff, [&](const PlanDiff& module, std::string& out) { add_module_text(module, options, out); }, "");
}

std::string diff_title(const PlanDiff& diff) { return sides_text(diff); }

std::string diff_tables_html(const PlanDiff& diff) {
  constexpr std::size_t most = 200;
  std::vector<std::vector<std::string>> pools;
  for (const PoolDiff& pool : diff.pools) pools.push_back(pool_cells(pool));
  std::string text = html_table(pool_columns(), pools);
  for (const std::string& warning : diff.warnings) {
    text += "<p class=\"warning\">warning: " + markup_text(warning) + "</p>\n";
  }
  text += "<h3>Buffers</h3>\n" + html_line(counts_text(diff));
  const std::size_t shown = std::min(diff.buffers.size(), most);
  std::vector<std::vector<std::string>> buffers;
  for (std::size_t i = 0; i < shown; ++i) buffers.push_back(buffer_cells(diff.buffers[i]));
  if (shown > 0) text += html_table(buffer_columns(), buffers) + html_line(more_text(diff.buffers.size(), shown));
  if (const std::string others = other_changes(diff, std::min(shown, first_constant(diff))); !others.empty()) {
    text += html_line(others_text + others);
  }
  text += html_line(constants_text(diff));
  if (shown > 0) text += html_line(at_peak_text) + html_line(effect_text);
  return text + html_steps(diff);
}

std::string diff_markdown(const Diff& diff) { return each_module(diff, add_module_markdown, "- "); }

}  // namespace usmp::report

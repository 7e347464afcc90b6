// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Tables for other programs to show: CSV and Markdown.
#include "report/all_modules.hpp"
#include "report/csv.hpp"
#include "report/layout.hpp"
#include "report/markdown.hpp"
#include "report/peak.hpp"
#include "report/proved.hpp"
#include "report/steps.hpp"
#include "report/summary.hpp"
#include "usmp/compare/figures.hpp"
#include "usmp/report/report.hpp"

namespace usmp::report {
namespace {

using compare::operator_name;
using compare::OperatorIndex;
using compare::plan_figures;
using compare::PlanFigures;
using compare::PoolFigures;
using plan_file::PlanDocument;

constexpr std::size_t rows_at_peak = 10;  // of a Markdown table

std::string row_list(const PlanDocument& plan) {
  std::string text;
  for (const std::string& line : row_lines(plan)) text += "- " + markdown_text(line) + "\n";
  return text.empty() ? text : "\n" + text;
}

// With a line of text in front; empty if nothing was done.
std::string transformed_table(const PlanDocument& plan) {
  std::string rows;
  for (const PlanDocument::StepOutcome& step : plan.transformed) {
    if (!step.is_worth_a_line()) continue;
    rows += markdown_row({markdown_text(step.step), std::to_string(step.load_before), std::to_string(step.load_after),
                          markdown_text(outcome_text(step))});
  }
  if (rows.empty()) return rows;
  return "\nTransformations before planning:\n\n| transformation | peak live bytes" + without_io(plan) +
         " before | after | outcome |\n|---|--:|--:|---|\n" + rows + row_list(plan);
}

std::string csv_live(const std::vector<LiveRange>& live) {
  std::string text;
  for (const LiveRange& range : live) {
    text += (text.empty() ? "" : " ") + std::to_string(range.begin) + "-" + std::to_string(range.end);
  }
  return text;
}

std::string pools_table(const PlanDocument& plan, const PlanFigures& figures) {
  std::string text =
      "| pool | used | capacity | lower bound | live at the peak | lost to alignment | gaps, proved unavoidable | "
      "other gaps | without reuse |\n|---|--:|--:|---|--:|--:|--:|--:|--:|\n";
  for (std::size_t i = 0; i < plan.pools.size(); ++i) {
    const PlanDocument::Pool& pool = plan.pools[i];
    const PoolFigures& of_pool = figures.pools[i];
    const std::string bound = bound_tells(pool, of_pool) ? std::to_string(*pool.lower_bound) + " (" +
                                                               markdown_text(reason_text(pool.lower_bound_reason)) + ")"
                                                         : "";
    text +=
        markdown_row({markdown_text(pool.name), std::to_string(pool.used),
                      pool.capacity ? std::to_string(*pool.capacity) : "unbounded", bound, std::to_string(of_pool.load),
                      std::to_string(of_pool.lost_to_alignment), std::to_string(of_pool.proved_gap),
                      std::to_string(of_pool.open_gap), std::to_string(of_pool.asked)});
  }
  return text;
}

std::string all_modules_list(const PlanDocument& plan) {
  std::string text;
  for (const PlanDocument::Pool& pool : plan.pools) {
    if (!pool.all_modules) continue;
    text +=
        "- " + markdown_text(pool.name + " of all modules: " + all_modules_text(*pool.all_modules, pool.kind)) + "\n";
  }
  return text.empty() ? text : "\n" + text;
}

std::string peak_table(const PlanDocument& plan, const PoolFigures& figures, const PlanFigures& all) {
  const bool shares = shares_at_peak(figures);
  std::string text = shares ? "| buffer | size | counted once | offset | kind | live | operator | shares |\n"
                              "|---|--:|--:|--:|---|---|---|---|\n"
                            : "| buffer | size | offset | kind | live | operator |\n|---|--:|--:|---|---|---|\n";
  const std::vector<std::size_t> shown = shown_at_peak(plan, figures, rows_at_peak);
  for (const std::size_t i : shown) {
    const PlanDocument::Buffer& buffer = plan.buffers[figures.at_peak[i]];
    std::vector<std::string> cells = {markdown_text(buffer.name),
                                      std::to_string(buffer.size),
                                      std::to_string(buffer.offset),
                                      buffer.rows ? "ring of " + to_string(*buffer.rows) : to_string(buffer.kind),
                                      markdown_text(live_text(*buffer.live)),
                                      markdown_text(all.operators_text(plan, figures.at_peak[i]))};
    if (shares) {
      cells.insert(cells.begin() + 2, std::to_string(figures.counted[i]));
      cells.push_back(markdown_text(shared_at_peak(plan, figures, figures.at_peak[i])));
    }
    text += markdown_row(cells);
  }
  if (shown.size() < figures.at_peak.size()) {
    text += "\nand " + std::to_string(figures.at_peak.size() - shown.size()) + " smaller ones\n";
  }
  if (const std::string live = live_at_peak_text(figures); !live.empty()) text += "\n" + live + "\n";
  return text;
}

std::string without_list(const PlanDocument& plan, const PlanFigures& figures, std::size_t pool) {
  std::string text;
  for (const PoolFigures::Without& without : figures.pools[pool].without) {
    const PlanDocument::Buffer& buffer = plan.buffers[without.buffer];
    const OperatorIndex call = figures.operators[without.buffer];
    text += "- without " + markdown_text(buffer.name) + " (" +
            markdown_text(call ? figures.operators_text(plan, without.buffer) : buffer.function) +
            ") the other buffers would need at least " + bytes_text(without.at_least) + "\n";
  }
  return text.empty() ? text : "\n" + text;
}

}  // namespace

std::string report_csv(const PlanDocument& plan) {
  const PlanFigures figures = plan_figures(plan);
  std::string text = "id,name,function,kind,pool,offset,size,alignment,pinned,live,operator\n";
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const PlanDocument::Buffer& buffer = plan.buffers[i];
    const OperatorIndex call = figures.operators[i];
    text += std::to_string(i) + "," + csv_field(buffer.name) + "," + csv_field(buffer.function) + "," +
            to_string(buffer.kind) + "," + csv_field(buffer.pool) + "," +
            (buffer.placed() ? std::to_string(buffer.offset) : "") + "," + std::to_string(buffer.size) + "," +
            std::to_string(buffer.alignment) + "," + (buffer.pinned ? "true" : "false") + "," + csv_live(*buffer.live) +
            "," + (call ? csv_field(plan.calls[*call].callee) : "") + "\n";
  }
  return text;
}

std::string report_markdown(const PlanDocument& plan) {
  const PlanFigures figures = plan_figures(plan);
  std::string text = "### Memory plan of " + markdown_text(plan.module) + " (" + markdown_text(plan.archive) +
                     ")\n\nP" + markdown_text(planned_text(plan)).substr(1) + ". Sizes in bytes.\n\n" +
                     pools_table(plan, figures) + all_modules_list(plan);
  if (!plan.warnings.empty()) text += "\n";
  for (const std::string& warning : plan.warnings) text += "- warning: " + markdown_text(warning) + "\n";
  const std::vector<std::string> summary = summary_lines(plan);
  if (!summary.empty()) text += "\n";
  for (const std::string& line : summary) text += "- " + markdown_text(line) + "\n";
  text += transformed_table(plan);
  for (std::size_t i = 0; i < plan.pools.size(); ++i) {
    const PoolFigures& of_pool = figures.pools[i];
    if (plan.pools[i].kind != PoolKind::workspace || of_pool.load == 0) continue;
    text += "\nOccupied at the peak of " + markdown_text(plan.pools[i].name) + " (" + peak_text(plan, of_pool) +
            "):\n\n" + peak_table(plan, of_pool, figures) + without_list(plan, figures, i);
  }
  return text;
}

}  // namespace usmp::report

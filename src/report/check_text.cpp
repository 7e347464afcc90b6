// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Checks of budgets for people: on a terminal, and as Markdown.
#include "report/all_modules.hpp"
#include "report/findings.hpp"
#include "report/layout.hpp"
#include "report/markdown.hpp"
#include "usmp/report/check.hpp"
#include "usmp/report/shared_pools.hpp"
#include "usmp/support/text.hpp"

namespace usmp::report {
namespace {

using compare::BudgetReport;
using compare::LimitCheck;
using compare::ModuleCheck;
using compare::PoolCheck;
using compare::Verdict;

std::vector<std::string> cells_of(const std::string& pool, const LimitCheck& check) {
  const auto figure = [&](Bytes bytes) { return check.has_figures() ? std::to_string(bytes) : "-"; };
  const std::string result =
      check.verdict == Verdict::not_checked ? "not checked (" + check.message + ")"
      : !check.has_figures()                ? to_string(check.verdict) + std::string(", not checked")
      : check.alternatives.empty()
          ? to_string(check.verdict)
          : to_string(check.verdict) + (", unless " + printable(joined(check.alternatives, " or "))) + " is enlarged";
  return {pool,
          to_string(check.rule),
          figure(check.required),
          figure(check.available),
          check.excess() > 0 ? std::to_string(check.excess()) : "-",
          result};
}

// A row a limit; a pool without any has one all the same.
std::vector<std::vector<std::string>> rows_of(const std::vector<PoolCheck>& pools) {
  std::vector<std::vector<std::string>> rows;
  for (const PoolCheck& pool : pools) {
    const std::string name = printable(pool.name);
    for (const LimitCheck& check : pool.checks) rows.push_back(cells_of(name, check));
    if (!pool.checks.empty()) continue;
    rows.push_back({name, "-", pool.used ? std::to_string(*pool.used) : "-", "unbounded", "-", "no limit"});
  }
  return rows;
}

std::string verdict_text(Verdict verdict, const BudgetReport& report) {
  if (verdict != Verdict::ok) return to_string(verdict);
  return report.has_budget ? "within budget" : "no budget";
}

std::string title_of(const ModuleCheck& module, const BudgetReport& report) {
  std::string text = "module " + printable(module.module) + " of " + printable(module.archive);
  if (!module.no_plan.empty()) return text + ": no plan by " + printable(module.algorithm);
  return text + ", planned by " + printable(module.algorithm) + ": " + verdict_text(module.verdict(), report);
}

std::string table_text(const std::vector<PoolCheck>& pools) {
  Table table({{"Pool", Align::left},
               {"Limit", Align::left},
               {"Required", Align::right},
               {"Available", Align::right},
               {"Excess", Align::right},
               {"Result", Align::left}});
  for (std::vector<std::string>& row : rows_of(pools)) table.add(std::move(row));
  return table.text("  ");
}

std::string place_text(const BudgetReport& report, const Finding& finding) {
  if (!finding.in_file) return printable(finding.title);
  std::string text = printable(report.pools_file);
  const config::Position position = finding.position;
  if (position.line > 0) text += ":" + std::to_string(position.line) + ":" + std::to_string(position.column);
  return text;
}

std::string severity_text(Verdict verdict, bool color) {
  const bool breach = verdict == Verdict::breach;
  const std::string word = breach ? "error:" : "warning:";
  return color ? (breach ? "\x1b[31m" : "\x1b[33m") + word + "\x1b[0m" : word;
}

}  // namespace

std::string check_text(const BudgetReport& report, const CheckTextOptions& options) {
  std::string text;
  if (!options.quiet) {
    const auto add = [&](const std::string& title, const std::vector<PoolCheck>& pools) {
      text += options.color ? "\x1b[1m" + title + "\x1b[0m" : title;
      text += "\n" + table_text(pools);
    };
    for (const ModuleCheck& module : report.modules) add(title_of(module, report), module.pools);
    if (!report.together.empty()) {
      add("all modules: " + verdict_text(compare::verdict_of(report.together), report), report.together);
    }
    if (!report.whole.empty())
      add("the whole: " + verdict_text(compare::verdict_of(report.whole), report), report.whole);
    if (!report.shared_pools.empty()) text += shared_pools_text(report.shared_pools, report.modules.size());
  }
  for (const Finding& finding : findings_of(report)) {
    text += place_text(report, finding) + ": " + severity_text(finding.verdict, options.color) + " " + finding.message +
            "\n";
  }
  for (const std::string& line : advice_lines(report)) text += "note: " + line + "\n";
  return text;
}

std::string check_markdown(const BudgetReport& report) {
  std::string text = "### Memory budgets of " + markdown_text(report.archive) + ": " + tally_text(report) + "\n\n" +
                     "| module | pool | limit | required | available | excess | result |\n" +
                     "|---|---|---|--:|--:|--:|---|\n";
  const auto add = [&](const std::string& module, const std::vector<PoolCheck>& pools) {
    for (const std::vector<std::string>& row : rows_of(pools)) {
      std::vector<std::string> cells = {markdown_text(module)};
      for (const std::string& cell : row) cells.push_back(markdown_text(cell));
      const bool stands_out = row.back() != "ok" && !row.back().starts_with("no");
      if (stands_out) cells.back() = "**" + cells.back() + "**";
      text += markdown_row(cells);
    }
  };
  for (const ModuleCheck& module : report.modules) add(module.module, module.pools);
  add("all modules", report.together);
  add("the whole", report.whole);
  if (!report.shared_pools.empty()) text += "\n";
  for (const compare::SharedPool& pool : report.shared_pools) {
    text += "- " + markdown_text(pool.name + " of all modules: " + all_modules_text(pool.all, pool.kind)) + "\n";
  }
  const std::vector<Finding> findings = findings_of(report);
  if (!findings.empty()) text += "\n";
  for (const Finding& finding : findings) {
    text += "- " + markdown_text(place_text(report, finding) + ": " + finding.message) + "\n";
  }
  for (const std::string& line : advice_lines(report)) text += "- " + markdown_text(line) + "\n";
  return text;
}

}  // namespace usmp::report

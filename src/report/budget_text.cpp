// SPDX-License-Identifier: Apache-2.0
// Checks of budgets for people: on a terminal, and as Markdown.
#include "report/all_modules.hpp"
#include "report/findings.hpp"
#include "report/layout.hpp"
#include "report/markdown.hpp"
#include "usmp/report/check.hpp"
#include "usmp/report/shared_pools.hpp"

namespace usmp::report {
namespace {

using compare::BudgetReport;
using compare::LimitCheck;
using compare::ModuleCheck;
using compare::PoolCheck;
using compare::Verdict;

std::vector<std::string> cells_of(const std::string& pool, const LimitCheck& check) {
  const bool compared = check.required != 0 || check.available != 0 || check.verdict == Verdict::ok;
  const auto figure = [&](Bytes bytes) { return compared ? std::to_string(bytes) : "-"; };
  const std::string result =
      check.verdict == Verdict::not_checked ? "not checked (" + check.message + ")" : to_string(check.verdict);
  return {pool,
          to_string(check.rule),
          figure(check.required),
          figure(check.available),
          check.excess() > 0 ? std::to_string(check.excess()) : "-",
          result};
}

// A row a limit; a pool without any has one all the same.
std::vector<std::vector<std::string>> rows_of(const ModuleCheck& module) {
  std::vector<std::vector<std::string>> rows;
  for (const PoolCheck& pool : module.pools) {
    const std::string name = printable(pool.name);
    for (const LimitCheck& check : pool.checks) rows.push_back(cells_of(name, check));
    if (!pool.checks.empty()) continue;
    rows.push_back({name, "-", pool.used ? std::to_string(*pool.used) : "-", "unbounded", "-", "no limit"});
  }
  return rows;
}

std::string title_of(const ModuleCheck& module) {
  std::string text = "module " + printable(module.module) + " of " + printable(module.archive);
  if (!module.no_plan.empty()) return text + ": no plan by " + printable(module.algorithm);
  const Verdict verdict = module.verdict();
  return text + ", planned by " + printable(module.algorithm) + ": " +
         (verdict == Verdict::ok ? "within budget" : to_string(verdict));
}

std::string table_text(const ModuleCheck& module) {
  Table table({{"Pool", Align::left},
               {"Limit", Align::left},
               {"Required", Align::right},
               {"Available", Align::right},
               {"Excess", Align::right},
               {"Result", Align::left}});
  for (std::vector<std::string>& row : rows_of(module)) table.add(std::move(row));
  return table.text("  ");
}

std::string place_text(const BudgetReport& report, config::Position position) {
  std::string text = printable(report.pools_file);
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
    for (const ModuleCheck& module : report.modules) {
      const std::string title = title_of(module);
      text += options.color ? "\x1b[1m" + title + "\x1b[0m" : title;
      text += "\n" + table_text(module);
    }
    if (!report.shared_pools.empty()) text += shared_pools_text(report.shared_pools, report.modules.size());
  }
  for (const Finding& finding : findings_of(report)) {
    text += place_text(report, finding.position) + ": " + severity_text(finding.verdict, options.color) + " " +
            finding.message + "\n";
  }
  return text;
}

std::string check_markdown(const BudgetReport& report) {
  std::string text = "### Memory budgets of " + markdown_text(report.archive) + ": " + tally_text(report) + "\n\n" +
                     "| module | pool | limit | required | available | excess | result |\n" +
                     "|---|---|---|--:|--:|--:|---|\n";
  for (const ModuleCheck& module : report.modules) {
    for (const std::vector<std::string>& row : rows_of(module)) {
      std::vector<std::string> cells = {markdown_text(module.module)};
      for (const std::string& cell : row) cells.push_back(markdown_text(cell));
      const bool stands_out = row.back() != "ok" && !row.back().starts_with("no");
      if (stands_out) cells.back() = "**" + cells.back() + "**";
      text += markdown_row(cells);
    }
  }
  if (!report.shared_pools.empty()) text += "\n";
  for (const compare::SharedPool& pool : report.shared_pools) {
    text += "- " + markdown_text(pool.name + " of all modules: " + all_modules_text(pool.all, pool.kind)) + "\n";
  }
  const std::vector<Finding> findings = findings_of(report);
  if (!findings.empty()) text += "\n";
  for (const Finding& finding : findings) {
    text += "- " + markdown_text(place_text(report, finding.position) + ": " + finding.message) + "\n";
  }
  return text;
}

}  // namespace usmp::report

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Collects breaches and warnings of a check, puts each on one line, and counts them.
#include "report/findings.hpp"

#include <algorithm>

#include "usmp/report/needed.hpp"
#include "usmp/support/printable.hpp"
#include "usmp/support/text.hpp"

namespace usmp::report {
namespace {

using compare::BudgetReport;
using compare::LimitCheck;
using compare::ModuleCheck;
using compare::PoolCheck;
using compare::Verdict;

std::string prefix_of(const ModuleCheck& module) { return "module " + printable(module.module) + ": "; }

// ": sram: …; flash: …" of lines below a first one: sizes of pools that the file has no line of.
std::string in_one_line(const std::string& lines) {
  std::string text;
  for (const std::string& line : split(lines, '\n')) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin != std::string::npos) text += (text.empty() ? ": " : "; ") + line.substr(begin);
  }
  return text;
}

bool is_found(const LimitCheck& check) { return check.verdict == Verdict::warning || check.verdict == Verdict::breach; }

}  // namespace

std::vector<Finding> findings_of(const BudgetReport& report) {
  std::vector<Finding> findings;
  for (const std::string& warning : report.warnings) {
    findings.push_back({.verdict = report.warned, .position = {}, .title = "not checked", .message = warning});
  }
  for (const std::string& warning : report.other_archives) {
    findings.push_back({.verdict = report.warned, .position = {}, .title = "baseline", .message = printable(warning)});
  }
  for (const ModuleCheck& module : report.modules) {
    const bool planned = module.no_plan.empty();
    const std::string front = prefix_of(module) + (planned ? "" : std::string(first_line(module.no_plan)));
    bool is_told = false;
    for (const PoolCheck& pool : module.pools) {
      for (const LimitCheck& check : pool.checks) {
        if (!is_found(check)) continue;
        is_told = is_told || check.verdict == Verdict::breach;
        findings.push_back({.verdict = check.verdict,
                            .position = check.position,
                            .title = pool.name + ": " + to_string(check.rule),
                            .message = front + (planned ? "" : ": ") + check.message});
      }
    }
    if (planned || is_told) continue;
    findings.push_back({.verdict = Verdict::breach,
                        .position = {},
                        .title = "no plan",
                        .message = front + in_one_line(needed_text(module.needed))});
  }
  for (const PoolCheck& pool : report.together) {
    for (const LimitCheck& check : pool.checks) {
      if (!is_found(check)) continue;
      findings.push_back({.verdict = check.verdict,
                          .position = check.position,
                          .title = pool.name + ": " + to_string(check.rule),
                          .message = "all modules: " + check.message});
    }
  }
  for (const PoolCheck& pool : report.whole) {
    for (const LimitCheck& check : pool.checks) {
      if (!is_found(check)) continue;
      findings.push_back({.verdict = check.verdict,
                          .position = check.position,
                          .title = pool.name + ": " + to_string(check.rule),
                          .message = check.message});
    }
  }
  for (const ModuleCheck& module : report.modules) {
    for (const std::string& warning : module.warnings) {
      findings.push_back({.verdict = module.warned,
                          .position = {},
                          .in_file = false,
                          .title = module.archive,
                          .message = prefix_of(module) + printable(warning)});
    }
  }
  return findings;
}

std::vector<std::string> advice_lines(const BudgetReport& report) {
  std::vector<std::string> lines;
  for (const compare::Advice& advice : report.advice) {
    std::string line =
        "with " + advice.options + ": " + (advice.verdict == Verdict::breach ? "a smaller breach" : "within budget");
    for (const compare::Advice::Figure& figure : advice.figures) {
      line += "; " + printable(figure.pool) + " " + to_string(figure.rule) + " " + std::to_string(figure.after);
      if (figure.before) line += " instead of " + std::to_string(*figure.before);
      if (figure.excess > 0) line += ", " + std::to_string(figure.excess) + " bytes above the limit";
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string tally_text(const BudgetReport& report) {
  const std::vector<Finding> findings = findings_of(report);
  const std::size_t breaches = count_of(findings, Verdict::breach);
  const std::size_t warnings = findings.size() - breaches;
  if (findings.empty()) return "within budget";
  std::string text = breaches > 0 ? counted(breaches, "breach", "breaches") : "";
  if (warnings > 0) text += (text.empty() ? "" : ", ") + counted(warnings, "warning");
  return text;
}

std::size_t count_of(const std::vector<Finding>& findings, Verdict verdict) {
  return static_cast<std::size_t>(std::count_if(findings.begin(), findings.end(),
                                                [&](const Finding& finding) { return finding.verdict == verdict; }));
}

}  // namespace usmp::report

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Checks of budgets in the languages of CI services.
#include <algorithm>
#include <array>
#include <filesystem>

#include "report/findings.hpp"
#include "report/markup.hpp"
#include "usmp/report/check.hpp"
#include "usmp/support/text.hpp"

namespace usmp::report {
namespace {

using compare::BudgetReport;
using compare::LimitCheck;
using compare::ModuleCheck;
using compare::PoolCheck;
using compare::Verdict;

// Workflow commands end with the line, and their properties at ',' and ':'. The rest is data: the runner undoes this.
std::string escaped(std::string_view text, bool property) {
  std::string result;
  for (const char c : text) {
    if (c == '%') {
      result += "%25";
    } else if (c == '\r') {
      result += "%0D";
    } else if (c == '\n') {
      result += "%0A";
    } else if (property && c == ':') {
      result += "%3A";
    } else if (property && c == ',') {
      result += "%2C";
    } else {
      result += c;
    }
  }
  return result;
}

// GitHub knows files by their paths in the repository: "ci/pools.yaml", never "./ci/pools.yaml".
std::string repository_path(const std::string& path) { return std::filesystem::path(path).lexically_normal().string(); }

std::string attribute(const char* name, std::string_view value) {
  return " " + std::string(name) + "=\"" + markup_text(value) + "\"";
}

std::string attribute(const char* name, std::size_t value) { return attribute(name, std::to_string(value)); }

// Lines become separate ones of text; markup_text would write the break out.
std::string element_text(const std::string& text) {
  std::string result;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    result += (begin == 0 ? "" : "\n") + markup_text(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

struct TestCase {
  std::string class_name;
  std::string name;
  config::Position position;
  Verdict verdict = Verdict::ok;
  bool skipped = false;
  std::string message;
};

void add_cases(const std::string& module, const std::vector<PoolCheck>& pools, std::vector<TestCase>& cases) {
  for (const PoolCheck& pool : pools) {
    for (const LimitCheck& check : pool.checks) {
      cases.push_back({.class_name = module + "." + pool.name,
                       .name = to_string(check.rule),
                       .position = check.position,
                       .verdict = check.verdict,
                       .skipped = !check.has_figures(),
                       .message = check.message});
    }
  }
}

// As many cases fail as there are breaches among the findings: a limit that no plan keeps tells why there is none.
std::vector<TestCase> cases_of(const ModuleCheck& module) {
  std::vector<TestCase> cases = {{.class_name = module.module,
                                  .name = "plan",
                                  .position = {},
                                  .verdict = module.warnings.empty() ? Verdict::ok : module.warned,
                                  .skipped = false,
                                  .message = module.no_plan.empty() ? joined(module.warnings, "\n") : module.no_plan}};
  add_cases(module.module, module.pools, cases);
  if (module.no_plan.empty()) return cases;
  const bool is_told = std::ranges::any_of(cases, [](const TestCase& one) { return one.verdict == Verdict::breach; });
  TestCase& plan = cases.front();
  plan.verdict = is_told ? Verdict::not_checked : Verdict::breach;
  plan.skipped = is_told;
  if (is_told) plan.message = first_line(module.no_plan);
  return cases;
}

// Cases of the file as a whole, where warnings are breaches.
std::vector<TestCase> cases_of_file(const BudgetReport& report) {
  std::vector<TestCase> cases;
  if (report.warned != Verdict::breach) return cases;
  for (const std::vector<std::string>* warnings : {&report.warnings, &report.other_archives}) {
    for (const std::string& warning : *warnings) {
      cases.push_back({.class_name = "pools file",
                       .name = "warning",
                       .position = {},
                       .verdict = Verdict::breach,
                       .skipped = false,
                       .message = warning});
    }
  }
  return cases;
}

std::string case_text(const TestCase& one, const std::string& pools_file) {
  std::string text = "  <testcase" + attribute("classname", one.class_name) + attribute("name", one.name) +
                     attribute("file", repository_path(pools_file));
  if (one.position.line > 0) text += attribute("line", one.position.line);
  if (one.skipped) return text + ">\n   <skipped" + attribute("message", one.message) + "/>\n  </testcase>\n";
  switch (one.verdict) {
    case Verdict::ok:
    case Verdict::not_checked:
      return text + "/>\n";
    case Verdict::warning:
      return text + ">\n   <system-out>warning: " + element_text(one.message) + "</system-out>\n  </testcase>\n";
    case Verdict::breach:
      return text + ">\n   <failure" + attribute("message", first_line(one.message)) + attribute("type", one.name) +
             ">" + element_text(one.message) + "</failure>\n  </testcase>\n";
  }
  return text;
}

struct Counts {
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t skipped = 0;

  [[nodiscard]] std::string attributes() const {
    return attribute("tests", tests) + attribute("failures", failures) + attribute("errors", std::size_t{0}) +
           attribute("skipped", skipped);
  }
};

Counts counts_of(const std::vector<TestCase>& cases) {
  const auto count = [&](Verdict verdict) {
    return static_cast<std::size_t>(
        std::count_if(cases.begin(), cases.end(), [&](const TestCase& one) { return one.verdict == verdict; }));
  };
  return {.tests = cases.size(),
          .failures = count(Verdict::breach),
          .skipped = static_cast<std::size_t>(std::ranges::count_if(cases, &TestCase::skipped))};
}

}  // namespace

std::string check_github(const BudgetReport& report) {
  std::string text;
  for (const Finding& finding : findings_of(report)) {
    text += finding.verdict == Verdict::breach ? "::error" : "::warning";
    if (finding.in_file) text += " file=" + escaped(repository_path(report.pools_file), true);
    if (finding.position.line > 0) {
      text += ",line=" + std::to_string(finding.position.line) + ",col=" + std::to_string(finding.position.column);
    }
    text += (finding.in_file ? ",title=" : " title=") + escaped(finding.title, true) +
            "::" + escaped(finding.message, false) + "\n";
  }
  for (const std::string& line : advice_lines(report))
    text += "::notice title=what would help::" + escaped(line, false) + "\n";
  return text;
}

std::string check_junit(const BudgetReport& report) {
  std::string suites;
  Counts all;
  const auto add = [&](const std::string& name, const std::vector<TestCase>& cases) {
    const Counts counts = counts_of(cases);
    all.tests += counts.tests;
    all.failures += counts.failures;
    all.skipped += counts.skipped;
    suites += " <testsuite" + attribute("name", name) + counts.attributes() + ">\n";
    for (const TestCase& one : cases) suites += case_text(one, report.pools_file);
    suites += " </testsuite>\n";
  };
  if (const std::vector<TestCase> cases = cases_of_file(report); !cases.empty()) add(report.pools_file, cases);
  for (const ModuleCheck& module : report.modules) add(module.archive + ": " + module.module, cases_of(module));
  if (!report.together.empty()) {
    std::vector<TestCase> cases;
    add_cases("all modules", report.together, cases);
    add("all modules", cases);
  }
  if (!report.whole.empty()) {
    std::vector<TestCase> cases;
    add_cases("whole", report.whole, cases);
    add("the whole", cases);
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + attribute("name", "usmp-plan check") +
         all.attributes() + ">\n" + suites + "</testsuites>\n";
}

std::string check_github(const CheckFailure& failure) {
  std::string text = "::error";
  if (!failure.file.empty()) {
    text += " file=" + escaped(repository_path(failure.file), true);
    if (failure.position.line > 0) {
      text += ",line=" + std::to_string(failure.position.line) + ",col=" + std::to_string(failure.position.column);
    }
  }
  return text + (failure.file.empty() ? " title=" : ",title=") + "usmp-plan check::" + escaped(failure.message, false) +
         "\n";
}

std::string check_junit(const CheckFailure& failure) {
  const std::string counts = attribute("tests", std::size_t{1}) + attribute("failures", std::size_t{0}) +
                             attribute("errors", std::size_t{1}) + attribute("skipped", std::size_t{0}) + ">\n";
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + attribute("name", "usmp-plan check") +
                     counts + " <testsuite" + attribute("name", "usmp-plan check") + counts + "  <testcase" +
                     attribute("classname", "usmp-plan check") + attribute("name", "check");
  if (!failure.file.empty()) text += attribute("file", repository_path(failure.file));
  if (failure.position.line > 0) text += attribute("line", failure.position.line);
  return text + ">\n   <error" + attribute("message", first_line(failure.message)) + ">" +
         element_text(failure.message) + "</error>\n  </testcase>\n </testsuite>\n</testsuites>\n";
}

std::string check_markdown(const CheckFailure& failure) {
  std::string text = "## Memory budgets: not checked\n\n";
  for (const std::string& line : split(failure.message, '\n')) text += "    " + line + "\n";
  return text;
}

}  // namespace usmp::report

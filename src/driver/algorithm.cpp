#include "algorithm.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <ostream>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "model.hpp"
#include "usmp/external/external.hpp"
#include "usmp/report/algorithms.hpp"
#include "usmp/report/text.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/printable.hpp"
#include "usmp/support/text.hpp"
#include "usmp/verify/claims.hpp"
#include "usmp/verify/verify.hpp"

namespace usmp::driver {
namespace {

constexpr std::string_view external_prefix = "exec:";

Algorithm of_table(const planners::Algorithm& row) {
  return {.name = std::string(row.name), .program = {}, .plan = row.plan};
}

// Reports leave out where it lies, as they do of the archive.
Algorithm of_program(const std::string& program, const std::string& place) {
  if (program.empty()) {
    throw Error(ErrorKind::usage, {{}, {}, place}, "found nothing behind 'exec:', expected a program");
  }
  return {.name = std::string(external_prefix) + file_name_of(program),
          .program = program,
          .plan = [program](const Problem& problem, const planners::Options& options) {
            return external::plan(program, problem, options);
          }};
}

void require_verified(const Algorithm& algorithm, const Problem& problem, const Plan& plan) {
  const std::vector<std::string> violations = violations_of(problem, plan);
  if (violations.empty()) return;
  if (!algorithm.program.empty()) {
    throw Error(ErrorKind::usage, {algorithm.program, "answer", {}}, "the plan is wrong:", violations);
  }
  throw_wrong_plan(violations);
}

void require_true_claims(const Problem& problem, const PlanResult& result) {
  const std::vector<std::string> claims = verify::false_claims(problem, result);
  if (claims.empty()) return;
  throw std::logic_error("a claim about the plan is false, nothing was written, this is a bug of usmp-plan: " +
                         printable(claims.front()));
}

}  // namespace

std::vector<std::string> violations_of(const Problem& problem, const Plan& plan) {
  std::vector<std::string> lines;
  for (const verify::Violation& violation : verify::check(problem, plan, most_lines + 1)) {
    lines.push_back(violation.message);
  }
  return first_lines(std::move(lines), most_lines);
}

void throw_wrong_plan(const std::vector<std::string>& violations) {
  std::string message = "the plan failed verification, nothing was written, this is a bug of usmp-plan:";
  for (const std::string& line : violations) message += "\n  " + printable(line);
  throw std::logic_error(message);
}

Algorithm default_algorithm() { return of_table(planners::algorithms().front()); }

Algorithm algorithm_named(const std::string& name, const std::string& place) {
  if (name.starts_with(external_prefix)) return of_program(name.substr(external_prefix.size()), place);
  if (const planners::Algorithm* found = planners::find_algorithm(name)) return of_table(*found);
  throw Error(
      ErrorKind::usage, {{}, {}, place},
      "unknown algorithm '" + name + "'" + did_you_mean(name, algorithm_names()) + "; --list-algorithms lists them");
}

PlanResult plan_and_verify(const Algorithm& algorithm, const Problem& problem, const Goal& goal,
                           const SearchOptions& options, const Interrupt& interrupt, std::ostream* terminal) {
  // Each answer, so that a wrong one is told with the problem that was asked and nothing is built on it.
  const planners::Planner verified = [&](const Problem& asked, const planners::Options& wanted) {
    PlanResult answer = algorithm.plan(asked, wanted);
    spdlog::debug("{} buffers, {}: {} after {} iterations", asked.buffers.size(), algorithm.name,
                  to_string(answer.status), answer.iterations);
    if (answer.has_plan()) {
      require_verified(algorithm, asked, answer.plan);
      spdlog::debug("plan verified");
    }
    if (algorithm.program.empty()) require_true_claims(asked, answer);  // those of external programs are not believed
    return answer;
  };
  PlanResult result = search(problem, verified, goal, options, interrupt, terminal);
  const bool is_made_of_several = goal.minimize || goal.shares_less;
  if (is_made_of_several && result.has_plan()) require_verified(algorithm, problem, result.plan);
  return result;
}

std::string no_plan_text(const Problem& problem, const PlanResult& result, const Algorithm& algorithm) {
  std::string text = "no plan fits the pools";
  if (result.status != PlanStatus::infeasible) {
    text = "no plan was found that fits the pools (algorithm " + printable(algorithm.name);
    if (result.stopped != StopReason::finished) text += ", " + report::stop_text(result.stopped);
    text += ")";
  }
  if (result.shortage) text += "\n" + report::shortage_text(problem, *result.shortage);
  return text;
}

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names;
  for (const planners::Algorithm& algorithm : planners::algorithms()) names.emplace_back(algorithm.name);
  return names;
}

std::string default_algorithm_name() { return default_algorithm().name; }

int list_algorithms(std::ostream& out, bool json) {
  if (json) {
    std::vector<report::AlgorithmRow> rows;
    for (const planners::Algorithm& algorithm : planners::algorithms()) {
      rows.push_back({std::string(algorithm.name), std::string(algorithm.summary), rows.empty()});
    }
    out << report::algorithms_json(rows);
    return exit_ok;
  }
  std::size_t width = std::string_view("exec:PROGRAM").size();
  for (const planners::Algorithm& algorithm : planners::algorithms()) width = std::max(width, algorithm.name.size());
  const auto line = [&](std::string_view name, std::string_view summary) {
    out << name << std::string(width + 2 - name.size(), ' ') << summary;
  };
  for (const planners::Algorithm& algorithm : planners::algorithms()) {
    line(algorithm.name, algorithm.summary);
    out << (&algorithm == &planners::algorithms().front() ? " (default)" : "") << '\n';
  }
  line("exec:PROGRAM", "a program of yours (docs/instances.md)\n");
  return exit_ok;
}

}  // namespace usmp::driver

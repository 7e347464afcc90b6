// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Wraps the planner so that each of its answers is verified before anything is built on it.
#include "usmp/pipeline/algorithm.hpp"

#include <stdexcept>
#include <string_view>
#include <utility>

#include "usmp/external/external.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/printable.hpp"
#include "usmp/support/text.hpp"
#include "usmp/verify/claims.hpp"
#include "usmp/verify/verify.hpp"

namespace usmp::pipeline {
namespace {

constexpr std::string_view external_prefix = "exec:";

ChosenAlgorithm of_table(const planners::Algorithm& row) {
  return {.name = std::string(row.name), .program = {}, .plan = row.plan};
}

// Reports leave out where it lies, as they do of the archive.
ChosenAlgorithm of_program(const std::string& program, const std::string& place) {
  if (program.empty()) {
    throw Error(ErrorKind::usage, {{}, {}, place}, "found nothing after 'exec:', expected a program");
  }
  return {.name = std::string(external_prefix) + file_name_of(program),
          .program = program,
          .plan = [program](const Problem& problem, const planners::Options& options) {
            return external::plan(program, problem, options);
          }};
}

void require_verified(const ChosenAlgorithm& algorithm, const Problem& problem, const Plan& plan) {
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

ChosenAlgorithm default_algorithm() { return of_table(planners::algorithms().front()); }

ChosenAlgorithm algorithm_named(const std::string& name, const std::string& place) {
  if (name.starts_with(external_prefix)) return of_program(name.substr(external_prefix.size()), place);
  if (const planners::Algorithm* found = planners::find_algorithm(name)) return of_table(*found);
  throw Error(
      ErrorKind::usage, {{}, {}, place},
      "unknown algorithm '" + name + "'" + did_you_mean(name, algorithm_names()) + "; --list-algorithms lists them");
}

PlanResult plan_and_verify(const ChosenAlgorithm& algorithm, const Problem& problem, const Goal& goal,
                           const Search& how) {
  // Each answer, so that a wrong one is told with the problem that was asked and nothing is built on it.
  const planners::Planner verified = [&](const Problem& asked, const planners::Options& wanted) {
    PlanResult answer = algorithm.plan(asked, wanted);
    if (how.log) {
      how.log(std::to_string(asked.buffers.size()) + " buffers, " + algorithm.name + ": " + to_string(answer.status) +
              " after " + std::to_string(answer.iterations) + " iterations");
    }
    if (answer.has_plan()) {
      require_verified(algorithm, asked, answer.plan);
      if (how.log) how.log("plan verified");
    }
    if (algorithm.program.empty()) require_true_claims(asked, answer);  // those of external programs are not believed
    return answer;
  };
  PlanResult result = search(problem, verified, goal, how);
  const bool is_made_of_several = goal.minimize || goal.shares_less;
  if (is_made_of_several && result.has_plan()) require_verified(algorithm, problem, result.plan);
  return result;
}

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names;
  for (const planners::Algorithm& algorithm : planners::algorithms()) names.emplace_back(algorithm.name);
  return names;
}

}  // namespace usmp::pipeline

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes the problem to the program and parses its answer, with claims lowered to what can be believed.
#include "usmp/external/external.hpp"

#include <sys/wait.h>

#include <utility>

#include "usmp/instance/json.hpp"
#include "usmp/instance/limits.hpp"
#include "usmp/process/process.hpp"
#include "usmp/support/error.hpp"

namespace usmp::external {
namespace {

process::Result run(const std::string& program, const Problem& problem, const planners::Options& options) {
  try {
    return process::run(
        {.program = program, .leads_group = true}, instance::problem_json(problem),
        {.output = instance::max_text_bytes, .time = options.time_limit, .interrupted = options.interrupted});
  } catch (const Error& error) {
    throw Error(error.kind(), {program, {}, {}}, "the algorithm " + error.message());
  }
}

// What is over before a program can begin.
StopReason stopped_before(const planners::Options& options) {
  if (options.interrupted && options.interrupted->load()) return StopReason::interrupted;
  return options.time_limit && options.time_limit->count() <= 0 ? StopReason::time_limit : StopReason::finished;
}

void require_success(const std::string& program, const process::Result& done) {
  std::string message;
  if (done.end == process::End::too_much_output) {
    message = "the answer is larger than " + std::to_string(instance::max_text_bytes) + " bytes";
  } else if (done.status != 0) {
    message = "ended " + std::string(WIFSIGNALED(done.status) ? "by " : "with ") + process::status_text(done.status) +
              (WIFSIGNALED(done.status) ? "" : ", expected 0");
  } else {
    return;
  }
  throw Error(ErrorKind::usage, {program, {}, {}}, message);
}

PlanStatus not_believed(PlanStatus claimed) {
  return claimed == PlanStatus::feasible || claimed == PlanStatus::optimal ? PlanStatus::feasible
                                                                           : PlanStatus::not_found;
}

}  // namespace

PlanResult plan(const std::string& program, const Problem& problem, const planners::Options& options) {
  PlanResult result;
  result.stopped = stopped_before(options);
  if (result.stopped != StopReason::finished) return result;
  const process::Result done = run(program, problem, options);
  if (done.end == process::End::time_limit || done.end == process::End::interrupted) {
    result.stopped = done.end == process::End::time_limit ? StopReason::time_limit : StopReason::interrupted;
    return result;
  }
  require_success(program, done);
  try {
    if (done.output.empty())
      throw Error(ErrorKind::usage, {}, "the program printed nothing, expected an answer in JSON");
    instance::Answer answer = instance::parse_answer(done.output, problem);
    result.status = not_believed(answer.status);
    if (result.has_plan()) result.plan = std::move(answer.plan);
  } catch (const Error& error) {
    throw error.with_member("answer").with_file(program);
  }
  return result;
}

}  // namespace usmp::external

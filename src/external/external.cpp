#include "usmp/external/external.hpp"

#include <sys/wait.h>

#include <utility>

#include "external/process.hpp"
#include "usmp/instance/json.hpp"
#include "usmp/instance/limits.hpp"
#include "usmp/support/error.hpp"

namespace usmp::external {
namespace {

void require_success(const std::string& program, const ProcessResult& process) {
  std::string message;
  if (process.end == ProcessEnd::too_much_output) {
    message = "the answer is larger than " + std::to_string(instance::max_text_bytes) + " bytes";
  } else if (WIFSIGNALED(process.status)) {
    message = "ended by signal " + std::to_string(WTERMSIG(process.status));
  } else if (WEXITSTATUS(process.status) != 0) {
    message = "ended with exit code " + std::to_string(WEXITSTATUS(process.status)) + ", expected 0";
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
  const ProcessResult process =
      run_process(program, instance::problem_json(problem),
                  {.output = instance::max_text_bytes, .time = options.time_limit, .interrupted = options.interrupted});
  PlanResult result;
  if (process.end == ProcessEnd::time_limit || process.end == ProcessEnd::interrupted) {
    result.stopped = process.end == ProcessEnd::time_limit ? StopReason::time_limit : StopReason::interrupted;
    return result;
  }
  require_success(program, process);
  try {
    if (process.output.empty())
      throw Error(ErrorKind::usage, {}, "the program printed nothing, expected an answer in JSON");
    instance::Answer answer = instance::parse_answer(process.output, problem);
    result.status = not_believed(answer.status);
    if (result.has_plan()) result.plan = std::move(answer.plan);
  } catch (const Error& error) {
    throw error.with_member("answer").with_file(program);
  }
  return result;
}

}  // namespace usmp::external

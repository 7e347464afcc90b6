// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan solve: a bare instance → problem → plan → verification → CSV or answer.
#include <algorithm>
#include <chrono>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

#include "algorithm.hpp"
#include "file_kind.hpp"
#include "interrupt.hpp"
#include "model.hpp"
#include "output.hpp"
#include "output_path.hpp"
#include "proof_files.hpp"
#include "run.hpp"
#include "search.hpp"
#include "usmp/bounds/bounds.hpp"
#include "usmp/config/pools.hpp"
#include "usmp/instance/csv.hpp"
#include "usmp/instance/json.hpp"
#include "usmp/instance/limits.hpp"
#include "usmp/pipeline/needed_sizes.hpp"
#include "usmp/report/solution.hpp"
#include "usmp/support/message.hpp"
#include "usmp/support/printable.hpp"

namespace usmp::driver {
namespace {

struct Instance {
  std::string text;
  std::optional<instance::CsvInstance> csv;  // of a CSV file; its problem has been moved out
  Problem problem;
};

// The ending decides, and without a known one the first character.
bool is_json(const std::string& path, const std::string& text) {
  if (path.ends_with(".json")) return true;
  if (path.ends_with(".csv")) return false;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{';
}

Instance read_instance(const std::string& path) {
  require_instance(path);
  Instance read;
  read.text = read_text_file(path, ErrorKind::usage, instance::max_text_bytes);
  try {
    if (is_json(path, read.text)) {
      read.problem = instance::parse_problem(read.text);
    } else {
      read.csv = instance::parse_csv(read.text);
      read.problem = std::exchange(read.csv->problem, {});
    }
  } catch (const Error& error) {
    throw error.with_file(path);
  }
  return read;
}

void set_capacity(Problem& problem, const std::string& text) {
  const std::optional<Bytes> capacity = config::parse_size(text);
  if (!capacity) {
    throw Error(ErrorKind::usage, {},
                "--capacity: found '" + text + "', expected bytes as in 65536, 64KiB, 2MiB or 1GiB");
  }
  if (problem.pools.size() != 1) {
    throw Error(ErrorKind::usage, {},
                "--capacity needs an instance with one pool, but this one has " + std::to_string(problem.pools.size()));
  }
  problem.pools.front().capacity = capacity;
  if (const auto reason = invalid_reason(problem)) throw Error(ErrorKind::usage, {}, *reason);  // of pins
}

void check_output_name(const SolveOptions& options, bool csv) {
  if (!options.output) return;
  check_output_path("-o", *options.output, {options.instance});
  if (!options.output->ends_with(csv ? ".json" : ".csv")) return;
  throw Error(ErrorKind::usage, {*options.output, {}, {}},
              csv ? "the plan of a CSV instance is CSV" : "the plan of a problem in JSON is an answer in JSON");
}

std::string plan_text(const Instance& read, const report::Solution& solution) {
  if (read.csv) return instance::csv_with_offsets(read.text, *read.csv, solution.result.plan);
  return instance::answer_json(read.problem, {solution.status(), solution.result.plan});
}

// Plans the problem of the solution, and says what is needed without a plan. Ctrl-C ends what runs in here; what comes
// after it is done in a moment.
void plan(report::Solution& solution, const SolveOptions& options, const pipeline::ChosenAlgorithm& algorithm,
          std::ostream& err) {
  const Interrupt interrupt;
  const bool any_plan = options.capacity && !options.minimize;
  const pipeline::Goal goal = {
      .minimize = {}, .feasibility_only = any_plan, .shares_less = !any_plan && algorithm.program.empty()};
  std::ostream* const terminal = options.progress ? &err : nullptr;
  const auto start = std::chrono::steady_clock::now();
  solution.result = pipeline::plan_and_verify(algorithm, *solution.problem, goal,
                                              WatchedSearch(options.search, interrupt, terminal).limits());
  if (solution.result.has_plan()) return;
  const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
  const WatchedSearch search(what_is_left(options.search, spent), interrupt, terminal);
  solution.needed = pipeline::needed_sizes(*solution.problem, algorithm, goal, search.limits());
}

int solve_or_throw(const SolveOptions& options, std::ostream& out, std::ostream& err) {
  const pipeline::ChosenAlgorithm algorithm =
      options.algorithm ? pipeline::algorithm_named(*options.algorithm) : pipeline::default_algorithm();
  Instance read = read_instance(options.instance);
  check_output_name(options, read.csv.has_value());
  check_proof_options(options.proof, {options.instance}, options.output);
  if (options.capacity) set_capacity(read.problem, *options.capacity);
  report::Solution solution{.instance = name_of_model(options.instance),
                            .algorithm = algorithm.name,
                            .seed = options.search.seed.value_or(0),
                            .problem = &read.problem,
                            .result = {},
                            .bounds = bounds::pool_bounds(read.problem)};
  plan(solution, options, algorithm, err);
  if (!solution.result.has_plan()) {
    if (options.json) stream_beside(options.output, out, err) << report::solution_json(solution);
    solution.result.status = solution.status();
    tell(err, Severity::error,
         printable(options.instance) + ": " + no_plan_text(solution.result, solution.needed, algorithm));
    return exit_infeasible;
  }
  const std::string text =
      options.json ? report::solution_json(solution) : report::solution_text(solution, options.color);
  std::vector<bounds::PoolBound> proved;
  for (std::size_t i = 0; i < read.problem.pools.size(); ++i) proved.push_back(solution.lower_bound(PoolId(i)));
  const std::optional<ProofFiles> proof = proof_files(read.problem, proved, options.proof);
  if (options.output) write_file(*options.output, plan_text(read, solution));
  write_proof(proof);
  if (!options.quiet) stream_beside(options.output, out, err) << text;
  return exit_ok;
}

}  // namespace

int solve(const SolveOptions& options, std::ostream& out, std::ostream& err) {
  return run(err, [&] { return solve_or_throw(options, out, err); });
}

}  // namespace usmp::driver

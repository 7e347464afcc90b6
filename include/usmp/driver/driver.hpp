// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The commands: opens and writes files, and turns errors into exit codes. The order of the stages is pipeline's.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace usmp::driver {

// Exit codes of the program (README.md, --help).
enum ExitCode : int {
  exit_ok = 0,
  exit_internal = 1,       // a bug, such as a plan that the verifier rejected
  exit_usage = 2,          // command line, pools file, instance or external algorithm
  exit_archive = 3,        // malformed or unsupported archive
  exit_infeasible = 4,     // no plan fits the pools
  exit_output = 5,         // a result could not be written
  exit_memory = 6,         // out of memory
  exit_interrupted = 130,  // Ctrl-C ended a search: results are of what it had found

  exit_different = 1,  // of `diff`: the plans differ. Internal errors have a message on standard error
  exit_breach = 1,     // of `check`: a plan exceeds a budget
};

enum class Verbosity { quiet, normal, verbose };

inline constexpr std::int64_t max_recompute_percent = 1000;
inline constexpr std::int64_t max_plan_stack = std::int64_t{1} << 30;

// Options that all commands on models share.
struct ModelOptions {
  std::string model;                              // archive, extracted archive, or a bare TIR module (*.json)
  std::optional<std::string> module;              // one module of several; absent: all
  std::optional<std::string> transform;           // transform::parse_steps: what is done to the program; absent: all
  std::optional<std::int64_t> recompute_percent;  // 0 … max_recompute_percent: transform::Options; absent: 0
  std::optional<std::string> cpu;                 // kernels::cores: what the C is shaped for; absent: the archive's
  std::optional<std::string> from;                // "c" or "tir": what modules are read from; absent: TIR if there is
  std::set<std::string> synchronous;              // functions of the C: tvm_c::read_planned_module
  std::optional<std::int64_t> plan_stack;         // 0 … max_plan_stack bytes: storage::keep_on_stack; absent: 256
  bool json = false;
};

// How long to search.
struct SearchOptions {
  std::optional<std::uint64_t> node_limit;              // >= 1, in search nodes; absent: the algorithm's default
  std::optional<std::chrono::milliseconds> time_limit;  // absent: none, so that every machine gives the same plan
  std::optional<std::uint64_t> seed;                    // of randomised algorithms; absent: 0
};

// Options that all commands that plan archives share: everything that determines the plan.
struct PlanningOptions {
  ModelOptions model;
  std::vector<std::string> more_models;  // planned with `model.model`, to be linked together
  std::vector<std::string> names;        // "kws=a.tar": the name of a model's module
  std::optional<std::string> pools_file;
  std::optional<std::string> memory_file;  // a linker script that gives pools their sizes
  std::optional<std::string> algorithm;    // overrides the pools file's
  std::optional<std::string> objective;    // "size" or "accesses"; overrides the pools file's; absent: "size"
  bool workspace_io = false;               // or the pools file's
  bool ignore_sizes = false;               // where no plan fits the pools; of report and diff
  SearchOptions search;
  std::optional<std::string> minimize;  // the pool whose size is minimized first
  std::vector<std::string> pins;        // M.plan.json files: buffers stay where these place them
  // `plan` replaces the files of a source tree's model by planned ones of the same names. Excludes `output`.
  bool in_place = false;
  Verbosity verbosity = Verbosity::normal;
  bool progress = false;  // `err` is a terminal: long searches show there how far they are
  bool color = false;
};

struct PlanOptions : PlanningOptions {
  std::optional<std::string> output;     // directory, or a tar (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.zst")
  bool dry_run = false;                  // everything but writing
  bool force = false;                    // in place, also with changes that git has not committed
  std::optional<std::string> plan_json;  // a file for the plan: of one module its M.plan.json, of several as `json`
  bool linker_script = false;            // M_memory.ld, too
  bool advice = false;                   // which options would need less RAM, by planning with them. No JSON
  bool emit_metadata = false;            // M_metadata.c, too: for TVM's runtimes. Not in place
  bool emit_info = false;                // tvmgen_M_info, too. Not in place
};

struct VerifyOptions : PlanningOptions {
  std::vector<std::string> plans;  // M.plan.json files to be verified; empty: the modules are planned
  bool tvm_plan = false;           // the plan in the C that TVM wrote is verified: no `plans`, `execute`, other models
  bool execute = false;  // run the emitted C and a build in which no buffers overlap; the rest applies only then
  std::optional<std::string> compiler;
  std::string compiler_flags;  // separated by spaces
  bool sanitize = false;
  std::uint32_t rounds = 3;                                      // at least 1
  std::chrono::milliseconds timeout = std::chrono::minutes(10);  // of each compilation and each program
  std::optional<std::string> keep;  // a new or empty directory for sources and programs; absent: they are removed
};

enum class DiffFormat { text, markdown, json, csv, svg, html };

// `model.model` is not used.
struct DiffOptions : PlanningOptions {
  std::string before;     // M.plan.json or a model
  std::string after;      // likewise; with `more_models`, if it is a model
  bool tvm_plan = false;  // `before` is a model, and its plan is the one in the C that TVM wrote
  DiffFormat format = DiffFormat::text;
};

// A proof of the lower bound of one pool, in files that other programs check.
struct ProofOptions {
  std::optional<std::string> file;  // "kws.pbp"; the constraints go to "kws.opb"
  std::optional<std::string> pool;  // its name; absent: the first one that has a bound
};

enum class ReportFormat { text, json, csv, markdown, svg, html };

// `model.model` and `more_models` are models, or each an M.plan.json: then nothing is planned.
struct ReportOptions : PlanningOptions {
  bool tvm_plan = false;  // of the plan in the C that TVM wrote
  ReportFormat format = ReportFormat::text;
  std::optional<std::string> output;  // absent: `out`
  ProofOptions proof;
};

// `pools_file` is required.
struct CheckOptions : PlanningOptions {
  std::vector<std::string> baselines;       // M.plan.json, or several plans as `--json` prints them
  bool github = false;                      // workflow commands after the text
  std::optional<std::string> step_summary;  // a file that Markdown is appended to
  std::optional<std::string> junit;         // a file for JUnit's XML
  bool strict = false;                      // warnings count as breaches
};

enum class CompareFormat { text, markdown, json, csv, svg };

// `algorithm` and `model.cpu` are not used.
struct CompareOptions : PlanningOptions {
  std::optional<std::string> algorithms;  // comma-separated names; absent: all of the table
  // Percentages between commas, as model.recompute_percent: plans with the settings' algorithm within each, instead of
  // algorithms.
  std::optional<std::string> recompute;
  std::optional<std::string> cpus;             // names of kernels::cores between commas, or "all": several are compared
  CompareFormat format = CompareFormat::text;  // svg: with `recompute`
  std::optional<std::string> save;             // a directory for the plans of algorithms
  bool times = true;                           // how long each took, which differs from run to run
};

struct InspectOptions {
  InspectOptions() { model.transform = "none"; }

  ModelOptions model;
  bool tir = false;                  // the IR instead of the lists
  std::optional<std::size_t> width;  // letters of a line, which shortened names keep to; absent: names are whole
};

// `model.json`: the pools file as JSON.
struct InitOptions {
  ModelOptions model;
  std::vector<std::string> tvmc;                // words of a tvmc command line, whose pools are taken (docs/pools.md)
  std::optional<std::string> tvmc_file;         // the same in a file; not with `tvmc`
  std::optional<std::string> memory_file = {};  // a linker script: pools for its regions. Not with tvmc's
  std::optional<std::string> schema = {};       // a file for the schema of pools files, which the output then names
  std::optional<std::string> output = {};       // absent: `out`
  bool force = false;                           // replaces `output` and `schema` where they exist and differ
};

struct ProblemOptions {
  ModelOptions model;
  std::optional<std::string> pools_file;
  std::optional<std::string> memory_file;  // as in PlanningOptions
  bool workspace_io = false;               // or the pools file's
  std::optional<std::string> output;       // absent: `out`
};

struct ConvertOptions {
  std::string model;               // a TensorFlow Lite model
  std::vector<std::string> names;  // as in PlanningOptions
  std::string output;              // a tar, as in PlanOptions, or a directory
  bool json = false;               // prints the archive's metadata.json
  bool quiet = false;              // nothing on success
};

struct SolveOptions {
  std::string instance;                 // a CSV file or a problem in JSON (docs/instances.md)
  std::optional<std::string> capacity;  // "64KiB": of the one pool. Any plan within it is accepted
  bool minimize = false;                // the best plan, also with a capacity
  std::optional<std::string> algorithm;
  std::optional<std::string> output;  // the plan: CSV for CSV, an answer for JSON
  ProofOptions proof;
  SearchOptions search;
  bool json = false;
  bool quiet = false;     // nothing on success
  bool progress = false;  // `err` is a terminal: long searches show there how far they are
  bool color = false;
};

// Each prints results to `out`, one error message to `err`, and returns an ExitCode. Nothing is thrown, and nothing is
// left under a final name unless the whole run succeeded. While `plan`, `verify` and `solve` search, SIGINT ends only
// the search: the best plan so far is verified and written, and the code is exit_interrupted.
int plan(const PlanOptions& options, std::ostream& out, std::ostream& err);
int verify(const VerifyOptions& options, std::ostream& out, std::ostream& err);
int diff(const DiffOptions& options, std::ostream& out, std::ostream& err);
int report(const ReportOptions& options, std::ostream& out, std::ostream& err);
int check(const CheckOptions& options, std::ostream& out, std::ostream& err);
int compare(const CompareOptions& options, std::ostream& out, std::ostream& err);
int inspect(const InspectOptions& options, std::ostream& out, std::ostream& err);
int init(const InitOptions& options, std::ostream& out, std::ostream& err);
int problem(const ProblemOptions& options, std::ostream& out, std::ostream& err);
int convert(const ConvertOptions& options, std::ostream& out, std::ostream& err);
int solve(const SolveOptions& options, std::ostream& out, std::ostream& err);
int list_algorithms(std::ostream& out, bool json);

// "65536", "64KiB": a size as pools files have it, in bytes; nothing: it is none.
std::optional<std::int64_t> bytes_of(const std::string& text);

// The names that ModelOptions::transform accepts besides "none" and "all", for help texts and completions.
std::vector<std::string> transformation_names();

// Whether a word of the command line is an option of tvmc that `init` takes, and whether the next word is its value.
bool is_tvmc_option(const std::string& word);
bool takes_next_word(const std::string& tvmc_option);

// Names of kernels::cores, for --cpu.
std::vector<std::string> core_names();

// The names of the table, for completions. "exec:PROGRAM" is also accepted.
std::vector<std::string> algorithm_names();

// The first algorithm of the table, for help texts.
std::string default_algorithm_name();

// Where `plan` writes without an output option, in the current directory: "models/kws.tar.gz" → "kws_planned"; what has
// no name, such as "/dev/stdin" or "..", → "model_planned".
std::string default_output(const std::string& model);

}  // namespace usmp::driver

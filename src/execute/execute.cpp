// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Runs the unshared program on two kinds of garbage and the planned one on a third, and compares their outputs.
#include "usmp/execute/execute.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "execute/access_checks.hpp"
#include "execute/program.hpp"
#include "usmp/codegen/layout.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/file_sink.hpp"
#include "usmp/support/text.hpp"

namespace usmp::execute {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_faults = 10;  // in one report

Compiler compiler_of(const std::string& program, const Options& options) {
  Compiler compiler{program, {"-O1", "-ffp-contract=off", "-w"}, options.sanitize};
  if (options.sanitize) {
    compiler.flags.insert(compiler.flags.end(), {"-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"});
  }
  compiler.flags.insert(compiler.flags.end(), options.flags.begin(), options.flags.end());
  return compiler;
}

// Compiles and links a program without content. Nothing if the compiler cannot be started and was not asked for.
std::optional<process::Result> try_out(const Compiler& compiler, const Options& options, const std::string& directory) {
  const OutputFile empty{"try.c", [](TextSink& sink) { sink.write("int main(void) { return 0; }\n"); }};
  write_files(directory, {empty});
  process::Command command{.program = compiler.program, .arguments = {"-std=c99"}};
  command.arguments.insert(command.arguments.end(), compiler.flags.begin(), compiler.flags.end());
  command.arguments.insert(command.arguments.end(), {(fs::path(directory) / "try.c").string(), "-lm", "-o",
                                                     (fs::path(directory) / "try").string()});
  command.environment = {"TMPDIR=" + directory};
  command.joins_error = true;
  command.leads_group = true;
  try {
    return process::run(command, "", {.output = std::size_t{1} << 20, .time = options.time_limit});
  } catch (const Error&) {
    if (options.compiler) throw;
    return std::nullopt;
  }
}

// Functions that the module calls and does not define, and the C that it brings along.
std::vector<std::string> foreign_code(const Programs& programs) {
  const codegen::EmissionInput& module = programs.planned;
  std::vector<std::string> names = programs.undefined;
  for (const model::ForeignFunction& function : module.info.foreign_functions) {
    if (std::find(names.begin(), names.end(), function.name) == names.end()) names.push_back(function.name);
  }
  return names;
}

// What a model keeps is seen in four runs at least.
Options with_rounds(Options options, bool has_state) {
  constexpr std::uint32_t least = 4;
  if (has_state) options.rounds = std::max(options.rounds, least);
  return options;
}

class Comparing {
 public:
  Comparing(const Programs& programs, const Compiler& compiler, const Options& options, const std::string& directory)
      : programs_(programs),
        compiler_(compiler),
        options_(with_rounds(options, !programs.planned.info.states.empty())),
        directory_(fs::absolute(directory).string()),
        tensors_(tensors_of(programs.planned, codegen::layout_of(programs.planned))),
        unshared_(write_program("reference", programs.unshared,
                                tensors_of(programs.unshared, codegen::layout_of(programs.unshared)), programs.foreign,
                                directory_, options.between)),
        planned_(write_program("planned", programs.planned, tensors_, programs.foreign, directory_, options.between)) {}

  Findings run() && {
    findings_.rounds = options_.rounds;
    const OutputFile inputs{
        "inputs", [&](TextSink& sink) { sink.write(random_inputs(tensors_.inputs, options_.rounds, options_.seed)); }};
    write_files(directory_, {inputs}, options_.between);
    if (!is_compiled(unshared_) || !is_compiled(planned_)) return std::move(findings_);
    const auto base = static_cast<std::uint32_t>(options_.seed ^ (options_.seed >> 32U));
    const RunOutcome reference = run_unshared(base);
    const RunOutcome other_garbage = run_unshared(base + 1);
    const std::vector<Round> expected = rounds_of(reference);
    for (std::size_t i = 0; i < expected.size(); ++i) report_overwritten(unshared_, i, expected[i]);
    require_independence(expected, rounds_of(other_garbage));
    const RunOutcome outcome = execute::run(planned_, inputs_file(), base + 2, options_);
    const std::vector<Round> actual = rounds_of(outcome);
    compare_rounds(expected, actual);
    if (outcome.ended.succeeded() && actual.size() != expected.size()) {
      add("the planned program ended with exit code 0 in round " + std::to_string(actual.size()) + " of " +
          std::to_string(expected.size()));
    }
    if (!outcome.ended.succeeded()) {
      add("the planned program ended with " + process::status_text(outcome.ended.status) +
          ", the reference with exit code 0" + excerpt(outcome.ended.output, planned_.directory));
    }
    return std::move(findings_);
  }

 private:
  void add(const std::string& fault) {
    if (findings_.faults.size() < most_faults) findings_.faults.push_back(fault);
  }

  [[nodiscard]] std::string inputs_file() const { return (fs::path(directory_) / "inputs").string(); }

  [[nodiscard]] std::vector<Round> rounds_of(const RunOutcome& outcome) const {
    return parse_results(outcome.results, tensors_.outputs).rounds;
  }

  // Whatever the inputs are, the model must not do this.
  void require_inside(const RunOutcome& outcome) const {
    const Results results = parse_results(outcome.results, tensors_.outputs);
    if (!results.outside || results.outside->access >= programs_.checked.size()) return;
    fail("in round " + std::to_string(results.rounds.size()) +
         " the reference program leaves the storage of a tensor: " +
         outside_text(programs_.checked[results.outside->access], results.outside->index) +
         ": either random inputs do not suit the model, or the model is wrong");
  }

  // False after a fault of ours.
  bool is_compiled(const Program& program) {
    const Compilation compilation = compile(program, programs_.foreign, compiler_, options_);
    if (compilation.succeeded) return true;
    const std::vector<std::string> foreign = foreign_code(programs_);
    const std::string what =
        compilation.file.empty() ? "the program cannot be linked" : compilation.file + " does not compile";
    if (!foreign.empty() || !programs_.foreign.empty()) {
      fail("the module needs code that is not TVM's own" + (foreign.empty() ? "" : " (" + first_few(foreign) + ")") +
           " and cannot be executed without all of it here (--cflags says where headers and libraries are): " + what +
           compilation.message);
    }
    add("of the " + program.what + " code " + what + compilation.message);
    return false;
  }

  RunOutcome run_unshared(std::uint32_t garbage) {
    RunOutcome outcome = execute::run(unshared_, inputs_file(), garbage, options_);
    require_inside(outcome);
    const std::vector<Round> rounds = rounds_of(outcome);
    if (!outcome.ended.succeeded() || rounds.size() != options_.rounds) {
      fail("the reference program ended with " + process::status_text(outcome.ended.status) + " in round " +
           std::to_string(rounds.size()) +
           ": either random inputs do not suit the model, or the generated code is wrong" +
           excerpt(outcome.ended.output, unshared_.directory));
    }
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      if (rounds[i].status != 0) {
        fail("in round " + std::to_string(i) + " an operator failed in the reference program, which returned " +
             std::to_string(rounds[i].status) + ": random inputs may not suit the model");
      }
    }
    return outcome;
  }

  void report_overwritten(const Program& program, std::size_t round, const Round& results) {
    for (const Overwritten& fault : results.overwritten) {
      add("round " + std::to_string(round) + ", " + program.what +
          " program: " + overwritten_text(fault, program.harness.regions));
    }
  }

  void require_independence(const std::vector<Round>& a, const std::vector<Round>& b) const {
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (std::size_t k = 0; k < tensors_.outputs.size(); ++k) {
        const Tensor& output = tensors_.outputs[k];
        const Comparison result = compare_elements(output.element, a[i].outputs[k], b[i].outputs[k]);
        if (result.count == 0) continue;
        throw Error(ErrorKind::archive, {},
                    "output '" + output.name + "' depends on memory that the model never wrote: element " +
                        std::to_string(result.first) + " is " +
                        element_text(output.element, a[i].outputs[k], result.first) + " or " +
                        element_text(output.element, b[i].outputs[k], result.first) +
                        ", depending on what was there before, even if no two buffers share memory");
      }
    }
  }

  void compare_rounds(const std::vector<Round>& expected, const std::vector<Round>& actual) {
    for (std::size_t i = 0; i < std::min(expected.size(), actual.size()); ++i) {
      const std::string round = "round " + std::to_string(i);
      report_overwritten(planned_, i, actual[i]);
      if (actual[i].status != 0) {
        add(round + ": the planned program returned " + std::to_string(actual[i].status) + ", the reference 0");
        continue;
      }
      for (std::size_t k = 0; k < tensors_.outputs.size(); ++k) {
        compare_output(round, tensors_.outputs[k], expected[i].outputs[k], actual[i].outputs[k]);
      }
    }
  }

  void compare_output(const std::string& round, const Tensor& output, std::string_view expected,
                      std::string_view actual) {
    const auto count = static_cast<std::size_t>(output.size / output.element.element_bytes());
    findings_.elements += count;
    const Comparison result = compare_elements(output.element, expected, actual);
    if (result.count == 0) return;
    add(round + ", output '" + output.name + "': " + std::to_string(result.count) + " of " + std::to_string(count) +
        " elements differ, first element " + std::to_string(result.first) + ": planned " +
        element_text(output.element, actual, result.first) + ", reference " +
        element_text(output.element, expected, result.first));
  }

  const Programs& programs_;
  const Compiler& compiler_;
  Options options_;
  std::string directory_;
  Tensors tensors_;
  Program unshared_;
  Program planned_;
  Findings findings_;
};

}  // namespace

Compiler find_compiler(const Options& options, const std::string& directory) {
  const std::string absolute = fs::absolute(directory).string();
  for (const char* usual : {"cc", "gcc", "clang"}) {
    Compiler compiler = compiler_of(options.compiler.value_or(usual), options);
    const std::optional<process::Result> done = try_out(compiler, options, absolute);
    if (!done) continue;
    if (done->succeeded()) return compiler;
    if (done->end == process::End::interrupted) fail("interrupted before all programs had run");
    throw Error(ErrorKind::usage, {compiler.program, {}, {}},
                std::string(done->end == process::End::time_limit ? "did not, within the time limit," : "does not") +
                    " compile an empty program" + (options.sanitize ? " with sanitizers" : ""),
                excerpt_lines(done->output, absolute));
  }
  fail("there is no C compiler: none of cc, gcc and clang can be started (--cc names another one)");
}

Findings compare(const Programs& programs, const Compiler& compiler, const Options& options,
                 const std::string& directory) {
  return Comparing(programs, compiler, options, directory).run();
}

}  // namespace usmp::execute

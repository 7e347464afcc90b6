// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Compiles each file apart, links, and runs the result below a directory of its own.
#include "execute/program.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "usmp/codegen/layout.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/file_sink.hpp"
#include "usmp/support/input_file.hpp"
#include "usmp/support/printable.hpp"
#include "usmp/support/text.hpp"

namespace usmp::execute {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_output = std::size_t{16} << 20;  // of a compiler or program, in bytes
constexpr const char* source_directory = "codegen/host/src";
constexpr const char* include_directory = "codegen/host/include";

OutputFile text_file(std::string path, std::string text) {
  return {std::move(path), [text = std::move(text)](TextSink& sink) { sink.write(text); }};
}

// Temporary files of compilers go where everything else goes, so that they vanish with it, however it ends.
process::Result run_within(process::Command command, const std::string& directory, const Options& options,
                           const std::string& what) {
  if (options.between) options.between();
  command.environment.push_back("TMPDIR=" + directory);
  command.joins_error = true;
  command.leads_group = true;
  process::Result done = process::run(command, "", {.output = most_output, .time = options.time_limit});
  if (done.end == process::End::interrupted) fail("interrupted before all programs had run");
  if (done.end == process::End::time_limit) {
    const auto seconds = std::chrono::duration<double>(options.time_limit).count();
    fail(what + " did not end within " + shortest_decimal(seconds) + " seconds (--timeout sets another limit)");
  }
  if (done.end == process::End::too_much_output) {
    fail(what + " printed more than " + std::to_string(most_output) + " bytes");
  }
  return done;
}

bool is_cxx(std::string_view path) { return ends_with_any(path, {".cc", ".cpp", ".cxx", ".C"}); }

bool is_source(std::string_view path) { return is_cxx(path) || ends_with_any(path, {".c", ".s", ".S"}); }

struct Unit {
  std::string file;  // below the program's directory
  bool is_ours = false;
};

std::vector<Unit> units_of(const Program& program, const std::vector<OutputFile>& foreign) {
  std::vector<Unit> units = {{"main.c", true}};
  for (const auto& entry : fs::directory_iterator(fs::path(program.directory) / source_directory)) {
    const std::string name = entry.path().filename().string();
    const std::string path = std::string(source_directory) + "/" + name;
    const bool is_foreign =
        std::any_of(foreign.begin(), foreign.end(), [&](const OutputFile& file) { return file.path == path; });
    if (!is_foreign && name.ends_with("_lib1.c")) units.push_back({path, true});
  }
  for (const OutputFile& file : foreign) {
    if (is_source(file.path)) units.push_back({file.path, false});
  }
  return units;
}

}  // namespace

void fail(const std::string& message) {
  std::vector<std::string> lines = split(message, '\n');
  const std::string first = std::move(lines.front());
  lines.erase(lines.begin());
  for (std::string& line : lines) line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
  throw Error(ErrorKind::usage, {}, first, std::move(lines));
}

Program write_program(const std::string& what, const codegen::EmissionInput& module, const Tensors& tensors,
                      const std::vector<OutputFile>& foreign, const std::string& directory,
                      const std::function<void()>& between) {
  Program program{what, (fs::path(directory) / what).string(), {}};
  std::vector<OutputFile> files = codegen::module_files(module);
  const auto entry =
      std::find_if(files.begin(), files.end(), [](const OutputFile& file) { return file.path.ends_with("_lib0.c"); });
  const std::string entry_file = fs::path(entry->path).filename().string();
  program.harness = harness_of(module, codegen::layout_of(module), tensors, entry_file);
  files.push_back(codegen::metadata_header({module}));
  files.push_back(text_file("main.c", program.harness.text));
  // What has the name of one of ours is left out, as it is when a planned archive is written.
  for (const OutputFile& file : foreign) {
    if (std::none_of(files.begin(), files.end(), [&](const OutputFile& own) { return own.path == file.path; })) {
      files.push_back(file);
    }
  }
  write_files(program.directory, files, between);
  return program;
}

Compilation compile(const Program& program, const std::vector<OutputFile>& foreign, const Compiler& compiler,
                    const Options& options) {
  const fs::path directory = program.directory;
  const std::vector<Unit> units = units_of(program, foreign);
  std::vector<std::string> objects;
  for (const Unit& unit : units) {
    process::Command command{.program = compiler.program};
    std::vector<std::string>& arguments = command.arguments;
    if (unit.is_ours) arguments.emplace_back("-std=c99");
    arguments.insert(arguments.end(), compiler.flags.begin(), compiler.flags.end());
    if (compiler.sanitize) arguments.emplace_back("-DUSMP_RUN_SANITIZED");
    for (const char* folder : {include_directory, source_directory}) {
      arguments.push_back("-I" + (directory / folder).string());
    }
    objects.push_back((directory / ("unit_" + std::to_string(objects.size()) + ".o")).string());
    arguments.insert(arguments.end(), {"-c", (directory / unit.file).string(), "-o", objects.back()});
    const process::Result done =
        run_within(command, program.directory, options, "compiling the " + program.what + " code");
    if (!done.succeeded()) return {false, unit.file, excerpt(done.output, program.directory)};
  }
  process::Command link{.program = compiler.program, .arguments = compiler.flags};
  link.arguments.insert(link.arguments.end(), objects.begin(), objects.end());
  if (std::any_of(units.begin(), units.end(), [](const Unit& unit) { return is_cxx(unit.file); })) {
    link.arguments.emplace_back("-lstdc++");
  }
  link.arguments.insert(link.arguments.end(), {"-lm", "-o", (directory / "program").string()});
  const process::Result done = run_within(link, program.directory, options, "linking the " + program.what + " code");
  return {done.succeeded(), {}, excerpt(done.output, program.directory)};
}

RunOutcome run(const Program& program, const std::string& inputs_file, std::uint32_t garbage, const Options& options) {
  const std::string results = (fs::path(program.directory) / ("results_" + std::to_string(garbage))).string();
  process::Command command{.program = (fs::path(program.directory) / "program").string()};
  command.arguments = {inputs_file, results, std::to_string(garbage), std::to_string(options.rounds)};
  command.directory = program.directory;
  // Leaks are none of our business, and looking for them fails where processes may not be traced.
  command.environment = {"ASAN_OPTIONS=detect_leaks=0"};
  RunOutcome outcome{run_within(command, program.directory, options, "the " + program.what + " program"), {}};
  InputFile file(results, InputFile::Noted::no);
  std::array<char, 1 << 16> block{};
  while (file.is_open()) {
    const auto count = file.read(block.data(), block.size());
    if (count.value_or(0) == 0) break;
    outcome.results.append(block.data(), *count);
  }
  return outcome;
}

std::vector<std::string> excerpt_lines(std::string_view output, const std::string& directory) {
  constexpr std::size_t most_lines = 12;
  constexpr std::size_t most_bytes = 2000;
  const std::string prefix = directory + "/";
  std::string shown(output.substr(0, 4 * most_bytes));
  for (std::size_t at = shown.find(prefix); at != std::string::npos; at = shown.find(prefix, at)) {
    shown.erase(at, prefix.size());
  }
  std::vector<std::string> lines;
  std::size_t bytes = 0;
  std::string_view rest = shown;
  while (!rest.empty() && lines.size() < most_lines && bytes < most_bytes) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    lines.push_back(printable(rest.substr(0, std::min(end, most_bytes))));
    bytes += lines.back().size();
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (!rest.empty()) lines.emplace_back("…");
  return lines;
}

std::string excerpt(std::string_view output, const std::string& directory) {
  std::string text;
  for (const std::string& line : excerpt_lines(output, directory)) text += "\n  " + line;
  return text;
}

}  // namespace usmp::execute

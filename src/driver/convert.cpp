// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan convert: a TensorFlow Lite model as an archive.
#include <algorithm>
#include <filesystem>
#include <ostream>
#include <set>
#include <utility>

#include "model.hpp"
#include "models.hpp"
#include "output.hpp"
#include "output_path.hpp"
#include "run.hpp"
#include "usmp/pipeline/unplanned.hpp"
#include "usmp/support/text.hpp"

namespace usmp::driver {
namespace {

namespace fs = std::filesystem;

// Nothing but files that are written again: neither an archive that somebody has extracted there, nor planned C.
void require_own_files(const std::string& directory, const std::vector<OutputFile>& files) {
  std::set<std::string> others;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_directory()) continue;
    const std::string name = entry.path().lexically_relative(directory).generic_string();
    if (std::ranges::find(files, name, &OutputFile::path) == files.end()) others.insert(name);
  }
  if (others.empty()) return;
  throw Error(
      ErrorKind::usage, {directory, {}, {}},
      "holds " + in_quotes(*others.begin()) + ", expected a new directory, or one with an earlier conversion alone");
}

int convert_or_throw(const ConvertOptions& options, std::ostream& out) {
  const bool is_archive = mlf::names_archive(options.output);
  check_output_path("-o", options.output, {options.model}, is_archive ? OutputKind::file : OutputKind::directory);
  PlanningOptions opened;
  opened.model.model = options.model;
  opened.names = options.names;
  Model model = std::move(open_models(opened).front());
  if (model::source_of(model.metadata.modules.front()) != model::Source::tflite) {
    throw Error(ErrorKind::usage, {options.model, {}, {}},
                "is no TensorFlow Lite model, expected one: archives and C are planned as they are");
  }
  const pipeline::SourceModule source = read_module(model, model.metadata.modules.front(), false);
  const std::vector<OutputFile> files = pipeline::unplanned_archive(source);
  const mlf::Archive empty{.path = options.output, .members = {}};
  if (is_archive) {
    write_archive(options.output, empty, files, {});
  } else {
    write_directory(options.output, files, {},
                    [&](const std::string& directory) { require_own_files(directory, files); });
  }
  if (options.json) {
    const auto metadata = std::ranges::find(files, "metadata.json", &OutputFile::path);
    StringSink text;
    metadata->write(text);
    out << text.text() << '\n';
  } else if (!options.quiet) {
    out << options.output << ": module " << source.info.name << " with its TIR and unplanned C\n";
  }
  return exit_ok;
}

}  // namespace

int convert(const ConvertOptions& options, std::ostream& out, std::ostream& err) {
  return run(err, [&] { return convert_or_throw(options, out); });
}

}  // namespace usmp::driver

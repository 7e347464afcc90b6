// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which files change, whether they may, and what is said of it.
#include "in_place.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "git.hpp"
#include "tree_layout.hpp"
#include "usmp/mlf/checkout.hpp"
#include "usmp/mlf/interface.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/printable.hpp"

namespace usmp::driver {
namespace {

namespace fs = std::filesystem;

// Throws Error of kind usage if git has lost track of one of the files, which are there. The result: those that no
// repository holds.
std::vector<std::string> require_committed(const Model& model, const std::vector<std::string>& files) {
  std::vector<std::string> outside;
  std::vector<std::string> changes;
  try {
    const std::vector<InHead> found = compared_with_head(files);
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (found[i] == InHead::no_repository) outside.push_back(files[i]);
      if (found[i] == InHead::other) changes.push_back(files[i] + ": not as in the last commit");
      if (found[i] == InHead::none) changes.push_back(files[i] + ": not in the last commit");
    }
  } catch (const Error& error) {
    throw in_place_refusal(model, error.message(), error.details());
  }
  if (changes.empty()) return outside;
  constexpr std::size_t most_lines = 10;
  throw in_place_refusal(model,
                         "git has uncommitted changes of files that would be overwritten: commit them, or use --force",
                         first_lines(std::move(changes), most_lines));
}

// A name that is free, or that a copy has already: "lib.c.orig", "lib.c.orig2".
std::string copy_of(const std::string& file) {
  const std::string bytes = read_text_file(file, ErrorKind::usage, std::size_t{2} << 30, InputFile::Noted::no);
  for (std::size_t number = 1;; ++number) {
    std::string copy = file + ".orig" + (number == 1 ? "" : std::to_string(number));
    std::error_code error;
    const fs::file_status status = fs::symlink_status(copy, error);
    if (status.type() == fs::file_type::not_found) return copy;
    if (!fs::is_regular_file(status) || fs::file_size(copy, error) != bytes.size()) continue;
    if (read_text_file(copy, ErrorKind::usage, bytes.size(), InputFile::Noted::no) == bytes) return {};
  }
}

// The module's files that change.
std::vector<std::string> changed_members(const mlf::ModuleFiles& files) {
  std::vector<std::string> names = files.others;
  for (const std::string& name : {files.entry, files.operators, files.header}) {
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

}  // namespace

Error in_place_refusal(const Model& model, const std::string& message, std::vector<std::string> details) {
  return {ErrorKind::usage, {model.archive.path, {}, {}}, "--in-place: " + message, std::move(details)};
}

void check_in_place(const Model& model, bool force) {
  if (!model.archive.is_directory) {
    const bool is_tflite = std::ranges::any_of(model.metadata.modules, [](const model::Description& info) {
      return model::source_of(info) == model::Source::tflite;
    });
    throw in_place_refusal(model, is_tflite
                                      ? "found a TensorFlow Lite model, which has no C that could be replaced: use -o"
                                      : "found an archive, expected a directory or a C file with TVM's C");
  }
  const Places places(model);
  std::vector<std::string> checked;
  const auto check = [&](const std::string& member) {
    checked.push_back((fs::path(places.root()) / places.of(member)).lexically_normal().string());
  };
  for (const model::Description& info : model.metadata.modules) {
    for (const std::string& name : changed_members(mlf::files_of_module(model.archive, info))) {
      const mlf::Member& member = *model.archive.find(name);
      if (mlf::is_planned_c(member.text())) {
        const std::string copy = (fs::path(places.root()) / places.of(name)).lexically_normal().string() + ".orig";
        std::error_code error;
        throw Error(ErrorKind::archive, {model.archive.path, member.shown_name(), {}},
                    "found C that usmp-plan wrote, expected TVM's: restore it from " +
                        (fs::exists(copy, error) ? "its copy, " + in_quotes(copy) : std::string("git")) +
                        ", or plan it into a directory with -o");
      }
      check(name);
    }
    std::set<std::string> foreign;  // offsets in them may change
    for (const model::ForeignFunction& function : info.foreign_functions) foreign.insert(function.member);
    for (const std::string& name : foreign) check(name);
  }
  if (model.archive.find("metadata.json") != nullptr) check("metadata.json");
  if (!force) (void)require_committed(model, checked);
}

std::vector<KeptCopy> copies_to_keep(const InPlace& done, const std::vector<OutputFile>& files, const Model& model) {
  std::vector<std::string> there;
  std::error_code error;
  for (const OutputFile& file : files) {
    const fs::path path = (fs::path(done.directory) / file.path).lexically_normal();
    if (fs::exists(path, error)) there.push_back(path.string());
  }
  std::vector<KeptCopy> copies;
  for (const std::string& file : require_committed(model, there)) {
    std::string copy = copy_of(file);
    if (!copy.empty()) copies.push_back({file, std::move(copy)});
  }
  return copies;
}

InPlace in_place_files(const PlannedPrograms& modules, const std::vector<codegen::EmissionInput>& inputs,
                       const Model& model) {
  const Places places(model);
  InPlace result{.directory = places.root(), .files = {}, .written = {}, .emptied = {}, .metadata = {}, .copies = {}};
  if (model.archive.find("metadata.json") != nullptr) result.metadata = places.of("metadata.json");
  std::map<std::string, std::string> taken;  // by file: the module
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const std::string& name = modules[i]->source.info.name;
    for (Change& change : tree_changes(*modules[i], inputs[i], model, places)) {
      const std::string path = places.of(change.member);
      if (const auto [other, is_new] = taken.emplace(path, name); !is_new) {
        throw in_place_refusal(model,
                               path + " holds parts of module '" + other->second + "' and of module '" + name + "'");
      }
      result.files.push_back({path, std::move(change.write)});
      (change.is_emptied ? result.emptied : result.written).push_back(path);
    }
  }
  return result;
}

std::string in_place_text(const InPlace& done, const PlannedPrograms& modules, bool is_dry_run) {
  std::string text = is_dry_run ? "would be written in place, below " : "written in place, below ";
  text += printable(done.directory) + ":\n";
  for (const std::string& path : done.written) text += "  " + printable(path) + "\n";
  if (!done.metadata.empty()) text += "  " + printable(done.metadata) + " (memory figures)\n";
  if (!done.emptied.empty()) {
    text += is_dry_run ? "would be emptied" : "emptied";
    text += ", since the build no longer needs their contents:\n";
  }
  for (const std::string& path : done.emptied) text += "  " + printable(path) + "\n";
  if (!done.copies.empty()) {
    text +=
        std::string(is_dry_run ? "would be copied" : "copied") + " as they were, since no git repository has them:\n";
  }
  for (const KeptCopy& one : done.copies) text += "  " + printable(one.copy) + "\n";
  for (const auto& module : modules) {
    const bool owns = std::any_of(module->document.pools.begin(), module->document.pools.end(), [](const auto& pool) {
      return pool.kind == PoolKind::workspace && pool.internal && pool.used > 0;
    });
    if (!owns) continue;
    const bool owned = std::ranges::any_of(module->source.tvm_pools, &tvm_c::PlannedPool::in_c);
    text += "module " + printable(module->document.module) + " owns its workspace, " +
            bytes_text(module->document.workspace_used) +
            (owned ? ", as before\n"
             : pipeline::allocates_at_run_time(module->source)
                 ? ": TVM's allocator only serves what is allocated at run time (see the warnings)\n"
                 : ": memory that the firmware gives to TVM's allocator is no longer used\n");
  }
  return text;
}

}  // namespace usmp::driver

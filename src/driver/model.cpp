// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds out what a path is, a model, an archive or a source tree, and reads it.
#include "model.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "file_kind.hpp"
#include "output_path.hpp"
#include "usmp/mlf/checkout.hpp"
#include "usmp/mlf/interface.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/visit.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::driver {
namespace {

namespace fs = std::filesystem;

constexpr const char* export_hint = "apps/export_tir.py, run inside your TVM, adds TIR to an archive";

void keep_module(mlf::Metadata& metadata, const std::string& name) {
  const auto found = std::find_if(metadata.modules.begin(), metadata.modules.end(),
                                  [&](const model::Description& info) { return info.name == name; });
  if (found == metadata.modules.end()) {
    const std::vector<std::string> names = module_names(metadata);
    throw Error(
        ErrorKind::usage, {},
        "no module '" + name + "'" + did_you_mean(name, names) + "; the archive holds: " + module_list(metadata));
  }
  model::Description chosen = std::move(*found);
  metadata.modules.clear();
  metadata.modules.push_back(std::move(chosen));
}

std::vector<transform::Step> transformations_of(const std::string& text) {
  std::string wrong;
  if (auto steps = transform::parse_steps(text, &wrong)) return std::move(*steps);
  const std::vector<std::string> steps = transformation_names();
  std::vector<std::string> names = {"none", "all"};
  names.insert(names.end(), steps.begin(), steps.end());
  if (wrong == "all" || wrong == "none") {
    throw Error(ErrorKind::usage, {},
                "--transform: '" + wrong + "' stands alone, without other names: expected none, all or some of " +
                    joined(steps));
  }
  if (wrong.empty()) {
    throw Error(ErrorKind::usage, {},
                "--transform: a name in '" + text + "' is empty: expected none, all or some of " + joined(steps) +
                    ", separated by commas");
  }
  throw Error(ErrorKind::usage, {},
              "--transform: unknown transformation '" + wrong + "'" + did_you_mean(wrong, names) +
                  "; expected none, all or " + joined(steps));
}

Model open_bare_module(const std::string& path) {
  Model model;
  model.bare_module = true;
  model.archive.path = path;
  model.archive.members.push_back(
      {"src/default.tir.json", read_text_file(path, ErrorKind::archive, mlf::Limits().member_bytes), 0644});
  model::Description info;
  info.name = "default";
  info.tir_member = "src/default.tir.json";
  model.metadata.modules.push_back(std::move(info));
  return model;
}

// A TensorFlow Lite model: one module of the file's name. What else is known of it, its reader says.
Model open_tflite(const std::string& path) {
  Model model;
  model.archive.path = path;
  const std::string name = file_name_of(path);
  model.archive.members.push_back({name, read_text_file(path, ErrorKind::archive, mlf::Limits().member_bytes), 0644});
  model::Description info;
  info.name = c_identifier(name.substr(0, name.rfind('.')));
  info.tflite_member = name;
  model.metadata.modules.push_back(std::move(info));
  return model;
}

bool has_sources(const model::Description& info) {
  return std::any_of(info.c_members.begin(), info.c_members.end(),
                     [](const std::string& name) { return !name.ends_with(".h"); });
}

// What of the code generator is there instead.
std::string objects_text(const mlf::Archive& archive) {
  for (const mlf::Member& member : archive.members) {
    if (!member.name.starts_with("codegen/") || !ends_with_any(member.name, {".o", ".obj", ".a", ".lib", ".so"}))
      continue;
    return "machine code (" + member.name + ") cannot be planned again: compile with --target=c; ";
  }
  return {};
}

void choose_front_end(mlf::Metadata& metadata, const std::string& from) {
  if (from != "c" && from != "tir") {
    throw Error(ErrorKind::usage, {}, "--from: found '" + from + "', expected c or tir");
  }
  for (model::Description& info : metadata.modules) {
    if (from == "c") info.tir_member.clear();
    const bool is_there = from == "c" ? has_sources(info) : !info.tir_member.empty();
    if (is_there) continue;
    throw Error(ErrorKind::usage, {},
                "--from " + from + ": there is no " + (from == "c" ? "C that TVM wrote" : "TIR") + " of module '" +
                    info.name + "'" + (from == "tir" ? std::string("; ") + export_hint : ""));
  }
}

mlf::Archive read_archive_or_checkout(const std::string& path) {
  std::error_code error;
  const bool is_c_file = ends_with_any(path, {".c", ".cc", ".cpp", ".cxx"}) && fs::is_regular_file(path, error);
  const bool is_tree = fs::is_directory(path, error) && !mlf::is_extracted_archive(path);
  return is_c_file || is_tree ? mlf::read_checkout(path) : mlf::read_archive(path);
}

// Why the model cannot be planned, in one line; empty: it is read without an error.
std::string fault_of(const std::string& directory, const ModelOptions& options) {
  try {
    Model model;
    model.archive = read_archive_or_checkout(directory);
    model.metadata = mlf::read_metadata(model.archive);
    model.synchronous = options.synchronous;
    if (options.from) choose_front_end(model.metadata, *options.from);
    for (const model::Description& info : model.metadata.modules) (void)read_module(model, info, true);
    return {};
  } catch (const Error& error) {
    return Error(error.kind(), error.with_file(directory).where(), error.message()).what();
  }
}

// Names those first that can be read.
Error with_faults(const mlf::SeveralModels& several, const ModelOptions& options) {
  std::vector<std::string> good;
  std::vector<std::string> bad;
  for (const mlf::SeveralModels::Found& found : several.found()) {
    const std::string fault = fault_of(found.directory, options);
    if (fault.empty()) {
      good.push_back(mlf::command_for(found));
    } else {
      bad.push_back(fault);
    }
  }
  if (bad.empty()) return Error(several);
  const std::string found = "holds models in " + counted(several.found().size(), "directory", "directories");
  if (good.empty()) return {ErrorKind::archive, several.where(), found + ", of which none can be planned:", bad};
  good.emplace_back("not one of these:");
  good.insert(good.end(), bad.begin(), bad.end());
  return {ErrorKind::usage, several.where(), found + ", expected one; type one of:", good};
}

pipeline::CFiles foreign_sources_of(const Model& model, const model::Description& info) {
  pipeline::CFiles files;
  std::map<std::string_view, std::size_t> owners;
  for (const model::Description& module : model.metadata.modules) {
    for (const std::string& name : module.foreign_members) ++owners[name];
  }
  for (const std::string& name : info.foreign_members) {
    const mlf::Member* const member = model.archive.find(name);
    if (member == nullptr) continue;
    files.foreign.push_back({member->name, member->text()});
    if (owners[name] > 1) files.shared.insert(name);
  }
  std::set<std::string> own(info.c_members.begin(), info.c_members.end());
  own.insert(info.foreign_members.begin(), info.foreign_members.end());
  files.mentioned_elsewhere = [&model, own = std::move(own)](const std::set<std::string, std::less<>>& names) {
    return mlf::mentioned_elsewhere(model.archive, own, names);
  };
  return files;
}

}  // namespace

std::vector<std::string> transformation_names() {
  std::vector<std::string> names;
  for (const transform::Step step : transform::all_steps) names.emplace_back(transform::name_of(step));
  return names;
}

std::vector<std::string> core_names() {
  std::vector<std::string> names;
  for (const kernels::Core& core : kernels::cores()) names.emplace_back(core.name);
  return names;
}

std::vector<std::string> module_names(const mlf::Metadata& metadata) {
  std::vector<std::string> names;
  for (const model::Description& info : metadata.modules) names.push_back(info.name);
  return names;
}

std::string module_list(const mlf::Metadata& metadata) { return joined(module_names(metadata)); }

std::string one_module_text(const std::vector<std::string>& names, const std::string& what) {
  std::vector<std::string> options;
  options.reserve(names.size());
  for (const std::string& name : names) options.push_back("--module " + name);
  return "has " + std::to_string(names.size()) + " modules, and " + what + ": expected " + joined(options, " or ");
}

std::string read_text_file(const std::string& path, ErrorKind kind, std::size_t most, InputFile::Noted noted) {
  InputFile file(path, noted);
  if (!file.is_open()) throw Error(ErrorKind::usage, {path, {}, {}}, "cannot be read: " + file.fault());
  const auto too_large = [&] { return Error(kind, {path, {}, {}}, "larger than " + std::to_string(most) + " bytes"); };
  if (file.size() > most) throw too_large();
  std::string text;
  text.reserve(static_cast<std::size_t>(file.size()));
  std::vector<char> block(std::size_t{1} << 16);
  while (const auto count = file.read(block.data(), block.size())) {
    if (*count == 0) return text;
    text.append(block.data(), *count);
    if (text.size() > most) throw too_large();
  }
  throw Error(kind, {path, {}, {}}, "reading failed: " + file.fault());
}

Model open_model(const ModelOptions& options) {
  const std::vector<transform::Step> transformations = transformations_of(options.transform.value_or("all"));
  try {
    require_model(options.model);
    Model model;
    std::error_code error;
    if (options.model.ends_with(".json") && !fs::is_directory(options.model, error)) {
      model = open_bare_module(options.model);
    } else if (is_tflite(options.model)) {
      model = open_tflite(options.model);
    } else {
      model.archive = read_archive_or_checkout(options.model);
      model.metadata = mlf::read_metadata(model.archive);
    }
    model.from = options.from;
    model.synchronous = options.synchronous;
    model.transformations = {transformations, options.recompute_percent.value_or(0),
                             options.cpu ? kernels::find_core(*options.cpu) : nullptr};
    model.transformations.plan_stack = options.plan_stack.value_or(storage::default_plan_stack);
    model.file_name = name_of_model(options.model);
    if (options.module) keep_module(model.metadata, *options.module);
    if (options.from) choose_front_end(model.metadata, *options.from);
    return model;
  } catch (const mlf::SeveralModels& several) {
    throw with_faults(several, options);
  } catch (const Error& error) {
    throw error.with_file(options.model);
  }
}

void prefer_c(Model& model) {
  for (model::Description& info : model.metadata.modules) {
    if (has_sources(info)) info.tir_member.clear();
  }
}

void require_known_synchronous(std::span<const Model> models, const std::set<std::string>& names) {
  if (names.empty()) return;
  bool is_known = false;
  bool is_c_read = false;
  for (const Model& model : models) {
    for (const model::Description& info : model.metadata.modules) {
      if (!info.tir_member.empty() || !has_sources(info)) continue;
      is_c_read = true;
      const pipeline::CFiles files = sources_of(model, info);
      for (const auto* part : {&files.own, &files.foreign, &files.headers}) {
        for (const tvm_c::Source& file : *part) {
          for_each_identifier(file.text,
                              [&](std::string_view name) { is_known = is_known || names.contains(std::string(name)); });
        }
      }
    }
  }
  // Statements that become functions get names of this program's.
  const auto is_ours = [](const std::string& name) { return name.starts_with("usmp_"); };
  if (is_known || (is_c_read && std::ranges::any_of(names, is_ours))) return;
  throw Error(ErrorKind::usage, {},
              "--synchronous: found " + in_quotes(*names.begin()) + ", expected functions " +
                  (is_c_read ? "that the model's C mentions" : "of a model that is read from C (--from c)"));
}

pipeline::CFiles sources_of(const Model& model, const model::Description& info) {
  pipeline::CFiles files = foreign_sources_of(model, info);
  files.synchronous = model.synchronous;
  files.own.reserve(info.c_members.size());
  for (const std::string& name : info.c_members) {
    const mlf::Member& member = *model.archive.find(name);
    files.own.push_back({member.shown_name(), member.text(), member.file});
  }
  for (const mlf::Member& member : model.archive.members) {
    const bool is_of_module =
        std::find(info.c_members.begin(), info.c_members.end(), member.name) != info.c_members.end();
    const bool is_header = (member.name.starts_with("codegen/") || member.name.starts_with("headers/")) &&
                           ends_with_any(member.name, {".h", ".hpp"});
    if (is_header && !is_of_module) files.headers.push_back({member.shown_name(), member.text()});
  }
  // Otherwise it is refused later (check_in_place).
  const bool is_possible = std::none_of(files.own.begin(), files.own.end(),
                                        [](const tvm_c::Source& file) { return mlf::is_planned_c(file.text); });
  if (!model.in_place || !model.archive.is_directory || !is_possible) return files;
  const mlf::ModuleFiles found = mlf::files_of_module(model.archive, info);
  std::vector<std::string> names = found.others;
  names.insert(names.end(), {found.entry, found.operators});
  for (const std::string& name : names) {
    if (!name.empty()) files.rewritten.insert(model.archive.find(name)->shown_name());
  }
  return files;
}

namespace {

// Whether somebody has added statements to the C of the entry. Of C that is not read, nothing is known.
bool is_entry_edited(const Model& model, model::Description info) {
  info.tir_member.clear();
  try {
    const tir::Module module = pipeline::read_module(info, sources_of(model, info)).module;
    bool is_edited = false;
    tir::for_each_expr_in(module.functions[module.entry].body, [&](const tir::Expr& expr) {
      const auto call = tir::named_call(expr);
      is_edited = is_edited || tir::kept_text_of(expr) != nullptr || (call && call->name->starts_with("usmp_"));
    });
    return is_edited;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

pipeline::SourceModule read_module(Model& model, const model::Description& info, bool release_tir) {
  if (!info.tflite_member.empty()) {
    try {
      pipeline::SourceModule source = pipeline::read_module(info.name, model.archive.members.front().text());
      source.info.tflite_member = info.tflite_member;
      return source;
    } catch (const Error& error) {
      throw error.with_file(model.archive.path);
    }
  }
  if (info.tir_member.empty() && !has_sources(info)) {
    const std::string message = "the archive has neither TIR nor C of module '" + info.name + "'; ";
    throw Error(ErrorKind::archive, {model.archive.path, "src/" + info.name + ".tir.json", {}},
                message + objects_text(model.archive) + export_hint);
  }
  try {
    if (info.tir_member.empty()) return pipeline::read_module(info, sources_of(model, info));
    mlf::Member& member = *std::find_if(model.archive.members.begin(), model.archive.members.end(),
                                        [&](const mlf::Member& one) { return one.name == info.tir_member; });
    pipeline::SourceModule source =
        pipeline::read_module(info, std::string_view(member.bytes), foreign_sources_of(model, info));
    const bool may_be_edited = model.archive.is_directory && !model.from && has_sources(info);
    if (may_be_edited && is_entry_edited(model, info)) {
      source.warnings.push_back(
          "the C of the entry has statements that its TIR lacks, which is what is read; --from c reads the C");
    }
    if (release_tir) {
      member.bytes.clear();
      member.bytes.shrink_to_fit();
    }
    return source;
  } catch (const Error& error) {
    // Who has a source tree has C to change, and often no TVM any more.
    const bool may_export = info.tir_member.empty() && model.from != "c" && !model.archive.is_checkout &&
                            model.archive.find("src/" + info.name + ".tir.json") == nullptr;
    if (!may_export) throw error.with_file(model.archive.path);
    std::vector<std::string> details = error.details();
    details.push_back("there is no TIR of module '" + info.name + "', so its C is read; " + export_hint);
    throw Error(error.kind(), error.with_file(model.archive.path).where(), error.message(), std::move(details));
  }
}

}  // namespace usmp::driver

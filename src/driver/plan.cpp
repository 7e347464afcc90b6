// SPDX-License-Identifier: Apache-2.0
// usmp-plan MODEL: archive → TIR → live ranges → problem → plan → verification → lowered TIR → C.
#include <spdlog/spdlog.h>

#include <filesystem>
#include <ostream>
#include <set>
#include <utility>

#include "output.hpp"
#include "output_path.hpp"
#include "planning.hpp"
#include "run.hpp"
#include "usmp/plan_file/plan_json.hpp"
#include "usmp/report/text.hpp"
#include "usmp/support/printable.hpp"

namespace usmp::driver {
namespace {

// The text is made before anything is written: the JSON library does not always survive want of memory.
OutputFile plan_file(const pipeline::PlannedProgram& planned) {
  return {planned.document.module + ".plan.json",
          [text = plan_file::plan_json(planned.document)](TextSink& sink) { sink.write(text); }};
}

// Everything that the run writes. The files point into `inputs` and `model`.
std::vector<OutputFile> files_of(const PlannedPrograms& modules, const std::vector<codegen::PlannedModule>& inputs,
                                 const Model& model, bool linker_script) {
  std::vector<OutputFile> files;
  std::set<std::string> paths;
  const auto add = [&](OutputFile file) {
    if (paths.insert(file.path).second) files.push_back(std::move(file));
  };
  for (std::size_t i = 0; i < modules.size(); ++i) {
    for (OutputFile& file : codegen::module_files(inputs[i])) add(std::move(file));
    add(plan_file(*modules[i]));
    for (OutputFile& file : foreign_files(*modules[i], model)) add(std::move(file));
  }
  add(codegen::metadata_header(inputs));
  if (linker_script) add(codegen::memory_script(inputs));
  return files;
}

// The C libraries that the planned ones replace, and what an earlier plan may have written that this one does not.
std::vector<std::string> replaced_members(const PlannedPrograms& modules, const Model& model) {
  std::vector<std::string> names = {codegen::memory_script_path};
  for (const auto& planned : modules) {
    const mlf::ModuleInfo& info = planned->source.info;
    const std::string prefix = "codegen/host/src/" + info.name + "_lib";
    names.push_back(codegen::constants_header_path(info.name));
    const std::set<std::string> kept(info.foreign_members.begin(), info.foreign_members.end());
    for (const mlf::Member& member : model.archive.members) {
      if (member.name.starts_with(prefix) && !kept.contains(member.name)) names.push_back(member.name);
    }
  }
  return names;
}

// What an archive gets besides the files that are written.
std::vector<std::string> kept_members(const PlannedPrograms& modules, const Model& model) {
  const std::vector<std::string> replaced = replaced_members(modules, model);
  const std::set<std::string> dropped(replaced.begin(), replaced.end());
  std::vector<std::string> names;
  for (const mlf::Member& member : model.archive.members) {
    if (!dropped.contains(member.name)) names.push_back(member.name);
  }
  return names;
}

// Written files and copied members may come to lie below each other where members alone do not.
void check_paths(const std::vector<OutputFile>& files, const std::vector<std::string>& copied) {
  std::vector<std::string_view> names(copied.begin(), copied.end());
  for (const OutputFile& file : files) names.push_back(file.path);
  const std::string_view name = mlf::file_as_directory(std::move(names));
  if (name.empty()) return;
  throw Error(ErrorKind::archive, {{}, std::string(name), {}},
              "is a file in the output, but others would lie below it");
}

std::string replanned_metadata(const PlannedPrograms& modules, const Model& model) {
  std::vector<mlf::MemoryFigures> figures;
  for (const auto& planned : modules) {
    figures.push_back({planned->document.module, planned->document.workspace_used, planned->document.constants_used});
  }
  return mlf::updated_metadata(model.archive, figures);
}

std::string output_of(const PlanOptions& options) {
  return options.output.value_or(default_output(options.model.model));
}

void write_results(const PlanOptions& options, const PlannedPrograms& modules, const Model& model,
                   std::vector<OutputFile> files) {
  const std::string output = output_of(options);
  spdlog::debug("writing {} files to {}", files.size(), output);
  const std::vector<std::string> replaced = replaced_members(modules, model);
  if (!names_archive(output)) {
    const auto accept = [&model](const std::string& directory) { require_same_model(directory, model.file_name); };
    return write_directory(output, files, replaced, accept);
  }
  files.push_back({"metadata.json", [text = replanned_metadata(modules, model)](TextSink& sink) { sink.write(text); }});
  write_archive(output, model.archive, files, replaced);
}

std::string plans_text(const PlanOptions& options, const PlannedPrograms& modules) {
  std::string text;
  if (options.model.json) {
    for (const auto& module : modules) {
      text += text.empty() ? "{\"modules\": [\n" : ",\n";
      text += plan_file::plan_json(module->document);
    }
    return text + "]}\n";
  }
  if (options.verbosity == Verbosity::quiet) return text;
  for (const auto& module : modules) {
    if (!text.empty()) text += '\n';
    text += report::plan_text(module->document,
                              {.color = options.color, .verbose = options.verbosity == Verbosity::verbose});
  }
  return text;
}

// Before anything is computed.
void check_output(const PlanOptions& options) {
  if (options.dry_run) return;
  const std::string output = output_of(options);
  for (const char* ending : {".zip", ".7z", ".tar.bz2", ".tbz2"}) {
    if (output.ends_with(ending)) {
      throw Error(ErrorKind::usage, {output, {}, {}},
                  "archives are written as .tar, .tar.gz, .tgz, .tar.xz or .tar.zst");
    }
  }
  check_output_path("-o", output,
                    {options.model.model, options.pools_file.value_or(""), options.memory_file.value_or("")});
  if (!names_archive(output)) require_same_model(output, file_name_of(options.model.model));
}

int plan_or_throw(const PlanOptions& options, std::ostream& out, std::ostream& err) {
  check_output(options);
  const bool rewrites_archive = options.output && names_archive(*options.output);
  Planning planning = assemble_all(options, !rewrites_archive);
  const Model& model = planning.model;
  const PlannedPrograms& modules = planning.modules;
  if (model.bare_module && !options.dry_run) {
    throw Error(ErrorKind::usage, {options.model.model, {}, {}},
                "a TIR module without its archive can only be planned with --dry-run");
  }
  plan_all(planning, options, options.progress ? &err : nullptr);
  if (const pipeline::PlannedProgram* failed = planning.without_plan())
    return report_infeasible(*failed, planning.settings, err);
  const std::string text = plans_text(options, modules);  // takes memory, so before anything is written
  if (!model.bare_module) {
    std::vector<codegen::PlannedModule> inputs;
    for (const auto& planned : modules)
      inputs.push_back(pipeline::emission_input(*planned, planning.settings.request.workspace_io));
    std::vector<OutputFile> files;
    try {
      files = files_of(modules, inputs, model, options.linker_script);
      check_paths(files, rewrites_archive ? kept_members(modules, model) : std::vector<std::string>());
    } catch (const Error& error) {
      throw error.with_file(options.model.model);
    }
    if (!options.dry_run) write_results(options, modules, model, std::move(files));
  }
  if (text.empty()) print_warnings(modules, err);
  out << text;
  if (!options.dry_run && !options.model.json && options.verbosity != Verbosity::quiet) {
    out << "\nwritten to " << printable(options.output.value_or(default_output(options.model.model))) << "\n";
  }
  return exit_ok;
}

}  // namespace

std::string default_output(const std::string& model) {
  if (names_open_file(model)) return "model_planned";
  std::filesystem::path path = std::filesystem::path(model).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  const std::string name = path.filename().string();
  const bool names_nothing = name.empty() || name == "." || name == "..";
  return names_nothing ? "model_planned" : without_archive_ending(name) + "_planned";
}

int plan(const PlanOptions& options, std::ostream& out, std::ostream& err) {
  return run(err, [&] { return plan_or_throw(options, out, err); });
}

}  // namespace usmp::driver

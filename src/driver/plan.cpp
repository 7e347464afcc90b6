// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan MODEL: archive → TIR → live ranges → problem → plan → verification → lowered TIR → C.
#include <spdlog/spdlog.h>

#include <filesystem>
#include <map>
#include <ostream>
#include <set>
#include <utility>

#include "advice.hpp"
#include "file_kind.hpp"
#include "in_place.hpp"
#include "models.hpp"
#include "output.hpp"
#include "output_path.hpp"
#include "planning.hpp"
#include "run.hpp"
#include "usmp/compare/whole.hpp"
#include "usmp/plan_file/plan_json.hpp"
#include "usmp/report/shared_pools.hpp"
#include "usmp/report/text.hpp"
#include "usmp/support/input_file.hpp"
#include "usmp/support/message.hpp"
#include "usmp/support/printable.hpp"
#include "usmp/support/text.hpp"

namespace usmp::driver {
namespace {

// The text is made before anything is written: the JSON library does not always survive want of memory.
OutputFile plan_file(const pipeline::PlannedProgram& planned) {
  return {planned.document.module + ".plan.json",
          [text = plan_file::plan_json(planned.document)](TextSink& sink) { sink.write(text); }};
}

// A file that two models bring along has to be the same in both.
void require_equal_files(const PlannedPrograms& modules, const Planning& planning) {
  std::map<std::string, std::pair<const Model*, std::string_view>> known;
  for (const auto& planned : modules) {
    const Model& model = planning.model_of(*planned);
    for (const std::string& name : planned->source.info.foreign_members) {
      const auto text = foreign_text(*planned, model, name);
      if (!text) continue;
      const auto [first, is_new] = known.emplace(name, std::pair(&model, *text));
      if (is_new || first->second.second == *text) continue;
      throw Error(ErrorKind::usage, {model.archive.path, name, {}},
                  "differs from the file of this name in " + first->second.first->archive.path +
                      ", so both cannot be written into one directory");
    }
  }
}

// Everything that the run writes. The files point into `inputs` and `planning`. Throws Error with the file set.
std::vector<OutputFile> files_of(const Planning& planning, const std::vector<codegen::EmissionInput>& inputs,
                                 const PlanOptions& options) {
  std::vector<OutputFile> files;
  std::set<std::string> paths;
  const auto add = [&](OutputFile file) {
    if (paths.insert(file.path).second) files.push_back(std::move(file));
  };
  require_equal_files(planning.modules, planning);
  const Model* model = &planning.models.front();
  try {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const pipeline::PlannedProgram& planned = *planning.modules[i];
      model = &planning.model_of(planned);
      for (OutputFile& file : codegen::module_files(inputs[i])) add(std::move(file));
      if (options.emit_metadata) add(codegen::runtime_metadata(inputs[i]));
      if (options.emit_info) {
        for (OutputFile& file : codegen::info_files(inputs[i])) add(std::move(file));
      }
      add(plan_file(planned));
      for (OutputFile& file : foreign_files(planned, *model)) add(std::move(file));
    }
    add(codegen::metadata_header(inputs));
    if (auto pools = codegen::shared_pools_file(inputs)) add(std::move(*pools));
    if (auto table = codegen::flash_table(inputs)) add(std::move(*table));
    if (options.linker_script) add(codegen::memory_script(inputs));
  } catch (const Error& error) {
    throw error.with_file(model->archive.path);
  }
  return files;
}

// The C libraries that the planned ones replace, and what an earlier plan may have written that this one does not.
std::vector<std::string> replaced_members(const Planning& planning) {
  std::vector<std::string> names = {codegen::all_memory_script_path, codegen::all_flash_table_path,
                                    codegen::shared_pools_path, codegen::info_types_path};
  for (const auto& planned : planning.modules) {
    const model::Description& info = planned->source.info;
    const std::string source = "codegen/host/src/" + info.name + "_";
    const std::string prefix = source + "lib";
    names.push_back(codegen::constants_header_path(info.name));
    names.push_back(codegen::runtime_metadata_path(info.name));
    names.push_back(codegen::info_header_path(info.name));
    names.push_back(codegen::info_source_path(info.name));
    names.push_back(codegen::memory_script_path(info.name));
    names.push_back(codegen::flash_table_path(info.name));
    const std::set<std::string> kept(info.foreign_members.begin(), info.foreign_members.end());
    for (const mlf::Member& member : planning.model_of(*planned).archive.members) {
      const bool is_pool =
          member.name.starts_with(source) && (member.name.ends_with(".bin") || member.name.ends_with(".S"));
      if ((member.name.starts_with(prefix) || is_pool) && !kept.contains(member.name)) names.push_back(member.name);
    }
  }
  return names;
}

// What an archive gets besides the files that are written.
std::vector<std::string> kept_members(const Planning& planning) {
  const std::vector<std::string> replaced = replaced_members(planning);
  const std::set<std::string> dropped(replaced.begin(), replaced.end());
  std::vector<std::string> names;
  for (const mlf::Member& member : planning.models.front().archive.members) {
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

// The file of --plan-json is none that the directory gets or loses, unless it says the same.
void require_plan_apart(const std::string& plan_json, const std::string& output, const std::vector<OutputFile>& files,
                        const Planning& planning) {
  std::vector<std::string> names = replaced_members(planning);
  for (const OutputFile& file : files) names.push_back(file.path);
  const bool is_alone = planning.modules.size() == 1;
  const std::string same = is_alone ? plan_file(*planning.modules.front()).path : "";
  for (const std::string& name : names) {
    if (name == same) continue;
    require_different_outputs("--plan-json", plan_json, "-o", output + "/" + name);
  }
}

std::string replanned_metadata(const PlannedPrograms& modules, const Model& model) {
  std::vector<mlf::MemoryFigures> figures;
  for (const auto& planned : modules) {
    figures.push_back({planned->document.module, planned->document.workspace_used, planned->document.constants_used});
  }
  return mlf::updated_metadata(model.archive, figures);
}

std::vector<std::string> modules_of(const Planning& planning) {
  std::vector<std::string> names;
  for (const auto& planned : planning.modules) names.push_back(planned->document.module);
  return names;
}

std::string output_of(const PlanOptions& options) {
  return options.output.value_or(default_output(options.model.model));
}

void write_results(const PlanOptions& options, const Planning& planning, std::vector<OutputFile> files) {
  const std::string output = output_of(options);
  const Model& model = planning.models.front();
  spdlog::debug("writing {} files to {}", files.size(), message_line(output));
  const std::vector<std::string> replaced = replaced_members(planning);
  if (!mlf::names_archive(output)) {
    const auto accept = [&](const std::string&) {  // by its name on the command line
      require_same_models(output, models_and(options, {}), modules_of(planning));
    };
    return write_directory(output, files, replaced, accept);
  }
  files.push_back(
      {"metadata.json", [text = replanned_metadata(planning.modules, model)](TextSink& sink) { sink.write(text); }});
  write_archive(output, model.archive, files, replaced);
}

std::string plans_json(const PlannedPrograms& modules) {
  std::string text;
  for (const auto& module : modules) {
    text += text.empty() ? "{\"modules\": [\n" : ",\n";
    text += plan_file::plan_json(module->document);
  }
  return text + "]}\n";
}

// The file that --plan-json names. When it goes without `keep` having been called, the file is as it was before.
class NamedPlan {
 public:
  NamedPlan(const PlanOptions& options, const PlannedPrograms& modules) {
    if (!options.plan_json || options.dry_run) return;
    const std::string& path = *options.plan_json;
    std::error_code error;
    const bool stays = is_written_through(path);  // what is written there cannot be taken back
    if (!stays && std::filesystem::exists(path, error)) {
      before_ = read_text_file(path, ErrorKind::output, std::size_t{1} << 30, InputFile::Noted::no);
    }
    write_file(path, modules.size() == 1 ? plan_file::plan_json(modules.front()->document) : plans_json(modules));
    if (!stays) path_ = path;
  }
  NamedPlan(const NamedPlan&) = delete;
  NamedPlan& operator=(const NamedPlan&) = delete;
  ~NamedPlan() {
    if (path_.empty()) return;
    try {
      std::error_code error;
      if (before_) {
        write_file(path_, *before_);
      } else {
        std::filesystem::remove(path_, error);
      }
    } catch (const std::exception& error) {
      spdlog::error("{} cannot be restored: {}", message_line(path_), message_line(error.what()));
    }
  }
  void keep() { path_.clear(); }

 private:
  std::string path_;
  std::optional<std::string> before_;
};

std::string plans_text(const PlanOptions& options, const Planning& planning) {
  const PlannedPrograms& modules = planning.modules;
  std::string text;
  if (options.model.json) return plans_json(modules);
  if (options.verbosity == Verbosity::quiet) return text;
  for (const auto& module : modules) {
    if (!text.empty()) text += '\n';
    text += report::plan_text(module->document,
                              {.color = options.color, .verbose = options.verbosity == Verbosity::verbose});
  }
  if (modules.size() > 1) text += "\n" + report::shared_pools_text(shared_pools(planning), modules.size());
  return text;
}

Bytes percent_of(Bytes bytes, Bytes percent) {
  constexpr Bytes whole = 100;
  return bytes / whole * percent + bytes % whole * percent / whole;
}

// While other options are tried, behind a plan that is complete: Ctrl-C ends that and takes nothing from the plan.
class Aside {
 public:
  Aside() = default;
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;
  ~Aside() {
    if (!was_before_) forget_interruptions();
  }

 private:
  bool was_before_ = was_interrupted();
};

compare::WholeFigures figures_of(const Planning& planning) {
  return compare::whole_figures(planning.documents(), planning.settings.request.pools);
}

// What all modules need of RAM with other options, where it is at most `most`; with each less than with those before.
std::string advice_lines(const PlanOptions& options, const Planning& planning, const std::vector<Attempt>& attempts,
                         const compare::WholeFigures& now, Bytes most, std::ostream* terminal) {
  std::string text;
  try_options(options, planning.settings.request.workspace_io, attempts, terminal,
              [&](const std::string& words, const Planning& other) {
                if (other.without_plan() != nullptr) return;
                const compare::WholeFigures then = figures_of(other);
                if (then.ram() > most) return;
                most = then.ram() - 1;
                text += "with " + words + ": " + bytes_text(then.ram() - then.stack) + " of RAM instead of " +
                        std::to_string(now.ram() - now.stack);
                if (then.stack != now.stack) {
                  text += ", " + std::to_string(then.stack) + " of stack instead of " + std::to_string(now.stack);
                }
                text += "\n";
              });
  return text;
}

std::string advice_text(const PlanOptions& options, const Planning& planning, std::ostream* terminal) {
  const Aside aside;
  const compare::WholeFigures now = figures_of(planning);
  const std::string text = advice_lines(options, planning, all_attempts, now, now.ram() - 1, terminal);
  if (was_interrupted()) return "\n" + text + "interrupted: not all other options were tried\n";
  return "\n" + (text.empty() ? "no other options tried need less RAM\n" : text);
}

// Plans again what takes about as much time as the model did: inputs and outputs in the workspace, where that may save
// enough that somebody would want it.
std::string workspace_io_text(const PlanOptions& options, const Planning& planning) {
  constexpr Bytes least_percent = 5;
  const bool is_asked = options.verbosity != Verbosity::quiet && !options.model.json;
  const bool is_finished = std::ranges::all_of(planning.modules, [](const auto& module) {
    return module->result.stopped == StopReason::finished;  // else it would take a limit twice
  });
  if (!is_asked || !is_finished || was_interrupted()) return {};
  const compare::WholeFigures now = figures_of(planning);
  const Bytes least = percent_of(now.ram(), least_percent);
  if (!now.knows_ram || now.io < least) return {};
  const Aside aside;
  const std::string text = advice_lines(options, planning, {{.workspace_io = true}}, now, now.ram() - least, nullptr);
  return text.empty() ? text : "\n" + text;
}

// A workspace without a pools file stays in the linker section of TVM's, if all of TVM's are in one.
void keep_section(pipeline::PlannedProgram& planned) {
  std::set<std::string> sections;
  for (const tvm_c::PlannedPool& pool : planned.source.tvm_pools) {
    if (pool.in_c) sections.insert(pool.section);
  }
  if (sections.size() != 1) return;
  for (placement::Pool& pool : planned.placements.pools) {
    if (pool.kind == PoolKind::workspace && pool.internal) pool.section = *sections.begin();
  }
}

// A linker section that somebody has chosen for workspace of the C, and that no pool of the plan is in. TVM's own has
// nothing that firmware relies on.
void warn_of_lost_sections(pipeline::PlannedProgram& planned) {
  std::set<std::string> known = {"", ".bss.noinit.tvm"};
  for (const placement::Pool& pool : planned.placements.pools) known.insert(pool.section);
  for (const tvm_c::PlannedPool& pool : planned.source.tvm_pools) {
    if (!pool.in_c || !known.insert(pool.section).second) continue;
    planned.document.warnings.push_back("section " + in_quotes(pool.section) + " of pool " + in_quotes(pool.name) +
                                        " is not in planned C; --pools can give it (section: " + pool.section + ")");
  }
}

InPlace rewrite_in_place(const PlanOptions& options, const PlannedPrograms& modules,
                         const std::vector<codegen::EmissionInput>& inputs, const Model& model) {
  InPlace done = in_place_files(modules, inputs, model);
  std::vector<OutputFile> files = done.files;
  if (!done.metadata.empty()) {
    files.push_back({done.metadata, [text = replanned_metadata(modules, model)](TextSink& sink) { sink.write(text); }});
  }
  if (!options.force) done.copies = copies_to_keep(done, files, model);
  if (!options.dry_run) write_in_place(done.directory, files, done.copies);
  return done;
}

// Before anything is computed.
void check_output(const PlanOptions& options) {
  if (options.plan_json) {
    check_output_path("--plan-json", *options.plan_json, inputs_of(options));
  }
  if (options.in_place && options.output)
    throw Error(ErrorKind::usage, {}, "--in-place: found -o as well, expected one");
  if (options.advice && options.model.json) throw Error(ErrorKind::usage, {}, "--advice: expected no --json");
  if (options.force && !options.in_place) throw Error(ErrorKind::usage, {}, "--force: expected --in-place as well");
  if (options.in_place && !options.more_models.empty())
    throw Error(ErrorKind::usage, {}, "--in-place: found several models, expected one");
  if (options.in_place && (options.emit_metadata || options.emit_info))
    throw Error(ErrorKind::usage, {}, "--emit-metadata: expected no --in-place");
  if (options.dry_run || options.in_place) return;
  if (!options.more_models.empty()) {
    if (!options.output) {
      for (const std::string& path : options.more_models) require_model(path);  // "MODEL pools.yaml" without --pools
      throw Error(ErrorKind::usage, {}, "several models need the directory to write to, expected -o DIR");
    }
    if (mlf::names_archive(*options.output)) {
      throw Error(ErrorKind::usage, {*options.output, {}, {}},
                  "an archive has one model, expected a directory for several");
    }
  }
  const std::string output = output_of(options);
  std::error_code error;
  if (std::filesystem::is_character_file(output, error) || std::filesystem::is_fifo(output, error) ||
      names_open_file(output)) {
    throw Error(
        ErrorKind::usage, {output, {}, {}},
        std::string(std::filesystem::is_fifo(output, error) && !names_open_file(output) ? "is a pipe" : "is a device") +
            ", expected a directory or an archive such as model.tar");
  }
  for (const char* ending : {".zip", ".7z", ".tar.bz2", ".tbz2"}) {
    if (output.ends_with(ending)) {
      throw Error(ErrorKind::usage, {output, {}, {}},
                  "archives are written as .tar, .tar.gz, .tgz, .tar.xz or .tar.zst");
    }
  }
  if (options.plan_json) require_different_outputs("--plan-json", *options.plan_json, "-o", output);
  check_output_path("-o", output, inputs_of(options), OutputKind::planned);
  if (!mlf::names_archive(output) && std::filesystem::is_regular_file(output, error)) {
    throw Error(ErrorKind::usage, {output, {}, {}},
                options.more_models.empty()
                    ? "is a file, expected a directory, a new name or an archive such as model.tar"
                    : "is a file, expected a directory or a new name");
  }
  if (!mlf::names_archive(output)) require_same_models(output, models_and(options, {}), {});
}

// Once the models are read.
void check_apart_from_input(const PlanOptions& options, const Planning& planning) {
  if (options.plan_json && !options.dry_run) require_apart_from_input(*options.plan_json);
  if (options.dry_run || options.in_place) return;
  const std::string output = output_of(options);
  if (mlf::names_archive(output)) return require_apart_from_input(output);
  std::vector<std::string> names = replaced_members(planning);
  names.emplace_back(codegen::metadata_header_path);
  for (const auto& planned : planning.modules) {
    const model::Description& info = planned->source.info;
    names.push_back(info.name + ".plan.json");
    names.push_back("codegen/host/src/" + info.name + "_lib0.c");
    names.insert(names.end(), info.foreign_members.begin(), info.foreign_members.end());
  }
  require_apart_from_input(output, names);
}

int plan_or_throw(const PlanOptions& options, std::ostream& out, std::ostream& err) {
  check_output(options);
  const bool rewrites_archive = options.output && mlf::names_archive(*options.output);
  Planning planning = assemble_all(options, !rewrites_archive, options.progress ? &err : nullptr);
  check_apart_from_input(options, planning);
  check_concurrent(planning);
  planning.own_arrays = options.in_place;
  const PlannedPrograms& modules = planning.modules;
  const Model& model = planning.models.front();
  if (planning.has_bare_module() && !options.dry_run) {
    throw Error(ErrorKind::usage, {options.model.model, {}, {}},
                "a TIR module without its archive can only be planned with --dry-run");
  }
  if (rewrites_archive && model.archive.is_checkout && model.archive.find("metadata.json") == nullptr) {
    throw Error(ErrorKind::usage, {*options.output, {}, {}},
                "an archive needs metadata.json, which " + model.archive.path + " does not have; expected a directory");
  }
  if (rewrites_archive && model.metadata.modules.front().tflite_member == model.archive.members.front().name) {
    throw Error(
        ErrorKind::usage, {*options.output, {}, {}},
        model.archive.path + " is no archive; expected a directory (usmp-plan convert makes an archive of a .tflite)");
  }
  if (options.in_place) check_in_place(model, options.force);
  plan_all(planning, options, options.progress ? &err : nullptr);
  if (planning.without_plan() != nullptr) return report_infeasible(planning, err);
  if (!pools_have_room(planning, err)) return exit_infeasible;
  require_apart(planning);
  for (const auto& planned : modules) {
    if (options.in_place && !options.pools_file) keep_section(*planned);
    warn_of_lost_sections(*planned);
  }
  std::string text = plans_text(options, planning);  // takes memory, so before anything is written
  text += options.advice ? advice_text(options, planning, options.progress ? &err : nullptr)
                         : workspace_io_text(options, planning);
  if (!planning.has_bare_module()) {
    std::vector<codegen::EmissionInput> inputs;
    for (const auto& planned : modules) {
      inputs.push_back(pipeline::emission_input(*planned, planning.settings.request.workspace_io));
      inputs.back().shares_pools = modules.size() > 1 && !planning.own_arrays;
      if (options.in_place) {
        inputs.back().constants_section = planned->source.constants_section;
      } else {
        inputs.back().renames_entry = !planned->lowered.functions[planned->lowered.module.entry].pools.empty();
      }
    }
    std::vector<OutputFile> files = files_of(planning, inputs, options);
    try {
      check_paths(files, rewrites_archive ? kept_members(planning) : std::vector<std::string>());
    } catch (const Error& error) {
      throw error.with_file(options.model.model);
    }
    if (options.plan_json && !options.in_place && !rewrites_archive) {
      require_plan_apart(*options.plan_json, output_of(options), files, planning);
    }
    NamedPlan named_plan(options, modules);
    if (options.in_place) {
      const InPlace done = rewrite_in_place(options, modules, inputs, model);
      if (!options.model.json && options.verbosity != Verbosity::quiet) {
        text += "\n" + in_place_text(done, modules, options.dry_run);
      }
    } else if (!options.dry_run) {
      write_results(options, planning, std::move(files));
    }
    named_plan.keep();
  }
  if (text.empty()) print_warnings(modules, err);
  std::ostream& told = stream_beside(options.plan_json, out, err);
  told << text;
  if (!options.dry_run && !options.in_place && !options.model.json && options.verbosity != Verbosity::quiet) {
    told << "\nwritten to " << printable(options.output.value_or(default_output(options.model.model))) << "\n";
  }
  return exit_ok;
}

}  // namespace

std::string default_output(const std::string& model) {
  if (names_open_file(model)) return "model_planned";
  const std::string name = name_of_model(model);
  const bool names_nothing = name.empty() || name == "." || name == "..";
  return names_nothing ? "model_planned" : without_archive_ending(name) + "_planned";
}

int plan(const PlanOptions& options, std::ostream& out, std::ostream& err) {
  return run(err, [&] { return plan_or_throw(options, out, err); });
}

}  // namespace usmp::driver

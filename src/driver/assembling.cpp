// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Splits, analyses and assembles a module, and places pins in the problem.
#include "assembling.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "usmp/assemble/pins.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"

namespace usmp::driver {

namespace {

// Modules of different models often have one name. A plan of another file may be of an earlier version.
void warn_of_other_models(pipeline::AssembledModule& module, const Model& model,
                          const std::vector<plan_file::PlanDocument>& earlier) {
  for (const plan_file::PlanDocument& plan : earlier) {
    if (plan.module != module.source.info.name || is_same_model(plan.archive, model.file_name)) continue;
    module.warnings.insert(module.warnings.begin(),
                           "the earlier plan is of " + plan.archive + ", not of " + model.file_name);
  }
}

// Firmware that includes one would have the sizes of TVM's plan.
void warn_of_stale_headers(pipeline::AssembledModule& module, const Model& model) {
  if (!model.in_place) return;
  const std::string name = "tvmgen_" + c_identifier(module.source.info.name) + ".h";
  for (const std::string& path : model.archive.passed_over) {
    if (file_name_of(path) != name) continue;
    module.warnings.push_back("header " + in_quotes(path) +
                              " stays as it is, with the sizes and constants of TVM's plan: the firmware must not "
                              "include it");
  }
}

}  // namespace

pipeline::AssembledModule assemble_module(Model& model, const model::Description& info, const Settings& settings,
                                          bool release_tir, const pipeline::Watch& watch) {
  pipeline::SourceModule source = read_module(model, info, release_tir);
  pipeline::Request request = settings.request;
  request.watch = watch;
  try {
    pipeline::AssembledModule module = pipeline::assemble_module(std::move(source), model.transformations, request);
    warn_of_other_models(module, model, request.earlier);
    warn_of_stale_headers(module, model);
    return module;
  } catch (const Error& error) {
    const bool is_of_pools = error.kind() == ErrorKind::usage && error.where().member.empty();
    throw error.with_file(is_of_pools ? settings.pools_file.value_or("") : model.archive.path);
  }
}

void check_pins(const std::vector<const pipeline::AssembledModule*>& modules, const Settings& settings) {
  std::vector<const assemble::Assembly*> assemblies;
  std::set<std::string> names;
  for (const pipeline::AssembledModule* module : modules) {
    assemblies.push_back(&module->assembly);
    names.insert(module->source.info.name);
  }
  for (std::size_t i = 0; i < settings.request.pools.pinned.size(); ++i) {
    if (std::any_of(modules.begin(), modules.end(), [i](const auto* module) { return module->pinned[i]; })) continue;
    try {
      assemble::throw_unknown_buffer(settings.request.pools.pinned[i], assemblies);
    } catch (const Error& error) {
      throw error.with_file(settings.pools_file.value_or(""));
    }
  }
  for (std::size_t i = 0; i < settings.request.earlier.size(); ++i) {
    const std::string& module = settings.request.earlier[i].module;
    if (names.contains(module)) continue;
    const std::vector<std::string> planned(names.begin(), names.end());
    throw Error(ErrorKind::usage, {settings.earlier_files[i], {}, {}},
                "is a plan of module '" + module + "', which is not among those planned" +
                    did_you_mean(module, planned) + ": expected " + joined(planned, " or ") + ", or --name " + module +
                    "=MODEL");
  }
}

}  // namespace usmp::driver

#include "assembling.hpp"

#include <algorithm>
#include <set>

#include "step_selection.hpp"
#include "usmp/assemble/pins.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"

namespace usmp::driver {

AssembledModule assemble_module(Model& model, const mlf::ModuleInfo& info, const Settings& settings, bool release_tir) {
  AssembledModule module{
      .analysed = read_module(model, info, release_tir), .assembly = {}, .warnings = {}, .pinned = {}};
  AnalysedModule& analysed = module.analysed;
  try {
    analyse_with_useful_steps(analysed, model, settings);
    module.assembly = assemble::assemble(analysed.module, analysed.analysis, settings.pools);
    module.pinned = assemble::pin(module.assembly, settings.pools.pinned);
    for (const plan_file::PlanDocument& plan : settings.earlier) {
      if (plan.module != analysed.info->name) continue;
      std::vector<std::string> sentences = assemble::pin_as_before(module.assembly, plan);
      module.warnings.insert(module.warnings.end(), sentences.begin(), sentences.end());
    }
    return module;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::usage) throw error.with_file(settings.pools_file.value_or(""));
    throw error.with_member(analysed.info->tir_member).with_file(model.archive.path);
  }
}

void check_pins(const std::vector<const AssembledModule*>& modules, const Settings& settings) {
  std::vector<const assemble::Assembly*> assemblies;
  std::set<std::string> names;
  for (const AssembledModule* module : modules) {
    assemblies.push_back(&module->assembly);
    names.insert(module->analysed.info->name);
  }
  for (std::size_t i = 0; i < settings.pools.pinned.size(); ++i) {
    if (std::any_of(modules.begin(), modules.end(), [i](const auto* module) { return module->pinned[i]; })) continue;
    try {
      assemble::throw_unknown_buffer(settings.pools.pinned[i], assemblies);
    } catch (const Error& error) {
      throw error.with_file(settings.pools_file.value_or(""));
    }
  }
  for (std::size_t i = 0; i < settings.earlier.size(); ++i) {
    const std::string& module = settings.earlier[i].module;
    if (names.contains(module)) continue;
    throw Error(ErrorKind::usage, {settings.earlier_files[i], {}, {}},
                "is a plan of module '" + module + "', which is none of those planned" +
                    did_you_mean(module, std::vector<std::string>(names.begin(), names.end())));
  }
}

}  // namespace usmp::driver

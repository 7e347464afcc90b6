// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Opens each model and refuses names that two of them have.
#include "models.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "output_path.hpp"
#include "usmp/codegen/layout.hpp"
#include "usmp/mlf/rename.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"

namespace usmp::driver {
namespace {

// "kws=models/a.tar".
struct ChosenName {
  std::string name;
  std::string path;
};

std::vector<ChosenName> chosen_names(const PlanningOptions& options) {
  const std::vector<std::string> paths = models_and(options, {});
  std::vector<ChosenName> chosen;
  std::set<std::string> named;
  for (const std::string& text : options.names) {
    const std::size_t sign = text.find('=');
    if (sign == std::string::npos) {
      throw Error(ErrorKind::usage, {},
                  "--name: found " + in_quotes(text) + ", expected NAME=MODEL, as in kws=kws.tar");
    }
    ChosenName one{.name = text.substr(0, sign), .path = text.substr(sign + 1)};
    if (one.name.empty() || c_identifier(one.name) != one.name) {
      throw Error(ErrorKind::usage, {},
                  "--name: " + in_quotes(one.name) +
                      " is not a C identifier: expected letters, digits and '_', not starting with a digit");
    }
    if (std::find(paths.begin(), paths.end(), one.path) == paths.end()) {
      throw Error(ErrorKind::usage, {},
                  "--name: " + in_quotes(one.path) + " is not one of the models" + did_you_mean(one.path, paths) +
                      ", expected one of " + joined(paths));
    }
    if (!named.insert(one.path).second) {
      throw Error(ErrorKind::usage, {}, "--name: a second name for " + in_quotes(one.path));
    }
    chosen.push_back(std::move(one));
  }
  return chosen;
}

void rename_only_module(Model& model, const std::string& name) {
  if (model.metadata.modules.size() != 1) {
    throw Error(ErrorKind::usage, {model.archive.path, {}, {}},
                "has the modules " + module_list(model.metadata) + ", expected one that can be called '" + name + "'");
  }
  if (model::source_of(model.metadata.modules.front()) == model::Source::tflite) {
    model.metadata.modules.front().name = name;
    return;
  }
  mlf::rename_module(model.archive, model.metadata.modules.front(), name);
}

// How often each C name occurs.
std::map<std::string, std::size_t> symbols_of(const std::vector<Model>& models) {
  std::map<std::string, std::size_t> symbols;
  for (const Model& model : models) {
    for (const model::Description& info : model.metadata.modules) ++symbols[codegen::module_symbol(info.name)];
  }
  return symbols;
}

// Modules of one name get that of their file, unless it was chosen.
void name_by_file(std::vector<Model>& models, const std::vector<ChosenName>& chosen) {
  const std::map<std::string, std::size_t> symbols = symbols_of(models);
  for (Model& model : models) {
    const bool has_chosen_name = std::any_of(chosen.begin(), chosen.end(),
                                             [&](const ChosenName& one) { return one.path == model.archive.path; });
    const bool clashes =
        std::any_of(model.metadata.modules.begin(), model.metadata.modules.end(),
                    [&](const model::Description& info) { return symbols.at(codegen::module_symbol(info.name)) > 1; });
    if (!clashes || has_chosen_name || model.metadata.modules.size() != 1) continue;
    rename_only_module(model, c_identifier(without_archive_ending(model.file_name)));
  }
}

void require_different_names(const std::vector<Model>& models) {
  std::map<std::string, std::string> owners;
  for (const Model& model : models) {
    for (const model::Description& info : model.metadata.modules) {
      const auto [known, is_new] = owners.emplace(codegen::module_symbol(info.name), model.archive.path);
      if (is_new || models.size() == 1) continue;  // of one archive: refused where its C is written
      std::error_code error;
      if (std::filesystem::equivalent(known->second, model.archive.path, error)) {
        throw Error(ErrorKind::usage, {model.archive.path, {}, {}}, "is given twice, expected each model once");
      }
      throw Error(ErrorKind::usage, {model.archive.path, {}, {}},
                  "its module '" + info.name + "' has the name of one of " + known->second +
                      " in C, expected --name NAME=MODEL to give it another");
    }
  }
}

}  // namespace

std::vector<std::string> models_and(const PlanningOptions& options, std::vector<std::string> others) {
  std::vector<std::string> paths = {options.model.model};
  paths.insert(paths.end(), options.more_models.begin(), options.more_models.end());
  std::error_code error;
  std::ranges::copy_if(others, std::back_inserter(paths),
                       [&](const std::string& path) { return !std::filesystem::is_directory(path, error); });
  return paths;
}

std::vector<std::string> inputs_of(const PlanningOptions& options, std::vector<std::string> others) {
  for (const auto& file : {options.pools_file, options.memory_file}) {
    if (file) others.push_back(*file);
  }
  return models_and(options, std::move(others));
}

std::vector<Model> open_models(const PlanningOptions& options) {
  const std::vector<ChosenName> chosen = chosen_names(options);
  if (!options.more_models.empty() && options.model.module) {
    throw Error(ErrorKind::usage, {}, "--module chooses a module of one model, but there are several");
  }
  std::vector<Model> models;
  for (const std::string& path : models_and(options, {})) {
    ModelOptions one = options.model;
    one.model = path;
    models.push_back(open_model(one));
    models.back().in_place = options.in_place;
    if (options.in_place && !one.from) prefer_c(models.back());
  }
  for (Model& model : models) {
    for (const ChosenName& one : chosen) {
      if (one.path == model.archive.path) rename_only_module(model, one.name);
    }
  }
  if (models.size() > 1) name_by_file(models, chosen);
  require_different_names(models);
  require_known_synchronous(models, options.model.synchronous);
  return models;
}

}  // namespace usmp::driver

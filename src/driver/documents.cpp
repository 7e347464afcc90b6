// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Decides whether a file is a plan or a model, and reads or plans it.
#include "documents.hpp"

#include <utility>

#include "file_kind.hpp"
#include "model.hpp"
#include "output_path.hpp"
#include "plan_check.hpp"
#include "planning.hpp"
#include "settings.hpp"
#include "usmp/plan_file/plan_json.hpp"
#include "usmp/support/text.hpp"

namespace usmp::driver {
namespace {

std::vector<plan_file::PlanDocument> read_one_file(const std::string& path, Check check) {
  std::string text;
  std::string prefix;  // of the places in one of several plans
  try {
    text = read_text_file(path, ErrorKind::usage, most_plan_bytes);
    std::vector<plan_file::PlanDocument> documents = plan_file::parse_plan_documents(text);
    const bool is_list = text.find("\"modules\"") < text.find("\"schema\"");
    for (std::size_t i = 0; i < documents.size(); ++i) {
      if (is_list) prefix = "modules[" + std::to_string(i) + "].";
      if (check == Check::done) check_document(documents[i]);
    }
    return documents;
  } catch (const Error& error) {
    const std::string place = prefix + error.where().place;
    if (error.where().place.empty() || place.starts_with("byte ")) throw error.with_file(path);
    throw Error(error.kind(),
                {path, error.where().member, "line " + std::to_string(line_of(text, place)) + ": " + place},
                error.message(), error.details());
  }
}

}  // namespace

bool is_plan_file(const std::string& path) {
  if (is_output_directory(path)) return true;
  return path.ends_with(".plan.json") || kind_of_file(path) == FileKind::plan || is_json_in_pipe(path);
}

std::vector<plan_file::PlanDocument> read_plan_file(const std::string& path, Check check) {
  std::vector<plan_file::PlanDocument> documents;
  for (const PlanInDirectory& plan : plans_in(path)) {
    for (plan_file::PlanDocument& document : read_one_file(path + "/" + plan.name, check)) {
      documents.push_back(std::move(document));
    }
  }
  return documents.empty() ? read_one_file(path, check) : documents;
}

void require_no_planning_options(const PlanningOptions& options, const Location& where, const std::string& subject) {
  std::vector<std::string> given;
  const auto look_at = [&](bool is_given, const char* name) {
    if (is_given) given.emplace_back(name);
  };
  look_at(!options.names.empty(), "--name");
  look_at(options.model.transform.has_value(), "--transform");
  look_at(options.model.cpu.has_value(), "--cpu");
  look_at(options.model.recompute_percent.has_value(), "--allow-recompute");
  look_at(options.model.plan_stack.has_value(), "--plan-stack");
  look_at(!options.model.synchronous.empty(), "--synchronous");
  look_at(options.pools_file.has_value(), "--pools");
  look_at(options.memory_file.has_value(), "--memory");
  look_at(options.ignore_sizes, "--ignore-sizes");
  look_at(options.workspace_io, "--workspace-io");
  look_at(options.algorithm.has_value(), "--algorithm");
  look_at(options.minimize.has_value(), "--minimize");
  look_at(!options.pins.empty(), "--pins");
  look_at(options.search.node_limit.has_value(), "--node-limit");
  look_at(options.search.time_limit.has_value(), "--time-limit");
  look_at(options.search.seed.has_value(), "--seed");
  if (given.empty()) return;
  throw Error(ErrorKind::usage, where,
              subject + ": " + joined(given) + (given.size() == 1 ? " applies" : " apply") + " to models only");
}

std::optional<std::vector<plan_file::PlanDocument>> plan_model(const PlanningOptions& options, std::ostream& err) {
  Planning planning = assemble_all(options, true, options.progress ? &err : nullptr);
  plan_all(planning, options, options.progress ? &err : nullptr);
  if (planning.without_plan() != nullptr) {
    (void)report_infeasible(planning, err);
    return std::nullopt;
  }
  std::vector<plan_file::PlanDocument> documents;
  for (const auto& planned : planning.modules) documents.push_back(std::move(planned->document));
  return documents;
}

}  // namespace usmp::driver

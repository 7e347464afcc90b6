// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Plans models with the offsets that their C has, in place of a planner's.
#include "tvm_plans.hpp"

#include <utility>

#include "model.hpp"
#include "usmp/support/error.hpp"

namespace usmp::driver {

std::vector<pipeline::TvmPlan> read_tvm_plans(const std::string& path, const ModelOptions& options) {
  if (options.from == "tir") {
    throw Error(ErrorKind::usage, {path, {}, {}}, "--from tir: TVM's plan is in its C; leave --from or --tvm-plan out");
  }
  ModelOptions from_c = options;
  from_c.model = path;
  from_c.from = "c";
  const Model model = open_model(from_c);
  std::vector<pipeline::TvmPlan> plans;
  try {
    for (const model::Description& info : model.metadata.modules) {
      plans.push_back(pipeline::tvm_plan(info, model.file_name, sources_of(model, info)));
    }
  } catch (const Error& error) {
    throw error.with_file(path);
  }
  return plans;
}

std::vector<plan_file::PlanDocument> tvm_documents(const std::string& path, const ModelOptions& options) {
  std::vector<plan_file::PlanDocument> documents;
  for (pipeline::TvmPlan& plan : read_tvm_plans(path, options)) {
    for (const std::string& violation : plan.violations) {
      plan.document.warnings.push_back("TVM's plan is wrong: " + violation);
    }
    documents.push_back(std::move(plan.document));
  }
  return documents;
}

}  // namespace usmp::driver

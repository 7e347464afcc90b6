// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Memory against work: plans of one model that may do more and more work.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "usmp/plan_file/plan_document.hpp"

namespace usmp::compare {

// One amount of work on one module.
struct AllowedRun {
  std::int64_t percent = 0;                     // more work that was allowed
  std::optional<plan_file::PlanDocument> plan;  // nothing: there is none
};

struct FrontierPoint {
  std::int64_t percent = 0;
  std::optional<PlanStatus> status;                  // nothing: there is no plan
  std::int64_t extra_work_permille = 0;              // that is done, by estimate, of the work without
  std::optional<std::int64_t> multiply_accumulates;  // nothing: not known
  Bytes workspace = 0;                               // used, of all workspace pools
  Bytes spilled = 0;                                 // bytes of buffers outside their first choices
};

struct ModuleFrontier {
  std::string module;
  std::vector<FrontierPoint> points;  // as the runs
};

struct Frontier {
  std::string archive;  // file name only
  std::vector<ModuleFrontier> modules;
};

// O(runs · steps).
[[nodiscard]] ModuleFrontier frontier_of(const std::string& module, const std::vector<AllowedRun>& runs);

}  // namespace usmp::compare

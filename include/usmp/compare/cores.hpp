// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Plans of one model for several processor cores.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "usmp/plan_file/plan_document.hpp"

namespace usmp::compare {

// One core and one module.
struct CoreRun {
  std::string core;                             // kernels::Core
  std::optional<plan_file::PlanDocument> plan;  // nothing: there is none
};

struct CorePoint {
  std::string core;
  std::optional<PlanStatus> status;          // nothing: there is no plan
  std::optional<std::int64_t> instructions;  // of an inference, by estimate; nothing: not known
  std::vector<std::string> kernels;          // of all operators, sorted
  Bytes workspace = 0;                       // used, of all workspace pools
  std::optional<Bytes> constants;            // that the program reads; nothing: not known
};

struct ModuleCores {
  std::string module;
  std::vector<CorePoint> points;  // as the runs
};

struct Cores {
  std::string archive;  // file name only
  std::vector<ModuleCores> modules;
};

// O(runs · operators · log).
[[nodiscard]] ModuleCores cores_of(const std::string& module, const std::vector<CoreRun>& runs);

}  // namespace usmp::compare

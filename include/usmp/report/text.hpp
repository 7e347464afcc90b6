// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Plans for people: a table of the pools like GNU ld's --print-memory-usage, then bounds, what the firmware needs,
// transformations, warnings.
#pragma once

#include <string>

#include "usmp/plan_file/plan_document.hpp"

namespace usmp::report {

struct TextOptions {
  bool color = false;
  bool peak = false;     // the largest buffers at the peak too
  bool verbose = false;  // every buffer
};

// Throws what plan_figures throws.
[[nodiscard]] std::string plan_text(const plan_file::PlanDocument& plan, const TextOptions& options);

// "stopped by the node limit" and the like: why a search that was not finished ended.
[[nodiscard]] std::string stop_text(StopReason reason);

}  // namespace usmp::report

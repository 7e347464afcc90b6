// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// M.plan.json (docs/schema/plan.schema.json): writing and reading plans.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/plan_file/plan_document.hpp"

namespace usmp::plan_file {

// The text of the file. Byte-identical for the same document.
[[nodiscard]] std::string plan_json(const PlanDocument& document);

// Reads a plan file of this or an earlier version. Throws Error of kind usage (place: a path like "buffers[3]", or a
// byte) for anything that is not a plan: JSON nested deeper than 64 levels, sizes beyond Problem::max_total_bytes, a
// member of another type, live ranges that are empty, out of order or end after the horizon, places in pools that are
// not listed. Unknown keys are ignored. O(text · log).
[[nodiscard]] PlanDocument parse_plan_document(std::string_view text);

// Reads a plan file, or the plans of several modules as `usmp-plan MODEL --json` prints them: {"modules": [plan, …]}.
// At least one; the modules' names differ. Throws what parse_plan_document throws.
[[nodiscard]] std::vector<PlanDocument> parse_plan_documents(std::string_view text);

// Whose plan it is.
struct PlanHead {
  std::string module;
  std::string archive;
};

// Reads a file that plan_json wrote, or its first lines; nothing for other text. O(front).
[[nodiscard]] std::optional<PlanHead> head_of_plan(std::string_view front);

}  // namespace usmp::plan_file

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// `usmp-plan compare --recompute`: memory against work.
#pragma once

#include <string>

#include "usmp/compare/frontier.hpp"

namespace usmp::report {

inline constexpr int frontier_schema_version = 2;  // 1: workspace, which plans call otherwise

// The same plans give the same bytes.
[[nodiscard]] std::string frontier_text(const compare::Frontier& frontier, bool color);
[[nodiscard]] std::string frontier_markdown(const compare::Frontier& frontier);
[[nodiscard]] std::string frontier_json(const compare::Frontier& frontier);  // docs/schema/frontier.schema.json
[[nodiscard]] std::string frontier_csv(const compare::Frontier& frontier);   // one line per module and amount
// A panel for each module: workspace bytes over work, a step at each plan that is smaller than those of less work.
[[nodiscard]] std::string frontier_svg(const compare::Frontier& frontier);

}  // namespace usmp::report

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The tables of a module's differences as HTML, for the page that has them beside pictures.
#pragma once

#include <string>

#include "usmp/compare/diff.hpp"

namespace usmp::report {

// "module default: old.plan.json (optimal) -> new.plan.json (optimal)"
[[nodiscard]] std::string diff_title(const compare::PlanDiff& diff);

// Pools, warnings, up to 200 buffers, transformations.
[[nodiscard]] std::string diff_tables_html(const compare::PlanDiff& diff);

}  // namespace usmp::report

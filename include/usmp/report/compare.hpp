// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// `usmp-plan compare`: the results of several algorithms on one problem.
#pragma once

#include <string>

#include "usmp/compare/algorithms.hpp"

namespace usmp::report {

inline constexpr int compare_schema_version = 1;

// All of these omit times if no run has one; apart from times, the same plans give the same bytes.
[[nodiscard]] std::string compare_text(const compare::Comparison& comparison, bool color);
[[nodiscard]] std::string compare_markdown(const compare::Comparison& comparison);
[[nodiscard]] std::string compare_json(const compare::Comparison& comparison);  // docs/schema/compare.schema.json
[[nodiscard]] std::string compare_csv(const compare::Comparison& comparison);   // one line per algorithm and pool

}  // namespace usmp::report

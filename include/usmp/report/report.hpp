// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// `usmp-plan report`: one plan for people, programs, tables and pages. Each function throws what plan_figures throws
// and gives the same bytes for the same document.
#pragma once

#include <string>

#include "usmp/plan_file/plan_document.hpp"
#include "usmp/report/text.hpp"

namespace usmp::report {

inline constexpr int report_schema_version = 1;

// The plan's text (plan_text), then for each workspace pool the lost bytes and the operators' shares of the peak.
[[nodiscard]] std::string report_text(const plan_file::PlanDocument& plan, const TextOptions& options);

// docs/schema/report.schema.json: figures, timeline, peak and shares of each pool.
[[nodiscard]] std::string report_json(const plan_file::PlanDocument& plan);

// One line per buffer under a line of headings (RFC 4180, lines end with "\n"); live ranges as "0-17 40-52", half-open.
[[nodiscard]] std::string report_csv(const plan_file::PlanDocument& plan);

// Tables of the pools and of the buffers at the peak, for pull requests.
[[nodiscard]] std::string report_markdown(const plan_file::PlanDocument& plan);

}  // namespace usmp::report

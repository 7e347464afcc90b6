// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// `usmp-plan diff`: what differs between two plans, for people and programs (docs/cli.md, "Comparing plans").
#pragma once

#include <span>
#include <string>

#include "usmp/compare/diff.hpp"

namespace usmp::report {

inline constexpr int diff_schema_version = 1;

struct DiffTextOptions {
  bool color = false;
  bool verbose = false;  // every buffer and change, not only the first 20 of a module
};

[[nodiscard]] std::string diff_text(const compare::Diff& diff, const DiffTextOptions& options);
[[nodiscard]] std::string diff_markdown(const compare::Diff& diff);
[[nodiscard]] std::string diff_json(const compare::Diff& diff);  // docs/schema/diff.schema.json
[[nodiscard]] std::string diff_csv(const compare::Diff& diff);   // RFC 4180, lines end with "\n"

// The plans that a Diff was made of, which are drawn.
struct DiffPlans {
  std::span<const plan_file::PlanDocument> before;
  std::span<const plan_file::PlanDocument> after;
};

// Pictures: of each pool of each module the plan before beside the plan after, in one scale of addresses; colours say
// what moved, grew, shrank, came and went. The page has them with the tables of Markdown; it has no script and loads
// nothing. Throw what plan_figures throws. The same plans give the same bytes. O(n log n).
[[nodiscard]] std::string diff_svg(const compare::Diff& diff, const DiffPlans& plans);
[[nodiscard]] std::string diff_html(const compare::Diff& diff, const DiffPlans& plans);

}  // namespace usmp::report

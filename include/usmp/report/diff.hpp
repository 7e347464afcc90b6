// SPDX-License-Identifier: Apache-2.0
// `usmp-plan diff`: what differs between two plans, for people and programs (docs/cli.md, "Comparing plans").
#pragma once

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

}  // namespace usmp::report

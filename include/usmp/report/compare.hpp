// `usmp-plan compare`: what several algorithms make of one problem, side by side.
#pragma once

#include <string>

#include "usmp/compare/algorithms.hpp"

namespace usmp::report {

inline constexpr int compare_schema_version = 1;

// All of these leave times out where no run has one; apart from them, the same plans give the same bytes.
[[nodiscard]] std::string compare_text(const compare::Comparison& comparison, bool color);
[[nodiscard]] std::string compare_markdown(const compare::Comparison& comparison);
[[nodiscard]] std::string compare_json(const compare::Comparison& comparison);  // docs/schema/compare.schema.json
[[nodiscard]] std::string compare_csv(const compare::Comparison& comparison);   // a line an algorithm and pool

}  // namespace usmp::report

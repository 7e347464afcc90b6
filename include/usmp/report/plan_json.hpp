// M.plan.json: the plan as a value that other tools read (docs/schema/plan.schema.json).
#pragma once

#include <string>

#include "usmp/report/summary.hpp"
#include "usmp/support/text.hpp"

namespace usmp::report {

inline constexpr int plan_schema_version = 1;

// Byte-identical for the same input: keys in a fixed order, no clock, no path. Ends with a newline.
[[nodiscard]] std::string plan_json(const Summary& summary);

}  // namespace usmp::report

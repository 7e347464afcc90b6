// M.plan.json: the plan as a value that other tools read (docs/schema/plan.schema.json).
#pragma once

#include <string>
#include <string_view>

#include "usmp/assemble/pins.hpp"
#include "usmp/report/summary.hpp"
#include "usmp/support/text.hpp"

namespace usmp::report {

inline constexpr int plan_schema_version = 2;  // 1: the bounds and statuses were those of each pool alone

// Byte-identical for the same input: keys in a fixed order, no clock, no path. Ends with a newline.
[[nodiscard]] std::string plan_json(const Summary& summary);

// Where a plan file of this or an earlier version has its buffers. Throws Error of kind usage (place: a path like
// "buffers[3]", or a byte) for anything that is no plan.
[[nodiscard]] assemble::EarlierPlan parse_plan_json(std::string_view text);

}  // namespace usmp::report

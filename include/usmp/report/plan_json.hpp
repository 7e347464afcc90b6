// M.plan.json: the plan as a text that other tools read (docs/schema/plan.schema.json).
#pragma once

#include <string>

#include "usmp/report/plan_document.hpp"
#include "usmp/report/summary.hpp"

namespace usmp::report {

// Byte-identical for the same document: keys in a fixed order, no clock, no path. Ends with a newline. Read back, it
// is the same document.
[[nodiscard]] std::string plan_json(const PlanDocument& document);
[[nodiscard]] std::string plan_json(const Summary& summary);

}  // namespace usmp::report

// What was done to the program before it was planned, in words that all reports share.
#pragma once

#include <string>

#include "usmp/report/plan_document.hpp"

namespace usmp::report {

// Whether the program is another one for the step, or constants have fewer places.
[[nodiscard]] bool did_something(const PlanDocument::Step& step);

// Steps that found nothing to do are not worth a line.
[[nodiscard]] bool is_worth_a_line(const PlanDocument::Step& step);

// "39 changes, constants 53296 -> 26072 bytes", "2 changes, 1.5% more work" or that it was left out.
[[nodiscard]] std::string outcome_text(const PlanDocument::Step& step);

}  // namespace usmp::report

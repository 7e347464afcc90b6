// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Problems and answers as JSON: the format of external algorithms, and the second format of bare instances
// (docs/instances.md, docs/schema/problem.schema.json, docs/schema/answer.schema.json).
//
// Both readers are strict: unknown and repeated keys, values of another type, and numbers that are negative or do not
// fit are errors. They throw Error of kind usage; its place is the JSON path ("buffers[17].size") or, for malformed
// text, "line L, column C". Members of an object may be in any order. Memory beyond the result: one element of a list.
#pragma once

#include <string>
#include <string_view>

#include "usmp/problem/problem.hpp"

namespace usmp::instance {

inline constexpr const char* problem_format = "usmp-plan/problem";
inline constexpr int problem_version = 1;
inline constexpr const char* answer_format = "usmp-plan/answer";
inline constexpr int answer_version = 1;

// One line per buffer or pool, with all members. Invalid UTF-8 in names becomes U+FFFD; everything else round-trips.
[[nodiscard]] std::string problem_json(const Problem& problem);

// A valid problem (see invalid_reason).
[[nodiscard]] Problem parse_problem(std::string_view text);

// The answer of an algorithm, not verified.
struct Answer {
  PlanStatus status = PlanStatus::feasible;  // feasible and optimal have allocations
  Plan plan;                                 // a buffer that the text leaves out has no place
};

// The placed buffers of the plan, one allocation per line.
[[nodiscard]] std::string answer_json(const Problem& problem, const Answer& answer);

[[nodiscard]] Answer parse_answer(std::string_view text, const Problem& problem);

}  // namespace usmp::instance

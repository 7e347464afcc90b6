// Problems and answers as JSON: what external algorithms read and write, and the other form of bare instances
// (docs/instances.md, docs/schema/problem.schema.json, docs/schema/answer.schema.json).
//
// Both readers are strict: unknown and repeated keys, values of another type, and numbers that are negative or do not
// fit are refused. They throw Error of kind usage, its place the JSON path ("buffers[17].size") or, of malformed text,
// "line L, column C". Members of an object may stand in any order. Memory beyond the result: one element of a list.
#pragma once

#include <string>
#include <string_view>

#include "usmp/problem/problem.hpp"

namespace usmp::instance {

inline constexpr const char* problem_format = "usmp-plan/problem";
inline constexpr int problem_version = 1;
inline constexpr const char* answer_format = "usmp-plan/answer";
inline constexpr int answer_version = 1;

// A buffer or pool a line, all members written. Names that are not UTF-8 are repaired with U+FFFD; everything else is
// read back as it was.
[[nodiscard]] std::string problem_json(const Problem& problem);

// A valid problem (see invalid_reason).
[[nodiscard]] Problem parse_problem(std::string_view text);

// What an algorithm says. Nothing in it has been verified.
struct Answer {
  PlanStatus status = PlanStatus::feasible;  // of feasible and optimal there are allocations
  Plan plan;                                 // a buffer that the text leaves out has no place
};

// The placed buffers of the plan, an allocation a line.
[[nodiscard]] std::string answer_json(const Problem& problem, const Answer& answer);

[[nodiscard]] Answer parse_answer(std::string_view text, const Problem& problem);

}  // namespace usmp::instance

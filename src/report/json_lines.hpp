// JSON text that people can read and diff: an object's members below each other, and of a list every element on a
// line of its own.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "usmp/problem/problem.hpp"

namespace usmp::report {

// Ends with a newline. Names that are not UTF-8 are repaired with U+FFFD.
[[nodiscard]] std::string json_lines(const nlohmann::ordered_json& object);

// [[0, 17], [40, 52]]: half-open ranges.
[[nodiscard]] nlohmann::ordered_json live_json(const std::vector<LiveRange>& live);

}  // namespace usmp::report

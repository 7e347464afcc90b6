// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// JSON text that people can read and diff: one line per member of an object, and one line per element of a list.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "usmp/problem/problem.hpp"

namespace usmp::plan_file {

// Ends with a newline. Invalid UTF-8 in names becomes U+FFFD.
[[nodiscard]] std::string json_lines(const nlohmann::ordered_json& object);

// `json_of` of the value; null if there is none.
template <class T, class JsonOf>
[[nodiscard]] nlohmann::ordered_json or_null(const std::optional<T>& value, const JsonOf& json_of) {
  return value ? nlohmann::ordered_json(json_of(*value)) : nlohmann::ordered_json(nullptr);
}

template <class T>
[[nodiscard]] nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return or_null(value, [](const T& known) { return known; });
}

// [[0, 17], [40, 52]]: half-open ranges.
[[nodiscard]] nlohmann::ordered_json live_json(const std::vector<LiveRange>& live);

}  // namespace usmp::plan_file

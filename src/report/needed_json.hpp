// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// NeededSizes::shortfalls as the schemas of checks and solutions have it.
#pragma once

#include <nlohmann/json.hpp>

#include "usmp/problem/needed_sizes.hpp"

namespace usmp::report {

// A list of {choices: [{pools: [{pool, available, at_least, enough}]}]}.
[[nodiscard]] nlohmann::ordered_json shortfalls_json(const NeededSizes& sizes);

}  // namespace usmp::report

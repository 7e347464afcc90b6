// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What there is to say of algorithms and of what they did not find.
#pragma once

#include <string>

#include "usmp/pipeline/algorithm.hpp"
#include "usmp/problem/needed_sizes.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::driver {

// Why there is no plan: "no plan fits the pools", or that none was found, and the sizes that are needed.
std::string no_plan_text(const PlanResult& result, const NeededSizes& needed,
                         const pipeline::ChosenAlgorithm& algorithm);

}  // namespace usmp::driver

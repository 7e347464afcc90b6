// What there is to say of algorithms and of what they did not find.
#pragma once

#include <string>

#include "usmp/pipeline/algorithm.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::driver {

// Why there is no plan: "no plan fits the pools", or that none was found, and what the first buffer lacked.
std::string no_plan_text(const Problem& problem, const PlanResult& result, const pipeline::ChosenAlgorithm& algorithm);

}  // namespace usmp::driver

// Choosing an algorithm, running it and verifying what it says. Shared by the commands.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "search.hpp"
#include "usmp/driver/driver.hpp"
#include "usmp/planners/minimize_pool.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::driver {

struct Algorithm {
  std::string name;     // as reports show it
  std::string program;  // of an external one; else empty
  planners::Planner plan;
};

// Of what is wrong with a plan so many lines are told.
inline constexpr std::size_t most_lines = 10;

// What the verifier finds wrong with the plan, a line each, the first ten of many; empty if nothing.
std::vector<std::string> violations_of(const Problem& problem, const Plan& plan);

// A plan of our own that is wrong is a bug: throws std::logic_error.
[[noreturn]] void throw_wrong_plan(const std::vector<std::string>& violations);

// The one of the table that stands first.
Algorithm default_algorithm();

// What `--algorithm` and the pools file's `algorithm` name: a row of the table, or a program behind "exec:"; `place` is
// where it was read. Throws Error of kind usage.
Algorithm algorithm_named(const std::string& name, const std::string& place = {});

// A search (search.hpp). A plan that the verifier refuses never leaves this function. Of our own algorithms it is a bug
// (std::logic_error), of an external one an Error of kind usage that names the violations.
PlanResult plan_and_verify(const Algorithm& algorithm, const Problem& problem, const Goal& goal,
                           const SearchOptions& options, const Interrupt& interrupt, std::ostream* terminal);

// Why there is no plan: "no plan fits the pools", or that none was found, and what the first buffer lacked.
std::string no_plan_text(const Problem& problem, const PlanResult& result, const Algorithm& algorithm);

}  // namespace usmp::driver

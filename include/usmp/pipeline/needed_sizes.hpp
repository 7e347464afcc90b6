// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What to say where no plan fits: how large the pools have to be for the same run to find one.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "usmp/pipeline/algorithm.hpp"
#include "usmp/pipeline/planned.hpp"
#include "usmp/pipeline/program.hpp"
#include "usmp/problem/needed_sizes.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::pipeline {

// Bytes that a plan uses of each pool, by name; nothing: no plan was found.
using Used = std::optional<std::map<std::string, Bytes>>;

// What a run does in pools of other capacities.
struct OtherRun {
  Used used;
  std::vector<Problem> bounding = {};  // as FailedRun::bounding; programs may be chosen by the capacities
};

// A run that found no plan, and what it would do in pools of other capacities.
struct FailedRun {
  // It plans one of these, or something that needs no less than one of them: so what all of them need is needed. Not
  // empty; pools of one name are one pool.
  std::vector<Problem> bounding;
  // What it has to plan if that needs more, because of pins; else empty.
  std::vector<Problem> pinned = {};
  // The run once more.
  std::function<OtherRun(const Capacities& capacities, const Search& how)> again;
};

// For each group of pools that share buffers and are too small: the bounded pools that can be enlarged alone so that a
// plan exists, each with the least capacity that is enough while the other pools stay as they are; or if there is none,
// bounded pools that are enough together, of which each is as small as those before it in the problem's order allow.
//
// `enough` is what the run itself was seen to find a plan with. The exact search says which capacity to try. Where that
// is not enough for the run, `enough` is what the programs need that it then has to choose from; or, because its
// algorithm is a heuristic or its limits end it, what it uses when it may use all it wants. `at_least` is proved by the
// exact search for every algorithm, and all programs seen; with one byte less than a proved size the run was tried,
// too.
//
// Time: for each bounded pool an exact search as of a plan, further ones with fewer nodes (of the rest of `bounding`;
// O(log) times as many for pools that share buffers), and the run once to twelve times. The time limit of `how` holds
// for all together; what it ends says less, never what is wrong. Interrupted, nothing is said. Deterministic without a
// time limit.
[[nodiscard]] NeededSizes needed_sizes(const FailedRun& run, const Search& how);

// The same for a module that was planned with these and has no plan. Says too whether the default algorithm would have
// found one.
[[nodiscard]] NeededSizes needed_sizes(const PlannedProgram& planned, const Transformations& transformations,
                                       const Request& request, const ChosenAlgorithm& algorithm, const Search& how);

// The same for a bare problem.
[[nodiscard]] NeededSizes needed_sizes(const Problem& problem, const ChosenAlgorithm& algorithm, const Goal& goal,
                                       const Search& how);

}  // namespace usmp::pipeline

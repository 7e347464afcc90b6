// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// One test module through all stages, for every algorithm and pool set.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "random_modules/generate.hpp"
#include "random_modules/interpreter.hpp"
#include "random_modules/product_replay.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::random_modules {

// A pool that the application has, as the module's entry takes it.
struct ExternalPool {
  std::string name;
  bool is_constant = false;
};

// The C of one plan, or of several that give the same C.
struct Emitted {
  std::string origin;  // "optimal, pools io"
  bool workspace_io = false;
  std::vector<ExternalPool> external_pools;  // by name
  std::string header;
  std::string entry;      // M_lib0.c
  std::string operators;  // M_lib1.c
};

struct CheckOptions {
  bool plans = true;                   // else only transformed and run
  bool emits = false;                  // C too
  std::vector<transform::Step> steps;  // of transformation
  std::int64_t recompute_percent = 0;  // transform::Options
  std::int64_t strip_percent = 0;
  transform::RollingGrain rolling_grain = transform::RollingGrain::any;
};

struct Report {
  std::optional<Outcome> reference;  // nothing: the module is not well defined
  std::vector<transform::Change> changes;
  std::string why_undefined;
  std::vector<std::string> faults;  // of stages up to the emission of C
  std::size_t plans = 0;            // that were replayed
  std::size_t sharing = 0;          // of these, in which buffers share bytes while both are live
  ProductReplays product;           // of the product's own replay
  std::size_t infeasible = 0;       // pool sets times algorithms without a plan
  std::vector<Emitted> emitted;     // if asked for; distinct
};

// Runs the reference, transforms, runs the result, plans, verifies and replays it; with `emits` lowers and emits it
// too. Stops at the first fault.
[[nodiscard]] Report check(const TestModule& test, const CheckOptions& options);

}  // namespace usmp::random_modules

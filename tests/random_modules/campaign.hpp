// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Many modules: checked, their C compiled in batches, failures collected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "random_modules/generate.hpp"
#include "random_modules/product_replay.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::random_modules {

enum class Kind : std::uint8_t {
  modules,   // generate.hpp
  networks,  // networks.hpp
  products,  // networks.hpp
};

struct Settings {
  Kind kind = Kind::modules;
  std::uint64_t seed = 1;
  std::uint64_t count = 200;        // seeds seed, seed + 1, …
  std::uint64_t compile_every = 1;  // the C of every such module is compiled and run; 0: of none
  std::size_t variants = 3;         // of a module are compiled, drawn from all there are; 0: all
  std::size_t jobs = 1;
  std::optional<std::size_t> compiler;  // index into compilers(); nothing: they take turns
  bool warnings = true;                 // of compilers are failures
  bool from_c = false;                  // the modules are written as TVM's C and read back first
  bool plans = true;                    // else the modules are transformed and interpreted only
  std::vector<transform::Step> steps;
  std::int64_t recompute_percent = 0;  // transform::Options
  std::int64_t strip_percent = 0;
  transform::RollingGrain rolling_grain = transform::RollingGrain::any;
};

// The module of a seed, before any step.
[[nodiscard]] TestModule made(std::uint64_t seed, const Settings& settings);

struct Failure {
  std::uint64_t seed = 0;
  std::string what;
  bool needs_compiler = false;  // `what` was seen when the C ran
  std::size_t compiler = 0;     // index into compilers()
};

struct Totals {
  std::uint64_t modules = 0;    // seeds tried
  std::uint64_t unspelled = 0;  // for which TVM has no C, or whose C is not read
  std::uint64_t undefined = 0;  // refused by the reference interpreter
  std::uint64_t plans = 0;      // verified and replayed
  std::uint64_t sharing = 0;    // of these, in which buffers share bytes while both are live
  ProductReplays product;       // of the product's own replay
  std::uint64_t compiled = 0;   // modules whose C was compiled and run
  std::uint64_t variants = 0;   // different C, over all plans of these
  std::uint64_t programs = 0;
  std::uint64_t rows = 0;                            // variants that add up rows
  std::uint64_t dots = 0;                            // variants that add up runs of dot products
  std::uint64_t lanes = 0;                           // or of lanes
  std::uint64_t windows = 0;                         // or whole windows of lanes
  std::uint64_t shared = 0;                          // of these, several sums a channel
  std::uint64_t floats = 0;                          // or with vectors of floats
  std::uint64_t pairs = 0;                           // or with weights that are pairs
  std::uint64_t halves = 0;                          // or with factors of 16 bits
  std::map<transform::Step, std::uint64_t> changed;  // modules to which the step did something
  std::vector<Failure> failures;                     // by seed
};

// `progress` is called now and then with the totals so far; it may be empty.
[[nodiscard]] Totals run_campaign(const Settings& settings, const std::function<void(const Totals&)>& progress = {});

// The failure's module, of a campaign of these settings, made small (see shrink.hpp), and what the small one says.
struct Shrunk {
  std::string module;  // printed
  std::string what;
};
[[nodiscard]] Shrunk shrink_failure(const Failure& failure, const Settings& settings);

}  // namespace usmp::random_modules

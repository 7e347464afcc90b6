// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Transformations (usmp/transform) of test modules, held against the reference interpreter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "random_modules/generate.hpp"
#include "random_modules/interpreter.hpp"
#include "usmp/kernels/core.hpp"
#include "usmp/tir/verify.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::random_modules {

struct Transformed {
  TestModule test;                         // the same inputs and outputs
  std::optional<Outcome> outcome;          // of the same arguments; nothing: there is a fault
  std::vector<transform::Change> changes;  // as told by the steps
  std::optional<std::string> fault;        // what is wrong with the result
};

// The first fault of a module (usmp/tir/verify.hpp) with its place; nothing: it is well formed.
[[nodiscard]] std::optional<std::string> fault_of(const tir::Module& module, tir::Form form = tir::Form::planned);

// How the entry's interface (name, parameters) differs; nothing: it does not.
[[nodiscard]] std::optional<std::string> difference_of_interfaces(const tir::Module& before, const tir::Module& after);

// Applies the passes and runs the result, which must be well formed and well defined, have the same interface and leave
// the same bytes in every parameter of the entry where `reference`, the outcome of `test`, has written any.
// Weights lie in blocks in modules of even seeds, most of which may have pairs of them, and in rows in others.
[[nodiscard]] const kernels::Core& core_for(std::uint64_t seed);

[[nodiscard]] Transformed transformed(const TestModule& test, const Outcome& reference,
                                      const transform::Options& options);

// Runs `changed` on what gave `reference`: in what the parameters of its entry differ, or why it is not well defined.
// Nothing: it computes the same.
[[nodiscard]] std::optional<std::string> difference_to(const Outcome& reference, const std::vector<Argument>& arguments,
                                                       const tir::Module& changed);

// "fuse,reorder".
[[nodiscard]] std::string names_of(const std::vector<transform::Step>& steps);

}  // namespace usmp::random_modules

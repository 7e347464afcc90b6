// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Plays the accesses of a reference run at the places of a plan: is every byte that is read the one that its buffer
// wrote last?
#pragma once

#include <optional>
#include <string>

#include "random_modules/interpreter.hpp"
#include "usmp/assemble/assemble.hpp"
#include "usmp/liveness/liveness.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::random_modules {

// Pools begin full of garbage, inputs and constants at their places. Each byte of a pool knows which life of which
// buffer wrote it last. A sentence about the first read of another's bytes, access outside of the buffer, or misaligned
// access (pools being as aligned as their buffers ask for); nothing if the plan is right.
[[nodiscard]] std::optional<std::string> replay(const tir::Module& module, const Outcome& outcome,
                                                const liveness::Analysis& analysis, const assemble::Assembly& assembly,
                                                const Plan& plan);

}  // namespace usmp::random_modules

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
#pragma once

#include <iosfwd>

#include "planning.hpp"

namespace usmp::driver {

// What pools need so that all modules fit, of which some have no plan and the sizes that each needs are known: a
// workspace pool what most of them need, the only parameter pool the constants of all. Empty if that says no more than
// what is known of one module, for modules side by side, and if no sizes are seen to be enough. Plans every module once
// for each pool that can be enlarged.
[[nodiscard]] JointSizes joint_sizes(const Planning& planning, const PlanningOptions& options,
                                     const Interrupt& interrupt, std::ostream* terminal,
                                     std::chrono::milliseconds spent);

}  // namespace usmp::driver

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// All that a program takes besides its code: pools, state, inputs, outputs, stack, constants, instructions; in all, and
// by region of a linker script.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "usmp/config/pools.hpp"
#include "usmp/plan_file/plan_document.hpp"

namespace usmp::compare {

// What modules need that run one after another, or side by side as the pools file says. What is not known counts as 0.
struct WholeFigures {
  Bytes workspace = 0;            // of the pools, as all modules need them
  Bytes io = 0;                   // inputs, outputs and state that are in no pool of the pools file, of all modules
  Bytes state = 0;                // in the pool that the file has for it
  Bytes stack = 0;                // of the module that needs most, or of those side by side together
  Bytes constants = 0;            // of all modules
  std::int64_t instructions = 0;  // of the module that takes most
  std::string slowest;            // that module
  bool knows_ram = true;          // else `workspace` or `io` lack something
  bool knows_stack = true;
  bool knows_constants = true;
  bool knows_instructions = true;

  [[nodiscard]] Bytes ram() const { return workspace + io + state + stack; }
};

// What is in a region of the linker script.
struct RegionUse {
  std::string name;
  Bytes length = 0;
  Bytes pools = 0;            // what all modules use of the pools that have it
  Bytes io = 0;               // WholeFigures::io, if it is there
  Bytes stack = 0;            // WholeFigures::stack, if it is there
  Bytes assumed = 0;          // of these two, what is only taken to be there: the pools file does not say where it is
  config::Position position;  // of the first pool there; line 0: none

  [[nodiscard]] Bytes total() const { return pools + io + stack; }
};

// `plans`: of all modules, in the order of planning. O(as shared_pools).
[[nodiscard]] WholeFigures whole_figures(const std::vector<const plan_file::PlanDocument*>& plans,
                                         const config::PoolsConfig& config);

// The regions with anything of the program, in the script's order; none without a script. Inputs, outputs and stack are
// where the pools file says, else in the region of the workspace pools, if all of these are in one.
[[nodiscard]] std::vector<RegionUse> region_uses(const std::vector<const plan_file::PlanDocument*>& plans,
                                                 const config::PoolsConfig& config);

// "9216 pools + 3354 inputs and outputs + 698 stack".
[[nodiscard]] std::string parts_text(const RegionUse& use);

// A sentence for each region that is too small for what is in it.
[[nodiscard]] std::vector<std::string> full_regions(const std::vector<RegionUse>& uses);

}  // namespace usmp::compare

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Pinned buffers: places from the pools file or from an earlier plan.
//
// A buffer's identity is its name, its function, and its number among the assembly's buffers of the same name and
// function, from 0 in the order of BufferId. It changes only with the model's source, and users can write it in a pools
// file.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "usmp/assemble/assemble.hpp"
#include "usmp/config/pools.hpp"
#include "usmp/plan_file/plan_document.hpp"

namespace usmp::assemble {

// Pins buffers of the assembly. Returns for each pin whether the assembly has its buffer; another module may have it.
//
// Throws Error of kind usage (place: the pin's) if a pin is ambiguous, its buffer is pinned already, its pool is not
// among the buffer's candidates, or pins contradict each other or the pools (see invalid_reason). O(buffers + pins ·
// log · names + pins²).
[[nodiscard]] std::vector<bool> pin(Assembly& assembly, const std::vector<config::PinSpec>& pins);

// The error for a pin whose buffer is in none of the assemblies, with a similar name if there is one.
[[noreturn]] void throw_unknown_buffer(const config::PinSpec& pin, const std::vector<const Assembly*>& assemblies);

// The recorded plan, as a plan of the assembly. Both must have the same buffers, by identity, with the same sizes and
// live ranges, each placed in a pool of the assembly. Does not check whether the places are correct.
//
// Throws Error of kind usage that names up to ten differences. O(buffers · log).
[[nodiscard]] Plan recorded_plan(const Assembly& assembly, const plan_file::PlanDocument& plan);

// Pins every buffer that the plan placed and that did not change: the assembly has it with the same size, the pool is
// among its candidates, and the place contradicts neither the pools nor earlier pins. Buffers that are already pinned
// do not change. Returns a sentence for each reason why buffers were left to the planner. O(buffers · log + pins² · (1
// + places that contradict)).
[[nodiscard]] std::vector<std::string> pin_as_before(Assembly& assembly, const plan_file::PlanDocument& plan);

}  // namespace usmp::assemble

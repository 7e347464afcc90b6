// Pinned buffers: from the pools file, or as an earlier plan placed them.
//
// A buffer's identity is its name, its function, and its number among the assembly's buffers of the same name and
// function, from 0 in the order of BufferId. It does not change while the model's source does not, and people can write
// it down.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "usmp/assemble/assemble.hpp"
#include "usmp/config/pools.hpp"
#include "usmp/plan_file/plan_document.hpp"

namespace usmp::assemble {

// Pins buffers of the assembly. [i]: whether the assembly has the buffer of pins[i]; another module may have it.
//
// Throws Error of kind usage (place: the pin's) when a pin may mean several buffers, its buffer is pinned already, its
// pool is not among the buffer's candidates, or pins contradict each other or the pools (see invalid_reason).
// O(buffers + pins · log · names + pins²).
[[nodiscard]] std::vector<bool> pin(Assembly& assembly, const std::vector<config::PinSpec>& pins);

// The error of a pin whose buffer none of the assemblies has, with a near spelling if there is one.
[[noreturn]] void throw_unknown_buffer(const config::PinSpec& pin, const std::vector<const Assembly*>& assemblies);

// The plan that was written down, for an assembly that it is a plan of: of the same buffers, by identity, of the same
// sizes and live ranges, each placed in a pool that there is. Whether the places are right is not looked at.
//
// Throws Error of kind usage that names what differs, up to ten things. O(buffers · log).
[[nodiscard]] Plan recorded_plan(const Assembly& assembly, const plan_file::PlanDocument& plan);

// Pins every buffer that the plan placed and that is still the same: the assembly has it, its size is what it was, the
// pool is among its candidates, and the place contradicts neither the pools nor the pins before it. Buffers that are
// pinned already stay as they are. Returns a sentence for each reason for which buffers were left to the planner.
// O(buffers · log + pins² · (1 + places that contradict)).
[[nodiscard]] std::vector<std::string> pin_as_before(Assembly& assembly, const plan_file::PlanDocument& plan);

}  // namespace usmp::assemble

// SPDX-License-Identifier: Apache-2.0
#include "usmp/kernels/core.hpp"

#include <algorithm>

namespace usmp::kernels {
namespace {

// docs/performance.md has the measurements.
constexpr Core table[] = {
    {.name = "generic"},    {.name = "cortex-m0plus", .sums = 8},
    {.name = "cortex-m3"},  {.name = "cortex-m4"},
    {.name = "cortex-m7"},  {.name = "cortex-m33"},
    {.name = "cortex-m55"}, {.name = "rv32imc"},
};

}  // namespace

std::span<const Core> cores() { return table; }

const Core& generic_core() { return table[0]; }

const Core* find_core(std::string_view name) {
  const auto* const found = std::ranges::find(table, name, &Core::name);
  return found == std::end(table) ? nullptr : found;
}

const Core& core_of(std::string_view cpu) {
  const Core* found = find_core(cpu.substr(0, cpu.find('+')));
  return found == nullptr ? generic_core() : *found;
}

}  // namespace usmp::kernels

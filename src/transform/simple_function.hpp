// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Functions that the loop transformations look into, and who reads and writes what in them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "usmp/loops/accesses.hpp"
#include "usmp/program/param_aliases.hpp"
#include "usmp/tir/ir.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {

using program::ParamAliases;

// A function is simple if it consists of loops, branches without calls of functions, lets of numbers, and scalar loads
// and stores of storage that it declares or is passed, each with one element type, and if no variable is bound twice.
// So all accesses are in sight, and two storages share bytes only where ParamAliases says so.
[[nodiscard]] bool is_simple(const tir::Module& module, std::size_t function, const ParamAliases& aliases);

// Limit a function that is looked into; its expressions by nodes, as trees. Real ones have far less.
inline constexpr std::size_t max_statements = 2000;
inline constexpr std::size_t max_expressions = 50000;

}  // namespace usmp::transform

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Elements computed where they are read.
#pragma once

#include <vector>

#include "transform/simple_function.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::transform {

// A copy with a border: a number unless a condition holds, and next to no work if it does.
[[nodiscard]] bool has_border(const tir::Expr& value);

// What a reader's extra work may cost.
enum class Inlining {
  never_slower,  // no more operations than the loads and stores that vanish
  padding,       // only copies with a zero border, at any cost: the caller looks at what came out
};

// Buffers of the function that one injective nest writes (loops/injective_nest.hpp) and later statements of the same
// block read are not stored: each load becomes the value. That is exact, since an iteration's value does not depend on
// when it is computed: what it reads is written neither between nor by the readers. Nests and buffers that lose their
// readers go. Returns the variables of the buffers that are gone. The function is simple (simple_function.hpp).
// O(buffers · size).
std::vector<tir::VarId> inline_producers(const tir::Module& module, tir::Function& function,
                                         const ParamAliases& aliases, Inlining inlining);

}  // namespace usmp::transform

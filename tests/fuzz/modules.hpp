// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What holds of every module that a reader makes.
#pragma once

#include "usmp/tir/ir.hpp"

namespace usmp::fuzz {

// Its text is the same twice; live ranges are in order; distances are possible.
void check_module(const tir::Module& module);

}  // namespace usmp::fuzz

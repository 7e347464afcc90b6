// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Variables of C that are one number each.
#pragma once

#include <set>

#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {

// Storage of one element that the block declares, at any depth, and that is only loaded and stored: nobody has its
// address, and nothing else shares its bytes. O(nodes · log).
[[nodiscard]] std::set<tir::VarId> numbers_of(const tir::Block& body);

}  // namespace usmp::tvm_c

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Counters of loops that are not int32_t, where int32_t would count the same: `for (size_t i = 0; …)`.
#pragma once

#include <set>

#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {

// Counters and lets of the types uint32, uint64 and int64, as if they were int32: if each value that C computes with
// them in such a type is in [0, INT32_MAX]. Then C computes the same in all types of at least 32 bits, whatever their
// sizes and signs, so also in size_t and long, which differ from machine to machine.
// False, and nothing changes: that is not proved. O(nodes).
[[nodiscard]] bool count_in_int32(tir::Module& module, tir::Function& function, const std::set<tir::VarId>& counters);

}  // namespace usmp::tvm_c

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Modules written as TVM writes them (tvm.ir.save_json), to be read back.
#pragma once

#include <string>

#include "usmp/tir/ir.hpp"

namespace usmp::random_modules {

// The module's JSON; `modern`: accesses through buffers, as from TVM 0.9 on, else tir.Load and tir.Store.
[[nodiscard]] std::string json_of(const tir::Module& module, bool modern);

// The module as it is read back: predicates and conditions that are constant, evaluated literals and scopes that end
// nothing are left out.
[[nodiscard]] tir::Module in_normal_form(tir::Module module);

// How the module that is read back from its JSON differs; empty: not at all.
[[nodiscard]] std::string round_trip_fault(const tir::Module& module, bool modern);

}  // namespace usmp::random_modules

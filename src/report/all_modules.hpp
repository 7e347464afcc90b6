// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What all modules that were planned together need of a pool, in a few words.
#pragma once

#include <string>

#include "usmp/plan_file/plan_document.hpp"

namespace usmp::report {

// "9536 bytes, set by kws", "9536 bytes, set by kws and vww side by side", "9536 bytes of constants of kws and vww".
// Names as they are in the plan.
[[nodiscard]] std::string all_modules_text(const plan_file::PlanDocument::Pool::AllModules& all, PoolKind kind);

}  // namespace usmp::report

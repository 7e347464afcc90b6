// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What the checks of pools and those of the whole program have in common.
#pragma once

#include <string>

#include "usmp/compare/budget_check.hpp"
#include "usmp/config/budget.hpp"

namespace usmp::compare {

// A breach if more is required than available; of warn_at a warning. Without a message.
[[nodiscard]] LimitCheck compared(Rule rule, Bytes required, Bytes available, config::Position position);

[[nodiscard]] LimitCheck not_checked(Rule rule, config::Position position, std::string why,
                                     Verdict verdict = Verdict::not_checked);

// Whether a limit of a workspace pool is a breach.
[[nodiscard]] bool lacks_workspace(const ModuleCheck& module);

}  // namespace usmp::compare

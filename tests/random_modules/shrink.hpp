// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A module that fails → a small one that still does.
#pragma once

#include <cstddef>
#include <functional>

#include "random_modules/generate.hpp"

namespace usmp::random_modules {

// Tries ever smaller changes (functions, statements, operands left out, loops and branches replaced by what is in them,
// fewer iterations) and keeps those with which `fails` still holds, until none does or it was asked `most_tries` times.
// Candidates that are not well defined are not asked about. Deterministic.
[[nodiscard]] TestModule shrink(const TestModule& failing, const std::function<bool(const TestModule&)>& fails,
                                std::size_t most_tries);

}  // namespace usmp::random_modules

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// C for a module that does no more than evaluate expressions, written as TVM's generator of C writes it: an oracle for
// the reference interpreter that shares no code with it, nor with the emission of C under test. A compiler decides what
// the expressions are worth.
#pragma once

#include <optional>

#include "random_modules/check.hpp"
#include "random_modules/generate.hpp"

namespace usmp::random_modules {

// The C of the module's entry, a loop around one store (generate_expression). Nothing: TVM has no C for what it
// computes (vectors, half precision, predicates, counted bits).
[[nodiscard]] std::optional<Emitted> in_tvm_spelling(const TestModule& test);

}  // namespace usmp::random_modules

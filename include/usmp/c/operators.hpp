// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// How C's operators bind (C11 6.5).
#pragma once

#include <string_view>

namespace usmp::c {

inline constexpr int comma_precedence = 1;
inline constexpr int assignment_precedence = 2;
inline constexpr int conditional_precedence = 3;
inline constexpr int prefix_precedence = 14;

// The comma's, that of '?', and those of binary operators, which are between conditional_precedence and
// prefix_precedence: the higher binds first. 0: none of them.
[[nodiscard]] int precedence_of(std::string_view op);

// '=' and compound ones.
[[nodiscard]] bool is_assignment(std::string_view op);

}  // namespace usmp::c

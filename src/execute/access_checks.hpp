// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
#pragma once

#include <cstdint>
#include <string>

#include "usmp/execute/execute.hpp"

namespace usmp::execute {

// A function of the harness: gives `index` if it is in [low, high), else ends the program.
inline constexpr const char* index_check = "usmp_run_index";
inline constexpr const char* index_check_prototype =
    "int64_t usmp_run_index(int64_t index, int64_t low, int64_t high, int64_t access)";

// "function 'f' loads element 300 of 'table', which has 256 elements".
[[nodiscard]] std::string outside_text(const CheckedAccess& access, std::int64_t index);

}  // namespace usmp::execute

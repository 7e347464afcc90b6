// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// CSV after RFC 4180; lines end with "\n".
#pragma once

#include <string>
#include <vector>

namespace usmp::report {

// Quoted if it must be. Spreadsheets take a field that starts like a formula for one: it gets an apostrophe in front.
[[nodiscard]] std::string csv_field(const std::string& raw);

[[nodiscard]] std::string csv_row(const std::vector<std::string>& cells);

}  // namespace usmp::report

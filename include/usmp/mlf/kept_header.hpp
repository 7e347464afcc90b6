// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A module's header that somebody added to: what the firmware includes besides TVM's declarations stays.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/mlf/archive.hpp"

namespace usmp::mlf {

// `before` with the values of macros that `planned`, the header of planned C, gives them. Nothing: `planned` has all
// that `before` has; or the text has not all that planned C needs, which is `c`; or TVM's declarations in it
// (tvmgen_M_… and TVMGEN_M_…, `prefix` is "tvmgen_M") or functions and pools of `gone` are not those of planned C.
// O(text · log).
[[nodiscard]] std::optional<std::string> kept_header(std::string_view before, std::string_view planned,
                                                     std::string_view c, const std::string& prefix,
                                                     const std::set<std::string>& gone);

// Macros that stop kept_header(): `planned` gives them values, and `before` has them more than once, or not in a line.
[[nodiscard]] std::vector<std::string> macros_without_place(std::string_view before, std::string_view planned);

// Names of macros that the header and those of the archive that it includes define, but for TVM's.
[[nodiscard]] std::set<std::string> macros_of_header(const Archive& archive, const std::string& header);

}  // namespace usmp::mlf

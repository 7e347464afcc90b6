// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which version of TVM wrote C, by the habits of its printer.
#pragma once

#include <span>
#include <string>

#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {

// "0.8", "0.9 to 0.10": the versions from 0.8 to 0.18 whose printers write so, or the empty string if there is none
// (C that was edited). O(bytes).
[[nodiscard]] std::string version_by_style(std::span<const Source> files);

}  // namespace usmp::tvm_c

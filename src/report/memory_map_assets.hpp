// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Style and script of the memory map's page (memory_map.css, memory_map.js).
#pragma once

#include <string_view>

namespace usmp::report {

extern const std::string_view memory_map_css;
extern const std::string_view memory_map_js;

}  // namespace usmp::report

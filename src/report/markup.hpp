// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Text of a plan, and so of an archive of anybody's, inside other languages.
#pragma once

#include <string>
#include <string_view>

namespace usmp::report {

// For XML and HTML, between tags and in quoted attributes. What XML cannot hold (control characters, bytes that are no
// UTF-8) is written out as `printable` does.
[[nodiscard]] std::string markup_text(std::string_view text);

// What pictures and pages say of themselves, behind their first line.
inline constexpr std::string_view markup_terms = "<!-- Written by usmp-plan. It may be used without conditions. -->\n";

// JSON for a <script> element: as it is but for '<', '>' and '&', which stand in no JSON outside of strings.
[[nodiscard]] std::string script_json(std::string_view json);

}  // namespace usmp::report

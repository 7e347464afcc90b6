// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Markdown as GitHub and GitLab show it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/layout.hpp"

namespace usmp::report {

// Text of a plan in a cell or a sentence, in which nothing means anything to Markdown or HTML but its letters.
[[nodiscard]] std::string markdown_text(std::string_view text);

// The headings, which are text, and the rule below them.
[[nodiscard]] std::string markdown_head(const std::vector<Table::Column>& columns);

// "| a | b |\n"; the cells are Markdown.
[[nodiscard]] std::string markdown_row(const std::vector<std::string>& cells);

}  // namespace usmp::report

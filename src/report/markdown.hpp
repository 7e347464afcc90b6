// Markdown as GitHub and GitLab show it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace usmp::report {

// Text of a plan in a cell or a sentence, in which nothing means anything to Markdown or HTML but its letters.
[[nodiscard]] std::string markdown_text(std::string_view text);

// "| a | b |\n"; the cells are Markdown.
[[nodiscard]] std::string markdown_row(const std::vector<std::string>& cells);

}  // namespace usmp::report

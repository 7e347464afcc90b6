// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Escapes every character that means something to Markdown or HTML, and joins cells with bars.
#include "report/markdown.hpp"

#include "report/markup.hpp"

namespace usmp::report {

std::string markdown_text(std::string_view text) {
  std::string result;
  for (const char c : markup_text(text)) {
    if (std::string_view("\\`*_[]|~").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string markdown_head(const std::vector<Table::Column>& columns) {
  std::vector<std::string> headings;
  std::string rule = "|";
  for (const Table::Column& column : columns) {
    headings.push_back(markdown_text(column.heading));
    rule += column.align == Align::right ? "--:|" : "---|";
  }
  return markdown_row(headings) + rule + "\n";
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& one : cells) {
    text += ' ';
    text += one + " |";
  }
  return text + "\n";
}

}  // namespace usmp::report

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes titles, rows and the legend, as text or Markdown.
#include "report/module_tables.hpp"

#include "report/markdown.hpp"
#include "usmp/support/printable.hpp"

namespace usmp::report {

std::string module_tables_text(const ModuleTables& tables, bool color) {
  std::string text;
  for (const ModuleTable& module : tables.modules) {
    const std::string title = "module " + printable(module.module) + " of " + printable(tables.archive);
    text += (color ? "\x1b[1m" + title + "\x1b[0m" : title) + "\n";
    Table table(tables.columns);
    for (const auto& row : module.rows) table.add(row);
    text += table.text("  ") + "\n";
  }
  return text + tables.legend + "\n";
}

std::string module_tables_markdown(const ModuleTables& tables) {
  std::string text;
  for (const ModuleTable& module : tables.modules) {
    text +=
        "### " + tables.heading + " " + markdown_text(module.module) + " (" + markdown_text(tables.archive) + ")\n\n";
    text += markdown_head(tables.columns);
    for (const auto& row : module.rows) text += markdown_row(row);
    text += "\n";
  }
  return text + tables.legend + "\n";
}

}  // namespace usmp::report

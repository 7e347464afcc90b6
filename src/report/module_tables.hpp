// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A table for each module of an archive, and below them what the columns mean.
#pragma once

#include <string>
#include <vector>

#include "report/layout.hpp"

namespace usmp::report {

struct ModuleTable {
  std::string module;
  std::vector<std::vector<std::string>> rows;
};

struct ModuleTables {
  std::string archive;
  std::string heading;  // of a section in Markdown: "Memory and work of"
  std::vector<Table::Column> columns;
  std::vector<ModuleTable> modules;
  std::string legend;
};

[[nodiscard]] std::string module_tables_text(const ModuleTables& tables, bool color);
[[nodiscard]] std::string module_tables_markdown(const ModuleTables& tables);

}  // namespace usmp::report

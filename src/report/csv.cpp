// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Quotes fields, and puts an apostrophe in front of formulas; negative numbers are none.
#include "report/csv.hpp"

#include <string_view>

#include "usmp/support/printable.hpp"

namespace usmp::report {

namespace {

bool is_negative_number(std::string_view text) {
  return text.size() > 1 && text.front() == '-' && text.find_first_not_of("0123456789.", 1) == std::string_view::npos;
}

bool looks_like_formula(std::string_view text) {
  return !text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos &&
         !is_negative_number(text);
}

}  // namespace

std::string csv_field(const std::string& raw) {
  std::string text = printable(raw);
  if (looks_like_formula(text)) text.insert(0, "'");
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv_row(const std::vector<std::string>& cells) {
  std::string row;
  for (const std::string& cell : cells) row += (&cell == cells.data() ? "" : ",") + csv_field(cell);
  return row + "\n";
}

}  // namespace usmp::report

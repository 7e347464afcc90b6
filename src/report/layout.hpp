// SPDX-License-Identifier: Apache-2.0
// Columns of text for a terminal and for log files. Widths count code points; nothing depends on the locale.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/problem/problem.hpp"
#include "usmp/support/printable.hpp"
#include "usmp/support/text.hpp"

namespace usmp::report {

[[nodiscard]] std::string pad_left(std::string_view text, std::size_t width);   // blanks in front
[[nodiscard]] std::string pad_right(std::string_view text, std::size_t width);  // blanks behind

// "[0,17) [40,52)".
[[nodiscard]] std::string live_text(const std::vector<LiveRange>& live);

enum class Align : bool { left, right };

// Rows of cells under a row of headings; every column as wide as its widest cell, two blanks apart.
class Table {
 public:
  struct Column {
    std::string heading;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add(std::vector<std::string> cells);  // as many as there are columns
  // Every line starts with `indent` and ends with a newline; no blanks at the end of a line.
  [[nodiscard]] std::string text(std::string_view indent) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace usmp::report

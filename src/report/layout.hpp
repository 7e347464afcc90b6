// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
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

// At most `most` code points (at least 3): the middle gives way to an ellipsis, since names differ at their ends. The
// text is UTF-8.
[[nodiscard]] std::string shortened(const std::string& text, std::size_t most);

// How wide text for people is, in code points.
inline constexpr std::size_t page_columns = 80;

// Lines that are wider are continued below them, four blanks further in, eight at most. A break is at blanks, if it can
// be between the columns of a table; a word that is wider than the line stays whole. Escape sequences take no room.
// Folding twice changes nothing.
[[nodiscard]] std::string folded(std::string_view text, std::size_t width = page_columns);

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
  // Every line starts with `indent` and ends with a newline; no blanks at the end of a line. Where lines would be
  // longer than `width`, the cells of the widest columns aligned left are shortened, down to `narrowest` letters
  // and to their headings.
  [[nodiscard]] std::string text(std::string_view indent, std::size_t width = unlimited) const;

  static constexpr std::size_t unlimited = std::string_view::npos;
  static constexpr std::size_t narrowest = 12;

 private:
  void narrow(std::vector<std::size_t>& widths, std::size_t room) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace usmp::report

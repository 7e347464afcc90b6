// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// CSV text → records of fields, as RFC 4180 has it: fields in quotes may hold commas, line ends and doubled quotes;
// lines end in LF or CR LF. Fields are views of the text; nothing is copied.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/support/error.hpp"

namespace usmp::instance {

struct CsvField {
  std::string_view raw;    // with its quotes
  std::size_t column = 1;  // of its first byte

  [[nodiscard]] bool is_quoted() const { return raw.starts_with('"'); }
  [[nodiscard]] bool is_empty() const { return raw.empty() || raw == "\"\""; }
  [[nodiscard]] std::string text() const;  // without them
};

class CsvRecords {
 public:
  // A byte order mark at the start of the text is passed over.
  explicit CsvRecords(std::string_view text);

  // The next record that is not an empty line; false at the end. Throws Error of kind usage.
  [[nodiscard]] bool next(std::vector<CsvField>& fields);

  [[nodiscard]] std::size_t line() const { return record_line_; }  // at which the last record starts, from 1

 private:
  [[nodiscard]] CsvField field();
  void quoted();
  [[nodiscard]] bool at_line_end() const;
  void take_line_end();
  [[nodiscard]] static Error fault(std::size_t line, std::size_t column, std::string message);

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t line_ = 1;
  std::size_t line_start_ = 0;
  std::size_t record_line_ = 0;
};

}  // namespace usmp::instance

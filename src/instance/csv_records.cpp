// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Scans field by field, and counts lines also inside quotes.
#include "instance/csv_records.hpp"

#include <utility>

#include "usmp/support/line_and_column.hpp"

namespace usmp::instance {
namespace {

constexpr std::size_t max_fields = 1000;  // of a row; the longest known has eight

}  // namespace

std::string CsvField::text() const {
  if (!is_quoted()) return std::string(raw);
  std::string value;
  for (std::size_t i = 1; i + 1 < raw.size(); ++i) {
    value += raw[i];
    if (raw[i] == '"') ++i;  // doubled
  }
  return value;
}

CsvRecords::CsvRecords(std::string_view text) : text_(text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text_.starts_with(byte_order_mark)) text_.remove_prefix(byte_order_mark.size());
}

bool CsvRecords::next(std::vector<CsvField>& fields) {
  while (position_ < text_.size() && at_line_end()) take_line_end();
  if (position_ == text_.size()) return false;
  record_line_ = line_;
  fields.clear();
  fields.push_back(field());
  while (position_ < text_.size() && text_[position_] == ',') {
    ++position_;
    if (fields.size() == max_fields) {
      throw fault(line_, position_ - line_start_ + 1, "found more than " + std::to_string(max_fields) + " fields");
    }
    fields.push_back(field());
  }
  if (position_ < text_.size()) take_line_end();
  return true;
}

// Ends at a comma, a line end or the end of the text.
CsvField CsvRecords::field() {
  const std::size_t start = position_;
  const std::size_t column = start - line_start_ + 1;
  if (start < text_.size() && text_[start] == '"') {
    quoted();
  } else {
    while (position_ < text_.size() && text_[position_] != ',' && !at_line_end()) {
      if (text_[position_] == '"') {
        throw fault(line_, position_ - line_start_ + 1,
                    "found a quote inside a field, expected quotes around the whole field or none");
      }
      ++position_;
    }
  }
  return {text_.substr(start, position_ - start), column};
}

void CsvRecords::quoted() {
  const std::size_t line = line_;
  const std::size_t column = position_ - line_start_ + 1;
  ++position_;
  for (;;) {
    if (position_ == text_.size()) throw fault(line, column, "the quote is never closed");
    if (text_[position_] == '\n') {
      take_line_end();
    } else if (text_[position_] != '"') {
      ++position_;
    } else if (position_ + 1 < text_.size() && text_[position_ + 1] == '"') {
      position_ += 2;
    } else {
      break;
    }
  }
  ++position_;
  if (position_ < text_.size() && text_[position_] != ',' && !at_line_end()) {
    throw fault(line_, position_ - line_start_ + 1,
                "found text after a quoted field, expected a comma or the end of the line");
  }
}

bool CsvRecords::at_line_end() const {
  if (text_[position_] == '\n') return true;
  return text_[position_] == '\r' && (position_ + 1 == text_.size() || text_[position_ + 1] == '\n');
}

void CsvRecords::take_line_end() {
  if (text_.substr(position_).starts_with("\r\n")) ++position_;
  ++position_;
  ++line_;
  line_start_ = position_;
}

Error CsvRecords::fault(std::size_t line, std::size_t column, std::string message) {
  return {ErrorKind::usage, {{}, {}, line_and_column(line, column)}, std::move(message)};
}

}  // namespace usmp::instance

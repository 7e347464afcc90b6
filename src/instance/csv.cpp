// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// CSV ⇄ problem. Rows are collected first and put together by buffer afterwards, so that a file costs O(n log n)
// however its rows are ordered.
#include "usmp/instance/csv.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "instance/csv_records.hpp"
#include "instance/excerpt.hpp"
#include "usmp/instance/limits.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"

namespace usmp::instance {
namespace {

enum Column : std::size_t { id, lower, upper, end, size, alignment, offset, column_count };

const std::array<std::string, column_count> column_names = {"id",   "lower",     "upper", "end",
                                                            "size", "alignment", "offset"};

Error fault(std::size_t line, std::string message) {
  return {ErrorKind::usage, {{}, {}, "line " + std::to_string(line)}, std::move(message)};
}

Error fault(std::size_t line, Column column, std::string message) {
  return {ErrorKind::usage,
          {{}, {}, "line " + std::to_string(line) + ", column '" + column_names[column] + "'"},
          std::move(message)};
}

// Which field of a row is which column.
class Header {
 public:
  Header(const std::vector<CsvField>& fields, std::size_t line) : width_(fields.size()) {
    for (std::size_t i = 0; i < fields.size(); ++i) add(fields[i].text(), i, line);
    if (has(upper) && has(end)) throw fault(line, "found both 'upper' and 'end', expected one of them");
    for (const Column column : {id, lower, upper, size}) {
      if (has(column) || (column == upper && has(end))) continue;
      throw fault(line, "no column '" + column_names[column] + "'" + (column == upper ? " (or 'end')" : "") +
                            ", expected id,lower,upper,size[,alignment][,offset]");
    }
  }

  [[nodiscard]] bool has(Column column) const { return fields_[column].has_value(); }
  [[nodiscard]] std::size_t field(Column column) const { return *fields_[column]; }
  [[nodiscard]] std::size_t width() const { return width_; }

 private:
  void add(const std::string& name, std::size_t field, std::size_t line) {
    const auto found = std::find(column_names.begin(), column_names.end(), name);
    if (found == column_names.end()) {
      throw fault(line, "unknown column " + excerpt(name) + did_you_mean(name, column_names) +
                            ", expected id,lower,upper,size[,alignment][,offset]");
    }
    auto& at = fields_[static_cast<std::size_t>(found - column_names.begin())];
    if (at) throw fault(line, "column '" + name + "' appears twice");
    at = field;
  }

  std::array<std::optional<std::size_t>, column_count> fields_;
  std::size_t width_;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : records_(text) {
    constexpr std::size_t shortest_row = 8;  // with its line end
    const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    const std::size_t most_rows = std::min(lines, text.size() / shortest_row);
    ids_.reserve(most_rows);
    rows_.reserve(most_rows);
  }

  CsvInstance run() {
    if (!records_.next(fields_)) throw fault(1, "found nothing, expected a row that names the columns");
    header_.emplace(fields_, records_.line());
    instance_.problem.pools.push_back({.name = "pool"});
    while (records_.next(fields_)) row();
    join_live_ranges();
    if (auto reason = invalid_reason(instance_.problem)) throw Error(ErrorKind::usage, {}, *std::move(reason));
    return std::move(instance_);
  }

 private:
  struct Row {
    BufferId buffer;
    LiveRange live;
    std::size_t line;
  };

  void row() {
    const std::size_t line = records_.line();
    if (fields_.size() != header_->width()) {
      throw fault(line, "found " + std::to_string(fields_.size()) + " fields, expected " +
                            std::to_string(header_->width()) + " as in the first row");
    }
    if (rows_.size() == max_buffers) throw fault(line, "found more than " + std::to_string(max_buffers) + " rows");
    const BufferId buffer = buffer_of_row();
    rows_.push_back({buffer, live_range(), line});
    instance_.rows.push_back(buffer);
  }

  // The buffer of the row's id, which has to agree with its earlier rows.
  BufferId buffer_of_row() {
    const std::size_t line = records_.line();
    const Bytes bytes = integer(size, 0);
    const Bytes aligned = header_->has(alignment) ? integer(alignment, 1) : 1;
    std::optional<Bytes> pin;
    if (header_->has(offset) && !field(offset).is_empty()) pin = integer(offset, 0);
    std::string name = field(id).text();
    if (name.empty()) throw fault(line, id, "found nothing, expected a name");
    auto& buffers = instance_.problem.buffers;
    const auto [found, is_new] = ids_.emplace(std::move(name), BufferId(buffers.size()));
    if (is_new) {
      first_lines_.push_back(line);
      buffers.push_back({.name = found->first,
                         .function = {},
                         .size = bytes,
                         .alignment = aligned,
                         .candidates = {PoolId(0)},
                         .live = {},
                         .pinned = pin});
      return found->second;
    }
    Buffer& buffer = buffers[found->second.index()];
    require_same(size, bytes, buffer.size, found->second);
    require_same(alignment, aligned, buffer.alignment, found->second);
    if (pin && buffer.pinned) require_same(offset, *pin, *buffer.pinned, found->second);
    if (pin) buffer.pinned = pin;
    return found->second;
  }

  void require_same(Column column, Bytes found, Bytes expected, BufferId buffer) const {
    if (found == expected) return;
    throw fault(records_.line(), column,
                "found " + std::to_string(found) + ", expected " + std::to_string(expected) + " as in line " +
                    std::to_string(first_lines_[buffer.index()]) + " of the same id");
  }

  LiveRange live_range() const {
    const Tick begin = integer(lower, 0);
    if (header_->has(upper)) {
      const Tick behind = integer(upper, 0);
      if (behind > begin) return {begin, behind};
      throw fault(records_.line(), upper,
                  "found " + std::to_string(behind) + ", expected more than lower, " + std::to_string(begin));
    }
    const Tick last = integer(end, 0);
    if (last < begin) {
      throw fault(records_.line(), end,
                  "found " + std::to_string(last) + ", expected no less than lower, " + std::to_string(begin));
    }
    if (last == std::numeric_limits<Tick>::max()) {
      throw fault(records_.line(), end, "found " + std::to_string(last) + ", expected less");
    }
    return {begin, last + 1};
  }

  [[nodiscard]] const CsvField& field(Column column) const { return fields_[header_->field(column)]; }

  [[nodiscard]] std::int64_t integer(Column column, std::int64_t least) const {
    const CsvField& cell = field(column);
    const std::string unquoted = cell.is_quoted() ? cell.text() : std::string();
    const std::string_view text = cell.is_quoted() ? unquoted : cell.raw;
    std::int64_t value = 0;
    const char* const last = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), last, value);
    if (error != std::errc{} || stopped != last || value < least) {
      throw fault(records_.line(), column,
                  "found " + (text.empty() ? "nothing" : excerpt(text)) + ", expected an integer from " +
                      std::to_string(least) + " to " + std::to_string(std::numeric_limits<std::int64_t>::max()));
    }
    return value;
  }

  // Ranges of one buffer that touch become one.
  void join_live_ranges() {
    const auto before = [](const Row& a, const Row& b) {
      return std::tie(a.buffer, a.live, a.line) < std::tie(b.buffer, b.live, b.line);
    };
    if (!std::is_sorted(rows_.begin(), rows_.end(), before)) std::sort(rows_.begin(), rows_.end(), before);
    for (const Row& row : rows_) {
      Buffer& buffer = instance_.problem.buffers[row.buffer.index()];
      instance_.problem.horizon = std::max(instance_.problem.horizon, row.live.end);
      if (buffer.live.empty() || buffer.live.back().end < row.live.begin) {
        buffer.live.push_back(row.live);
      } else if (buffer.live.back().end == row.live.begin) {
        buffer.live.back().end = row.live.end;
      } else {
        throw fault(row.line, "the live range overlaps another one of the same id, " + excerpt(buffer.name));
      }
    }
  }

  CsvRecords records_;
  std::vector<CsvField> fields_;
  std::optional<Header> header_;
  CsvInstance instance_;
  std::unordered_map<std::string, BufferId> ids_;
  std::vector<std::size_t> first_lines_;  // by BufferId
  std::vector<Row> rows_;
};

}  // namespace

CsvInstance parse_csv(std::string_view text) {
  if (text.size() > max_text_bytes) {
    throw Error(ErrorKind::usage, {}, "larger than " + std::to_string(max_text_bytes) + " bytes");
  }
  return Parser(text).run();
}

std::string csv_with_offsets(std::string_view text, const CsvInstance& instance, const Plan& plan) {
  CsvRecords records(text);
  std::vector<CsvField> fields;
  std::size_t offset_field = 0;
  std::string result;
  for (std::size_t row = 0; records.next(fields); ++row) {
    const bool is_header = row == 0;
    if (is_header) {
      const auto found = std::find_if(fields.begin(), fields.end(),
                                      [](const CsvField& field) { return field.text() == column_names[offset]; });
      offset_field = static_cast<std::size_t>(found - fields.begin());
    }
    const std::string cell = is_header ? column_names[offset] : std::to_string(plan.of(instance.rows[row - 1]).offset);
    for (std::size_t i = 0; i < std::max(fields.size(), offset_field + 1); ++i) {
      if (i > 0) result += ',';
      result += i == offset_field ? std::string_view(cell) : fields[i].raw;
    }
    result += '\n';
  }
  return result;
}

}  // namespace usmp::instance

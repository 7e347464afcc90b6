// SPDX-License-Identifier: Apache-2.0
// Where the pieces of a text that was edited stand in its file: messages name places of files.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "usmp/support/line_and_column.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {

// One that begins there: as it stood `from` there, or put in for what stood there.
struct Piece {
  std::size_t at = 0;
  std::size_t from = 0;
  bool is_new = false;
};

class Origin {
 public:
  // `pieces`: of the new text, in order; the first begins at 0.
  Origin(Source before, std::vector<Piece> pieces) : before_(std::move(before)), pieces_(std::move(pieces)) {}

  [[nodiscard]] const Source& before() const { return before_; }
  // In the text before. O(log pieces).
  [[nodiscard]] std::size_t position(std::size_t at) const;

 private:
  Source before_;
  std::vector<Piece> pieces_;
};

// The file as it was found, and where that stands in it.
[[nodiscard]] std::pair<const Source*, std::size_t> found_at(const Source& file, std::size_t offset);

// "line L, column C" there. O(text in front).
[[nodiscard]] std::string place_in(const Source& file, std::size_t offset);

// The same of many places in the same files.
class Places {
 public:
  void of(std::span<const Source> files) { files_ = files; }
  [[nodiscard]] std::string at(std::size_t file, std::size_t offset) const;

 private:
  std::span<const Source> files_;
  mutable std::map<std::size_t, Lines> lines_;  // by file
};

}  // namespace usmp::tvm_c

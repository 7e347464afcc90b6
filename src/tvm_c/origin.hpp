// SPDX-License-Identifier: Apache-2.0
// Where the pieces of a text that was edited stand in its file: messages name places of files.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

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

}  // namespace usmp::tvm_c

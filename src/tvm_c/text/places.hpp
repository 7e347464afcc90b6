// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Lines and columns of places in files, for messages.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "usmp/support/line_and_column.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {

// "line L, column C" there. O(text in front).
[[nodiscard]] inline std::string place_in(const Source& file, std::size_t offset) {
  return line_and_column(file.text, offset + 1);
}

// The same of many places in the same files.
class Places {
 public:
  explicit Places(std::span<const Source> files) : files_(files) {}
  [[nodiscard]] std::string at(std::size_t file, std::size_t offset) const {
    return lines_.try_emplace(file, files_[file].text).first->second.place(offset + 1);
  }

 private:
  std::span<const Source> files_;
  mutable std::map<std::size_t, Lines> lines_;  // by file
};

}  // namespace usmp::tvm_c

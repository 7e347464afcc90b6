// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Instructions of an asm statement in the emitted C: Arm's, which unpack bytes and multiply them by twos.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "usmp/tir/ir.hpp"

namespace usmp::codegen {

// Both halves of a word: what is added to data when they are unpacked.
inline constexpr const char* both_text =
    "    const uint32_t both = (uint32_t)(offset & 0xffff) | (uint32_t)offset << 16;\n";

class Assembly {
 public:
  explicit Assembly(std::size_t indentation) : indentation_(indentation, ' ') {}

  void add(std::string_view instruction);
  // Bytes 0 and 2 of %[odd] to %[even], 1 and 3 to %[odd], and to each what `added` holds for both; empty: nothing.
  void unpack_data(tir::DataType data, std::string_view added);
  // Bytes 0 and 2 of a word of weights to `even`; 1 and 3 to itself.
  void unpack_even(tir::DataType weight, const std::string& even, const std::string& word);
  void unpack_odd(tir::DataType weight, const std::string& word);

  [[nodiscard]] bool is_empty() const { return text_.empty(); }
  // String literals, one a line; `goes_on`: more of them follow.
  [[nodiscard]] std::string text(bool goes_on = false) const;

 private:
  std::string indentation_;
  std::string text_;
};

}  // namespace usmp::codegen

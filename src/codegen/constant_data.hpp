// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Constant data as C initialisers, streamed: constants may be larger than what should be held as text.
#pragma once

#include <string>
#include <string_view>

#include "usmp/support/text.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::codegen {

// How a constant's array is declared in C.
struct ConstantArray {
  std::string element;  // C type
  Bytes element_bytes = 1;
  std::size_t count = 0;
};

// The storage type of the constant's elements. Floats of which one is not finite become unsigned integers with the
// same bits (C has no constant for them without math.h, and none at all for a NaN's payload); types without C become
// bytes.
[[nodiscard]] ConstantArray array_of(const tir::Constant& constant);

// The elements of that array with commas between them, lines of `indent` and no newline at the end. Independent of the
// target's byte order, bytes of types without C aside. O(bytes).
void write_elements(const tir::Constant& constant, std::string_view indent, TextSink& sink);

// Bytes as 0x00,0x01,… in lines of `indent` that end in `line_end` but for the last. Keeps its place between calls.
class ByteWriter {
 public:
  ByteWriter(std::string_view indent, std::string_view line_end, TextSink& sink)
      : indent_(indent), line_end_(line_end), sink_(sink) {}

  void write(std::string_view bytes);
  void fill(std::size_t count);  // with zeros
  void finish();

 private:
  void put(char byte);

  std::string_view indent_;
  std::string_view line_end_;
  TextSink& sink_;
  std::string buffer_;
  std::size_t in_line_ = 0;
  bool is_first_ = true;
};

}  // namespace usmp::codegen

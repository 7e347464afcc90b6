// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What the harness and the comparison know of inputs and outputs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/codegen/layout.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::execute {

struct Tensor {
  std::string name;       // of the interface
  std::string member;     // C identifier
  tir::DataType element;  // one lane
  Bytes size = 0;         // a multiple of the element's bytes, > 0
};

struct Tensors {
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
};

// Throws Error of kind archive for a tensor of unknown type or size.
[[nodiscard]] Tensors tensors_of(const codegen::EmissionInput& module, const codegen::ModuleLayout& layout);

// The inputs of all rounds one after the other, as the harness reads them. Integers over their full range, int64
// over that of int32, bools 0 or 1, floats from [-4, 4), all exact multiples of a power of two. The same seed gives the
// same bytes on every machine.
[[nodiscard]] std::string random_inputs(const std::vector<Tensor>& inputs, std::uint32_t rounds, std::uint64_t seed);

// Index of the first element from which two tensors of the same size differ and their number. Two NaNs do not differ.
struct Comparison {
  std::size_t first = 0;
  std::size_t count = 0;  // of elements that differ
};
[[nodiscard]] Comparison compare_elements(const tir::DataType& element, std::string_view a, std::string_view b);

// "-7", "0.1 (0x3dcccccd)".
[[nodiscard]] std::string element_text(const tir::DataType& element, std::string_view bytes, std::size_t index);

}  // namespace usmp::execute

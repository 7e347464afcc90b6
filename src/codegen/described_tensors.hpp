// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What the tables for runtimes say of inputs, outputs and constants.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/module_layout.hpp"

namespace usmp::codegen {

struct DescribedTensor {
  std::string name;                 // as firmware and TVM's runtimes look it up: a C identifier
  tir::DataType type;               // void: not known
  std::vector<std::int64_t> shape;  // if the module does not say, one dimension of all elements
  Bytes size = 0;                   // 0: not known
  std::optional<Allocation> place;  // nothing: the application passes it
  const tir::Constant* data = nullptr;
};

[[nodiscard]] std::vector<DescribedTensor> described(const EmissionInput& module,
                                                     const std::vector<TensorLayout>& tensors);
// By offset.
[[nodiscard]] std::vector<DescribedTensor> described_constants(const EmissionInput& module, PoolId pool);

// "static const int64_t NAME_shape_0[2] = {1, 10};" for each tensor that has a shape; its name, or "NULL".
void write_shapes(const std::string& name, const std::vector<DescribedTensor>& tensors, TextSink& sink);
[[nodiscard]] std::string shape_name(const std::string& name, const std::vector<DescribedTensor>& tensors,
                                     std::size_t index);

}  // namespace usmp::codegen

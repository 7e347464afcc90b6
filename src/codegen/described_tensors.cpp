// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Takes types and shapes from the entry's parameters; without a shape, a tensor's size gives its one extent.
#include "codegen/described_tensors.hpp"

#include <utility>

#include "usmp/support/text.hpp"

namespace usmp::codegen {

std::vector<DescribedTensor> described(const EmissionInput& module, const std::vector<TensorLayout>& tensors) {
  const std::vector<tir::Param>& params = module.source.functions[module.source.entry].params;
  std::vector<DescribedTensor> result;
  for (const TensorLayout& tensor : tensors) {
    const tir::Param& param = params[tensor.tensor.param];
    DescribedTensor one{.name = c_identifier(tensor.tensor.name),
                        .type = {},
                        .shape = {},
                        .size = tensor.tensor.size,
                        .place = tensor.allocation};
    if (param.is_tensor) one.type = param.element;
    if (param.is_tensor && param.shape) {
      one.shape = *param.shape;
    } else if (one.size > 0) {
      const Bytes width = one.type.is_void() ? 1 : one.type.bytes();
      one.shape = {one.size / width};
    }
    result.push_back(std::move(one));
  }
  return result;
}

std::vector<DescribedTensor> described_constants(const EmissionInput& module, PoolId pool) {
  std::vector<DescribedTensor> result;
  for (const PlacedConstant& constant : constants_in(module, pool)) {
    result.push_back({.name = c_identifier(constant.storage->name),
                      .type = constant.data->type,
                      .shape = constant.data->shape,
                      .size = static_cast<Bytes>(constant.data->bytes.size()),
                      .place = Allocation{pool, constant.offset},
                      .data = constant.data});
  }
  return result;
}

void write_shapes(const std::string& name, const std::vector<DescribedTensor>& tensors, TextSink& sink) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::vector<std::int64_t>& shape = tensors[i].shape;
    if (shape.empty()) continue;
    std::string numbers;
    for (const std::int64_t extent : shape) numbers += (numbers.empty() ? "" : ", ") + std::to_string(extent);
    sink.write("static const int64_t " + shape_name(name, tensors, i) + "[" + std::to_string(shape.size()) + "] = {" +
               numbers + "};\n");
  }
}

std::string shape_name(const std::string& name, const std::vector<DescribedTensor>& tensors, std::size_t index) {
  return tensors[index].shape.empty() ? "NULL" : name + "_shape_" + std::to_string(index);
}

}  // namespace usmp::codegen

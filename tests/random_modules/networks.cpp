// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The entry: tensors between operators, and their calls.
#include "random_modules/networks.hpp"

#include <algorithm>

#include "random_modules/network_generator.hpp"

namespace usmp::random_modules {

VarId NetworkGenerator::new_var(const std::string& name, DataType type) {
  module_.vars.push_back({name, type, tir::void_type, ""});
  return VarId(module_.vars.size() - 1);
}

VarId NetworkGenerator::new_pointer(const std::string& name, DataType element, const std::string& storage_scope) {
  module_.vars.push_back({name, tir::handle_type, element, storage_scope});
  return VarId(module_.vars.size() - 1);
}

namespace {

bool fits(const Tensor& tensor, const Tensor& wanted) {
  return tensor.type == wanted.type && tensor.shape == wanted.shape && tensor.range.low >= wanted.range.low &&
         tensor.range.high <= wanted.range.high;
}

tir::Param param_of(const Tensor& tensor, const std::string& name) {
  tir::Param param;
  param.var = tensor.var;
  param.name = name;
  param.is_tensor = true;
  param.element = tensor.type;
  param.shape = Shape{elements_of(tensor.shape)};
  return param;
}

std::int64_t bytes_of(const Tensor& tensor) { return elements_of(tensor.shape) * tensor.type.element_bytes(); }

}  // namespace

// One that is known and takes the tensor, or a new one.
const Signature& NetworkGenerator::operator_for(const Tensor& tensor) {
  if (random_.chance(40)) {
    for (const Signature& known : operators_) {
      if (fits(tensor, known.inputs[0])) return known;
    }
  }
  return operators_.emplace_back(make_operator(tensor));
}

// A new tensor, an output of the entry, or, seldom, the memory of the input itself.
Tensor NetworkGenerator::result_of(const Signature& signature, const Tensor& input, bool is_last) {
  Tensor result = signature.output;
  result.is_own = true;
  if (is_last || random_.chance(8)) {
    const std::string name = "output" + std::to_string(outputs_.size());
    result.var = new_pointer(name, result.type);
    outputs_.push_back(param_of(result, name));
  } else if (input.is_own && bytes_of(input) == bytes_of(result) && random_.chance(5)) {
    result.var = input.var;
    const auto is_overwritten = [&](const Tensor& tensor) { return tensor.var == result.var; };
    tensors_.erase(std::remove_if(tensors_.begin(), tensors_.end(), is_overwritten), tensors_.end());
  } else {
    const DataType byte = int8_type;
    result.var = new_pointer("sid_" + std::to_string(allocates_.size() + 1), byte, "global.workspace");
    allocates_.push_back({tir::Allocate{result.var, byte, {tir::make_int(bytes_of(result))}, {}, {}}});
  }
  tensors_.push_back(result);
  return result;
}

void NetworkGenerator::add_call(Block& body, bool is_last) {
  const Tensor first = is_products_         ? tensors_[random_.index(inputs_.size())]
                       : random_.chance(60) ? tensors_.back()
                                            : pick(tensors_);
  const Signature signature = operator_for(first);
  std::vector<ExprRef> arguments = {tir::make_string(signature.name), tir::make_var(module_, first.var)};
  for (std::size_t i = 1; i < signature.inputs.size(); ++i) {
    std::vector<Tensor> candidates;
    for (const Tensor& tensor : tensors_) {
      if (fits(tensor, signature.inputs[i])) candidates.push_back(tensor);
    }
    // A known operator may ask for what there is no more.
    if (candidates.empty()) return;
    const bool twice = fits(first, signature.inputs[i]) && random_.chance(30);
    arguments.push_back(tir::make_var(module_, twice ? first.var : pick(candidates).var));
  }
  for (const Tensor& weight : signature.weights) {
    const VarId var = new_pointer("constant", weight.type);
    allocates_.push_back(
        {tir::AllocateConst{var, weight.type, some_constant(weight.type, weight.shape, weight.range), {}}});
    arguments.push_back(tir::make_var(module_, var));
  }
  const Tensor result = result_of(signature, first, is_last);
  arguments.push_back(tir::make_var(module_, result.var));
  const ExprRef call = tir::make_call(tir::int32_type, "tir.call_extern", std::move(arguments));
  body.push_back({tir::Evaluate{
      tir::make_call(tir::int32_type, "tir.tvm_check_return", {tir::make_int(0), tir::make_int(-1), call})}});
}

void NetworkGenerator::make_entry(TestModule& test) {
  static const std::vector<DataType> types = {int8_type, int8_type, float32_type, type_of(tir::TypeCode::int_, 16),
                                              type_of(tir::TypeCode::uint, 8)};
  static const std::vector<std::int64_t> sides = {1, 2, 3, 3, 4, 4, 5};
  static const std::vector<std::int64_t> channels = {1, 2, 3, 4, 4, 6};
  static const std::vector<std::int64_t> wide_channels = {3, 4, 4, 8};
  const std::int64_t count = is_products_ ? 3 : random_.between(1, 2);
  for (std::int64_t i = 0; i < count; ++i) {
    DataType type = i > 0 && random_.chance(60) ? tensors_[0].type : random_.pick(types);
    if (is_products_ && type.is_float()) type = tir::uint8_type;
    Shape shape = {random_.pick(sides), random_.pick(sides), random_.pick(is_wide_ ? wide_channels : channels)};
    if (i > 0 && random_.chance(60)) shape = tensors_[0].shape;
    Range range;
    if (!type.is_float()) {
      range = {static_cast<std::int64_t>(lowest(type)), static_cast<std::int64_t>(highest(type))};
    }
    const std::string name = "in" + std::to_string(i);
    tensors_.push_back({new_pointer(name, type), type, shape, range, false});
    inputs_.push_back(param_of(tensors_.back(), name));
  }
  Block body;
  const std::int64_t calls = is_products_ ? 6 : random_.between(1, 6);
  for (std::int64_t i = 0; i < calls; ++i) add_call(body, false);
  while (outputs_.empty()) add_call(body, true);
  tir::Function function;
  function.name = std::string("tvmgen_") + module_name + "___tvm_main__";
  function.target = "c";
  function.is_entry = true;
  for (tir::Param& param : inputs_) {
    test.inputs.push_back(function.params.size());
    function.params.push_back(std::move(param));
  }
  for (tir::Param& param : outputs_) {
    test.outputs.push_back(function.params.size());
    function.params.push_back(std::move(param));
  }
  function.body = std::move(allocates_);
  std::move(body.begin(), body.end(), std::back_inserter(function.body));
  module_.functions.push_back(std::move(function));
}

TestModule NetworkGenerator::run() && {
  TestModule test;
  module_.workspace_alignment = 16;
  module_.constant_alignment = 16;
  module_.tvm_version = "0.12.0";
  make_entry(test);
  std::sort(module_.functions.begin(), module_.functions.end(),
            [](const tir::Function& a, const tir::Function& b) { return a.name < b.name; });
  module_.entry = *module_.find(std::string("tvmgen_") + module_name + "___tvm_main__");
  test.module = std::move(module_);
  return test;
}

TestModule generate_network(std::uint64_t seed) {
  TestModule test = NetworkGenerator(seed, seed % 10 == 9, false).run();
  test.seed = seed;
  return test;
}

TestModule generate_products(std::uint64_t seed) {
  TestModule test = NetworkGenerator(seed, true, true).run();
  test.seed = seed;
  return test;
}

}  // namespace usmp::random_modules

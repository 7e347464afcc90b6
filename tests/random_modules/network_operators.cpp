// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// An operator: inputs, a core such as a convolution, an epilogue of elementwise steps, each through a buffer of its
// own.
#include <algorithm>

#include "random_modules/network_generator.hpp"

namespace usmp::random_modules {

// --- Storage ---------------------------------------------------------------------------------------------------------

Tensor NetworkGenerator::parameter(const std::string& name, DataType type, const Shape& shape, Range range) {
  return {new_pointer(name, type), type, shape, range, false};
}

Tensor NetworkGenerator::buffer(Block& body, const std::string& name, DataType type, const Shape& shape, Range range) {
  const VarId var = new_pointer(name, type);
  body.push_back({tir::Allocate{var, type, {tir::make_int(elements_of(shape))}, {}, {}}});
  return {var, type, shape, range, true};
}

namespace {

void rename_storage(tir::Stmt& root, VarId from, VarId to) {
  tir::ExprRewriter rewriter([&](const ExprRef& expr) -> ExprRef {
    if (expr->kind != ExprKind::load || expr->var != from) return nullptr;
    tir::Expr load = *expr;
    load.var = to;
    return tir::make_expr(std::move(load));
  });
  const auto rename_in = [&](tir::Stmt& stmt) {
    if (auto* store = std::get_if<tir::Store>(&stmt.node); store != nullptr && store->storage == from)
      store->storage = to;
    tir::for_each_expr_of(stmt, [&](ExprRef& expr) { expr = rewriter.rewritten(expr); });
  };
  rename_in(root);
  for (Block* inner : tir::blocks_of(root)) {
    tir::for_each_block(*inner, [&](Block& block) {
      for (tir::Stmt& stmt : block) rename_in(stmt);
    });
  }
}

}  // namespace

// As TVM's StorageRewrite: what a nest allocates stands in front of it, and nests that come later use the same.
void NetworkGenerator::share_storage(Block& body) {
  Block result;
  std::vector<tir::Allocate> shared;
  for (tir::Stmt& nest : body) {
    std::vector<tir::Allocate> own;
    for (Block* inner : tir::blocks_of(nest)) {
      tir::for_each_block(*inner, [&](Block& block) {
        for (const tir::Stmt& stmt : block) {
          if (const auto* made = std::get_if<tir::Allocate>(&stmt.node)) own.push_back(*made);
        }
        std::erase_if(block, [](const tir::Stmt& stmt) { return std::holds_alternative<tir::Allocate>(stmt.node); });
      });
    }
    const std::size_t known = shared.size();
    std::vector<bool> is_taken(known);
    for (const tir::Allocate& allocate : own) {
      std::size_t like = 0;
      while (like < known && (is_taken[like] || shared[like].type != allocate.type ||
                              tir::element_count(shared[like]) != tir::element_count(allocate))) {
        ++like;
      }
      if (like < known) {
        is_taken[like] = true;
        rename_storage(nest, allocate.var, shared[like].var);
        continue;
      }
      shared.push_back(allocate);
      result.push_back({allocate});
    }
    result.push_back(std::move(nest));
  }
  body = std::move(result);
}

Tensor NetworkGenerator::keep(const Tensor& written) {
  if (written.is_own) written_.push_back(written);
  return written;
}

// Random, uniform, within a smaller type or at the edge of one; or the same as an earlier one, shared or copied.
std::shared_ptr<const tir::Constant> NetworkGenerator::some_constant(DataType type, const Shape& shape, Range range) {
  const std::int64_t count = elements_of(shape);
  if (random_.chance(25)) {
    for (const KnownConstant& known : constants_) {
      const bool is_alike = known.data->type == type && known.data->shape == shape;
      if (!is_alike || known.range.low < range.low || known.range.high > range.high) continue;
      return random_.chance(50) ? known.data : std::make_shared<const tir::Constant>(*known.data);
    }
  }
  if (random_.chance(30))
    range = {std::max<std::int64_t>(range.low, -100), std::max(range.low, std::min<std::int64_t>(range.high, 100))};
  const bool is_uniform = random_.chance(20);
  static const std::vector<std::int64_t> edges = {127, 128, -128, -129, 255, 256, 32767, 32768, -32768, 0};
  tir::Constant constant;
  constant.type = type;
  constant.shape = shape;
  std::int64_t value = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (i == 0 || !is_uniform) {
      value = type.is_float() ? random_.between(-300, 300) : random_.between(range.low, range.high);
      if (random_.chance(5) && !type.is_float()) value = std::clamp(random_.pick(edges), range.low, range.high);
    }
    const std::uint64_t bits = type.is_float() ? bits_of(real(rounded(static_cast<double>(value) / 128, type)), type)
                                               : static_cast<std::uint64_t>(value);
    constant.bytes.append(reinterpret_cast<const char*>(&bits), static_cast<std::size_t>(type.element_bytes()));
  }
  constants_.push_back({std::make_shared<const tir::Constant>(std::move(constant)), range});
  return constants_.back().data;
}

Tensor NetworkGenerator::weights(DataType type, const Shape& shape, Range range) {
  if (passes_weights_ && random_.chance(70)) {
    const Tensor tensor = parameter("p" + std::to_string(weights_.size() + 2), type, shape, range);
    weights_.push_back(tensor);
    return tensor;
  }
  const VarId var = new_pointer("fused_constant", type);
  constant_statements_.push_back({tir::AllocateConst{var, type, some_constant(type, shape, range), {}}});
  return {var, type, shape, range, false};
}

// --- Bodies ----------------------------------------------------------------------------------------------------------

Tensor NetworkGenerator::prologue(Block& body, const Tensor& input) {
  const std::int64_t elements = elements_of(input.shape);
  switch (random_.below(6)) {
    case 0:
    case 1:
      return elements <= most_elements / 3 ? pad(body, input, 1) : copy(body, input);
    case 2:
      return copy(body, input);
    case 3:
      return crop(body, input);
    case 4:
      return elements <= most_elements / 4 ? upsampling(body, input) : crop(body, input);
    default:
      return layout(body, input);
  }
}

Tensor NetworkGenerator::core(Block& body, const Tensor& input) {
  switch (random_.below(is_products_ ? 6 : 9)) {
    case 0:
    case 1:
    case 2:
      if (can_multiply(input, 9 * input.shape[2])) return convolution(body, input);
      break;
    case 3:
    case 4:
      if (can_multiply(input, 9)) return depthwise(body, input);
      break;
    case 5:
      if (can_multiply(input, elements_of(input.shape))) return dense(body, input);
      break;
    case 6:
      if (can_multiply(input, 9)) return pool(body, input);
      break;
    case 7:
      if (random_.chance(50)) return softmax(body, input);
      break;
    default:
      break;
  }
  return input;
}

// One or more steps a nest. Sums are requantised.
Tensor NetworkGenerator::epilogue(Block& body, Tensor current) {
  std::vector<ElementStep> steps;
  const std::int64_t channels = current.shape.back();
  const std::int64_t most = std::max(std::abs(current.range.low), std::abs(current.range.high));
  if (current.type == tir::int32_type && most < (1 << 29) && random_.chance(70)) {
    steps = requantisation(current.range, channels);
  } else {
    DataType type = current.type;
    Range range = current.range;
    const std::int64_t count = random_.between(0, 4);
    for (std::int64_t i = 0; i < count; ++i) {
      steps.push_back(some_step(type, range, channels));
      const Value trial =
          applied({tir::make_load(type, current.var, tir::make_int(0)), range}, {steps.back()}, tir::make_int(0));
      type = trial.expr->type;
      range = trial.range;
    }
  }
  const bool all_at_once = random_.chance(20);
  for (std::size_t begin = 0; begin < steps.size();) {
    const std::size_t left = steps.size() - begin;
    std::size_t count = random_.chance(75) ? 1 : random_.index(left) + 1;
    if (all_at_once) count = left;
    const auto first = steps.begin() + static_cast<std::ptrdiff_t>(begin);
    current = keep(step_into_buffer(body, current, {first, first + static_cast<std::ptrdiff_t>(count)}));
    begin += count;
    if (random_.chance(6)) current = keep(near_miss(body, current));
  }
  return current;
}

// A buffer that was read already is read once more.
Tensor NetworkGenerator::with_shared_reader(Block& body, const Tensor& current) {
  for (std::size_t i = written_.size(); i-- > 0;) {
    const Tensor& other = written_[i];
    if (other.var != current.var && other.type == current.type && other.shape == current.shape) {
      return sum_of(body, current, other);
    }
  }
  return current;
}

Tensor NetworkGenerator::into_output(Block& body, const Tensor& current) {
  std::vector<ElementStep> steps;
  if (random_.chance(70)) steps.push_back(some_step(current.type, current.range, current.shape.back()));
  const Value trial =
      applied({tir::make_load(current.type, current.var, tir::make_int(0)), current.range}, steps, tir::make_int(0));
  const Tensor output = parameter("T_out", trial.expr->type, current.shape, trial.range);
  apply_into(body, current, steps, output);
  if (random_.chance(3)) update_in_place(body, output);
  return output;
}

Tensor NetworkGenerator::operator_body(Block& body, const std::vector<Tensor>& inputs) {
  Tensor current = inputs[0];
  if (is_products_) {
    if (random_.chance(25) && elements_of(current.shape) <= most_elements / 3) current = keep(pad(body, current, 1));
    return into_output(body, keep(core(body, current)));
  }
  if (inputs.size() > 1) {
    const bool concatenates = random_.chance(40) && elements_of(current.shape) <= most_elements / 2;
    current = keep(concatenates ? concatenation(body, current, inputs[1]) : sum_of(body, current, inputs[1]));
  }
  if (random_.chance(35)) current = keep(prologue(body, current));
  if (random_.chance(15)) current = keep(epilogue(body, current));
  current = keep(core(body, current));
  if (random_.chance(12)) current = keep(near_miss(body, current));
  current = epilogue(body, current);
  if (random_.chance(20)) current = keep(with_shared_reader(body, current));
  return into_output(body, current);
}

Signature NetworkGenerator::make_operator(const Tensor& first) {
  Signature signature;
  signature.name = std::string("tvmgen_") + module_name + "_op" + std::to_string(operators_.size());
  constant_statements_.clear();
  weights_.clear();
  written_.clear();
  passes_weights_ = random_.chance(is_products_ ? 5 : 15);
  signature.inputs.push_back(parameter("p0", first.type, first.shape, first.range));
  if (random_.chance(30)) {
    const auto is_like_first = [&](const Tensor& t) { return t.type == first.type && t.shape == first.shape; };
    std::vector<Tensor> others;
    std::copy_if(tensors_.begin(), tensors_.end(), std::back_inserter(others), is_like_first);
    const Tensor& other = pick(others);
    signature.inputs.push_back(parameter("p1", other.type, other.shape, other.range));
  }
  Block body;
  signature.output = operator_body(body, signature.inputs);
  signature.weights = weights_;
  tir::Function function;
  function.name = signature.name;
  function.target = "c";
  const auto declare = [&](const Tensor& tensor) {
    tir::Param param;
    param.var = tensor.var;
    param.name = module_.var(tensor.var).name;
    param.is_tensor = true;
    param.element = tensor.type;
    param.shape = Shape{elements_of(tensor.shape)};
    function.params.push_back(std::move(param));
  };
  std::for_each(signature.inputs.begin(), signature.inputs.end(), declare);
  std::for_each(signature.weights.begin(), signature.weights.end(), declare);
  declare(signature.output);
  if (of_storage_.chance(60)) share_storage(body);
  function.body = std::move(constant_statements_);
  std::move(body.begin(), body.end(), std::back_inserter(function.body));
  constant_statements_.clear();
  module_.functions.push_back(std::move(function));
  return signature;
}

}  // namespace usmp::random_modules

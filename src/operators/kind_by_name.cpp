// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Looks up parts of the name in a table of TVM's operators, and chooses the one that computes most.
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "usmp/operators/operators.hpp"

namespace usmp::operators {
namespace {

// How much an operator computes, the most first; of several in a name the first class counts.
enum class Weight : std::uint8_t { products, reduction, movement, element, view };

struct Spelling {
  std::string_view words;  // of TVM's operator names, '_' between them
  std::string_view kind;
  Weight weight;
};

// A spelling stands behind those that begin with it.
constexpr std::array spellings = {
    Spelling{"conv1d_transpose", "transposed conv1d", Weight::products},
    Spelling{"conv2d_transpose", "transposed conv2d", Weight::products},
    Spelling{"conv3d_transpose", "transposed conv3d", Weight::products},
    Spelling{"depthwise_conv2d", "depthwise conv2d", Weight::products},
    Spelling{"conv1d", "conv1d", Weight::products},
    Spelling{"conv2d", "conv2d", Weight::products},
    Spelling{"conv3d", "conv3d", Weight::products},
    Spelling{"batch_matmul", "batch matmul", Weight::products},
    Spelling{"matmul", "dense", Weight::products},
    Spelling{"dense", "dense", Weight::products},
    Spelling{"global_avg_pool1d", "average pool", Weight::reduction},
    Spelling{"global_avg_pool2d", "average pool", Weight::reduction},
    Spelling{"global_max_pool2d", "max pool", Weight::reduction},
    Spelling{"adaptive_avg_pool2d", "average pool", Weight::reduction},
    Spelling{"adaptive_max_pool2d", "max pool", Weight::reduction},
    Spelling{"avg_pool1d", "average pool", Weight::reduction},
    Spelling{"avg_pool2d", "average pool", Weight::reduction},
    Spelling{"avg_pool3d", "average pool", Weight::reduction},
    Spelling{"max_pool1d", "max pool", Weight::reduction},
    Spelling{"max_pool2d", "max pool", Weight::reduction},
    Spelling{"max_pool3d", "max pool", Weight::reduction},
    Spelling{"log_softmax", "log softmax", Weight::reduction},
    Spelling{"softmax", "softmax", Weight::reduction},
    Spelling{"batch_norm", "batch norm", Weight::reduction},
    Spelling{"layer_norm", "layer norm", Weight::reduction},
    Spelling{"instance_norm", "instance norm", Weight::reduction},
    Spelling{"group_norm", "group norm", Weight::reduction},
    Spelling{"l2_normalize", "l2 normalize", Weight::reduction},
    Spelling{"lrn", "lrn", Weight::reduction},
    Spelling{"mean", "mean", Weight::reduction},
    Spelling{"variance", "variance", Weight::reduction},
    Spelling{"sum", "sum", Weight::reduction},
    Spelling{"argmax", "argmax", Weight::reduction},
    Spelling{"argmin", "argmin", Weight::reduction},
    Spelling{"max", "max", Weight::reduction},
    Spelling{"min", "min", Weight::reduction},
    Spelling{"upsampling", "upsampling", Weight::movement},
    Spelling{"resize1d", "resize", Weight::movement},
    Spelling{"resize2d", "resize", Weight::movement},
    Spelling{"concatenate", "concatenate", Weight::movement},
    Spelling{"split", "split", Weight::movement},
    Spelling{"pad", "pad", Weight::movement},
    Spelling{"transpose", "transpose", Weight::movement},
    Spelling{"strided_slice", "slice", Weight::movement},
    Spelling{"take", "take", Weight::movement},
    Spelling{"gather", "gather", Weight::movement},
    Spelling{"tile", "tile", Weight::movement},
    Spelling{"repeat", "repeat", Weight::movement},
    Spelling{"reverse", "reverse", Weight::movement},
    Spelling{"fixed_point_multiply_per_axis", "fixed-point multiply", Weight::element},
    Spelling{"fixed_point_multiply", "fixed-point multiply", Weight::element},
    Spelling{"leaky_relu", "leaky relu", Weight::element},
    Spelling{"bias_add", "add", Weight::element},
    Spelling{"add", "add", Weight::element},
    Spelling{"subtract", "subtract", Weight::element},
    Spelling{"multiply", "multiply", Weight::element},
    Spelling{"divide", "divide", Weight::element},
    Spelling{"maximum", "maximum", Weight::element},
    Spelling{"minimum", "minimum", Weight::element},
    Spelling{"power", "power", Weight::element},
    Spelling{"where", "where", Weight::element},
    Spelling{"prelu", "prelu", Weight::element},
    Spelling{"relu", "relu", Weight::element},
    Spelling{"sigmoid", "sigmoid", Weight::element},
    Spelling{"tanh", "tanh", Weight::element},
    Spelling{"clip", "clip", Weight::element},
    Spelling{"cast", "cast", Weight::element},
    Spelling{"round", "round", Weight::element},
    Spelling{"sqrt", "sqrt", Weight::element},
    Spelling{"rsqrt", "rsqrt", Weight::element},
    Spelling{"exp", "exp", Weight::element},
    Spelling{"log", "log", Weight::element},
    Spelling{"erf", "erf", Weight::element},
    Spelling{"abs", "abs", Weight::element},
    Spelling{"negative", "negative", Weight::element},
    Spelling{"layout_transform", "layout transform", Weight::view},
    Spelling{"reshape", "reshape", Weight::view},
    Spelling{"batch_flatten", "reshape", Weight::view},
    Spelling{"expand_dims", "reshape", Weight::view},
    Spelling{"squeeze", "reshape", Weight::view},
    Spelling{"copy", "copy", Weight::view},
};

// Whether the words stand at `at`, and end there or before a '_' or, as in "add1", a number.
bool stands_at(std::string_view name, std::size_t at, std::string_view words) {
  if (name.substr(at, words.size()) != words) return false;
  const std::string_view behind = name.substr(at + words.size());
  return behind.empty() || behind[0] == '_' || (behind[0] >= '0' && behind[0] <= '9');
}

}  // namespace

std::string kind_by_name(std::string_view function) {
  // What stands in front of "fused_" are the module's names, not operators.
  if (const std::size_t fused = function.find("fused_"); fused != std::string_view::npos) function.remove_prefix(fused);
  std::vector<const Spelling*> found;
  for (std::size_t at = 0; at < function.size();) {
    const auto* const match = std::find_if(spellings.begin(), spellings.end(), [&](const Spelling& spelling) {
      return stands_at(function, at, spelling.words);
    });
    if (match != spellings.end()) found.push_back(match);
    at += match != spellings.end() ? match->words.size() : 0;
    at = std::min(function.find('_', at), function.size() - 1) + 1;
  }
  if (found.empty()) return {};
  const Spelling& heaviest = **std::min_element(
      found.begin(), found.end(), [](const Spelling* a, const Spelling* b) { return a->weight < b->weight; });
  if (heaviest.weight != Weight::element) return std::string(heaviest.kind);
  std::set<std::string_view> kinds;
  for (const Spelling* const one : found) {
    if (one->weight == Weight::element) kinds.insert(one->kind);
  }
  return kinds.size() == 1 ? std::string(heaviest.kind) : "elementwise";
}

Operator external_operator(std::string_view function) {
  std::string kind = kind_by_name(function);
  return {.kind = kind.empty() ? "external" : std::move(kind), .multiply_accumulates = {}, .reads = {}, .writes = {}};
}

}  // namespace usmp::operators

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Compares the live ranges of inputs and outputs before and after the transformations.
#include "pipeline/early_outputs.hpp"

#include <algorithm>
#include <utility>

#include "usmp/liveness/liveness.hpp"
#include "usmp/support/text.hpp"

namespace usmp::pipeline {
namespace {

using Pair = std::pair<const codegen::InterfaceTensor*, const codegen::InterfaceTensor*>;

const std::vector<LiveRange>* live(const liveness::Analysis& analysis, const tir::Module& module, std::size_t param) {
  const tir::VarId var = module.functions[module.entry].params[param].var;
  const auto site = std::ranges::find(analysis.sites, var, &liveness::Site::var);
  return site == analysis.sites.end() ? nullptr : &site->live;
}

// Whether the first one's last access is before the second one's first.
bool is_done_before(const liveness::Analysis& analysis, const tir::Module& module, const Pair& pair) {
  const auto* input = live(analysis, module, pair.first->param);
  const auto* output = live(analysis, module, pair.second->param);
  if (input == nullptr || output == nullptr || input->empty() || output->empty()) return false;
  return input->back().end <= output->front().begin;
}

}  // namespace

std::vector<std::string> early_outputs(const SourceModule& source, const tir::Module& planned) {
  const std::vector<tir::Param>& params = source.module.functions[source.module.entry].params;
  std::vector<Pair> pairs;
  for (const codegen::InterfaceTensor& output : source.interface.outputs) {
    for (const codegen::InterfaceTensor& input : source.interface.inputs) {
      const bool is_known = params[input.param].shape.has_value() && params[output.param].shape.has_value();
      if (is_known && input.size > 0 && input.size == output.size) pairs.emplace_back(&input, &output);
    }
  }
  if (pairs.empty()) return {};
  const auto analysed = [&](const tir::Module& module) {
    liveness::Options options;
    options.workspace_io = true;
    const std::vector<tir::Param>& own = module.functions[module.entry].params;
    for (const Pair& pair : pairs) {
      options.inputs.push_back(own[pair.first->param].var);
      options.outputs.push_back(own[pair.second->param].var);
    }
    return liveness::analyse(module, options);
  };
  const liveness::Analysis before = analysed(source.module);
  std::erase_if(pairs, [&](const Pair& pair) { return !is_done_before(before, source.module, pair); });
  if (pairs.empty()) return {};
  const liveness::Analysis after = analysed(planned);
  std::vector<std::string> warnings;
  for (const Pair& pair : pairs) {
    if (is_done_before(after, planned, pair)) continue;
    warnings.push_back("output " + in_quotes(pair.second->name) + " is written before input " +
                       in_quotes(pair.first->name) +
                       " is read for the last time, other than in TVM's program: an application must not give both the "
                       "same memory; with --transform constants,reorder,inplace it may");
  }
  return warnings;
}

}  // namespace usmp::pipeline

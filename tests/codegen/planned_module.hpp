// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A module planned by hand, to emit an interface for.
#pragma once

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codegen/interface_files.hpp"
#include "tir_support/module_builder.hpp"
#include "usmp/assemble/placements.hpp"
#include "usmp/codegen/codegen.hpp"

namespace usmp::codegen::testing {

using tir::testing::block;
using tir::testing::float32_type;
using tir::testing::int8_type;
using tir::testing::ModuleBuilder;

inline config::PoolSpec pool(std::string name, PoolKind kind, bool internal = false, Bytes alignment = 1) {
  config::PoolSpec spec;
  spec.name = std::move(name);
  spec.kind = kind;
  spec.internal = internal;
  spec.alignment = alignment;
  return spec;
}

inline model::Description info_of(std::string name, std::vector<model::Tensor> inputs,
                                  std::vector<model::Tensor> outputs) {
  model::Description info;
  info.name = std::move(name);
  info.inputs = std::move(inputs);
  info.outputs = std::move(outputs);
  return info;
}

// The text of one of the module's files.
template <class Writer>
std::string text_of(const Writer& writer) {
  StringSink sink;
  writer(sink);
  return sink.text();
}

class Planned {
 public:
  // The builder's entry gets TVM's name. Buffers go where `places` says, by name.
  Planned(model::Description module_info, ModuleBuilder& builder, const config::PoolsConfig& pools,
          const std::map<std::string, Allocation>& places, bool workspace_io = false)
      : info(std::move(module_info)), source(builder.build()), io(workspace_io) {
    source.functions[source.entry].name = "tvmgen_" + info.name + "___tvm_main__";
    liveness::Options options;
    options.workspace_io = io;
    if (io) {
      const Interface interface = interface_of(info, source);
      const auto& params = source.functions[source.entry].params;
      for (const InterfaceTensor& tensor : interface.inputs) options.inputs.push_back(params[tensor.param].var);
      for (const InterfaceTensor& tensor : interface.outputs) options.outputs.push_back(params[tensor.param].var);
    }
    const liveness::Analysis analysis = liveness::analyse(source, options);
    const assemble::Assembly assembly = assemble::assemble(source, analysis, pools);
    Plan plan;
    for (const Buffer& buffer : assembly.problem.buffers) {
      REQUIRE_MESSAGE(places.contains(buffer.name), buffer.name);
      plan.allocations.push_back(places.at(buffer.name));
    }
    table = assemble::placements_of(analysis, assembly, plan);
    lowered = lower::lower(source, table);
  }

  [[nodiscard]] EmissionInput view() const {
    return {.info = info, .source = source, .placements = table, .lowered = lowered, .workspace_io = io};
  }
  [[nodiscard]] ModuleLayout layout() const { return layout_of(view()); }
  [[nodiscard]] std::string header() const {
    return text_of([&](TextSink& sink) { write_header(view(), layout(), sink); });
  }
  [[nodiscard]] std::string constants() const {
    if (!has_constants_header(layout())) return {};
    return text_of([&](TextSink& sink) { write_constants_header(view(), layout(), sink); });
  }
  [[nodiscard]] std::string entry() const {
    return text_of(
        [&](TextSink& sink) { module_parts(view()).entry("#include \"" + layout().symbol + ".h\"\n", sink); });
  }

  model::Description info;
  tir::Module source;
  placement::Table table;
  lower::Lowered lowered;
  bool io = false;
};

}  // namespace usmp::codegen::testing

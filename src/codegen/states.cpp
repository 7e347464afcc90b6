// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What a model keeps from run to run: static arrays with their first values, and the function that sets these again.
#include <algorithm>
#include <string>

#include "codegen/c_types.hpp"
#include "codegen/constant_data.hpp"
#include "codegen/interface_files.hpp"

namespace usmp::codegen {
namespace {

std::size_t width_of(const StateLayout& state) {
  return static_cast<std::size_t>(array_of(state.initial).element_bytes);
}

// Whether all elements have the same bytes.
bool is_uniform(const StateLayout& state) {
  const std::string& bytes = state.initial.bytes;
  const std::size_t width = width_of(state);
  for (std::size_t i = width; i < bytes.size(); ++i) {
    if (bytes[i] != bytes[i - width]) return false;
  }
  return true;
}

bool is_zero(const StateLayout& state) {
  return std::ranges::all_of(state.initial.bytes, [](char byte) { return byte == 0; });
}

std::string declared(const StateLayout& state, const std::string& name) {
  const ConstantArray array = array_of(state.initial);
  return array.element + " " + name + "[" + std::to_string(std::max<std::size_t>(array.count, 1)) + "]";
}

void write_values(const StateLayout& state, TextSink& sink) {
  sink.write(" = {\n");
  write_elements(state.initial, "    ", sink);
  sink.write("}");
}

}  // namespace

bool reset_takes_pools(const ModuleLayout& layout) {
  return std::ranges::any_of(layout.states, [&](const StateLayout& state) {
    return state.allocation && !layout.pools[state.allocation->pool.index()].is_internal;
  });
}

std::string reset_declaration(const ModuleLayout& layout) {
  const std::string params =
      reset_takes_pools(layout) ? "struct " + layout.symbol + "_workspace_pools* workspace_pools" : "void";
  return "void " + layout.symbol + "_reset(" + params + ")";
}

bool has_state_in_pool(const ModuleLayout& layout) {
  return std::ranges::any_of(layout.states, [](const StateLayout& state) { return state.allocation.has_value(); });
}

void write_states(const ModuleLayout& layout, TextSink& sink) {
  if (layout.states.empty()) return;
  for (const StateLayout& state : layout.states) {
    if (!state.allocation) {
      sink.write("static " + declared(state, state.array));
      if (!is_zero(state)) write_values(state, sink);
      sink.write(";\n");
    }
    if (is_uniform(state)) continue;
    sink.write("static const " + declared(state, state.array + "_first"));
    write_values(state, sink);
    sink.write(";\n");
  }
  const bool has_arrays = std::ranges::any_of(layout.states, [](const StateLayout& one) { return !one.allocation; });
  sink.write((has_arrays ? "\n" : "") + reset_declaration(layout) + " {\n  size_t i;\n");
  for (const StateLayout& state : layout.states) {
    const ConstantArray array = array_of(state.initial);
    std::string value = state.array + "_first[i]";
    if (is_uniform(state)) {
      StringSink element;
      tir::Constant one = state.initial;
      one.shape = {1};
      one.bytes.resize(width_of(state));
      write_elements(one, "", element);
      value = element.text();
    }
    const std::string place =
        state.allocation ? "((" + array.element + "*)(void*)(" + address_in_pool(layout, *state.allocation) + "))"
                         : state.array;
    sink.write("  for (i = 0; i < " + std::to_string(array.count) + "; ++i) " + place + "[i] = " + value + ";\n");
  }
  sink.write("}\n\n");
}

}  // namespace usmp::codegen

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Runs a module before and after the passes, and compares interfaces and outputs.
#include "random_modules/transformed.hpp"

#include "usmp/kernels/kernels.hpp"
#include "usmp/support/error.hpp"

namespace usmp::random_modules {
namespace {

// Transformations may compute some elements several times.
constexpr std::size_t patience = 20;

std::optional<std::string> difference_of(const Instance& wanted, const Instance& found, const std::string& name) {
  for (std::size_t i = 0; i < wanted.bytes.size(); ++i) {
    if (wanted.states[i] == ByteState::unwritten) continue;
    if (wanted.states[i] == found.states[i] &&
        (wanted.bytes[i] == found.bytes[i] || wanted.states[i] == ByteState::of_nan)) {
      continue;
    }
    return "output '" + name + "', byte " + std::to_string(i) + ", is another one" +
           (found.states[i] == ByteState::unwritten ? ": not written" : "");
  }
  return std::nullopt;
}

std::optional<std::string> difference_of(const tir::Module& module, const Outcome& wanted, const Outcome& found) {
  const auto& params = module.functions[module.entry].params;
  for (std::size_t i = 0; i < wanted.params.size(); ++i) {
    const auto difference = difference_of(wanted.memory.instances()[wanted.params[i]],
                                          found.memory.instances()[found.params[i]], params[i].name);
    if (difference) return difference;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> fault_of(const tir::Module& module, tir::Form form) {
  const auto fault = tir::find_fault(module, form);
  return fault ? std::optional(tir::to_string(module, *fault)) : std::nullopt;
}

std::optional<std::string> difference_of_interfaces(const tir::Module& before, const tir::Module& after) {
  const tir::Function& old_entry = before.functions[before.entry];
  const tir::Function& new_entry = after.functions[after.entry];
  if (old_entry.name != new_entry.name) return "the entry is now " + new_entry.name;
  if (old_entry.params.size() != new_entry.params.size()) return "the entry has another number of parameters";
  for (std::size_t i = 0; i < old_entry.params.size(); ++i) {
    const tir::Param& a = old_entry.params[i];
    const tir::Param& b = new_entry.params[i];
    const bool is_same = a.name == b.name && a.is_tensor == b.is_tensor && a.element == b.element &&
                         a.shape == b.shape && before.var(a.var).type == after.var(b.var).type;
    if (!is_same) return "parameter " + std::to_string(i) + " of the entry is another: " + a.name;
  }
  return std::nullopt;
}

std::optional<std::string> difference_to(const Outcome& reference, const std::vector<Argument>& arguments,
                                         const tir::Module& changed) {
  try {
    return difference_of(changed, reference, Interpreter(changed, patience).run(arguments));
  } catch (const Undefined& undefined) {
    return std::string("not well defined: ") + undefined.what();
  }
}

const kernels::Core& core_for(std::uint64_t seed) {
  static const kernels::Core with_pairs = [] {
    kernels::Core core = kernels::core_of("cortex-m4");
    core.paired_terms = 4;  // networks are small
    core.front_percent = 100;
    return core;
  }();
  if (seed % 2 != 0) return kernels::core_of("cortex-m55");
  return seed % 8 == 0 ? kernels::generic_core() : with_pairs;
}

Transformed transformed(const TestModule& test, const Outcome& reference, const transform::Options& options) {
  Transformed result;
  const auto fault = [&](const std::string& what) {
    result.fault =
        "transform " + names_of(options.steps) +
        (options.recompute_percent > 0 ? ", " + std::to_string(options.recompute_percent) + "% recomputed" : "") +
        ": " + what;
    result.outcome.reset();
    return std::move(result);
  };
  result.test = {
      .seed = test.seed, .module = {}, .inputs = test.inputs, .outputs = test.outputs, .packed = test.packed};
  // What shrinking makes need not be a module.
  if (const auto what = fault_of(test.module)) return fault("refused: " + *what);
  transform::Result made(test.module);
  try {
    made = transform::transform(test.module, options);
  } catch (const Error& error) {
    return fault(std::string("refused: ") + error.what());
  }
  result.test.module = made.module();
  kernels::prepare(result.test.module, core_for(test.seed));
  result.changes = made.changes();
  if (const auto what = fault_of(result.test.module)) return fault("malformed: " + *what);
  if (const auto what = difference_of_interfaces(test.module, result.test.module)) return fault("interface: " + *what);
  try {
    result.outcome = Interpreter(result.test.module, patience).run(arguments_of(test));
  } catch (const Undefined& undefined) {
    return fault(std::string("not well defined: ") + undefined.what());
  }
  if (const auto what = difference_of(test.module, reference, *result.outcome)) return fault(*what);
  return result;
}

std::string names_of(const std::vector<transform::Step>& steps) {
  std::string text;
  for (const transform::Step step : steps) text += (text.empty() ? "" : ",") + std::string(transform::name_of(step));
  return text.empty() ? "none" : text;
}

}  // namespace usmp::random_modules

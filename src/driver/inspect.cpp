// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan inspect: what a model holds, without planning it.
#include <algorithm>
#include <ostream>
#include <utility>

#include "inspected.hpp"
#include "model.hpp"
#include "run.hpp"
#include "usmp/report/inspect.hpp"
#include "usmp/support/message.hpp"
#include "usmp/support/printable.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tflite/reader.hpp"
#include "usmp/tir/printer.hpp"

namespace usmp::driver {
namespace {

// The operators of a TensorFlow Lite model; none of others.
std::vector<tflite::OperatorLine> operators_of(const Model& model, const model::Description& info) {
  if (model::source_of(info) != model::Source::tflite) return {};
  try {
    return tflite::operators_of(model.archive.members.front().text());
  } catch (const Error& error) {
    throw error.with_file(model.archive.path);
  }
}

// There is no program to show: what is missing.
std::string unsupported_text(const model::Description& info, const std::vector<tflite::OperatorLine>& operators,
                             const InspectOptions& options) {
  if (options.model.json) return report::inspect_json(info, tir::Module(), liveness::Analysis(), {}, operators);
  const auto count = std::ranges::count_if(operators, [](const auto& one) { return !one.fault.empty(); });
  return "module " + printable(info.name) + ", a TensorFlow Lite model: " + std::to_string(count) + " of " +
         counted(operators.size(), "operator") + " not supported\n" +
         report::operators_text(operators, options.width.value_or(std::string::npos));
}

int inspect_or_throw(const InspectOptions& options, std::ostream& out, std::ostream& err) {
  Model model = open_model(options.model);
  require_known_synchronous({&model, 1}, options.model.synchronous);
  const bool json_list = options.model.json && !options.tir;
  if (json_list) out << "{\"modules\": [\n";
  bool first = true;
  for (const model::Description& info : model.metadata.modules) {
    const std::vector<tflite::OperatorLine> operators = operators_of(model, info);
    if (!options.tir && std::ranges::any_of(operators, [](const auto& one) { return !one.fault.empty(); })) {
      out << unsupported_text(info, operators, options);
      continue;
    }
    const Inspected inspected = inspected_module(model, info);
    const pipeline::Program& program = inspected.program;
    const model::Description described = pipeline::described(inspected.source);
    const report::InspectedC found{inspected.source.tvm_pools, inspected.source.unread_calls};
    if (inspected.source.lost_constants) {
      tell(err, Severity::warning,
           printable("module " + in_quotes(info.name) + ": TVM's plan is wrong: " + *inspected.source.lost_constants +
                     ", so their values are lost"));
    }
    if (!first) out << (json_list ? ",\n" : "\n");
    first = false;
    if (options.tir) {
      out << tir::print(program.module);
    } else if (options.model.json) {
      out << report::inspect_json(described, program.module, program.analysis, found, operators);
    } else {
      out << report::inspect_text(
          described, program.module, program.analysis, found,
          {.width = options.width.value_or(std::string::npos), .transformed = !model.transformations.steps.empty()});
      if (!operators.empty()) {
        out << report::operators_text(operators, options.width.value_or(std::string::npos));
      }
    }
  }
  if (json_list) out << "]}\n";
  return exit_ok;
}

}  // namespace

int inspect(const InspectOptions& options, std::ostream& out, std::ostream& err) {
  return run(err, [&] { return inspect_or_throw(options, out, err); });
}

}  // namespace usmp::driver

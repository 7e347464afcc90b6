// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes tensors, functions, buffers, calls and TVM's plan as tables and as JSON.
#include "usmp/report/inspect.hpp"

#include <algorithm>

#include "report/layout.hpp"
#include "report/summary.hpp"
#include "usmp/operators/operators.hpp"
#include "usmp/plan_file/json_lines.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::report {
namespace {

using plan_file::json_lines;
using plan_file::live_json;
using plan_file::PlanDocument;

using Json = nlohmann::ordered_json;

constexpr int inspect_schema_version = 1;

const std::string& function_name(const tir::Module& module, std::size_t index) { return module.functions[index].name; }

std::string sum_text(const liveness::Analysis& analysis, bool constants) {
  Bytes total = 0;
  Bytes unread = 0;
  std::size_t count = 0;
  for (const liveness::Site& site : analysis.sites) {
    if ((site.kind == BufferKind::constant) != constants) continue;
    total += site.size;
    if (constants && site.live.empty()) unread += site.size;
    ++count;
  }
  return std::to_string(count) + (constants ? " constant" : " buffer") + (count == 1 ? " of " : "s of ") +
         bytes_text(total) + (unread > 0 ? " (" + std::to_string(unread) + " never read)" : "");
}

bool is_read_from_c(const model::Description& info) { return model::source_of(info) == model::Source::c; }

const char* source_name(const model::Description& info) {
  switch (model::source_of(info)) {
    case model::Source::tflite:
      return "tflite";
    case model::Source::c:
      return "c";
    default:
      return "tir";
  }
}

std::string head(const model::Description& info, const tir::Module& module, const liveness::Analysis& analysis,
                 bool planned, bool transformed) {
  std::string text = "module " + printable(info.name);
  if (!module.tvm_version.empty())
    text += ", TVM " + printable(module.tvm_version) + (is_read_from_c(info) ? " by its style" : "");
  text += info.packed_interface ? ", packed interface" : ", unpacked interface";
  text += is_read_from_c(info)                              ? ", read from its C\n"
          : model::source_of(info) == model::Source::tflite ? ", a TensorFlow Lite model\n"
                                                            : "\n";
  text += "  " + sum_text(analysis, false) + ", " + sum_text(analysis, true);
  text += transformed ? ", after the transformations\n" : ", before any transformation\n";
  if (info.workspace_bytes) {
    text += planned || !module.annotated_pools.empty() ? "  the build that TVM planned takes "
                                                       : "  the unplanned build takes ";
    text += bytes_text(*info.workspace_bytes) + " of workspace\n";
  }
  return text;
}

std::string tvm_plan_text(std::span<const tvm_c::PlannedPool> planned) {
  std::string pools;
  for (const tvm_c::PlannedPool& pool : planned) {
    pools += (pools.empty() ? "" : ", ") + printable(pool.name) + " " +
             (pool.size ? bytes_text(*pool.size) : "of unknown size");
    if (pool.is_constant) pools += " of constants";
  }
  return pools.empty() ? pools : "  planned by TVM: " + pools + "\n";
}

std::string tensors_text(const model::Description& info, std::size_t width) {
  if (info.inputs.empty() && info.outputs.empty()) return {};
  Table table({{"", Align::left}, {"Tensor", Align::left}, {"Type", Align::left}, {"Size", Align::right}});
  const auto add = [&table](const char* role, const std::vector<model::Tensor>& tensors) {
    for (const model::Tensor& tensor : tensors) {
      table.add({role, printable(tensor.name), tensor.dtype.empty() ? "?" : printable(tensor.dtype),
                 tensor.size ? std::to_string(*tensor.size) : "?"});
    }
  };
  add("input", info.inputs);
  add("output", info.outputs);
  for (const model::State& state : info.states) {
    table.add({"state", printable(state.name), printable(state.dtype), std::to_string(state.initial.size())});
  }
  return "\nInterface\n" + table.text("  ", width);
}

std::string functions_text(const tir::Module& module, std::size_t width) {
  Table table({{"", Align::left}, {"Target", Align::left}, {"Function", Align::left}});
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    const tir::Function& function = module.functions[i];
    table.add({i == module.entry ? "entry" : "", function.target.empty() ? "-" : printable(function.target),
               printable(function.name)});
  }
  return "\nFunctions\n" + table.text("  ", width);
}

std::string buffers_text(const tir::Module& module, const liveness::Analysis& analysis, std::size_t width) {
  if (analysis.sites.empty()) return {};
  Table table({{"Buffer", Align::left},
               {"Size", Align::right},
               {"Align", Align::right},
               {"Kind", Align::left},
               {"Live", Align::left},
               {"Function", Align::left}});
  for (const liveness::Site& site : analysis.sites) {
    table.add({printable(site.name), std::to_string(site.size), std::to_string(site.alignment), to_string(site.kind),
               live_text(site.live), printable(function_name(module, site.function))});
  }
  return "\nBuffers, live in steps of [0," + std::to_string(analysis.horizon) + ")\n" + table.text("  ", width);
}

// The calls with what is called, as a plan has them.
std::vector<PlanDocument::Call> described_calls(const tir::Module& module, const liveness::Analysis& analysis) {
  const std::vector<operators::Operator> all = operators::operators_of(module);
  std::vector<PlanDocument::Call> calls;
  for (const liveness::Call& call : analysis.calls) {
    const operators::Operator one = operators::called_operator(module, all, call.callee);
    calls.push_back({call.callee, call.ticks, one.kind, one.multiply_accumulates, one.reads, one.writes});
  }
  return calls;
}

std::string calls_text(const tir::Module& module, const liveness::Analysis& analysis, std::size_t width) {
  if (analysis.calls.empty()) return {};
  Table table({{"#", Align::right},
               {"Kind", Align::left},
               {"Multiply-accumulates", Align::right},
               {"Reads -> writes", Align::left},
               {"Steps", Align::left},
               {"Function", Align::left}});
  std::size_t number = 0;
  for (const PlanDocument::Call& call : described_calls(module, analysis)) {
    const bool is_text = call.callee == tir::kept_text;
    table.add({std::to_string(++number),
               is_text             ? "text"
               : call.kind.empty() ? "?"
                                   : call.kind,
               call.multiply_accumulates ? std::to_string(*call.multiply_accumulates) : "?", operands_text(call),
               live_text({call.ticks}), is_text ? "(statements that stay as they are)" : printable(call.callee)});
  }
  return "\nCalls in order\n" + table.text("  ", width);
}

// At which lines are folded: whole names at those of a page.
std::size_t columns_of(std::size_t width) {
  constexpr std::size_t least = 40;  // below, nobody can read it
  return width == std::string::npos ? page_columns : std::max(width, least);
}

std::string unplanned_text(const tir::Module& module, const liveness::Analysis& analysis) {
  if (analysis.unplanned.empty()) return {};
  std::string text = "\nAllocated at run time, since the size is not known at compile time\n";
  for (const liveness::Unplanned& allocate : analysis.unplanned) {
    text += "  " + printable(allocate.name) + " in " + printable(function_name(module, allocate.function)) + ": " +
            printable(allocate.reason) + "\n";
  }
  return text;
}

std::string extern_text(const liveness::Analysis& analysis, std::span<const tvm_c::UnreadCall> unread) {
  std::string text;
  for (const std::string& callee : analysis.extern_callees) {
    if (callee == tir::kept_text) continue;
    text += "  " + printable(callee);
    const auto call = std::ranges::find(unread, callee, &tvm_c::UnreadCall::name);
    if (call != unread.end()) text += ", whose C stays: " + printable(call->file + ", " + call->reason);
    text += "\n";
  }
  return text.empty() ? text : "\nCalled, but defined outside the module\n" + text;
}

Json planned_json(std::span<const tvm_c::PlannedPool> planned) {
  Json list = Json::array();
  for (const tvm_c::PlannedPool& pool : planned) {
    Json json;
    json["pool"] = pool.name;
    json["kind"] = pool.is_constant ? "constants" : "workspace";
    json["size"] = pool.size ? Json(*pool.size) : Json(nullptr);
    list.push_back(std::move(json));
  }
  return list;
}

Json tensors_json(const std::vector<model::Tensor>& tensors) {
  Json list = Json::array();
  for (const model::Tensor& tensor : tensors) {
    Json json;
    json["name"] = tensor.name;
    json["dtype"] = tensor.dtype;
    json["size"] = tensor.size ? Json(*tensor.size) : Json(nullptr);
    list.push_back(std::move(json));
  }
  return list;
}

Json functions_json(const tir::Module& module) {
  Json list = Json::array();
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    Json json;
    json["name"] = module.functions[i].name;
    json["target"] = module.functions[i].target;
    json["entry"] = i == module.entry;
    list.push_back(std::move(json));
  }
  return list;
}

Json buffers_json(const tir::Module& module, const liveness::Analysis& analysis) {
  Json list = Json::array();
  for (const liveness::Site& site : analysis.sites) {
    Json json;
    json["name"] = site.name;
    json["function"] = function_name(module, site.function);
    json["kind"] = to_string(site.kind);
    json["size"] = site.size;
    json["alignment"] = site.alignment;
    json["live"] = live_json(site.live);
    json["targets"] = site.targets;
    json["candidates"] = site.candidate_pools;
    list.push_back(std::move(json));
  }
  return list;
}

Json calls_json(const tir::Module& module, const liveness::Analysis& analysis) {
  Json list = Json::array();
  for (const PlanDocument::Call& call : described_calls(module, analysis)) {
    Json json;
    json["callee"] = call.callee;
    json["ticks"] = {call.ticks.begin, call.ticks.end};
    json["kind"] = call.kind;
    json["multiply_accumulates"] = plan_file::or_null(call.multiply_accumulates);
    json["reads"] = call.reads;
    json["writes"] = call.writes;
    list.push_back(std::move(json));
  }
  return list;
}

Json unplanned_allocates_json(const tir::Module& module, const liveness::Analysis& analysis) {
  Json list = Json::array();
  for (const liveness::Unplanned& allocate : analysis.unplanned) {
    Json json;
    json["name"] = allocate.name;
    json["function"] = function_name(module, allocate.function);
    json["reason"] = allocate.reason;
    list.push_back(std::move(json));
  }
  return list;
}

Json operators_json(std::span<const tflite::OperatorLine> operators) {
  Json list = Json::array();
  for (const tflite::OperatorLine& one : operators) {
    Json json;
    json["index"] = one.index;
    json["name"] = one.name;
    json["inputs"] = one.inputs;
    json["outputs"] = one.outputs;
    json["unsupported"] = one.fault.empty() ? Json(nullptr) : Json(one.fault);
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace

std::string operators_text(std::span<const tflite::OperatorLine> operators, std::size_t width) {
  Table table({{"#", Align::right}, {"Operator", Align::left}, {"Reads -> writes", Align::left}, {"", Align::left}});
  for (const tflite::OperatorLine& one : operators) {
    table.add({std::to_string(one.index), printable(one.name), joined(one.inputs) + " -> " + joined(one.outputs),
               one.fault.empty() ? "" : "NOT SUPPORTED: " + printable(one.fault)});
  }
  return folded("\nOperators of the file\n" + table.text("  ", width), columns_of(width));
}

std::string inspect_text(const model::Description& info, const tir::Module& module, const liveness::Analysis& analysis,
                         const InspectedC& found, const InspectTextOptions& options) {
  return folded(head(info, module, analysis, !found.planned.empty(), options.transformed) +
                    tvm_plan_text(found.planned) + tensors_text(info, options.width) +
                    functions_text(module, options.width) + buffers_text(module, analysis, options.width) +
                    calls_text(module, analysis, options.width) + unplanned_text(module, analysis) +
                    extern_text(analysis, found.unread_calls),
                columns_of(options.width));
}

std::string inspect_json(const model::Description& info, const tir::Module& module, const liveness::Analysis& analysis,
                         const InspectedC& found, std::span<const tflite::OperatorLine> operators) {
  Json json;
  json["schema"] = "usmp-plan/inspect";
  json["schema_version"] = inspect_schema_version;
  json["module"] = info.name;
  json["tvm_version"] = module.tvm_version;
  json["packed_interface"] = info.packed_interface;
  json["source"] = source_name(info);
  json["unplanned_workspace"] = info.workspace_bytes ? Json(*info.workspace_bytes) : Json(nullptr);
  json["tvm_plan"] = planned_json(found.planned);
  json["horizon"] = analysis.horizon;
  json["inputs"] = tensors_json(info.inputs);
  json["outputs"] = tensors_json(info.outputs);
  for (const model::State& state : info.states) {
    json["states"].push_back({{"name", state.name}, {"dtype", state.dtype}, {"size", state.initial.size()}});
  }
  json["functions"] = functions_json(module);
  json["buffers"] = buffers_json(module, analysis);
  json["calls"] = calls_json(module, analysis);
  json["unplanned"] = unplanned_allocates_json(module, analysis);
  json["extern_callees"] = analysis.extern_callees;
  for (const tvm_c::UnreadCall& call : found.unread_calls) {
    json["unread_calls"].push_back({{"name", call.name}, {"file", call.file}, {"reason", call.reason}});
  }
  if (!operators.empty()) json["operators"] = operators_json(operators);
  return json_lines(json);
}

}  // namespace usmp::report

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes a plan as JSON, member by member in a fixed order; plan_reader.cpp reads it.
#include "usmp/plan_file/plan_json.hpp"

#include "usmp/plan_file/json_lines.hpp"
#include "usmp/plan_file/row_json.hpp"
#include "usmp/plan_file/step_json.hpp"

namespace usmp::plan_file {
namespace {

using Json = nlohmann::ordered_json;

Json accesses_json(const PlanDocument::Accesses& accesses) {
  Json json;
  json["loads"] = accesses.loads;
  json["stores"] = accesses.stores;
  json["bytes"] = accesses.bytes;
  json["cycles"] = or_null(accesses.cycles);
  return json;
}

Json planned_pool_json(const PlanDocument::Pool& pool) {
  Json json;
  json["name"] = pool.name;
  json["kind"] = to_string(pool.kind);
  json["internal"] = pool.internal;
  if (!pool.section.empty()) json["section"] = pool.section;
  if (pool.address) json["address"] = *pool.address;
  json["capacity"] = or_null(pool.capacity);
  json["alignment"] = pool.alignment;
  json["reserved"] = pool.reserved;
  if (pool.beside > 0) json["beside"] = pool.beside;
  json["used"] = pool.used;
  if (pool.lower_bound) json["lower_bound"] = *pool.lower_bound;
  json["lower_bound_reason"] = pool.lower_bound_reason;
  json["status"] = to_string(pool.status);
  if (pool.all_modules) json["all_modules"] = all_modules_json(*pool.all_modules);
  if (pool.accesses) json["accesses"] = accesses_json(*pool.accesses);
  return json;
}

Json buffer_json(const PlanDocument::Buffer& buffer, std::size_t id) {
  Json json;
  json["id"] = id;
  json["name"] = buffer.name;
  json["function"] = buffer.function;
  json["kind"] = to_string(buffer.kind);
  json["pool"] = buffer.placed() ? Json(buffer.pool) : Json(nullptr);
  json["offset"] = buffer.placed() ? Json(buffer.offset) : Json(nullptr);
  json["pinned"] = buffer.pinned;
  json["size"] = buffer.size;
  json["alignment"] = buffer.alignment;
  if (buffer.live) json["live"] = live_json(*buffer.live);
  json["candidates"] = buffer.candidates;
  if (buffer.rows) json["ring"] = ring_json(*buffer.rows);
  if (buffer.row_operator > 0) json["row_operator"] = buffer.row_operator;
  return json;
}

Json cut_short_json(const PlanDocument::CutShort& cut) {
  Json json;
  json["steps"] = cut.steps;
  json["passes"] = cut.passes;
  json["recompute_percent"] = cut.recompute_percent;
  json["strip_percent"] = cut.strip_percent;
  json["rolling_room"] = or_null(cut.rolling_room);
  json["reorder_first"] = cut.reorder_first;
  return json;
}

Json search_json(const PlanDocument::Search& search) {
  Json json;
  json["minimized"] = or_null(search.minimized);
  json["stopped"] = to_string(search.stopped);
  json["iterations"] = search.iterations;
  return json;
}

Json spilled_json(const PlanDocument::Spilled& spilled) {
  Json json;
  json["bytes"] = spilled.bytes;
  json["lower_bound"] = spilled.lower_bound;
  return json;
}

Json charge_json(const PlanDocument::Charge& charge) {
  Json json;
  json["name"] = "accesses";
  json["unit"] = charge.in_cycles ? "cycles" : "accesses";
  json["value"] = charge.value;
  json["lower_bound"] = charge.lower_bound;
  return json;
}

Json distance_json(const Distance& distance) {
  Json json;
  json["below"] = distance.below.index();
  json["above"] = distance.above.index();
  json["bytes"] = distance.bytes;
  return json;
}

Json planned_call_json(const PlanDocument::Call& call) {
  Json json;
  json["callee"] = call.callee;
  json["ticks"] = {call.ticks.begin, call.ticks.end};
  json["kind"] = call.kind;
  json["multiply_accumulates"] = or_null(call.multiply_accumulates);
  json["reads"] = call.reads;
  json["writes"] = call.writes;
  json["instructions"] = or_null(call.instructions);
  json["kernels"] = call.kernels;
  if (!call.by_rows.empty()) json["by_rows"] = by_rows_json(call.by_rows);
  return json;
}

Json tensor_json(const PlanDocument::Tensor& tensor) {
  Json json;
  json["name"] = tensor.name;
  json["size"] = or_null(tensor.size);
  json["in_pool"] = tensor.in_pool;
  return json;
}

Json unplanned_json(const PlanDocument::Unplanned& allocate) {
  Json json;
  json["name"] = allocate.name;
  json["function"] = allocate.function;
  json["reason"] = allocate.reason;
  return json;
}

Json imported_json(const ImportedC& source) {
  Json json;
  json["function"] = source.function;
  json["bytes"] = source.bytes;
  json["first_line"] = source.first_line;
  return json;
}

template <class T, class One>
Json list_json(const std::vector<T>& items, One one) {
  Json list = Json::array();
  for (const T& item : items) list.push_back(one(item));
  return list;
}

}  // namespace

std::string plan_json(const PlanDocument& document) {
  Json json;
  json["schema"] = "usmp-plan/plan";
  json["schema_version"] = document.schema_version;
  json["module"] = document.module;
  json["archive"] = document.archive;
  json["algorithm"] = document.algorithm;
  json["seed"] = document.seed;
  if (document.workspace_io) json["workspace_io"] = *document.workspace_io;
  if (!document.cpu.empty()) json["cpu"] = document.cpu;
  json["status"] = to_string(document.status);
  if (document.search) json["search"] = search_json(*document.search);
  if (document.cut_short) json["cut_short"] = cut_short_json(*document.cut_short);
  json["horizon"] = document.horizon;
  json["totals"] = totals_json(document);
  json["inputs"] = list_json(document.inputs, tensor_json);
  json["outputs"] = list_json(document.outputs, tensor_json);
  if (document.charge) json["objective"] = charge_json(*document.charge);
  json["spilled"] = list_json(document.spilled, spilled_json);
  json["pools"] = list_json(document.pools, planned_pool_json);
  json["buffers"] = list_json(document.buffers,
                              [id = std::size_t{0}](const auto& buffer) mutable { return buffer_json(buffer, id++); });
  if (!document.distances.empty()) json["distances"] = list_json(document.distances, distance_json);
  json["calls"] = list_json(document.calls, planned_call_json);
  json["unplanned"] = list_json(document.unplanned, unplanned_json);
  json["imported_c"] = list_json(document.imported_c, imported_json);
  if (!document.tvm_headers.empty()) json["tvm_headers"] = document.tvm_headers;
  json["transformed"] = list_json(document.transformed, step_json);
  json["warnings"] = document.warnings;
  return json_lines(json);
}

}  // namespace usmp::plan_file

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Differences for programs.
#include "report/csv.hpp"
#include "usmp/plan_file/json_lines.hpp"
#include "usmp/plan_file/row_json.hpp"
#include "usmp/plan_file/step_json.hpp"
#include "usmp/report/diff.hpp"

namespace usmp::report {
namespace {

using compare::BufferChange;
using compare::BufferDiff;
using compare::BufferPlace;
using compare::Diff;
using compare::PlanDiff;
using compare::PoolDiff;
using compare::PoolState;
using compare::StepDiff;
using plan_file::all_modules_json;
using plan_file::changes_json;
using plan_file::json_lines;
using plan_file::or_null;
using plan_file::PlanDocument;
using plan_file::step_json;

using Json = nlohmann::ordered_json;

Json figures_json(const PoolState& figures) {
  Json json;
  json["used"] = figures.used;
  json["capacity"] = or_null(figures.capacity);
  json["lower_bound"] = or_null(figures.lower_bound);
  json["live_at_peak"] = figures.live_at_peak;
  json["peak_tick"] = figures.peak;
  json["occupied_at_peak"] = figures.occupied_at_peak;
  json["status"] = to_string(figures.status);
  json["all_modules"] = or_null(figures.all_modules, all_modules_json);
  return json;
}

Json pool_json(const PoolDiff& pool) {
  Json json;
  json["name"] = pool.name;
  json["kind"] = to_string(pool.kind);
  json["growth"] = pool.growth();
  json["same_growth_at_peak"] = pool.same_growth_at_peak;
  json["before"] = or_null(pool.before, figures_json);
  json["after"] = or_null(pool.after, figures_json);
  return json;
}

Json place_json(const BufferPlace& place) {
  Json json;
  json["name"] = place.name;
  json["function"] = place.function;
  json["producer"] = place.producer.empty() ? Json(nullptr) : Json(place.producer);
  json["pool"] = place.pool.empty() ? Json(nullptr) : Json(place.pool);
  json["offset"] = place.pool.empty() ? Json(nullptr) : Json(place.offset);
  json["size"] = place.size;
  json["kind"] = to_string(place.kind);
  json["at_peak"] = place.at_peak;
  json["bytes_at_peak"] = place.bytes_at_peak;
  return json;
}

Json buffer_json(const BufferDiff& buffer) {
  Json json;
  json["change"] = to_string(buffer.change);
  json["effect"] = buffer.effect;
  json["growth"] = buffer.growth();
  json["growth_at_peak"] = buffer.growth_at_peak();
  json["before"] = or_null(buffer.before, place_json);
  json["after"] = or_null(buffer.after, place_json);
  return json;
}

// The changes are only counted: those that both plans have are no difference.
Json outcome_json(const PlanDocument::StepOutcome& step) {
  Json json = step_json(step);
  json.erase("step");
  json["changes"] = step.changes.size();
  return json;
}

Json step_diff_json(const StepDiff& step) {
  Json json;
  json["step"] = step.step;
  json["before"] = or_null(step.before, outcome_json);
  json["after"] = or_null(step.after, outcome_json);
  json["only_before"] = changes_json(step.only_before);
  json["only_after"] = changes_json(step.only_after);
  return json;
}

Json side_json(const PlanDiff::Side& side) {
  Json json;
  json["file"] = side.file;
  json["module"] = side.module;
  json["algorithm"] = side.algorithm;
  json["status"] = to_string(side.status);
  return json;
}

Json module_json(const PlanDiff& diff) {
  Json json;
  json["differs"] = diff.differs();
  json["before"] = side_json(diff.before);
  json["after"] = side_json(diff.after);
  json["pools"] = Json::array();
  for (const PoolDiff& pool : diff.pools) json["pools"].push_back(pool_json(pool));
  json["warnings"] = diff.warnings;
  json["same"] = diff.same;
  json["renamed"] = diff.renamed;
  json["buffers"] = Json::array();
  for (const BufferDiff& buffer : diff.buffers) json["buffers"].push_back(buffer_json(buffer));
  json["transformed"] = Json::array();
  for (const StepDiff& step : diff.steps) json["transformed"].push_back(step_diff_json(step));
  return json;
}

std::string pool_row(const std::string& module, const PoolDiff& pool) {
  const auto used = [](const std::optional<PoolState>& f) { return f ? std::to_string(f->used) : std::string(); };
  const std::string change = !pool.before ? "new" : !pool.after ? "gone" : pool.growth() != 0 ? "resized" : "same";
  const auto at_peak = [](const std::optional<PoolState>& f) {
    return f ? std::to_string(f->occupied_at_peak) : std::string();
  };
  return csv_row({"pool", module, change, pool.name, "", "", std::to_string(pool.growth()), used(pool.before),
                  used(pool.after), "", "", "", "", at_peak(pool.before), at_peak(pool.after), ""});
}

std::string buffer_row(const std::string& module, const BufferDiff& buffer) {
  const auto cell = [](const std::optional<BufferPlace>& place, const auto& one) {
    return place ? one(*place) : std::string();
  };
  const auto size = [](const BufferPlace& place) { return std::to_string(place.size); };
  const auto pool = [](const BufferPlace& place) { return place.pool; };
  const auto offset = [](const BufferPlace& place) {
    return place.pool.empty() ? std::string() : std::to_string(place.offset);
  };
  const auto at_peak = [](const BufferPlace& place) { return std::to_string(place.bytes_at_peak); };
  const BufferPlace& shown = buffer.shown();
  return csv_row({"buffer", module, to_string(buffer.change), shown.name, shown.function, shown.producer,
                  std::to_string(buffer.effect), cell(buffer.before, size), cell(buffer.after, size),
                  cell(buffer.before, pool), cell(buffer.before, offset), cell(buffer.after, pool),
                  cell(buffer.after, offset), cell(buffer.before, at_peak), cell(buffer.after, at_peak), ""});
}

// A row a change; `change` is what became of it.
std::string change_csv(const std::string& module, const StepDiff& step, BufferChange change,
                       const std::vector<PlanDocument::Change>& changes) {
  std::string text;
  for (const PlanDocument::Change& one : changes) {
    text += csv_row({"transformation", module, to_string(change), step.step, one.function, "", "", "", "", "", "", "",
                     "", "", "", one.what});
  }
  return text;
}

}  // namespace

std::string diff_json(const Diff& diff) {
  Json json;
  json["schema"] = "usmp-plan/diff";
  json["schema_version"] = diff_schema_version;
  json["differs"] = diff.differs();
  json["only_before"] = diff.only_before;
  json["only_after"] = diff.only_after;
  json["modules"] = Json::array();
  for (const PlanDiff& module : diff.modules) json["modules"].push_back(module_json(module));
  return json_lines(json);
}

std::string diff_csv(const Diff& diff) {
  std::string text = csv_row({"record", "module", "change", "name", "function", "producer", "effect", "size_before",
                              "size_after", "pool_before", "offset_before", "pool_after", "offset_after",
                              "at_peak_before", "at_peak_after", "what"});
  for (const PlanDiff& module : diff.modules) {
    for (const PoolDiff& pool : module.pools) text += pool_row(module.after.module, pool);
    for (const BufferDiff& buffer : module.buffers) text += buffer_row(module.after.module, buffer);
    for (const StepDiff& step : module.steps) {
      text += change_csv(module.after.module, step, BufferChange::removed, step.only_before) +
              change_csv(module.after.module, step, BufferChange::added, step.only_after);
    }
  }
  for (const std::string& name : diff.only_before) {
    text += csv_row({"module", name, "gone", name, "", "", "", "", "", "", "", "", "", "", "", ""});
  }
  for (const std::string& name : diff.only_after) {
    text += csv_row({"module", name, "new", name, "", "", "", "", "", "", "", "", "", "", "", ""});
  }
  return text;
}

}  // namespace usmp::report

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Counts pairs that share bytes and rings, and words what was verified, replayed and executed.
#include "usmp/report/verification.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "report/layout.hpp"
#include "report/proved.hpp"
#include "usmp/compare/figures.hpp"
#include "usmp/plan_file/json_lines.hpp"
#include "usmp/support/text.hpp"

namespace usmp::report {
namespace {

using Json = nlohmann::ordered_json;

using plan_file::json_lines;
using plan_file::or_null;
using plan_file::PlanDocument;

// Pairs of buffers whose places meet, as they may because of their distances.
std::size_t sharing_pairs(const PlanDocument& plan) {
  std::set<std::pair<BufferId, BufferId>> pairs;
  for (const Distance& distance : plan.distances) {
    const PlanDocument::Buffer& below = plan.buffers[distance.below.index()];
    const PlanDocument::Buffer& above = plan.buffers[distance.above.index()];
    const bool meet = below.pool == above.pool && below.offset < above.offset + above.size &&
                      above.offset < below.offset + below.size;
    if (meet) pairs.insert(std::minmax(distance.below, distance.above));
  }
  return pairs.size();
}

std::size_t rings_of(const PlanDocument& plan) {
  return static_cast<std::size_t>(
      std::ranges::count_if(plan.buffers, [](const auto& buffer) { return buffer.placed() && buffer.rows; }));
}

std::string sharing_text(const PlanDocument& plan) {
  const std::size_t pairs = sharing_pairs(plan);
  const std::size_t rings = rings_of(plan);
  std::string text;
  if (pairs > 0) text += counted(pairs, "pair") + " that share in place";
  if (rings > 0) text += (pairs > 0 ? " and " : "") + counted(rings, "ring") + ", whose rows replace older ones";
  return text.empty() ? text : ", except " + text;
}

Json pool_json(const PlanDocument::Pool& pool) {
  Json json;
  json["name"] = pool.name;
  json["capacity"] = or_null(pool.capacity);
  json["used"] = pool.used;
  json["lower_bound"] = or_null(pool.lower_bound);
  json["lower_bound_reason"] = pool.lower_bound_reason;
  return json;
}

Json replay_json(const std::optional<Replay>& replay) {
  if (!replay) return nullptr;
  Json json;
  json["pairs"] = replay->pairs;
  json["accesses"] = replay->accesses;
  json["left_out"] = Json::array();
  for (const Replay::LeftOut& pair : replay->left_out) {
    json["left_out"].push_back({{"buffers", {pair.one, pair.other}}, {"reason", pair.reason}});
  }
  return json;
}

// "replayed: 10 of 12 pairs and rings, 345678 accesses; an address depends on data: 2".
std::string replay_text(const std::optional<Replay>& replay, const PlanDocument& plan) {
  if (!replay) return {};
  const bool rings = rings_of(plan) > 0;
  const bool pairs = !rings || sharing_pairs(plan) > 0;
  const std::string one = rings ? "ring" : "pair";
  std::map<std::string, std::size_t> reasons;
  for (const Replay::LeftOut& pair : replay->left_out) ++reasons[pair.reason];
  const std::size_t replayed = replay->pairs - replay->left_out.size();
  std::string text =
      "replayed: " + (replayed < replay->pairs ? std::to_string(replayed) + " of " : std::string("all ")) +
      (pairs && rings ? std::to_string(replay->pairs) + " pairs and rings" : counted(replay->pairs, one)) + ", " +
      counted(replay->accesses, "access", "accesses");
  for (const auto& [reason, count] : reasons) text += "; " + reason + ": " + std::to_string(count);
  return text + "\n";
}

Json execution_json(const std::optional<Execution>& execution) {
  if (!execution) return nullptr;
  Json json;
  json["compiler"] = execution->compiler;
  json["sanitized"] = execution->sanitized;
  json["rounds"] = execution->rounds;
  json["elements"] = execution->elements;
  return json;
}

Json module_json(const Verified& verified) {
  const PlanDocument& plan = *verified.plan;
  Json json;
  json["module"] = plan.module;
  json["archive"] = plan.archive;
  json["algorithm"] = plan.algorithm;
  json["buffers"] = plan.buffers.size();
  json["conflicts"] = or_null(verified.conflicts);
  json["sharing"] = sharing_pairs(plan);
  json["replayed"] = replay_json(verified.replay);
  json["pools"] = Json::array();
  for (const PlanDocument::Pool& pool : plan.pools) json["pools"].push_back(pool_json(pool));
  json["executed"] = execution_json(verified.execution);
  json["warnings"] = plan.warnings;
  return json;
}

}  // namespace

std::string verification_json(const std::vector<Verified>& modules) {
  Json json;
  json["schema"] = "usmp-plan/verification";
  json["schema_version"] = 2;  // 1: format and version
  json["modules"] = Json::array();
  for (const Verified& module : modules) json["modules"].push_back(module_json(module));
  return json_lines(json);
}

std::string verification_text(const Verified& verified, bool color) {
  const PlanDocument& plan = *verified.plan;
  std::string text = "module " + printable(plan.module) + " of " + printable(plan.archive) + ", planned by " +
                     printable(plan.algorithm) + "\nverified: " + counted(plan.buffers.size(), "buffer") + ", ";
  if (verified.conflicts) text += counted(*verified.conflicts, "pair") + " live together, ";
  text += counted(plan.pools.size(), "pool") +
          "; every buffer is in one of its candidate pools, aligned, within the pool's bounds, and shares no byte with "
          "a buffer that is live at the same time" +
          sharing_text(plan) + "\n" + replay_text(verified.replay, plan);
  const compare::PlanFigures figures = compare::plan_figures(plan);
  for (std::size_t i = 0; i < plan.pools.size(); ++i) {
    const PlanDocument::Pool& pool = plan.pools[i];
    text += "  " + printable(pool.name) + ": " +
            (pool.capacity ? std::to_string(pool.used) + " of " + bytes_text(*pool.capacity) : bytes_text(pool.used)) +
            (verified.is_read && pool.used != pool.lower_bound ? "" : against_bound(pool, figures.pools[i], color)) +
            "\n";
  }
  for (const std::string& warning : plan.warnings) text += "warning: " + printable(warning) + "\n";
  return folded(text);
}

std::string execution_text(const Execution& execution, const std::string& module) {
  return folded((module.empty() ? "" : "module " + module + ", ") +
                "executed: " + counted(execution.elements, "output element") + " in " +
                counted(execution.rounds, "round") + " match a build in which no buffers overlap, bit for bit (" +
                printable(execution.compiler) + (execution.sanitized ? ", with sanitizers" : "") + ")\n");
}

}  // namespace usmp::report

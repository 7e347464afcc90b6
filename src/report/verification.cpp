#include "usmp/report/verification.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "report/json_lines.hpp"
#include "report/layout.hpp"
#include "report/proved.hpp"
#include "usmp/support/text.hpp"

namespace usmp::report {
namespace {

using Json = nlohmann::ordered_json;

// Pairs of buffers whose places meet, as they may because of their distances.
std::size_t sharing_pairs(const Problem& problem, const Plan& plan) {
  std::set<std::pair<BufferId, BufferId>> pairs;
  for (const Distance& distance : problem.distances) {
    const Allocation& below = plan.of(distance.below);
    const Allocation& above = plan.of(distance.above);
    const bool meet = below.pool == above.pool && below.offset < above.offset + problem.buffer(distance.above).size &&
                      above.offset < below.offset + problem.buffer(distance.below).size;
    if (meet) pairs.insert(std::minmax(distance.below, distance.above));
  }
  return pairs.size();
}

std::string sharing_text(std::size_t pairs) {
  if (pairs == 0) return {};
  return ", but for " + counted(pairs, "pair") + " that may share bytes and are far enough apart";
}

Json pool_json(const Summary& summary, PoolId id) {
  const Pool& pool = summary.assembly->problem.pool(id);
  const bounds::PoolBound& bound = summary.bounds[id.index()];
  Json json;
  json["name"] = pool.name;
  json["capacity"] = pool.capacity ? Json(*pool.capacity) : Json(nullptr);
  json["used"] = summary.used[id.index()];
  json["lower_bound"] = bound.bytes;
  json["lower_bound_reason"] = bound.reason;
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

// "shared bytes: 10 of 12 pairs replayed, 345678 accesses; not replayed since an address depends on data: 2".
std::string replay_text(const std::optional<Replay>& replay) {
  if (!replay) return {};
  std::map<std::string, std::size_t> reasons;
  for (const Replay::LeftOut& pair : replay->left_out) ++reasons[pair.reason];
  std::string text = "shared bytes: " + std::to_string(replay->pairs - replay->left_out.size()) + " of " +
                     counted(replay->pairs, "pair") + " replayed, " + counted(replay->accesses, "access", "accesses");
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
  const Summary& summary = *verified.summary;
  Json json;
  json["module"] = summary.module;
  json["archive"] = summary.archive;
  json["algorithm"] = summary.algorithm;
  json["buffers"] = summary.assembly->problem.buffers.size();
  json["conflicts"] = verified.conflicts ? Json(*verified.conflicts) : Json(nullptr);
  json["sharing"] = sharing_pairs(summary.assembly->problem, *summary.plan);
  json["replayed"] = replay_json(verified.replay);
  json["pools"] = Json::array();
  for (const PoolId id : summary.pool_order()) json["pools"].push_back(pool_json(summary, id));
  json["executed"] = execution_json(verified.execution);
  json["warnings"] = summary.warnings;
  return json;
}

}  // namespace

std::string verification_json(const std::vector<Verified>& modules) {
  Json json;
  json["format"] = "usmp-plan/verification";
  json["version"] = 1;
  json["modules"] = Json::array();
  for (const Verified& module : modules) json["modules"].push_back(module_json(module));
  return json_lines(json);
}

std::string verification_text(const Verified& verified, bool color) {
  const Summary& summary = *verified.summary;
  const Problem& problem = summary.assembly->problem;
  std::string text = "module " + printable(summary.module) + " of " + printable(summary.archive) + ", planned by " +
                     printable(summary.algorithm) + "\nverified: " + counted(problem.buffers.size(), "buffer") + ", ";
  if (verified.conflicts) text += counted(*verified.conflicts, "pair") + " live together, ";
  text +=
      counted(problem.pools.size(), "pool") +
      "; each buffer is in a pool it may be in, aligned, within the pool's bounds, and shares no byte with one that "
      "is live at the same time" +
      sharing_text(sharing_pairs(problem, *summary.plan)) + "\n" + replay_text(verified.replay);
  for (const PoolId id : summary.pool_order()) {
    const Bytes used = summary.used[id.index()];
    const bounds::PoolBound& bound = summary.bounds[id.index()];
    const auto& capacity = problem.pool(id).capacity;
    text += "  " + printable(problem.pool(id).name) + ": " +
            (capacity ? std::to_string(used) + " of " + bytes_text(*capacity) : bytes_text(used)) + ", " +
            proved_text(used, bound.bytes, bound.reason, color) + "\n";
  }
  for (const std::string& warning : summary.warnings) text += "warning: " + printable(warning) + "\n";
  return text;
}

std::string execution_text(const Execution& execution) {
  return "executed: " + counted(execution.elements, "element") + " of outputs in " +
         counted(execution.rounds, "round") + " are those of the unshared code, bit by bit (" +
         printable(execution.compiler) + (execution.sanitized ? ", with sanitizers" : "") + ")\n";
}

}  // namespace usmp::report

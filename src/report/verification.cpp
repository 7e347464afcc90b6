#include "usmp/report/verification.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "report/layout.hpp"
#include "report/proved.hpp"

namespace usmp::report {
namespace {

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string sharing_text(const Problem& problem, const Plan& plan) {
  std::set<std::pair<BufferId, BufferId>> pairs;
  for (const Distance& distance : problem.distances) {
    const Allocation& below = plan.of(distance.below);
    const Allocation& above = plan.of(distance.above);
    const bool meet = below.pool == above.pool && below.offset < above.offset + problem.buffer(distance.above).size &&
                      above.offset < below.offset + problem.buffer(distance.below).size;
    if (meet) pairs.insert(std::minmax(distance.below, distance.above));
  }
  if (pairs.empty()) return {};
  return ", but for " + counted(pairs.size(), "pair") + " that may share bytes and are far enough apart";
}

}  // namespace

std::string verification_text(const Summary& summary, std::optional<std::size_t> conflicts, bool color) {
  const Problem& problem = summary.assembly->problem;
  std::string text = "module " + printable(summary.module) + " of " + printable(summary.archive) + ", planned by " +
                     printable(summary.algorithm) + "\nverified: " + counted(problem.buffers.size(), "buffer") + ", ";
  if (conflicts) text += counted(*conflicts, "pair") + " live together, ";
  text +=
      counted(problem.pools.size(), "pool") +
      "; each buffer is in a pool it may be in, aligned, within the pool's bounds, and shares no byte with one that "
      "is live at the same time" +
      sharing_text(problem, *summary.plan) + "\n";
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

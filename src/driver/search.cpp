#include "search.hpp"

namespace usmp::driver {

PlanResult search(const Problem& problem, const planners::Planner& planner, const Goal& goal,
                  const SearchOptions& options, const Interrupt& interrupt, std::ostream* terminal) {
  std::optional<ProgressLine> line;  // erased when it goes
  planners::Options wanted;
  wanted.seed = options.seed;
  wanted.node_limit = options.node_limit.value_or(0);
  wanted.time_limit = options.time_limit;
  wanted.feasibility_only = goal.feasibility_only;
  wanted.interrupted = &interrupt.flag();
  if (terminal != nullptr) {
    line.emplace(*terminal);
    wanted.progress = [&](const planners::Progress& progress) {
      line->show(problem.pool(progress.pool).name, progress);
    };
  }
  if (goal.minimize) return planners::minimize_pool(problem, *goal.minimize, planner, wanted);
  return planner(problem, wanted);
}

}  // namespace usmp::driver

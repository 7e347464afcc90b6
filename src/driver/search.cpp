#include "search.hpp"

namespace usmp::driver {

planners::Options planner_options(const SearchOptions& search, const Problem& problem,
                                  const std::atomic<bool>& interrupted, ProgressLine* line) {
  planners::Options options;
  options.seed = search.seed;
  options.node_limit = search.node_limit.value_or(0);
  options.time_limit = search.time_limit;
  options.interrupted = &interrupted;
  if (line != nullptr) {
    options.progress = [&problem, line](const planners::Progress& progress) {
      line->show(problem.pool(progress.pool).name, progress);
    };
  }
  return options;
}

}  // namespace usmp::driver

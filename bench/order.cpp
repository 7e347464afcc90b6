// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What the search for an order of the calls reaches, on irregularly wired networks of the tests' generator:
// usmp-bench-order [TASKS SEEDS]. Without arguments, the table of docs/performance.md.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "transform/random_orders.hpp"
#include "transform/reorder_problem.hpp"

namespace {

using namespace usmp;

void run(std::size_t tasks, std::size_t reach, std::size_t seeds) {
  double saved = 0;
  double gap = 0;
  double most_ms = 0;
  double all_ms = 0;
  std::size_t proved = 0;
  for (std::size_t seed = 1; seed <= seeds; ++seed) {
    const transform::OrderProblem problem =
        transform::testing::random_network(seed, {.tasks = tasks, .reach = reach, .most_inputs = 3, .channels = 16});
    const auto start = std::chrono::steady_clock::now();
    const transform::OrderResult result = transform::best_order(problem);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    saved += 100.0 * static_cast<double>(result.given_peak - result.peak) / static_cast<double>(result.given_peak);
    gap += 100.0 * static_cast<double>(result.peak - result.bound) / static_cast<double>(result.peak);
    proved += result.bound == result.peak ? 1 : 0;
    all_ms += time.count();
    most_ms = std::max(most_ms, time.count());
  }
  const auto n = static_cast<double>(seeds);
  std::printf("| %zu | %zu | %zu of %zu | %.1f | %.1f | %.1f | %.1f |\n", tasks, reach, proved, seeds, saved / n,
              gap / n, all_ms / n, most_ms);
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  std::printf("| calls | reach | proved | saved, %% | gap, %% | ms | most ms |\n|---|---|---|---|---|---|---|\n");
  if (count == 3) {
    run(std::strtoul(arguments[1], nullptr, 10), 8, std::strtoul(arguments[2], nullptr, 10));
    return 0;
  }
  for (const std::size_t reach : {std::size_t{4}, std::size_t{8}, std::size_t{32}}) {
    for (const std::size_t tasks :
         {std::size_t{30}, std::size_t{100}, std::size_t{300}, std::size_t{1000}, std::size_t{2000}})
      run(tasks, reach, 10);
  }
  return 0;
}

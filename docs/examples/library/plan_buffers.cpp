// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Plans four buffers into a small fast memory and a large one behind it, verifies the plan and prints it.
#include <iostream>
#include <usmp/planners/planner.hpp>
#include <usmp/problem/problem.hpp>
#include <usmp/verify/verify.hpp>
#include <vector>

namespace {

usmp::Problem make_problem() {
  usmp::Problem problem;
  problem.pools = {{.name = "dtcm", .capacity = 1024}, {.name = "sram"}};
  const std::vector<usmp::PoolId> both = {usmp::PoolId(0), usmp::PoolId(1)};  // preferred first
  const auto add = [&](const char* name, usmp::Bytes size, usmp::Tick begin, usmp::Tick end) {
    usmp::Buffer buffer;
    buffer.name = name;
    buffer.size = size;
    buffer.alignment = 16;
    buffer.candidates = both;
    buffer.live = {{begin, end}};
    problem.buffers.push_back(buffer);
  };
  add("input", 600, 0, 2);
  add("conv", 400, 1, 3);
  add("pool", 300, 2, 4);
  add("dense", 600, 3, 5);
  problem.horizon = 5;
  return problem;
}

}  // namespace

int main() {
  const usmp::Problem problem = make_problem();
  if (const auto reason = usmp::invalid_reason(problem)) {
    std::cerr << *reason << '\n';
    return 1;
  }
  const usmp::PlanResult result = usmp::planners::optimal(problem, {});
  if (!result.has_plan()) {
    std::cerr << "no plan: " << usmp::to_string(result.status) << '\n';
    return 1;
  }
  for (const usmp::verify::Violation& violation : usmp::verify::check(problem, result.plan)) {
    std::cerr << violation.message << '\n';
    return 1;
  }
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const usmp::Allocation& place = result.plan.of(usmp::BufferId(i));
    std::cout << problem.buffers[i].name << ": " << problem.pool(place.pool).name << " + " << place.offset << '\n';
  }
  const std::vector<usmp::Bytes> used = usmp::used_bytes(problem, result.plan);
  for (std::size_t i = 0; i < problem.pools.size(); ++i) {
    std::cout << problem.pools[i].name << ": " << used[i] << " bytes used\n";
  }
  std::cout << "status: " << usmp::to_string(result.status) << '\n';
}

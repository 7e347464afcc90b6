// What there is to say of one planned module, gathered once for every output format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "usmp/assemble/assemble.hpp"
#include "usmp/bounds/bounds.hpp"
#include "usmp/liveness/liveness.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::report {

struct Summary {
  std::string module;
  std::string archive;  // file name only
  std::string algorithm;
  std::uint64_t seed = 0;
  bool workspace_io = false;
  PlanStatus status = PlanStatus::feasible;
  const assemble::Assembly* assembly = nullptr;
  const liveness::Analysis* analysis = nullptr;
  const Plan* plan = nullptr;
  std::vector<Bytes> used;                   // by PoolId
  std::vector<bounds::PoolBound> bounds;     // by PoolId
  std::optional<Bytes> unplanned_workspace;  // of the archive's own build
  std::vector<std::string> warnings;         // whole sentences for people, no full stop

  // Over all workspace pools.
  [[nodiscard]] Bytes workspace_used() const;
  [[nodiscard]] Bytes constants_used() const;
};

}  // namespace usmp::report

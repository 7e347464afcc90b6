// What there is to say of one planned module, gathered once for every output format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "usmp/assemble/assemble.hpp"
#include "usmp/bounds/bounds.hpp"
#include "usmp/liveness/liveness.hpp"
#include "usmp/problem/problem.hpp"
#include "usmp/tir/ir.hpp"

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
  const tir::Module* tir = nullptr;  // names the functions of unplanned allocates; may be null
  const Plan* plan = nullptr;
  std::vector<Bytes> used;                   // by PoolId
  std::vector<bounds::PoolBound> bounds;     // by PoolId
  std::optional<Bytes> unplanned_workspace;  // of the archive's own build
  // Whole sentences for people, no full stop. Not the unplanned allocates, which the reports take from the analysis.
  std::vector<std::string> warnings;

  // Over all workspace pools.
  [[nodiscard]] Bytes workspace_used() const;
  // Over all parameter pools.
  [[nodiscard]] Bytes constants_used() const;

  // Optimal when the pool uses no more than its lower bound, else feasible; without a plan, `status`.
  [[nodiscard]] PlanStatus pool_status(PoolId pool) const;

  // How reports list the pools: workspace pools, then parameter pools, each in the problem's order.
  [[nodiscard]] std::vector<PoolId> pool_order() const;

  // Of an index into Module::functions; empty if `tir` is null.
  [[nodiscard]] std::string function_name(std::size_t index) const;
};

}  // namespace usmp::report

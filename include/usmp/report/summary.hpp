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
#include "usmp/transform/transform.hpp"

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
  const tir::Module* tir = nullptr;  // names functions, knows imported C; may be null
  const Plan* plan = nullptr;
  std::vector<Bytes> used;  // by PoolId
  // By PoolId: every complete plan that is no worse in all that is more important (see usmp::Cost) uses at least this.
  std::vector<bounds::PoolBound> bounds;
  std::vector<Bytes> spilled;        // as in usmp::Cost
  std::vector<Bytes> spilled_bound;  // as `bounds`; as long as `spilled`
  StopReason stopped = StopReason::finished;
  std::uint64_t iterations = 0;                    // of the algorithm's own kind
  std::optional<PoolId> minimized;                 // the pool that came before everything else
  std::optional<Bytes> unplanned_workspace;        // of the archive's own build
  std::vector<transform::StepResult> transformed;  // what was done to the program before it was planned
  // Whole sentences for people, no full stop. Not the unplanned allocates, which the reports take from the analysis.
  std::vector<std::string> warnings;

  // Over all workspace pools.
  [[nodiscard]] Bytes workspace_used() const;
  // Over all parameter pools.
  [[nodiscard]] Bytes constants_used() const;

  // Optimal when the pool uses no more than its lower bound, else feasible; without a plan, `status`. So all that is
  // more important stays as good as it is: see docs/planning.md.
  [[nodiscard]] PlanStatus pool_status(PoolId pool) const;

  // How reports list the pools: workspace pools, then parameter pools, each in the problem's order.
  [[nodiscard]] std::vector<PoolId> pool_order() const;

  // Of an index into Module::functions; empty if `tir` is null.
  [[nodiscard]] std::string function_name(std::size_t index) const;
};

// C of the archive itself, which the emitted files hold as it is.
struct ImportedC {
  std::string function;  // whose body asks for it
  std::size_t bytes = 0;
  std::string first_line;  // that is not blank, blanks around it left out, cut behind 60 bytes

  friend bool operator==(const ImportedC&, const ImportedC&) = default;
};

// The pragma_import_c sources in the order of the functions; empty if `tir` is null.
[[nodiscard]] std::vector<ImportedC> imported_c(const Summary& summary);

// Takes over the algorithm's result, whose plan the summary then points to, and puts together what is proved: each
// lower bound is the larger one of the algorithm's own (named so) and the given one. `assembly` and `algorithm` are
// set.
void set_result(Summary& summary, const PlanResult& result, std::vector<bounds::PoolBound> loads);

}  // namespace usmp::report

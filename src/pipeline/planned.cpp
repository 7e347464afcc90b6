// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Plans and replays, then places, lowers and writes kernels, and fills in the document.
#include "usmp/pipeline/planned.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "pipeline/early_outputs.hpp"
#include "pipeline/source.hpp"
#include "usmp/assemble/placements.hpp"
#include "usmp/kernels/estimate.hpp"
#include "usmp/kernels/kernels.hpp"
#include "usmp/lower/outline.hpp"
#include "usmp/lower/stack_estimate.hpp"
#include "usmp/mlf/interface.hpp"
#include "usmp/pipeline/plan_document.hpp"
#include "usmp/pipeline/state_pool.hpp"
#include "usmp/program/effects.hpp"
#include "usmp/shape/shape_loops.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::pipeline {
namespace {

constexpr Bytes most_gap = Bytes{1} << 20;
constexpr Bytes most_reserved = Bytes{1} << 26;

// Throws Error of kind usage if most of what is written of the pool would be zeros, which a pin far away makes. Only
// the bytes in front of all buffers that the pools file asks for may be more.
void require_dense(const plan_file::PlanDocument& document, const plan_file::PlanDocument::Pool& pool) {
  const auto fail = [&](const std::string& message) {
    throw Error(ErrorKind::usage, {}, "pool " + in_quotes(pool.name) + ": " + message);
  };
  std::vector<const plan_file::PlanDocument::Buffer*> placed;
  for (const plan_file::PlanDocument::Buffer& buffer : document.buffers) {
    if (buffer.pool == pool.name && buffer.size > 0) placed.push_back(&buffer);
  }
  if (!placed.empty() && pool.reserved > most_reserved) {
    fail("pool_offset is " + bytes_text(pool.reserved) + ", which would be written as zeros: expected at most " +
         std::to_string(most_reserved));
  }
  std::ranges::sort(placed, {}, &plan_file::PlanDocument::Buffer::offset);
  Bytes end = pool.reserved;
  for (const plan_file::PlanDocument::Buffer* buffer : placed) {
    const Bytes gap = buffer->offset - end;
    end = std::max(end, buffer->offset + buffer->size);
    if (gap <= most_gap) continue;
    fail("buffer " + in_quotes(buffer->name) + " of " + in_quotes(buffer->function) +
         (buffer->pinned ? " is pinned to offset " : " is at offset ") + std::to_string(buffer->offset) +
         ", and the gap of " + bytes_text(gap) + " in front of it would be written as zeros: expected at most " +
         std::to_string(most_gap));
  }
}

// Warns of pools that the application had with TVM's plan, too: it may have their contents from a file.
void add_other_contents(const SourceModule& source, plan_file::PlanDocument& document) {
  for (const plan_file::PlanDocument::Pool& pool : document.pools) {
    if (pool.kind != PoolKind::constant || pool.internal || pool.used == 0) continue;
    const bool was_its = std::ranges::any_of(
        source.tvm_pools, [&](const tvm_c::PlannedPool& one) { return one.is_constant && one.name == pool.name; });
    if (!was_its) continue;
    document.warnings.push_back("the contents of parameter pool " + in_quotes(pool.name) +
                                " are others than TVM's: an application that does not take them from TVMGEN_" +
                                upper_case(c_identifier(document.module)) + "_" + upper_case(c_identifier(pool.name)) +
                                "_CONSTANT_POOL_DATA, but loads them from a file, needs another one (emit: binary)");
  }
}

// Names the first three functions that stay for one reason, and says how many more there are.
void add_kept(const std::vector<tvm_c::KeptFunction>& kept, std::vector<std::string>& warnings) {
  constexpr std::size_t most = 3;
  using Reason = std::pair<std::string, std::string>;  // in a file
  std::map<Reason, std::size_t> counts;
  std::vector<Reason> others;  // in the order in which there are too many
  const auto add = [&](const tvm_c::KeptFunction& function, const std::string& reason, const std::string& text) {
    const std::size_t count = ++counts[{function.file, reason}];
    if (count <= most) {
      warnings.push_back(function.file + ": function " + in_quotes(function.name) + text);
    } else if (count == most + 1) {
      others.emplace_back(function.file, reason);
    }
  };
  for (const tvm_c::KeptFunction& function : kept) {
    if (function.allocates_workspace) {
      const std::string text = "allocates workspace at run time, outside this plan";
      add(function, text, " stays as it is and " + text);
    }
    if (function.reason.empty()) continue;
    const std::size_t place = function.reason.find(": ");
    add(function, place == std::string::npos ? function.reason : function.reason.substr(place + 2),
        " is not TVM's C and stays as it is (" + function.reason + ")");
  }
  for (const Reason& one : others) {
    warnings.push_back(one.first + ": " + counted(counts[one] - most, "other function") + " likewise: " + one.second);
  }
}

std::vector<std::string> warnings_of(const SourceModule& source) {
  std::vector<std::string> warnings;
  std::set<std::string> members;
  for (const model::ForeignFunction& function : source.info.foreign_functions) {
    if (function.allocates_workspace && members.insert(function.member).second) {
      warnings.push_back(function.member + " allocates workspace at run time, outside this plan");
    }
  }
  add_kept(source.kept, warnings);
  warnings.insert(warnings.end(), source.lost_placements.begin(), source.lost_placements.end());
  warnings.insert(warnings.end(), source.warnings.begin(), source.warnings.end());
  const auto effects = program::param_effects(source.module)[source.module.entry];
  for (const codegen::InterfaceTensor& output : source.interface.outputs) {
    if (effects[output.param].may_be_written()) continue;
    warnings.push_back("output '" + output.name +
                       "' is never written: it contains whatever was in its memory before. TVM generates this for a "
                       "tensor that is an output twice, and for a reshape of another output");
  }
  return warnings;
}

std::vector<plan_file::PlanDocument::Tensor> tensors_of(const std::vector<codegen::InterfaceTensor>& tensors,
                                                        bool in_pool) {
  std::vector<plan_file::PlanDocument::Tensor> result;
  result.reserve(tensors.size());
  for (const codegen::InterfaceTensor& tensor : tensors) {
    result.push_back({tensor.name, tensor.size > 0 ? std::optional(tensor.size) : std::nullopt, in_pool});
  }
  return result;
}

std::optional<std::int64_t> rounded(const std::optional<double>& instructions) {
  constexpr double most = 9e15;
  if (!instructions || *instructions > most) return std::nullopt;
  return static_cast<std::int64_t>(*instructions);
}

void add_instructions(plan_file::PlanDocument& document, const PlannedProgram& planned) {
  const tir::Module& module = planned.lowered.module;
  const std::vector<kernels::Estimate> estimates = kernels::estimates(module, *planned.program.core);
  document.cpu = planned.program.core->name;
  document.instructions = rounded(estimates[module.entry].instructions);
  for (plan_file::PlanDocument::Call& call : document.calls) {
    const auto callee = module.find(call.callee);
    if (!callee) continue;
    call.instructions = rounded(estimates[*callee].instructions);
    call.kernels.assign(estimates[*callee].kernels.begin(), estimates[*callee].kernels.end());
    for (const auto& [number, part] : estimates[*callee].parts) {
      if (number > call.by_rows.size()) continue;
      plan_file::PlanDocument::RowOperator& row = call.by_rows[number - 1];
      row.instructions = rounded(part.instructions);
      row.kernels.assign(part.kernels.begin(), part.kernels.end());
    }
  }
}

std::optional<Bytes> tvm_workspace(const SourceModule& source, bool workspace_io) {
  if (source.tvm_pools.empty() || source.tvm_pools_have_io != workspace_io) return std::nullopt;
  Bytes total = 0;
  for (const tvm_c::PlannedPool& pool : source.tvm_pools) {
    if (pool.is_constant) continue;
    const auto sum = pool.size ? checked_add(total, *pool.size) : std::nullopt;
    if (!sum) return std::nullopt;
    total = *sum;
  }
  if (total == 0) return std::nullopt;  // all of it is the application's, in C without its sizes
  return total;
}

bool has_constants(const tir::Module& module) {
  return std::ranges::any_of(module.functions, [](const tir::Function& function) {
    bool has = false;
    tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
      has = has || std::holds_alternative<tir::AllocateConst>(stmt.node);
    });
    return has;
  });
}

// Headers that C includes which the output contains unchanged.
std::vector<std::string> tvm_headers_of(const PlannedProgram& planned) {
  std::set<std::string> found = planned.source.tvm_headers;
  for (const tir::Function& function : planned.program.module.functions) {
    for (const std::string& text : function.imported_c) found.merge(mlf::tvm_headers(text));
  }
  return {found.begin(), found.end()};
}

// Bytes of constants in a plan without transformations: kernels do not read all that TVM's C does.
Bytes constants_without_steps(const PlannedProgram& planned, bool workspace_io) {
  if (!has_constants(planned.source.module)) return 0;
  tir::Module module = planned.source.module;
  kernels::prepare(module, *planned.program.core);
  return constants_read(live_ranges(planned.source, module, workspace_io));
}

lower::Registers registers_of(const kernels::Core& core) {
  if (&core == &kernels::generic_core()) return lower::Registers::unknown;
  return core.in_rows ? lower::Registers::helium : lower::Registers::of_32_bits;
}

plan_file::PlanDocument document_of(const PlannedProgram& planned, const Origin& origin) {
  const model::Description& info = planned.source.info;
  plan_file::PlanDocument document =
      plan_document(planned.program.module, planned.program.operators, planned.program.analysis, planned.assembly,
                    planned.result, origin.algorithm);
  document.module = info.name;
  document.archive = origin.archive;
  document.seed = origin.seed;
  document.workspace_io = origin.workspace_io;
  document.inputs = tensors_of(planned.source.interface.inputs, origin.workspace_io);
  document.outputs = tensors_of(planned.source.interface.outputs, origin.workspace_io);
  for (const model::State& state : info.states) {
    document.state_bytes = document.state_bytes.value_or(0) + static_cast<Bytes>(state.initial.size());
  }
  const std::vector<Bytes> used = placement::used_bytes(planned.placements);
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (planned.placements.pools[i].holds_state) document.state_bytes = used[i] - planned.state_pool->reserved;
  }
  document.stack_estimate = lower::stack_estimate(planned.lowered.module, registers_of(*planned.program.core));
  const Bytes arrays = storage::stack_arrays(planned.source.module, true);
  const Bytes saved = arrays - storage::stack_arrays(planned.program.module, false);
  if (arrays > 0 && saved >= 0) document.stack_arrays = arrays;  // operators that were merged may have more
  if (saved > 0) document.stack_saved = saved;
  add_instructions(document, planned);
  if (planned.minimized) document.search->minimized = planned.assembly.problem.pool(*planned.minimized).name;
  document.transformed = steps_of(planned.program.transformed);
  if (const auto& cut = planned.program.cut_short) {
    document.cut_short = {.steps = {},
                          .passes = cut->count,
                          .recompute_percent = cut->transformations.recompute_percent,
                          .strip_percent = cut->transformations.strip_percent,
                          .rolling_room = cut->transformations.rolling_room,
                          .reorder_first = cut->transformations.reorder_first};
    for (const transform::Step step : cut->transformations.steps) {
      document.cut_short->steps.emplace_back(transform::name_of(step));
    }
  }
  for (plan_file::PlanDocument::StepOutcome& step : document.transformed) {
    if (step.step != transform::name_of(transform::Step::constants)) continue;
    step.constants = {constants_without_steps(planned, origin.workspace_io), *document.constant_bytes};
  }
  const bool is_unplanned = planned.program.module.annotated_pools.empty() && planned.source.tvm_pools.empty();
  if (!origin.planned_before && is_unplanned) {
    document.unplanned_workspace = info.workspace_bytes;
  }
  document.tvm_workspace = tvm_workspace(planned.source, origin.workspace_io);
  document.tvm_headers = tvm_headers_of(planned);
  document.warnings = warnings_of(planned.source);
  if (!origin.workspace_io) {
    const std::vector<std::string> early = early_outputs(planned.source, planned.program.module);
    document.warnings.insert(document.warnings.end(), early.begin(), early.end());
  }
  add_other_contents(planned.source, document);
  document.warnings.insert(document.warnings.end(), planned.warnings.begin(), planned.warnings.end());
  return document;
}

}  // namespace

void plan(PlannedProgram& planned, const ChosenAlgorithm& algorithm, const Search& how, const Origin& origin,
          std::uint64_t replay_steps) {
  PlanResult result = plan_and_verify(
      algorithm, planned.assembly.problem,
      {.minimize = planned.minimized, .feasibility_only = false, .shares_less = algorithm.program.empty()}, how);
  if (result.has_plan()) require_replayed(planned, result.plan, replay_steps, how.log);
  // What does not fit is the program as far as it was transformed by then.
  if (!result.has_plan() && how.interrupted != nullptr && *how.interrupted) {
    result.status = PlanStatus::not_found;
    result.stopped = StopReason::interrupted;
  }
  adopt(planned, std::move(result), origin);
}

std::vector<std::string> replay_plan(PlannedProgram& planned, const Plan& plan, std::uint64_t steps, const Log& log) {
  const tir::Module& module = planned.program.module;
  replay::Options options{.steps = steps};
  for (const codegen::InterfaceTensor& input : planned.source.interface.inputs) {
    options.inputs.push_back(module.functions[module.entry].params[input.param].var);
  }
  const placement::Table table = assemble::placements_of(planned.program.analysis, planned.assembly, plan);
  planned.replayed = replay::replay(module, table, options);
  if (log) {
    log(std::to_string(planned.replayed.replayed()) + " of " + std::to_string(planned.replayed.pairs) +
        " pairs that share bytes replayed, " + std::to_string(planned.replayed.accesses) + " accesses");
  }
  return first_lines(planned.replayed.violations, most_lines);
}

void require_replayed(PlannedProgram& planned, const Plan& plan, std::uint64_t steps, const Log& log) {
  const std::vector<std::string> violations = replay_plan(planned, plan, steps, log);
  if (!violations.empty()) throw_wrong_plan(violations);
}

void adopt(PlannedProgram& planned, PlanResult result, const Origin& origin) {
  planned.result = std::move(result);
  if (!planned.result.has_plan()) return;
  planned.placements = assemble::placements_of(planned.program.analysis, planned.assembly, planned.result.plan);
  if (planned.state_pool) place_states(planned.source, planned.program.module, *planned.state_pool, planned.placements);
  planned.lowered = lower::outline(lower::lower(planned.program.module, planned.placements), planned.placements);
  kernels::write_kernels(planned.lowered.module, *planned.program.core);
  shape::shape_loops(planned.lowered.module);
  planned.document = document_of(planned, origin);
}

codegen::EmissionInput emission_input(const PlannedProgram& planned, bool workspace_io) {
  for (const plan_file::PlanDocument::Pool& pool : planned.document.pools) {
    if (pool.kind == PoolKind::constant) require_dense(planned.document, pool);
  }
  return {.info = planned.source.info,
          .source = planned.program.module,
          .placements = planned.placements,
          .lowered = planned.lowered,
          .workspace_io = workspace_io,
          .visible = planned.source.visible_names};
}

}  // namespace usmp::pipeline

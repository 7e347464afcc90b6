// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads a module, runs the passes on it, and assembles the problem, with warnings for what gets lost.
#include "usmp/pipeline/program.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "pipeline/analyse.hpp"
#include "pipeline/foreign_workspace.hpp"
#include "pipeline/source.hpp"
#include "usmp/assemble/pins.hpp"
#include "usmp/kernels/kernels.hpp"
#include "usmp/mlf/interface.hpp"
#include "usmp/pipeline/state_pool.hpp"
#include "usmp/program/outside.hpp"
#include "usmp/storage/split.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tflite/reader.hpp"
#include "usmp/tir_json/reader.hpp"
#include "usmp/tvm_c/imported.hpp"

namespace usmp::pipeline {
namespace {

std::set<std::string> tvm_headers_of(const std::vector<tvm_c::Source>& files) {
  std::set<std::string> found;
  for (const tvm_c::Source& file : files) found.merge(mlf::tvm_headers(file.text));
  return found;
}

liveness::Options liveness_options(const SourceModule& source, const tir::Module& module, bool workspace_io) {
  liveness::Options options;
  options.workspace_io = workspace_io;
  const std::vector<tir::Param>& params = module.functions[module.entry].params;
  for (const codegen::InterfaceTensor& input : source.interface.inputs)
    options.inputs.push_back(params[input.param].var);
  for (const codegen::InterfaceTensor& output : source.interface.outputs) {
    options.outputs.push_back(params[output.param].var);
  }
  return options;
}

// C does not say how large inputs and outputs are: the archive does, or what is accessed of them.
void give_shapes(SourceModule& source) {
  std::vector<tir::Param>& params = source.module.functions[source.module.entry].params;
  std::vector<std::map<tir::VarId, storage::Extent>> accessed;
  for (std::vector<codegen::InterfaceTensor>* tensors : {&source.interface.inputs, &source.interface.outputs}) {
    for (codegen::InterfaceTensor& tensor : *tensors) {
      tir::Param& param = params[tensor.param];
      if (!param.is_tensor) continue;
      if (tensor.size == 0) {
        if (accessed.empty()) accessed = storage::extents(source.module);
        tensor.size = accessed[source.module.entry][param.var].end.value_or(0);
      }
      const Bytes width = param.element.bytes();
      if (tensor.size > 0 && tensor.size % width == 0) param.shape = std::vector<std::int64_t>{tensor.size / width};
    }
  }
}

}  // namespace

SourceModule read_module(const model::Description& info, std::string_view tir, const CFiles& files) {
  try {
    SourceModule source;
    source.info = info;
    source.tvm_headers = tvm_headers_of(files.foreign);
    source.module = tir_json::read_module(tir);
    source.unread_calls = tvm_c::read_imported(source.module);
    program::require_accesses_inside(source.module);
    storage::split(source.module, storage::Where::between_tensors);
    plan_foreign_workspace(source, files);
    source.interface = codegen::interface_of(info, source.module);
    return source;
  } catch (const Error& error) {
    throw error.with_member(info.tir_member);
  }
}

namespace {

// What other C uses of what planned C has not. In place, its build would fail.
void note_lost(const std::vector<tvm_c::LostName>& lost, const CFiles& files, std::vector<std::string>& warnings) {
  using Kind = tvm_c::LostName::Kind;
  std::set<std::string, std::less<>> names;
  for (const tvm_c::LostName& one : lost) names.insert(one.name);
  const bool may_be = !names.empty() && files.mentioned_elsewhere;
  const CFiles::Mentioned mentioned = may_be ? files.mentioned_elsewhere(names) : CFiles::Mentioned();
  for (const tvm_c::LostName& one : lost) {
    const auto user = mentioned.find(one.name);
    const bool is_used = user != mentioned.end();
    const std::string what = (one.kind == Kind::constant ? "constant "
                              : one.kind == Kind::pool   ? "pool "
                                                         : "operator ") +
                             in_quotes(one.name);
    if (is_used && !files.rewritten.empty()) {
      throw Error(ErrorKind::archive, {{}, one.file, one.place},
                  "found " + what + ", which " + user->second +
                      " mentions, expected one that this model alone uses: planned C does not have it; give that code "
                      "its own, or make this one static, if that is another of the name");
    }
    const bool is_told = is_used || (one.kind == Kind::constant && !one.is_declared);
    if (!is_told || one.kind == Kind::pool) continue;
    warnings.push_back(one.file + ": " + what + " (" + one.place + ") is not in planned C, and " +
                       (is_used ? user->second + " mentions it: give that code its own"
                                : "not static: other files that use it need their own"));
  }
}

}  // namespace

WrittenModule as_written(const model::Description& info, const CFiles& files) {
  std::vector<tvm_c::Foreign> foreign;
  for (const model::ForeignFunction& function : info.foreign_functions) {
    const auto file = std::find_if(files.foreign.begin(), files.foreign.end(),
                                   [&](const tvm_c::Source& one) { return one.name == function.member; });
    foreign.push_back({function.name, function.prototype, {}, {}});
    if (file == files.foreign.end()) continue;
    foreign.back().file = file->name;
    foreign.back().text = file->text;
  }
  tvm_c::PlannedModule read = tvm_c::read_planned_module(info.name, files.own, foreign, {}, tvm_c::Unread::kept,
                                                         files.rewritten, files.headers, files.synchronous);
  SourceModule source;
  source.info = info;
  for (const tvm_c::KeptFunction& function : read.kept) {
    source.info.foreign_functions.push_back({function.name, function.prototype, function.file, false});
  }
  for (const tvm_c::KeptFunction& function : read.external) {
    source.info.foreign_functions.push_back({function.name, function.prototype, {}, false});
  }
  source.tvm_headers = tvm_headers_of(files.foreign);
  source.kept = read.kept;
  source.unread_calls = read.unread_calls;
  source.forwarders = read.forwarders;
  source.pool_accesses = read.pool_accesses;
  source.lost_placements = read.lost_placements;
  source.visible_names = read.visible_names;
  source.warnings = read.warnings;
  note_lost(read.lost_names, files, source.warnings);
  source.changed = read.changed;
  source.module = std::move(read.module);
  source.tvm_pools = read.pools;
  source.workspace_macro = read.workspace_macro;
  source.constants_section = read.constants_section;
  source.lost_constants = read.lost_constants;
  source.edited_run = read.edited_run;
  try {
    source.interface = codegen::interface_of(info, source.module);
  } catch (const Error&) {
    if (source.edited_run) throw Error(*source.edited_run);  // what is added there takes what the entry does not
    throw;
  }
  give_shapes(source);
  std::set<tir::VarId> params;
  for (const tir::Param& param : source.module.functions[source.module.entry].params) params.insert(param.var);
  source.tvm_pools_have_io = std::any_of(read.places.begin(), read.places.end(),
                                         [&](const tvm_c::PlannedPlace& place) { return params.contains(place.var); });
  return {std::move(source), std::move(read)};
}

bool allocates_at_run_time(const SourceModule& source) {
  return std::ranges::any_of(source.info.foreign_functions, &model::ForeignFunction::allocates_workspace) ||
         std::ranges::any_of(source.kept, &tvm_c::KeptFunction::allocates_workspace);
}

std::optional<std::string> unused_workspace(const SourceModule& source) {
  if (allocates_at_run_time(source)) return std::nullopt;
  const auto owned = std::find_if(source.tvm_pools.begin(), source.tvm_pools.end(),
                                  [](const tvm_c::PlannedPool& pool) { return pool.in_c; });
  if (owned == source.tvm_pools.end() || source.workspace_macro.value_or(0) == 0) return std::nullopt;
  return "TVM's C defines its workspace itself (pool '" + owned->name +
         "'): memory that the firmware reserves with TVMGEN_" + upper_case(c_identifier(source.info.name)) +
         "_WORKSPACE_SIZE (" + std::to_string(*source.workspace_macro) + " bytes) is not used";
}

SourceModule read_module(const model::Description& info, const CFiles& files) {
  WrittenModule written = as_written(info, files);
  program::require_accesses_inside(written.source.module);
  auto overlaps = overlaps_in_plan(written);
  SourceModule source = std::move(written.source);
  if (overlaps) source.warnings.push_back(std::move(*overlaps));
  if (!written.plan.places.empty()) {
    source.written = std::make_shared<const TvmWritten>(
        TvmWritten{source.module, std::move(written.plan.places), std::move(written.plan.whole_pools)});
  }
  storage::split(source.module, storage::Where::between_tensors);
  plan_foreign_workspace(source, files);
  return source;
}

SourceModule read_module(const std::string& name, std::string_view model) {
  tflite::ReadModel read = tflite::read_model(model, name);
  SourceModule source;
  source.info = std::move(read.description);
  source.module = std::move(read.module);
  source.interface = codegen::interface_of(source.info, source.module);
  return source;
}

model::Description described(const SourceModule& source) {
  model::Description info = source.info;
  const std::vector<tir::Param>& params = source.module.functions[source.module.entry].params;
  const auto describe = [&](std::vector<model::Tensor>& known, const std::vector<codegen::InterfaceTensor>& tensors) {
    if (known.empty()) {
      for (const codegen::InterfaceTensor& tensor : tensors) known.push_back({tensor.name, "", std::nullopt});
    }
    for (std::size_t i = 0; i < known.size() && i < tensors.size(); ++i) {
      const tir::Param& param = params[tensors[i].param];
      if (known[i].dtype.empty() && param.is_tensor) known[i].dtype = tir::to_string(param.element);
      if (!known[i].size && tensors[i].size > 0) known[i].size = tensors[i].size;
    }
  };
  describe(info.inputs, source.interface.inputs);
  describe(info.outputs, source.interface.outputs);
  return info;
}

transform::Options pass_options(const SourceModule& source, const Transformations& transformations, bool workspace_io) {
  return {.steps = transformations.steps,
          .recompute_percent = transformations.recompute_percent,
          .strip_percent = transformations.strip_percent,
          .rolling_room = transformations.rolling_room,
          .reorder_first = transformations.reorder_first,
          .liveness = liveness_options(source, source.module, workspace_io)};
}

tir::Module module_of(const SourceModule& source, const Transformations& transformations) {
  tir::Module module = source.module;
  module.stack_arrays = transformations.plan_stack;
  return module;
}

Program analysed(const SourceModule& source, transform::Result result, const transform::Options& options,
                 const Transformations& transformations) {
  const kernels::Core* core = transformations.core;
  const kernels::Core& shaped_for = core == nullptr ? kernels::core_of(source.info.cpu) : *core;
  Program program{.module = result.module(),
                  .core = &shaped_for,
                  .transformed = std::move(result.steps),
                  .operators = {},
                  .analysis = {}};
  program.operators = operators::operators_of(program.module);
  kernels::prepare(program.module, shaped_for);
  storage::keep_on_stack(program.module);
  program.analysis = live_ranges(source, program.module, options.liveness.workspace_io);
  program.analysis.distances = std::move(result.distances);
  if (options.asks_for(transform::Step::constants)) liveness::share_constants(program.analysis, program.module);
  return program;
}

Program transformed(const SourceModule& source, const Transformations& transformations, bool workspace_io) {
  try {
    const transform::Options options = pass_options(source, transformations, workspace_io);
    return analysed(source, transform::transform(module_of(source, transformations), options), options,
                    transformations);
  } catch (const Error& error) {
    throw error.with_member(source.info.tir_member);
  }
}

liveness::Analysis live_ranges(const SourceModule& source, const tir::Module& module, bool workspace_io) {
  return liveness::analyse(module, liveness_options(source, module, workspace_io));
}

assemble::Assembly assembled(const Program& program, const Request& request) {
  assemble::Assembly assembly = assemble::assemble(program.module, program.analysis, request.pools);
  for (std::size_t i = 0; i < assembly.pools.size(); ++i) {
    const auto wanted = request.capacities.find(assembly.pools[i].name);
    if (wanted == request.capacities.end()) continue;
    assembly.pools[i].size_hint = wanted->second;
    assembly.problem.pools[i].capacity = wanted->second;
  }
  return assembly;
}

namespace {

// TVM was given pools (tvmc --workspace-pools), and this program was not.
std::optional<std::string> pools_left_alone(const tir::Module& module, const assemble::Assembly& assembly,
                                            const config::PoolsConfig& given) {
  const auto is_same = [](const config::PoolSpec& a, const config::PoolSpec& b) { return a.name == b.name; };
  if (!std::ranges::equal(given.workspace_pools, config::default_pools().workspace_pools, is_same)) return std::nullopt;
  std::vector<std::string> names;
  for (const tir::AnnotatedPool& pool : module.annotated_pools) {
    if (pool.is_internal || std::ranges::count(assembly.pools, pool.name, &config::PoolSpec::name) > 0) continue;
    const std::string size = pool.size_hint ? " (" + std::to_string(*pool.size_hint) + " bytes)" : "";
    names.push_back(in_quotes(pool.name) + size);
  }
  if (names.empty()) return std::nullopt;
  return "the pools that TVM was given are not used: " + joined(names, ", ") +
         "; usmp-plan init writes a file with them, for --pools";
}

}  // namespace

Program made_again(const SourceModule& source, Transformations transformations,
                   const plan_file::PlanDocument::CutShort& cut, bool workspace_io) {
  transformations.steps.clear();
  for (const std::string& name : cut.steps) {
    const auto step = transform::parse_steps(name);
    if (!step || step->size() != 1) {
      throw Error(ErrorKind::usage, {},
                  "the plan was cut short after transformation " + in_quotes(name) + ", which there is not");
    }
    transformations.steps.push_back(step->front());
  }
  transformations.recompute_percent = cut.recompute_percent;
  transformations.strip_percent = cut.strip_percent;
  transformations.rolling_room = cut.rolling_room;
  transformations.reorder_first = cut.reorder_first;
  const transform::Options options = pass_options(source, transformations, workspace_io);
  const std::vector<transform::Step> passes = transform::passes_of(options);
  transform::Result result = transform::begin(module_of(source, transformations));
  for (std::size_t i = 0; i < std::min(cut.passes, passes.size()); ++i) {
    result = transform::apply(result, passes[i], options);
  }
  Program program = analysed(source, std::move(result), options, transformations);
  program.cut_short = {transformations, cut.passes};
  return program;
}

AssembledModule assemble_module(SourceModule source, const Transformations& transformations, const Request& request) {
  AssembledModule module{.source = std::move(source),
                         .program = {},
                         .assembly = {},
                         .warnings = {},
                         .state_pool = request.pools.state_pool,
                         .pinned = {},
                         .tried = {}};
  if (module.state_pool) {
    placement::Table tried;
    place_states(module.source, module.source.module, *module.state_pool, tried);  // before anything takes time
  }
  try {
    tvm_c::require_constants(module.source.lost_constants);
    if (module.source.edited_run) throw Error(*module.source.edited_run);
    const auto cut = request.cut_short.find(module.source.info.name);
    module.program = cut == request.cut_short.end()
                         ? with_useful_steps(module.source, transformations, request, &module.tried)
                         : made_again(module.source, transformations, cut->second, request.workspace_io);
    module.assembly = assembled(module.program, request);
    module.warnings = config::warnings_of(request.pools);
    if (auto unused = pools_left_alone(module.source.module, module.assembly, request.pools)) {
      module.warnings.push_back(std::move(*unused));
    }
    for (const transform::StepResult& row : module.program.transformed) {
      if (row.too_large.empty()) continue;
      module.warnings.push_back("transformation " + std::string(transform::name_of(row.step)) +
                                " is not tried: the program has " + row.too_large);
    }
    if (module.program.cut_short) {
      module.warnings.emplace_back(
          "interrupted while transformations were tried: the plan may lack some, and depends on this machine");
    }
    module.pinned = assemble::pin(module.assembly, request.pools.pinned);
    if (module.tried.empty()) module.tried.push_back(module.assembly.problem);
    for (const plan_file::PlanDocument& plan : request.earlier) {
      if (plan.module != module.source.info.name) continue;
      std::vector<std::string> sentences = assemble::pin_as_before(module.assembly, plan);
      module.warnings.insert(module.warnings.end(), sentences.begin(), sentences.end());
    }
    return module;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::usage) throw;
    throw error.with_member(module.source.info.tir_member);
  }
}

}  // namespace usmp::pipeline

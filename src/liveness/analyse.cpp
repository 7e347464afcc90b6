// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Liveness over a whole program.
//
// Idea: walk the entry in execution order with a clock that advances by one a statement; a call walks the callee's
// program with its parameters bound to the caller's storage. Every time a declaration is met, a new instance of its
// storage begins: contents never pass from one instance to the next, so the live range of an instance is the hull of
// its accesses, and that of the buffer the union over its instances (an operator called n times: n ranges). An access
// at a place that is nested in more loops than the declaration may happen again whenever the outermost of these extra
// loops, L, comes round, and the contents must last until then: it counts for all of L.
//
// Guarantee: between a write and a later read of the same element that sees its value, the buffer is live at every
// tick that executes in between. Branches of an if follow each other in ticks: only one of them executes, so buffers
// of both never meet.
//
// Cost: one step a program operation and call, so time grows with the unrolled call tree, not with loop extents.
//
// Tested by ranges_test.cpp (each rule), property_test.cpp (an interpreter checks the guarantee on random programs)
// and tvm_comparison_test.cpp (every pair of conflicts against TVM's planner on real archives).
#include <algorithm>
#include <limits>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "liveness/nest_recorder.hpp"
#include "liveness/program.hpp"
#include "liveness/sites.hpp"
#include "liveness/use_recorder.hpp"
#include "usmp/liveness/liveness.hpp"
#include "usmp/liveness/uses.hpp"
#include "usmp/program/effects.hpp"

namespace usmp::liveness {
namespace {

constexpr std::uint32_t no_site = UINT32_MAX;

class Walk {
 public:
  Walk(const tir::Module& module, const Options& options)
      : module_(module),
        options_(options),
        alignments_(alignments_of(module)),
        programs_(module.functions.size()),
        active_(module.functions.size(), false) {
    result_.reached.assign(module.functions.size(), false);
  }

  Analysis run() {
    enter(module_.entry);
    bind_entry_params();
    while (!frames_.empty()) step();
    return finished();
  }

  // The walk for what each statement does. Live ranges of the entry's storage are then those of one statement each.
  EntryUses run_for_uses() {
    UseRecorder& recorder = recorder_.emplace();
    enter(module_.entry);
    bind_entry_params();
    bind_other_params();
    while (!frames_.empty()) {
      begin_statements();
      step();
    }
    recorder.end_statement(now_);
    for (std::size_t i = 0; i < recorder.result().storages.size(); ++i) {
      Storage& storage = recorder.result().storages[i];
      const std::uint32_t site = recorder.site_of(i);
      if (site != no_site && storage.kind != Storage::Kind::constant) storage.size = result_.sites[site].size;
    }
    return std::move(recorder.result());
  }

  // The walk that also records the outermost loops.
  Nests run_for_nests() {
    nests_.emplace();
    return nests_of(run());
  }

  // Both.
  StatementNests run_for_statement_nests() {
    nests_.emplace();
    EntryUses uses = run_for_uses();
    return {std::move(uses), nests_of(finished())};
  }

 private:
  Nests nests_of(Analysis analysis) {
    Nests nests{std::move(analysis), nests_->take_runs(), nests_->take_loose(), {}};
    for (const SiteState& state : states_) nests.escaped.push_back(state.escaped);
    return nests;
  }

  Analysis finished() {
    result_.horizon = std::max<Tick>(now_, 1);
    for (std::size_t i = 0; i < result_.sites.size(); ++i) finish_site(i);
    return std::move(result_);
  }

  // One lifetime of a site's storage, from its declaration to the end of the function call.
  struct Instance {
    std::uint32_t site = no_site;
    std::size_t depth = 0;  // number of loops around the declaration
    Tick begin = std::numeric_limits<Tick>::max();
    Tick end = 0;
    bool in_loop = false;  // listed in loops_[depth]
  };

  struct Loop {
    Tick begin = 0;
    std::vector<std::size_t> accessed;  // instances declared directly outside that it accesses: live to its end
  };

  using Roots = std::vector<std::size_t>;  // instances

  struct Frame {
    std::size_t function = 0;
    const Program* program = nullptr;
    std::size_t next = 0;  // operation
    std::vector<Roots> slots;
    std::vector<bool> is_base;  // by slot: it points to the first byte of its one root
    std::size_t first_instance = 0;
    Tick begin = 0;
  };

  // What the walk knows of a site beyond the result.
  struct SiteState {
    std::size_t last_user = SIZE_MAX;  // function whose target was recorded last
    bool escaped = false;
    bool is_input = false;
    bool is_output = false;
  };

  // --- Calls -------------------------------------------------------------------------------------------------------

  void enter(std::size_t function) {
    const tir::Function& callee = module_.functions[function];
    if (active_[function]) program::fail_recursion(callee);
    active_[function] = true;
    result_.reached[function] = true;
    if (!programs_[function]) programs_[function] = std::make_unique<Program>(compile(module_, function));
    const Program& program = *programs_[function];
    frames_.push_back({.function = function,
                       .program = &program,
                       .next = 0,
                       .slots = std::vector<Roots>(program.slots),
                       .is_base = std::vector<bool>(program.slots, false),
                       .first_instance = instances_.size(),
                       .begin = now_});
  }

  void leave() {
    const Frame& frame = frames_.back();
    active_[frame.function] = false;
    for (std::size_t i = frame.first_instance; i < instances_.size(); ++i) record(instances_[i]);
    instances_.resize(frame.first_instance);
    // A call takes time even if its body is empty, so that the caller's statement has a tick of its own.
    if (now_ == frame.begin) ++now_;
    if (frames_.size() == 2) result_.calls[open_call_].ticks.end = now_;
    frames_.pop_back();
  }

  void call(const program::PointerCall& site) {
    // The frames' storage moves when one is added.
    std::vector<Roots> arguments;
    std::vector<bool> is_base;
    for (std::size_t i = 0; i < site.arguments.size(); ++i) {
      const PointerSet& argument = site.arguments[i];
      arguments.push_back(roots_of(argument));
      charge(arguments.back().size());
      is_base.push_back(site.is_variable[i] && argument.size() == 1 && frames_.back().is_base[argument.front()]);
    }
    if (nests_) nests_->mark_unplain();
    if (frames_.size() == 1) {
      open_call_ = result_.calls.size();
      result_.calls.push_back({.callee = site.callee, .ticks = {now_, now_ + 1}});
    }
    enter(site.function);
    Frame& frame = frames_.back();
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      Roots& roots = frame.slots[frame.program->params[i]];
      // A parameter that appears twice has the roots of both arguments.
      frame.is_base[frame.program->params[i]] = is_base[i] && roots.empty();
      roots.insert(roots.end(), arguments[i].begin(), arguments[i].end());
    }
  }

  void opaque_call(const program::PointerCall& site) {
    if (nests_) nests_->mark_unplain();
    if (recorder_ && !site.is_pure && is_handed_nothing(site)) recorder_->blind_call();
    if (frames_.size() == 1) result_.calls.push_back({.callee = site.callee, .ticks = {now_, now_ + 1}});
    if (site.is_defined) {
      result_.reached[site.function] = true;
    } else if (extern_seen_.insert(site.callee).second) {
      result_.extern_callees.push_back(site.callee);
    }
  }

  [[nodiscard]] bool is_handed_nothing(const program::PointerCall& site) const {
    return std::all_of(site.arguments.begin(), site.arguments.end(),
                       [&](const PointerSet& argument) { return roots_of(argument).empty(); });
  }

  [[nodiscard]] Roots roots_of(const PointerSet& slots) const {
    Roots all;
    for (const Slot slot : slots) {
      const Roots& roots = frames_.back().slots[slot];
      all.insert(all.end(), roots.begin(), roots.end());
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  // Records statements of the entry's own block that begin at the next operation.
  void begin_statements() {
    if (frames_.size() != 1) return;
    const Frame& entry = frames_.back();
    const std::vector<std::size_t>& first_ops = entry.program->statements;
    for (; statements_ < first_ops.size() && first_ops[statements_] == entry.next; ++statements_)
      recorder_->next_statement(now_);
  }

  // --- Operations --------------------------------------------------------------------------------------------------

  void step() {
    Frame& frame = frames_.back();
    if (frame.next == frame.program->ops.size()) return leave();
    charge(1);
    const Op& op = frame.program->ops[frame.next++];
    switch (op.kind) {
      case Op::Kind::tick:
        ++now_;
        break;
      case Op::Kind::access:
        charge(frame.slots[op.slot].size());
        for (const std::size_t instance : frame.slots[op.slot]) access(instances_[instance], instance, op);
        if (nests_) record_for_nest(frame, op.slot);
        break;
      case Op::Kind::escape:
        for (const std::size_t instance : frame.slots[op.slot]) escape(instances_[instance], instance, op);
        break;
      case Op::Kind::declare:
        declare(frame, op);
        break;
      case Op::Kind::bind:
        frame.slots[op.slot] = roots_of(frame.program->pointer_sets[op.index]);
        frame.is_base[op.slot] = false;
        charge(frame.slots[op.slot].size());
        break;
      case Op::Kind::loop_begin:
        if (nests_ && loops_.empty()) {
          nests_->begin(op.index == no_loop ? nullptr : frame.program->loops[op.index], frame.function, now_);
        }
        loops_.push_back({.begin = now_, .accessed = {}});
        break;
      case Op::Kind::loop_end:
        end_loop();
        break;
      case Op::Kind::call:
        call(frame.program->calls[op.index]);
        break;
      case Op::Kind::opaque:
        opaque_call(frame.program->calls[op.index]);
        break;
    }
  }

  // Pointers that may go to many buffers cost a step each: both time and the sets' memory stay within the limit.
  void charge(std::size_t steps) {
    steps_ += steps;
    if (steps_ <= max_steps) return;
    fail_too_large(module_.functions[frames_.back().function],
                   "the program has more than " + std::to_string(max_steps) + " steps when its calls are followed");
  }

  void access(Instance& instance, std::size_t index, const Op& op) {
    Tick begin = now_;
    if (loops_.size() > instance.depth) {
      Loop& loop = loops_[instance.depth];
      begin = loop.begin;
      if (!instance.in_loop) loop.accessed.push_back(index);
      instance.in_loop = true;
    }
    instance.begin = std::min(instance.begin, begin);
    instance.end = now_ + 1;
    if (recorder_ && recorder_->knows(index)) recorder_->access(index, {begin, now_ + 1}, op.reads, op.writes);
    if (instance.site == no_site) return;
    Site& site = result_.sites[instance.site];
    SiteState& state = states_[instance.site];
    site.alignment = std::max(site.alignment, natural_alignment(op.element_bytes));
    if (state.last_user == op.index) return;
    state.last_user = op.index;
    site.targets.insert(module_.functions[op.index].target);
  }

  void record_for_nest(const Frame& frame, Slot slot) {
    const tir::VarId var = frame.program->slot_vars[slot];
    const Roots& roots = frame.slots[slot];
    nests_->touch(var);
    for (const std::size_t instance : roots) {
      nests_->access(var, instances_[instance].site, frame.is_base[slot] && roots.size() == 1, now_);
    }
  }

  void escape(Instance& instance, std::size_t index, const Op& op) {
    access(instance, index, op);
    if (recorder_) recorder_->escape();
    if (nests_) nests_->mark_unplain();
    if (instance.site != no_site) states_[instance.site].escaped = true;
  }

  void end_loop() {
    for (const std::size_t index : loops_.back().accessed) {
      instances_[index].end = now_;
      if (recorder_ && recorder_->knows(index)) recorder_->extend(index, now_);
      instances_[index].in_loop = false;
    }
    loops_.pop_back();
    if (nests_ && loops_.empty()) nests_->end(now_);
  }

  void declare(Frame& frame, const Op& op) {
    const std::uint32_t site = site_of(frame.function, frame.program->declarations[op.index]);
    Roots& roots = frame.slots[op.slot];
    roots.clear();
    frame.is_base[op.slot] = true;
    if (site == no_site && !recorder_) return;
    roots.push_back(instances_.size());
    instances_.push_back({.site = site, .depth = loops_.size()});
    if (!recorder_ || frames_.size() > 1) return;
    const Declaration& declaration = frame.program->declarations[op.index];
    recorder_->storage(declaration.var(),
                       declaration.constant != nullptr ? Storage::Kind::constant : Storage::Kind::workspace, site);
  }

  // --- Sites -------------------------------------------------------------------------------------------------------

  void bind_entry_params() {
    if (!options_.workspace_io) return;
    const std::vector<bool> outputs = params_among(options_.outputs, true);
    const std::vector<bool> inputs = params_among(options_.inputs, false);
    for (const bool pick_outputs : {false, true}) {
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const bool picked = pick_outputs ? outputs[i] && !inputs[i] : inputs[i];
        if (picked) add_param_site(i, inputs[i], outputs[i]);
      }
    }
  }

  // The entry's parameters that are in `named`, or, if the options name none, that the program writes or not.
  std::vector<bool> params_among(const std::vector<tir::VarId>& named, bool if_written) {
    const std::vector<tir::Param>& params = module_.functions[module_.entry].params;
    std::vector<bool> picked(params.size(), false);
    const bool by_name = !options_.inputs.empty() || !options_.outputs.empty();
    if (!by_name && effects_.empty()) effects_ = program::param_effects(module_)[module_.entry];
    for (std::size_t i = 0; i < params.size(); ++i) {
      picked[i] = by_name ? std::find(named.begin(), named.end(), params[i].var) != named.end()
                          : params[i].is_tensor && effects_[i].may_be_written() == if_written;
    }
    return picked;
  }

  void add_param_site(std::size_t index, bool is_input, bool is_output) {
    const BufferKind kind = is_output ? BufferKind::output : BufferKind::input;
    const Slot slot = frames_.back().program->params[index];
    frames_.back().slots[slot].push_back(instances_.size());
    frames_.back().is_base[slot] = frames_.back().slots[slot].size() == 1;
    instances_.push_back({.site = static_cast<std::uint32_t>(result_.sites.size()), .depth = 0});
    result_.sites.push_back(param_site(module_, index, kind, alignments_));
    states_.push_back({.is_input = is_input, .is_output = is_output});
    if (recorder_)
      recorder_->storage(module_.functions[module_.entry].params[index].var, Storage::Kind::parameter,
                         instances_.back().site);
  }

  // Those that have no site are storage all the same.
  void bind_other_params() {
    const std::vector<tir::Param>& params = module_.functions[module_.entry].params;
    for (std::size_t i = 0; i < params.size(); ++i) {
      Roots& roots = frames_.back().slots[frames_.back().program->params[i]];
      if (!roots.empty() || !module_.var(params[i].var).type.is_handle()) continue;
      roots.push_back(instances_.size());
      instances_.push_back({.site = no_site, .depth = 0});
      recorder_->storage(params[i].var, Storage::Kind::parameter, no_site);
    }
  }

  std::uint32_t site_of(std::size_t function, const Declaration& declaration) {
    const auto [entry, is_new] = site_of_var_.try_emplace(declaration.var(), Declared{function, no_site});
    if (!is_new && entry->second.function != function) {
      fail_in(module_.functions[function], "variable '" + module_.var(declaration.var()).name +
                                               "' is also allocated in function '" +
                                               module_.functions[entry->second.function].name + "'");
    }
    const std::optional<Bytes> size = size_of(module_, function, declaration);
    const bool was_planned = entry->second.site != no_site;
    if (!is_new && was_planned != size.has_value()) {
      fail_in(module_.functions[function], "variable '" + module_.var(declaration.var()).name +
                                               "' is allocated both with and without a constant size");
    }
    if (!size) {
      report_unplanned(function, *declaration.allocate);
      return no_site;
    }
    if (entry->second.site == no_site) {
      entry->second.site = static_cast<std::uint32_t>(result_.sites.size());
      result_.sites.push_back(declared_site(module_, function, declaration, alignments_));
      states_.push_back({});
    }
    Site& site = result_.sites[entry->second.site];
    site.size = std::max(site.size, *size);
    return entry->second.site;
  }

  // Once a variable.
  void report_unplanned(std::size_t function, const tir::Allocate& allocate) {
    if (!unplanned_seen_.insert(allocate.var).second) return;
    std::size_t extent = 0;
    while (tir::as_int(*allocate.extents[extent])) ++extent;
    result_.unplanned.push_back({.var = allocate.var,
                                 .name = module_.var(allocate.var).name,
                                 .function = function,
                                 .reason = "extent " + std::to_string(extent) + " is not a constant"});
  }

  // --- Live ranges -------------------------------------------------------------------------------------------------

  void record(const Instance& instance) {
    if (instance.begin >= instance.end || instance.site == no_site) return;
    if (recorder_ && frames_.size() > 1 && result_.sites[instance.site].kind != BufferKind::constant)
      recorder_->inner(result_.sites[instance.site].var, {instance.begin, instance.end},
                       result_.sites[instance.site].size);
    result_.sites[instance.site].live.push_back({instance.begin, instance.end});
  }

  void finish_site(std::size_t index) {
    Site& site = result_.sites[index];
    const SiteState& state = states_[index];
    const LiveRange throughout{0, result_.horizon};
    merge(site.live);
    if (state.is_input || state.is_output) {
      // The application writes inputs before the entry and reads outputs after it, accessed or not.
      const LiveRange accessed = site.live.empty() ? LiveRange{result_.horizon - 1, 1}
                                                   : LiveRange{site.live.front().begin, site.live.back().end};
      site.live = {{state.is_input ? 0 : accessed.begin, state.is_output ? result_.horizon : accessed.end}};
    }
    if (state.escaped || (site.kind == BufferKind::constant && !site.live.empty())) site.live = {throughout};
  }

  static void merge(std::vector<LiveRange>& ranges) {
    std::sort(ranges.begin(), ranges.end());
    std::size_t kept = 0;
    for (const LiveRange& range : ranges) {
      if (kept > 0 && range.begin <= ranges[kept - 1].end) {
        ranges[kept - 1].end = std::max(ranges[kept - 1].end, range.end);
      } else {
        ranges[kept++] = range;
      }
    }
    ranges.resize(kept);
  }

  struct Declared {
    std::size_t function;
    std::uint32_t site;
  };

  const tir::Module& module_;
  const Options& options_;
  Alignments alignments_;
  Analysis result_;
  std::vector<SiteState> states_;  // by SiteId
  std::vector<std::unique_ptr<Program>> programs_;
  std::vector<bool> active_;                    // by function index
  std::vector<program::ParamEffects> effects_;  // of the entry
  std::vector<Frame> frames_;
  std::vector<Loop> loops_;
  std::vector<Instance> instances_;  // a stack: those of a frame follow those of its caller
  std::unordered_map<tir::VarId, Declared> site_of_var_;
  std::unordered_set<tir::VarId> unplanned_seen_;
  std::unordered_set<std::string> extern_seen_;
  std::size_t open_call_ = 0;
  std::optional<UseRecorder> recorder_;  // absent: only live ranges are asked for
  std::optional<NestRecorder> nests_;    // absent: nobody asks for loops
  std::size_t statements_ = 0;           // of the entry's own block that have begun, if there is a recorder
  std::size_t steps_ = 0;
  Tick now_ = 0;
};

}  // namespace

Analysis analyse(const tir::Module& module, const Options& options) { return Walk(module, options).run(); }

Nests analyse_nests(const tir::Module& module, const Options& options) { return Walk(module, options).run_for_nests(); }

StatementNests analyse_statement_nests(const tir::Module& module, const Options& options) {
  return Walk(module, options).run_for_statement_nests();
}

EntryUses entry_uses(const tir::Module& module, const Options& options) { return Walk(module, options).run_for_uses(); }

}  // namespace usmp::liveness

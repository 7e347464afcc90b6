// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Notes for each byte of a pool the instance that wrote it last, and compares at each read.
#include "random_modules/replay.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace usmp::random_modules {
namespace {

constexpr std::uint32_t garbage = UINT32_MAX;

class Replay {
 public:
  Replay(const tir::Module& module, const Outcome& outcome, const liveness::Analysis& analysis,
         const assemble::Assembly& assembly, const Plan& plan)
      : module_(module), outcome_(outcome), problem_(assembly.problem), plan_(plan) {
    std::unordered_map<tir::VarId, BufferId> buffers;
    for (std::size_t i = 0; i < assembly.sites.size(); ++i) {
      buffers[analysis.sites[assembly.sites[i].index()].var] = BufferId(i);
    }
    for (const Instance& instance : outcome.memory.instances()) {
      const auto found = buffers.find(instance.var);
      buffer_of_.push_back(found == buffers.end() ? BufferId() : found->second);
    }
    for (const Bytes used : used_bytes(problem_, plan)) {
      owners_.emplace_back(static_cast<std::size_t>(used), garbage);
    }
  }

  std::optional<std::string> run() && {
    const std::vector<Instance>& instances = outcome_.memory.instances();
    // What nobody reads needs no bytes.
    std::vector<bool> is_read(instances.size(), false);
    for (const Access& step : outcome_.memory.accesses()) {
      if (!step.writes) is_read[step.instance] = true;
    }
    for (std::uint32_t i = 0; i < instances.size(); ++i) {
      if ((instances[i].is_constant && is_read[i]) || is_input(i)) access(whole(i, true));
    }
    for (const Access& step : outcome_.memory.accesses()) {
      access(step);
      if (fault_) return fault_;
    }
    // The application reads what outputs hold.
    for (const std::uint32_t param : outcome_.params) {
      const std::vector<ByteState>& states = instances[param].states;
      for (std::uint32_t i = 0; i < states.size() && !is_input(param); ++i) {
        if (states[i] == ByteState::unwritten) continue;
        access({.instance = param, .offset = i, .bytes = 1, .alignment = 1, .writes = false});
      }
    }
    return fault_;
  }

 private:
  bool is_input(std::uint32_t instance) const {
    const bool is_param = instance < outcome_.params.size();
    return is_param && buffer_of_[instance].valid() && problem_.buffer(buffer_of_[instance]).kind == BufferKind::input;
  }

  Access whole(std::uint32_t instance, bool writes) const {
    return {.instance = instance,
            .offset = 0,
            .bytes = static_cast<std::uint32_t>(outcome_.memory.instances()[instance].bytes.size()),
            .alignment = 1,
            .writes = writes};
  }

  void access(const Access& step) {
    const BufferId buffer = buffer_of_[step.instance];
    if (!buffer.valid() || fault_) return;
    const Allocation& place = plan_.of(buffer);
    if (step.offset + step.bytes > static_cast<std::uint64_t>(problem_.buffer(buffer).size)) {
      return fail(step, 0, "is outside of the buffer");
    }
    const auto begin = static_cast<std::size_t>(place.offset) + step.offset;
    if (begin % step.alignment != 0) return fail(step, 0, "is misaligned");
    std::vector<std::uint32_t>& owners = owners_[place.pool.index()];
    for (std::uint32_t i = 0; i < step.bytes; ++i) {
      std::uint32_t& owner = owners[begin + i];
      if (step.writes) {
        owner = step.instance;
      } else if (owner != step.instance) {
        return fail(step, i, owner == garbage ? "reads garbage" : "reads what " + name_of(owner) + " wrote");
      }
    }
  }

  void fail(const Access& step, std::uint32_t byte, const std::string& what) {
    const Allocation& place = plan_.of(buffer_of_[step.instance]);
    fault_ = "access to byte " + std::to_string(step.offset + byte) + " of " + name_of(step.instance) + " at " +
             problem_.pool(place.pool).name + "[" + std::to_string(place.offset) + "] " + what;
  }

  std::string name_of(std::uint32_t instance) const {
    const Instance& life = outcome_.memory.instances()[instance];
    return "'" + module_.var(life.var).name + "' (life " + std::to_string(instance) + ", variable " +
           std::to_string(life.var.index()) + ")";
  }

  const tir::Module& module_;
  const Outcome& outcome_;
  const Problem& problem_;
  const Plan& plan_;
  std::vector<BufferId> buffer_of_;                 // by instance; invalid: not planned
  std::vector<std::vector<std::uint32_t>> owners_;  // by pool and byte: the instance that wrote it last
  std::optional<std::string> fault_;
};

}  // namespace

std::optional<std::string> replay(const tir::Module& module, const Outcome& outcome, const liveness::Analysis& analysis,
                                  const assemble::Assembly& assembly, const Plan& plan) {
  return Replay(module, outcome, analysis, assembly, plan).run();
}

}  // namespace usmp::random_modules

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Tries candidates, the most useful one first, as long as the budget lasts and the peak falls.
#include "transform/recompute.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <limits>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "transform/compute_at.hpp"
#include "transform/inplace.hpp"
#include "transform/merge_calls.hpp"
#include "transform/peak.hpp"
#include "transform/simple_function.hpp"
#include "transform/tighten.hpp"
#include "usmp/liveness/distances.hpp"
#include "usmp/loops/cost.hpp"
#include "usmp/support/error.hpp"
#include "usmp/tir/verify.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using tir::VarId;

// Finding what buffers may share, as so many other looks at the module.
constexpr std::int64_t looks_for_sharing = 16;

// How high the load is, and how often it gets there. One operator less at the peak is worth something, too, where
// several stand at it.
struct Height {
  Bytes load = 0;
  std::size_t peaks = 0;

  friend auto operator<=>(const Height&, const Height&) = default;
};

struct Top {
  Height height;
  Tick horizon = 0;
  std::vector<liveness::StorageDistance> distances;  // empty if nothing is to share
  std::set<VarId> tensors;                           // that the entry declares, live at a peak
  std::set<std::string> functions;                   // called there
};

Top top_of(const tir::Module& module, std::vector<liveness::StorageDistance> distances) {
  const liveness::Analysis analysis = liveness::analyse(module);
  Top top;
  top.distances = std::move(distances);
  const std::vector<bounds::Load> loads = load_over_time(analysis, top.distances);
  top.horizon = analysis.horizon;
  for (const bounds::Load& load : loads) top.height.load = std::max(top.height.load, load.bytes);
  std::vector<LiveRange> peaks;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (loads[i].bytes != top.height.load) continue;
    const Tick end = i + 1 < loads.size() ? loads[i + 1].at : analysis.horizon;
    if (!peaks.empty() && peaks.back().end == loads[i].at) {
      peaks.back().end = end;
    } else {
      peaks.push_back({loads[i].at, end});
    }
  }
  top.height.peaks = peaks.size();
  const auto reaches = [&](const LiveRange& range) {
    return std::any_of(peaks.begin(), peaks.end(),
                       [&](const LiveRange& peak) { return range.begin < peak.end && peak.begin < range.end; });
  };
  std::vector<LiveRange> calls;
  for (const liveness::Call& call : analysis.calls) {
    if (!reaches(call.ticks)) continue;
    top.functions.insert(call.callee);
    calls.push_back(call.ticks);
  }
  // What such a call has read or will write may go with what stands at the peak.
  const auto meets = [&](const LiveRange& range) {
    return reaches(range) || std::any_of(calls.begin(), calls.end(), [&](const LiveRange& call) {
             return range.begin < call.end && call.begin < range.end;
           });
  };
  for (const liveness::Site& site : analysis.sites) {
    if (site.kind == BufferKind::constant || site.function != module.entry) continue;
    if (std::any_of(site.live.begin(), site.live.end(), meets)) top.tensors.insert(site.var);
  }
  return top;
}

Top top_of(const tir::Module& module, const Options& options) {
  return top_of(module, options.asks_for(Step::inplace) ? liveness::find_distances(module, options.liveness)
                                                        : std::vector<liveness::StorageDistance>());
}

// Nothing if the module has become too large to be analysed.
template <class... Arguments>
std::optional<Top> find_top(const tir::Module& module, Arguments&&... arguments) {
  try {
    return top_of(module, std::forward<Arguments>(arguments)...);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::too_large) throw;
    return std::nullopt;
  }
}

// A program on the way.
struct State {
  tir::Module module;
  Top top;
  double work = 0;
  std::vector<Change> changes;
};

// Statements, and nodes of expressions.
std::int64_t code_of(const tir::Module& module) {
  std::int64_t size = 0;
  for (const tir::Function& function : module.functions) {
    tir::for_each_stmt(function.body, [&](const tir::Stmt&) { ++size; });
    tir::for_each_expr_in(function.body, [&](const tir::Expr&) { ++size; });
  }
  return size;
}

// What a look at a module costs: of what is called, once for each call.
std::int64_t size_of(const tir::Module& module, const Top& top) { return top.horizon + code_of(module); }

// How often the entry names a variable.
std::int64_t uses_in_entry(const tir::Module& module, VarId var) {
  std::int64_t uses = 0;
  tir::for_each_expr_in(module.functions[module.entry].body, [&](const tir::Expr& expr) {
    if (expr.kind == tir::ExprKind::var && expr.var == var) ++uses;
  });
  return uses;
}

// Buffers that stand in the outermost block.
std::vector<VarId> buffers_of(const tir::Function& function) {
  std::vector<VarId> buffers;
  for (const tir::Stmt& stmt : function.body) {
    if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) buffers.push_back(allocate->var);
  }
  return buffers;
}

std::string percent_text(std::int64_t permille) {
  constexpr std::int64_t tenths = 10;
  return std::to_string(permille / tenths) + "." + std::to_string(permille % tenths) + "%";
}

class RecomputeSearch {
 public:
  RecomputeSearch(const tir::Module& module, const Options& options, const RecomputeLimits& limits, double extra_work)
      : options_(options),
        limits_(limits),
        state_{module, top_of(module, options), loops::work_of(module), {}},
        first_work_(state_.work - extra_work),
        allowed_(first_work_ * (1 + static_cast<double>(options.recompute_percent) / 100)),
        most_code_(2 * code_of(module) + limits.code),
        merges_(options.asks_for(Step::merge)) {}

  // The lowest that was reached. Nothing: nothing is lower than the module given. What is cheapest for a byte may stand
  // in the way of more later, so there is a second search, which takes what lowers the load most.
  std::optional<State> run() {
    const State given = state_;
    std::optional<State> lowest = descend(given.top.height.load);
    state_ = given;
    lowest_first_ = true;
    std::optional<State> other = descend(lowest ? lowest->top.height.load : given.top.height.load);
    return other ? std::move(other) : std::move(lowest);
  }

  [[nodiscard]] double first_work() const { return first_work_; }  // of the module given

 private:
  // The lowest state below that load on the way from the one at hand.
  std::optional<State> descend(Bytes load) {
    constexpr int most_rounds = 64;
    std::optional<State> lowest;
    for (int round = 0; round < most_rounds && effort_ <= limits_.effort && advance(); ++round) {
      if (state_.top.height.load >= load) continue;
      load = state_.top.height.load;
      lowest = state_;
    }
    return lowest;
  }

  // Does the best of all that may be done. False: there is nothing.
  bool advance() {
    collect();
    const bool found = choose();
    candidates_.clear();
    return found;
  }

  // Counts looks at a module. False: the search has taken long enough.
  [[nodiscard]] bool affords(std::int64_t looks) {
    effort_ += looks * size_;
    return effort_ <= limits_.effort;
  }

  void collect() {
    size_ = size_of(state_.module, state_.top);
    const ParamAliases aliases(state_.module);
    for (const std::string& name : state_.top.functions) {
      const auto function = state_.module.find(name);
      if (function && is_simple(state_.module, *function, aliases)) try_buffers(state_, *function);
    }
    if (merges_) {
      for (const VarId tensor : state_.top.tensors) try_tensor(tensor);
    }
  }

  // What buffers may share is dear to find out, so the candidates are looked at in the order of an estimate.
  bool choose() {
    constexpr std::size_t enough = 4;
    std::size_t looked_at = 0;
    std::optional<State> best;
    for (State& next : candidates_) {
      if (looked_at >= (best ? std::min(enough, limits_.looks) : limits_.looks) ||
          (!affords(looks_for_sharing) && looked_at > 0))
        break;
      ++looked_at;
      std::optional<Top> top = find_top(next.module, options_);
      if (!top || top->height >= state_.top.height) continue;
      next.top = std::move(*top);
      if (!best || is_better(next, *best)) best = std::move(next);
    }
    if (!best) return false;
    best->changes[state_.changes.size()].text +=
        ", " + percent_text(permille_of(best->work - state_.work, first_work_)) + " more work";
    state_ = std::move(*best);
    return true;
  }

  // One buffer of the function at each depth, and all of them.
  void try_buffers(const State& from, std::size_t function) {
    const std::vector<VarId> buffers = buffers_of(from.module.functions[function]);
    for (std::size_t depth = at_read; depth <= max_depth; ++depth) {
      for (const VarId buffer : buffers) {
        if (!affords(1)) return;
        State next = from;
        if (compute_buffer_again(next, function, buffer, depth)) consider(std::move(next));
      }
      if (buffers.size() < 2 || !affords(1)) continue;
      State next = from;
      for (const VarId buffer : buffers) compute_buffer_again(next, function, buffer, depth);
      consider(std::move(next));
    }
  }

  void try_tensor(VarId tensor) {
    // Each merge looks at all calls.
    if (!affords(uses_in_entry(state_.module, tensor))) return;
    State merged = state_;
    const auto calls = merge_into_readers(merged.module, tensor);
    if (!calls) return;
    merged.changes.push_back({Step::recompute, state_.module.functions[state_.module.entry].name,
                              state_.module.var(tensor).name + ": removed, each reader computes it"});
    for (const MergedCall& call : *calls) {
      merged.changes.insert(merged.changes.end(), call.changes.begin(), call.changes.end());
    }
    for (std::size_t depth = at_read; depth <= max_depth && affords(1); ++depth) {
      State next = merged;
      if (!empty_merged(next, *calls, depth)) continue;
      // What the reader had of its own may now be larger than all else.
      for (std::size_t inner = at_read + 1; inner <= max_depth; ++inner) {
        State further = next;
        for (const MergedCall& call : *calls) {
          const std::size_t function = *further.module.find(call.function);
          for (const VarId buffer : buffers_of(further.module.functions[function])) {
            compute_buffer_again(further, function, buffer, inner);
          }
        }
        consider(std::move(further));
      }
      consider(std::move(next));
    }
  }

  // Whether what was the tensor is gone from all of the functions.
  bool empty_merged(State& state, const std::vector<MergedCall>& calls, std::size_t depth) {
    return std::all_of(calls.begin(), calls.end(), [&](const MergedCall& call) {
      return !call.holds_tensor(state.module) ||
             compute_buffer_again(state, *state.module.find(call.function), call.inner, depth);
    });
  }

  bool compute_buffer_again(State& state, std::size_t function, VarId buffer, std::size_t depth) {
    if (!affords(1)) return false;
    const ParamAliases aliases(state.module);
    if (!is_simple(state.module, function, aliases)) return false;  // any more: it has grown
    if (!compute_at(state.module, function, aliases, buffer, depth)) return false;
    if (depth == at_read) tighten(state.module, state.module.functions[function]);
    const std::string how = depth == at_read ? "computed for each read"
                                             : "computed for each iteration of " + std::to_string(depth) +
                                                   (depth == 1 ? " loop" : " loops") + " that reads it";
    state.changes.push_back(
        {Step::recompute, state.module.functions[function].name, state.module.var(buffer).name + ": " + how});
    return true;
  }

  // A candidate, if it is allowed. Its load is an estimate: nothing is shared in functions that have changed.
  void consider(State&& next) {
    if (!affords(1)) return;
    tir::check_pass(next.module, "recompute");
    next.work = loops::work_of(next.module);
    if (next.work > allowed_ || code_of(next.module) > most_code_) return;
    std::set<std::string> changed;
    for (std::size_t i = state_.changes.size(); i < next.changes.size(); ++i) {
      changed.insert(next.changes[i].function);
      const auto function = next.module.find(next.changes[i].function);
      if (function && !loops::work_of(next.module.functions[*function])) return;
    }
    std::vector<liveness::StorageDistance> distances;
    for (liveness::StorageDistance distance : state_.top.distances) {
      const std::string& name = state_.module.functions[distance.function].name;
      if (next.module.find(name) && !changed.contains(name)) distances.push_back(distance);
    }
    std::optional<Top> top = find_top(next.module, std::move(distances));
    if (!top) return;
    next.top = std::move(*top);
    keep(std::move(next));
  }

  // The best ones, in order. What has come about in two ways is kept once.
  void keep(State&& next) {
    const auto [first, last] = std::equal_range(candidates_.begin(), candidates_.end(), next,
                                                [this](const State& a, const State& b) { return is_better(a, b); });
    if (first != last) return;
    candidates_.insert(last, std::move(next));
    if (candidates_.size() > limits_.looks) candidates_.pop_back();
  }

  // Less work for a byte, or, in the second search, a lower load. Where the load stays as it is, fewer peaks, then
  // less work.
  [[nodiscard]] bool is_better(const State& a, const State& b) const {
    if (lowest_first_) return std::tie(a.top.height, a.work) < std::tie(b.top.height, b.work);
    const double price_a = price(a);
    const double price_b = price(b);
    if (price_a != price_b) return price_a < price_b;
    if (a.top.height != b.top.height) return a.top.height < b.top.height;
    return a.work < b.work;
  }

  [[nodiscard]] double price(const State& next) const {
    const Bytes before = state_.top.height.load;
    const double extra = std::max(0.0, next.work - state_.work);
    return before > next.top.height.load ? extra / static_cast<double>(before - next.top.height.load)
                                         : std::numeric_limits<double>::infinity();
  }

  const Options& options_;
  const RecomputeLimits& limits_;
  State state_;
  std::vector<State> candidates_;  // the best first
  std::int64_t size_ = 0;          // of the module at the start of the round
  std::int64_t effort_ = 0;
  double first_work_;
  double allowed_;
  std::int64_t most_code_;
  bool merges_;
  bool lowest_first_ = false;
};

}  // namespace

std::int64_t permille_of(double extra, double first) {
  constexpr double thousand = 1000;
  return extra > 0 ? static_cast<std::int64_t>(std::ceil(extra / first * thousand)) : 0;
}

std::optional<StepResult> recompute(tir::Module& module, const Options& options, const RecomputeLimits& limits,
                                    double extra_work) {
  if (options.recompute_percent <= 0 || !options.asks_for(Step::fuse)) return std::nullopt;
  RecomputeSearch search(module, options, limits, extra_work);
  const double before = loops::work_of(module);
  auto found = search.run();
  if (!found) return std::nullopt;
  StepResult result{Step::recompute, peak_of(module).load, peak_of(found->module).load, std::move(found->changes)};
  result.extra_work_permille = permille_of(found->work - before, search.first_work());
  module = std::move(found->module);
  return result;
}

}  // namespace usmp::transform

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Searches the least capacities exactly, then tries the run with them and with a byte less.
#include "usmp/pipeline/needed_sizes.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "usmp/planners/capacity_range.hpp"

namespace usmp::pipeline {
namespace {

using planners::CapacityRange;

// Nodes of each of several searches, when no limit is given: a node takes time that grows with the square of the
// buffers; all of them a few seconds at most.
std::uint64_t nodes_of_one_of_many(const Problem& problem) {
  constexpr std::uint64_t work = 200'000'000;
  constexpr std::uint64_t least = 500;
  constexpr std::uint64_t most = 200'000;
  const std::uint64_t buffers = std::max<std::uint64_t>(problem.buffers.size(), 1);
  return std::clamp(work / buffers / buffers, least, most);
}

std::optional<PoolId> pool_of(const Problem& problem, const std::string& name) {
  const auto found = std::ranges::find(problem.pools, name, &Pool::name);
  if (found == problem.pools.end()) return std::nullopt;
  return PoolId(static_cast<std::size_t>(found - problem.pools.begin()));
}

// A search whose time limit is that of several.
class SharedTime {
 public:
  explicit SharedTime(const Search& how) : how_(how), start_(std::chrono::steady_clock::now()) {}

  // With `share` of the time that is left; a millisecond at least, since none would be no limit.
  [[nodiscard]] Search search(double share) const {
    Search how = how_;
    if (!how.time_limit) return how;
    const auto passed =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start_);
    const double left = static_cast<double>((*how.time_limit - passed).count()) * share;
    how.time_limit = std::max(std::chrono::milliseconds(1), std::chrono::milliseconds(static_cast<std::int64_t>(left)));
    return how;
  }

  [[nodiscard]] bool is_interrupted() const { return how_.interrupted != nullptr && how_.interrupted->load(); }

 private:
  const Search& how_;
  std::chrono::steady_clock::time_point start_;
};

constexpr double one_of_many = 0.5;  // of the time that is left

bool have_same_buffers(const Problem& a, const Problem& b) {
  return a.distances == b.distances && std::ranges::equal(a.buffers, b.buffers, [](const Buffer& x, const Buffer& y) {
           return x.size == y.size && x.alignment == y.alignment && x.candidates == y.candidates && x.live == y.live &&
                  x.pinned == y.pinned;
         });
}

class SizeSearch {
 public:
  SizeSearch(const FailedRun& run, const SharedTime& time) : run_(run), time_(time), problem_(run.bounding.front()) {}

  NeededSizes sizes() {
    if (time_.is_interrupted()) return {};
    for (const std::vector<PoolId>& group : planners::pool_groups(problem_)) add_shortfall(group);
    if (result_.shortfalls.empty()) {
      add_what_the_run_lacks();
    } else {
      confirm_all();
    }
    if (time_.is_interrupted()) return {};
    return std::move(result_);
  }

 private:
  [[nodiscard]] Bytes capacity_of(const std::string& pool) const {
    return *problem_.pool(*pool_of(problem_, pool)).capacity;
  }

  // The names of the group's bounded pools.
  [[nodiscard]] std::vector<std::string> bounded(const std::vector<PoolId>& group) const {
    std::vector<std::string> names;
    for (const PoolId id : group) {
      if (problem_.pool(id).capacity) names.push_back(problem_.pool(id).name);
    }
    return names;
  }

  [[nodiscard]] CapacityRange range_in(Problem problem, const std::string& pool, const Capacities& capacities,
                                       bool one_of_many_searches) const {
    const std::optional<PoolId> id = pool_of(problem, pool);
    if (!id) return {};  // a pool that only another program names
    for (Pool& other : problem.pools) {
      if (const auto wanted = capacities.find(other.name); wanted != capacities.end()) other.capacity = wanted->second;
    }
    const Search how = time_.search(one_of_many);
    planners::Options options;
    options.seed = how.seed;
    options.node_limit = how.node_limit.value_or(one_of_many_searches ? nodes_of_one_of_many(problem) : 0);
    options.time_limit = how.time_limit;
    options.interrupted = how.interrupted;
    if (how.progress) {
      options.progress = [&](const planners::Progress& progress) {
        how.progress(problem.pool(progress.pool).name, progress);
      };
    }
    return planners::capacity_range(problem, *id, options);
  }

  // Whether the pool is a group by itself: then one search is enough to know what a program needs of it.
  [[nodiscard]] bool is_alone(const std::string& pool) const {
    const std::optional<PoolId> id = pool_of(problem_, pool);
    return std::ranges::any_of(planners::pool_groups(problem_),
                               [&](const auto& group) { return group.size() == 1 && group.front() == *id; });
  }

  // What the pool needs with the others at these capacities. Of several programs the least. The run plans the first
  // one unless another one needs less, so what is found of that is found with as much effort as the run's.
  [[nodiscard]] CapacityRange range_of(const std::string& pool, const Capacities& capacities = {}) const {
    CapacityRange least{.impossible = true};
    const auto lower_upper = [&](const CapacityRange& range) {
      if (range.upper && (!least.upper || *range.upper < *least.upper)) least.upper = range.upper;
    };
    const bool takes_many = !is_alone(pool);
    for (const Problem& problem : run_.bounding) {
      const bool is_first = &problem == &problem_;
      const CapacityRange range = range_in(problem, pool, capacities, takes_many || !is_first);
      if (range.impossible) continue;
      least.lower = least.impossible ? range.lower : std::min(least.lower, range.lower);
      least.impossible = false;
      if (run_.pinned.empty()) lower_upper(range);
    }
    for (const Problem& problem : run_.pinned) lower_upper(range_in(problem, pool, capacities, takes_many));
    return least;
  }

  void add_shortfall(const std::vector<PoolId>& group) {
    Shortfall shortfall;
    bool any_is_enough = false;
    for (const std::string& pool : bounded(group)) {
      const CapacityRange range = range_of(pool);
      const Bytes available = capacity_of(pool);
      if (range.upper && *range.upper <= available) return;  // the group fits
      if (range.impossible) continue;
      any_is_enough = any_is_enough || range.upper;
      shortfall.choices.push_back(
          {{.pool = pool, .available = available, .at_least = range.lower, .enough = range.upper}});
    }
    if (!any_is_enough) {
      if (Enlargement together = enlarged_together(bounded(group)); !together.empty()) {
        shortfall.choices = {std::move(together)};
      }
    }
    if (!shortfall.choices.empty()) result_.shortfalls.push_back(std::move(shortfall));
  }

  // Empty: no plan was found however large they are.
  [[nodiscard]] Enlargement enlarged_together(const std::vector<std::string>& pools) const {
    Capacities capacities;
    for (const std::string& pool : pools) capacities[pool] = std::nullopt;
    Enlargement enlargement;
    for (const std::string& pool : pools) {
      const CapacityRange range = range_of(pool, capacities);
      if (!range.upper) return {};
      const Bytes available = capacity_of(pool);
      capacities[pool] = std::max(available, *range.upper);
      if (*range.upper <= available) continue;
      enlargement.push_back({.pool = pool, .available = available, .at_least = range.lower, .enough = range.upper});
    }
    return enlargement;
  }

  static void set(Capacities& capacities, const Enlargement& enlargement) {
    for (const NeededSize& size : enlargement) capacities[size.pool] = size.enough;
  }

  // The first choices of all shortfalls stand together; the others each with the first ones of the other shortfalls.
  void confirm_all() {
    std::vector<Shortfall>& shortfalls = result_.shortfalls;
    std::vector<NeededSize*> first;
    for (Shortfall& shortfall : shortfalls) {
      for (NeededSize& size : shortfall.choices.front()) first.push_back(&size);
    }
    confirm(first, {});
    for (Shortfall& shortfall : shortfalls) {
      Capacities others;
      for (const Shortfall& other : shortfalls) {
        if (&other != &shortfall) set(others, other.choices.front());
      }
      for (std::size_t i = 1; i < shortfall.choices.size(); ++i) {
        std::vector<NeededSize*> choice;
        for (NeededSize& size : shortfall.choices[i]) choice.push_back(&size);
        confirm(choice, others);
      }
    }
  }

  // What is proved of the pool, as far as it holds for these programs too.
  void bound_by(NeededSize& size, const std::vector<Problem>& programs, const Capacities& others) const {
    for (const Problem& program : programs) {
      if (std::ranges::any_of(run_.bounding, [&](const Problem& one) { return have_same_buffers(one, program); }))
        continue;
      const CapacityRange range = range_in(program, size.pool, others, true);
      if (!range.impossible) size.at_least = std::min(size.at_least, range.lower);
    }
  }

  // With pools of other sizes the run may choose among other programs. Looks for a size with which it finds a plan, and
  // does not with a byte less; false: none is seen to be enough.
  [[nodiscard]] bool settle(NeededSize& size, const Capacities& others) const {
    constexpr int most_runs = 6;
    std::optional<Bytes> enough;
    Bytes too_small = size.available;
    Bytes tried = size.enough.value_or(too_small);
    for (int i = 0; i < most_runs && tried > too_small && !time_.is_interrupted(); ++i) {
      Capacities capacities = others;
      capacities[size.pool] = tried;
      const OtherRun run = run_.again(capacities, time_.search(one_of_many));
      bound_by(size, run.bounding, others);
      if (run.used) {
        const bool is_one_less = enough == tried + 1;
        enough = tried;
        tried = is_one_less ? std::max(bytes_of(*run.used, size.pool), too_small + 1) : tried - 1;
        if (tried >= *enough) --tried;
      } else {
        too_small = tried;
        if (enough) break;
        tried = least_of(run.bounding, size.pool, others).value_or(too_small);
      }
    }
    if (enough && too_small + 1 < *enough) size.at_least = std::min(size.at_least, *enough - 1);
    if (enough) size.enough = enough;
    return enough.has_value();
  }

  // The same for sizes that are all needed: they are enough, and what a byte less of one is enough for is not said to
  // need it. False, and nothing has changed: they are not.
  [[nodiscard]] bool settle_together(const std::vector<NeededSize*>& sizes, const Capacities& others) const {
    if (!fits(sizes, others)) return false;
    for (NeededSize* size : sizes) {
      if (size->at_least != size->enough || *size->enough <= size->available + 1) continue;
      --*size->enough;
      const bool is_enough = fits(sizes, others);
      ++*size->enough;
      if (is_enough) size->at_least = 0;
    }
    return true;
  }

  // The least size of the pool with which one of these has a plan.
  [[nodiscard]] std::optional<Bytes> least_of(const std::vector<Problem>& programs, const std::string& pool,
                                              const Capacities& others) const {
    std::optional<Bytes> least;
    for (const Problem& program : programs) {
      const CapacityRange range = range_in(program, pool, others, true);
      if (range.upper && (!least || *range.upper < *least)) least = range.upper;
    }
    return least;
  }

  // Tries the run with these sizes. If they are not enough for it, they become what it uses of unbounded pools: it does
  // not go the same way in bounded ones, so that may have to be more.
  void confirm(const std::vector<NeededSize*>& sizes, const Capacities& others) {
    if (sizes.size() == 1 ? settle(*sizes.front(), others) : settle_together(sizes, others)) return;
    Capacities roomy = others;
    std::vector<std::optional<Bytes>> tried;
    for (NeededSize* size : sizes) {
      tried.push_back(std::exchange(size->enough, std::nullopt));
      roomy[size->pool] = std::nullopt;
    }
    if (const Used used = run_.again(roomy, time_.search(one_of_many)).used) {
      for (const Bytes eighths : {8, 9, 10, 12, 16}) {
        for (NeededSize* size : sizes) {
          const Bytes bytes = std::max(bytes_of(*used, size->pool), size->available + 1);
          size->enough = (bytes * eighths + 7) / 8;
        }
        const bool is_new = !std::ranges::equal(sizes, tried, {}, &NeededSize::enough);
        if (is_new && fits(sizes, others)) break;
        for (NeededSize* size : sizes) size->enough.reset();
      }
    }
    if (sizes.size() > 1) bound_again(sizes, others);
  }

  // What is proved of each size beside the sizes that the others have by now.
  void bound_again(const std::vector<NeededSize*>& sizes, const Capacities& others) const {
    Capacities capacities = others;
    for (const NeededSize* size : sizes) capacities[size->pool] = size->enough;
    for (NeededSize* size : sizes) size->at_least = range_of(size->pool, capacities).lower;
  }

  static Bytes bytes_of(const std::map<std::string, Bytes>& used, const std::string& pool) {
    const auto found = used.find(pool);
    return found == used.end() ? 0 : found->second;  // a pool that the program has no use for
  }

  [[nodiscard]] bool fits(const std::vector<NeededSize*>& sizes, Capacities capacities) const {
    for (const NeededSize* size : sizes) {
      if (!size->enough) return false;
      capacities[size->pool] = size->enough;
    }
    return run_.again(capacities, time_.search(one_of_many)).used.has_value();
  }

  // The pools are large enough for the exact search, but not for the run.
  void add_what_the_run_lacks() {
    Shortfall shortfall;
    std::vector<std::string> pools;
    for (const std::vector<PoolId>& group : planners::pool_groups(problem_)) {
      for (const std::string& pool : bounded(group)) {
        pools.push_back(pool);
        NeededSize size{.pool = pool, .available = capacity_of(pool), .at_least = range_of(pool).lower};
        confirm({&size}, {});
        if (size.enough) shortfall.choices.push_back({std::move(size)});
      }
    }
    if (shortfall.choices.empty()) {
      if (Enlargement together = what_the_run_uses(pools); !together.empty()) shortfall.choices = {std::move(together)};
    }
    if (!shortfall.choices.empty()) result_.shortfalls = {std::move(shortfall)};
  }

  // The pools that have to be larger for what the run does without bounds; empty if that is not enough either.
  [[nodiscard]] Enlargement what_the_run_uses(const std::vector<std::string>& pools) const {
    Capacities roomy;
    for (const std::string& pool : pools) roomy[pool] = std::nullopt;
    const Used used = run_.again(roomy, time_.search(one_of_many)).used;
    if (!used) return {};
    Enlargement enlargement;
    for (const std::string& pool : pools) {
      const Bytes bytes = bytes_of(*used, pool);
      if (bytes > capacity_of(pool))
        enlargement.push_back({.pool = pool, .available = capacity_of(pool), .enough = bytes});
    }
    std::vector<NeededSize*> sizes;
    for (NeededSize& size : enlargement) sizes.push_back(&size);
    if (sizes.empty() || !fits(sizes, {})) return {};
    bound_again(sizes, {});
    return enlargement;
  }

  const FailedRun& run_;
  const SharedTime& time_;
  const Problem& problem_;
  NeededSizes result_;
};

// Tries the default algorithm if the run is not known to lack anything. `by_default` is the run with that algorithm.
void ask_the_default(NeededSizes& sizes, const FailedRun& by_default, const Search& how) {
  for (const Shortfall& shortfall : sizes.shortfalls) {
    for (const Enlargement& choice : shortfall.choices) {
      if (std::ranges::any_of(choice, [](const NeededSize& size) { return size.at_least > size.available; })) return;
    }
  }
  if (by_default.again({}, how).used) sizes.fits_with = default_algorithm().name;
}

// `run_with` makes the run with an algorithm.
template <class RunWith>
NeededSizes sizes_of(const RunWith& run_with, const ChosenAlgorithm& algorithm, const Search& how) {
  const SharedTime time(how);
  const FailedRun run = run_with(algorithm);
  NeededSizes sizes = SizeSearch(run, time).sizes();
  const ChosenAlgorithm other = default_algorithm();
  if (algorithm.name != other.name && !time.is_interrupted()) ask_the_default(sizes, run_with(other), time.search(1.0));
  return sizes;
}

Used used_of(const Problem& problem, const PlanResult& result) {
  if (!result.has_plan()) return std::nullopt;
  const std::vector<Bytes> bytes = used_bytes(problem, result.plan);
  std::map<std::string, Bytes> used;
  for (std::size_t i = 0; i < bytes.size(); ++i) used[problem.pools[i].name] = bytes[i];
  return used;
}

FailedRun run_of(const PlannedProgram& planned, const Transformations& transformations, const Request& request,
                 const ChosenAlgorithm& algorithm) {
  FailedRun run{.bounding = planned.tried, .pinned = {}, .again = {}};
  const Problem& problem = planned.assembly.problem;
  const bool has_pins = std::ranges::any_of(problem.buffers, [](const Buffer& b) { return b.pinned.has_value(); });
  if (has_pins) run.pinned.push_back(problem);
  run.again = [&](const Capacities& capacities, const Search& how) -> OtherRun {
    Request wanted = request;
    wanted.capacities = capacities;
    wanted.watch.interrupted = how.interrupted;
    try {
      const AssembledModule again = assemble_module(planned.source, transformations, wanted);
      const Problem& other = again.assembly.problem;
      const Goal goal{.minimize = planned.minimized ? pool_of(other, problem.pool(*planned.minimized).name)
                                                    : std::optional<PoolId>()};
      return {used_of(other, plan_and_verify(algorithm, other, goal, how)), again.tried};
    } catch (const Error&) {  // of pins that another program has no place for, or of a program of the user's
      return {};
    }
  };
  return run;
}

FailedRun run_of(const Problem& problem, const ChosenAlgorithm& algorithm, const Goal& goal) {
  FailedRun run{.bounding = {problem}, .pinned = {}, .again = {}};
  run.again = [&](const Capacities& capacities, const Search& how) -> OtherRun {
    Problem other = problem;
    for (const auto& [name, capacity] : capacities) other.pools[pool_of(problem, name)->index()].capacity = capacity;
    try {
      return {used_of(other, plan_and_verify(algorithm, other, goal, how))};
    } catch (const Error&) {  // of a program of the user's
      return {};
    }
  };
  return run;
}

}  // namespace

NeededSizes needed_sizes(const FailedRun& run, const Search& how) {
  const SharedTime time(how);
  return SizeSearch(run, time).sizes();
}

NeededSizes needed_sizes(const PlannedProgram& planned, const Transformations& transformations, const Request& request,
                         const ChosenAlgorithm& algorithm, const Search& how) {
  const auto run_with = [&](const ChosenAlgorithm& one) { return run_of(planned, transformations, request, one); };
  return sizes_of(run_with, algorithm, how);
}

NeededSizes needed_sizes(const Problem& problem, const ChosenAlgorithm& algorithm, const Goal& goal,
                         const Search& how) {
  return sizes_of([&](const ChosenAlgorithm& one) { return run_of(problem, one, goal); }, algorithm, how);
}

}  // namespace usmp::pipeline

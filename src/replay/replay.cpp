// Which pairs of sites share bytes, and what came of playing the program.
// Tests: tests/replay, and tests/random_modules/product_replay.cpp on random programs.
#include "usmp/replay/replay.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "replay/compile.hpp"
#include "replay/play.hpp"

namespace usmp::replay {
namespace {

using Pair = std::pair<std::size_t, std::size_t>;  // of buffers, the smaller id first

bool meet(const Problem& problem, const Plan& plan, std::size_t a, std::size_t b) {
  const Allocation& one = plan.allocations[a];
  const Allocation& other = plan.allocations[b];
  return one.pool == other.pool && one.offset < other.offset + problem.buffers[b].size &&
         other.offset < one.offset + problem.buffers[a].size;
}

bool takes_room(const Problem& problem, std::size_t i) {
  return problem.buffers[i].size > 0 && !problem.buffers[i].live.empty();
}

struct Event {
  Tick tick;
  bool begins;  // behind the ends of the same tick
  std::size_t buffer;

  auto operator<=>(const Event&) const = default;
};

std::vector<Event> sorted_events(const Problem& problem) {
  std::vector<Event> events;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    if (!takes_room(problem, i)) continue;
    for (const LiveRange& range : problem.buffers[i].live) {
      events.push_back({range.begin, true, i});
      events.push_back({range.end, false, i});
    }
  }
  std::sort(events.begin(), events.end());
  return events;
}

// What comparing each buffer that begins with all that are live takes.
std::uint64_t comparisons_over_time(const std::vector<Event>& events) {
  std::uint64_t comparisons = 0;
  std::uint64_t live = 0;
  for (const Event& event : events) {
    if (event.begins) comparisons += live;
    live += event.begins ? 1 : std::uint64_t{0} - 1;
  }
  return comparisons;
}

std::set<Pair> pairs_over_time(const Problem& problem, const Plan& plan, const std::vector<Event>& events) {
  std::set<Pair> pairs;
  std::vector<std::size_t> live;
  for (const Event& event : events) {
    if (!event.begins) {
      std::erase(live, event.buffer);
      continue;
    }
    for (const std::size_t other : live) {
      if (meet(problem, plan, event.buffer, other)) pairs.insert(std::minmax(event.buffer, other));
    }
    live.push_back(event.buffer);
  }
  return pairs;
}

// The other way round: of those whose bytes meet, those that are live together.
std::set<Pair> pairs_over_addresses(const Problem& problem, const Plan& plan) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    if (takes_room(problem, i)) order.push_back(i);
  }
  const auto place = [&](std::size_t i) { return std::pair(plan.allocations[i].pool, plan.allocations[i].offset); };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  std::set<Pair> pairs;
  std::vector<std::size_t> open;  // those that may reach as far as the next one's first byte
  for (const std::size_t next : order) {
    std::erase_if(open, [&](std::size_t other) { return !meet(problem, plan, next, other); });
    for (const std::size_t other : open) {
      if (overlap(problem.buffers[next].live, problem.buffers[other].live)) pairs.insert(std::minmax(next, other));
    }
    open.push_back(next);
  }
  return pairs;
}

// Those that are live together and share bytes.
std::set<Pair> pairs_of(const Problem& problem, const Plan& plan) {
  constexpr std::uint64_t most_comparisons = 50'000'000;
  const std::vector<Event> events = sorted_events(problem);
  return comparisons_over_time(events) <= most_comparisons ? pairs_over_time(problem, plan, events)
                                                           : pairs_over_addresses(problem, plan);
}

class Replay {
 public:
  Replay(const tir::Module& module, const liveness::Analysis& analysis, const assemble::Assembly& assembly,
         const Plan& plan, const Options& options)
      : module_(module), analysis_(analysis), assembly_(assembly), plan_(plan), options_(options) {}

  Result run() && {
    const std::set<Pair> pairs = pairs_of(assembly_.problem, plan_);
    result_.pairs = pairs.size();
    if (pairs.empty()) return std::move(result_);
    std::vector<std::uint32_t> numbers(assembly_.problem.buffers.size(), UINT32_MAX);
    for (const auto& [one, other] : pairs) {
      for (const std::size_t buffer : {one, other}) {
        if (numbers[buffer] == UINT32_MAX) numbers[buffer] = follow(buffer);
      }
    }
    const std::vector<Reason> reasons = play_program();
    for (const auto& [one, other] : pairs) {
      const Reason first = reasons[numbers[one]];
      const Reason reason = first != Reason::none ? first : reasons[numbers[other]];
      if (reason == Reason::none) continue;
      const auto [a, b] = std::minmax(assembly_.sites[one], assembly_.sites[other]);
      result_.left_out.push_back({a, b, reason});
    }
    return std::move(result_);
  }

 private:
  std::uint32_t follow(std::size_t buffer) {
    const liveness::Site& site = site_of(buffer);
    const auto number = static_cast<std::uint32_t>(places_.size());
    const Allocation& allocation = plan_.allocations[buffer];
    const bool is_named = std::ranges::count(options_.inputs, site.var) > 0;
    places_.push_back(
        {.pool = allocation.pool,
         .offset = allocation.offset,
         .size = assembly_.problem.buffers[buffer].size,
         .is_written_before = is_named || site.kind == BufferKind::input || site.kind == BufferKind::constant,
         .is_read_afterwards = site.kind == BufferKind::output});
    buffers_.push_back(buffer);
    followed_.emplace(site.var, number);
    for (const liveness::Site::Twin& twin : site.twins) followed_.emplace(twin.var, number);
    return number;
  }

  // By number of the site.
  std::vector<Reason> play_program() {
    // Steps also pay for the bytes, which have to be cleared, and for compiling.
    constexpr std::uint64_t steps_of_instruction = 16;
    constexpr std::uint64_t most_instructions = 2'000'000;
    std::vector<Reason> none_played(places_.size(), Reason::limit);
    if (bytes_of(places_) > max_bytes || static_cast<std::uint64_t>(bytes_of(places_)) > options_.steps) {
      return none_played;
    }
    const std::uint64_t most = std::min(options_.steps / steps_of_instruction, most_instructions);
    const Program program = compile(module_, followed_, places_.size(), static_cast<std::size_t>(most));
    if (!program.is_complete) return none_played;
    const Played played = play(program, places_, options_.steps);
    result_.accesses = played.accesses;
    for (const Lost& lost : played.lost) result_.violations.push_back(sentence(program, lost));
    return played.reasons;
  }

  [[nodiscard]] std::string sentence(const Program& program, const Lost& lost) const {
    const Place& place = places_[lost.site];
    std::string text = "element of '" + site_of(buffers_[lost.site]).name + "' at byte " +
                       std::to_string(place.offset + lost.byte) + " of pool '" +
                       assembly_.problem.pool(place.pool).name + "' is read after '" +
                       site_of(buffers_[lost.other]).name + "' has overwritten it, ";
    if (lost.instruction >= program.instructions.size()) return text + "by the application";
    text += "in function '" + module_.functions[program.instructions[lost.instruction].function].name + "'";
    for (const auto& [var, value] : lost.iteration) {
      text += (&value == &lost.iteration.front().second ? ", iteration " : ", ") + module_.var(var).name + " = " +
              std::to_string(value);
    }
    return text;
  }

  [[nodiscard]] const liveness::Site& site_of(std::size_t buffer) const {
    return analysis_.sites[assembly_.sites[buffer].index()];
  }

  const tir::Module& module_;
  const liveness::Analysis& analysis_;
  const assemble::Assembly& assembly_;
  const Plan& plan_;
  const Options& options_;
  Followed followed_;
  std::vector<Place> places_;         // of the sites that are followed, in the order of their numbers
  std::vector<std::size_t> buffers_;  // by the same
  Result result_;
};

}  // namespace

const char* to_string(Reason reason) {
  switch (reason) {
    case Reason::none:
      return "nothing";
    case Reason::limit:
      return "there is too much to play";
    case Reason::condition:
      return "a condition or a loop depends on data";
    case Reason::address:
      return "an address depends on data";
    case Reason::call:
      return "a function that is not followed gets them";
    case Reason::escape:
      return "a pointer gets out of sight";
  }
  return "";
}

Result replay(const tir::Module& module, const liveness::Analysis& analysis, const assemble::Assembly& assembly,
              const Plan& plan, const Options& options) {
  return Replay(module, analysis, assembly, plan, options).run();
}

}  // namespace usmp::replay

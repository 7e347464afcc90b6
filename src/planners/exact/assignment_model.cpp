// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The tables that the dynamic programming over assignments reads, and a bound that needs nothing else.
#include <algorithm>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "planners/exact/assignment.hpp"
#include "planners/exact/disjunctive.hpp"
#include "usmp/bounds/load.hpp"

namespace usmp::planners::exact {
namespace {

struct Event {
  Tick tick;
  bool begins;
  BufferId buffer;

  friend auto operator<=>(const Event&, const Event&) = default;  // ends come before begins at one tick
};

std::vector<Event> sorted_events(const Problem& problem, const Group& group) {
  std::vector<Event> events;
  for (const BufferId id : group.buffers) {
    if (problem.buffer(id).size == 0) continue;
    for (const LiveRange& range : problem.buffer(id).live) {
      events.push_back({range.begin, true, id});
      events.push_back({range.end, false, id});
    }
  }
  std::sort(events.begin(), events.end());
  return events;
}

// The sets of buffers that are live together and in no larger such set of the ticks around.
std::vector<std::vector<BufferId>> largest_live_sets(const Problem& problem, const Group& group) {
  std::vector<std::vector<BufferId>> sets;
  std::set<BufferId> live;
  bool grew = false;
  for (const Event& event : sorted_events(problem, group)) {
    if (event.begins) {
      live.insert(event.buffer);
    } else {
      if (grew) sets.emplace_back(live.begin(), live.end());
      live.erase(event.buffer);
    }
    grew = event.begins;
  }
  return sets;
}

// Fewer buffers are cheaper to count one by one.
constexpr std::size_t least_of_sum = 6;

// A pair of buffers that may share bytes weighs as much as so many buffers of a section.
constexpr std::uint64_t entries_of_link = 32;

// Who may share bytes with whom, in either direction.
class SharersOf {
 public:
  explicit SharersOf(const Problem& problem) : sharers_(problem.distances.empty() ? 0 : problem.buffers.size()) {
    for (const Distance& distance : problem.distances) {
      sharers_[distance.below.index()].push_back(distance.above);
      sharers_[distance.above.index()].push_back(distance.below);
    }
  }
  [[nodiscard]] std::span<const BufferId> of(BufferId id) const {
    return sharers_.empty() ? std::span<const BufferId>() : sharers_[id.index()];
  }

 private:
  std::vector<std::vector<BufferId>> sharers_;
};

class Builder {
 public:
  Builder(const Problem& problem, const Group& group, AssignmentModel& model)
      : problem_(problem),
        group_(group),
        model_(model),
        sharers_(problem),
        decision_of_(problem.buffers.size(), AssignmentModel::none) {}

  void build() {
    model_.pools = group_.pools;
    model_.charged = problem_.charged;
    granules();
    split();
    if (!model_.possible) return;
    const auto sets = largest_live_sets(problem_, group_);
    find_lives(sets);
    sort_decisions();
    fill_sections(sets);
    fill_asks();
  }

 private:
  [[nodiscard]] const Pool& pool(std::size_t index) const { return problem_.pool(group_.pools[index]); }

  [[nodiscard]] std::size_t index_of(PoolId id) const {
    return static_cast<std::size_t>(std::find(group_.pools.begin(), group_.pools.end(), id) - group_.pools.begin());
  }

  // Takes all buffers that may be in a pool: then its granule holds for every assignment.
  void granules() {
    for (const PoolId id : group_.pools) {
      std::vector<BufferId> inhabitants;
      for (const BufferId buffer : group_.buffers) {
        const auto& candidates = problem_.buffer(buffer).candidates;
        if (std::find(candidates.begin(), candidates.end(), id) != candidates.end()) inhabitants.push_back(buffer);
      }
      granule_.push_back(bounds::common_alignment(problem_, inhabitants, problem_.pool(id)));
      model_.reserved.push_back(problem_.pool(id).reserved);
      model_.floor.push_back(align_up(problem_.pool(id).reserved, granule_.back()));
    }
  }

  void split() {
    model_.fixed_spill = cost_of(problem_, {std::vector<Allocation>(problem_.buffers.size())}).spilled;
    fixed_.resize(group_.pools.size());
    for (const BufferId id : group_.buffers) {
      const Buffer& buffer = problem_.buffer(id);
      const std::vector<PoolId> possible = bounds::possible_pools(problem_, id);
      model_.fixed_pool.push_back(AssignmentModel::none);
      if (possible.empty()) {
        model_.possible = false;
        return;
      }
      if (possible.size() > 1 && buffer.size > 0 && !buffer.live.empty()) {
        add_decision(id, possible);
        continue;
      }
      // What conflicts with nothing goes where it is wanted most.
      const std::size_t pool = index_of(possible.front());
      model_.fixed_pool.back() = pool;
      fixed_[pool].push_back(id);
      add_choice(problem_, buffer, rank_of(buffer, possible.front()), model_.fixed_spill);
    }
    for (std::size_t p = 0; p < group_.pools.size(); ++p) {
      model_.base.push_back(bounds::packing_bound(problem_, fixed_[p], pool(p)).bytes);
    }
  }

  static std::size_t rank_of(const Buffer& buffer, PoolId pool) {
    const auto found = std::find(buffer.candidates.begin(), buffer.candidates.end(), pool);
    return static_cast<std::size_t>(found - buffer.candidates.begin());
  }

  void add_decision(BufferId id, const std::vector<PoolId>& possible) {
    Decision decision{.buffer = id, .pools = {}, .ranks = {}, .costs = {}};
    for (const PoolId pool : possible) {
      decision.pools.push_back(index_of(pool));
      decision.ranks.push_back(rank_of(problem_.buffer(id), pool));
      std::vector<Bytes>& cost = decision.costs.emplace_back(model_.fixed_spill.size(), 0);
      add_choice(problem_, problem_.buffer(id), decision.ranks.back(), cost);
    }
    model_.decisions.push_back(std::move(decision));
  }

  [[nodiscard]] bool has_decision(const std::vector<BufferId>& set) const {
    return std::any_of(set.begin(), set.end(),
                       [&](BufferId id) { return decision_of_[id.index()] != AssignmentModel::none; });
  }

  void find_lives(const std::vector<std::vector<BufferId>>& sets) {
    for (std::size_t d = 0; d < model_.decisions.size(); ++d) {
      decision_of_[model_.decisions[d].buffer.index()] = d;
      model_.decisions[d].first = AssignmentModel::none;
    }
    std::vector<std::size_t> count(model_.decisions.size(), 0);
    std::size_t sections = 0;
    for (const std::vector<BufferId>& set : sets) {
      if (!has_decision(set)) continue;
      for (const BufferId id : set) {
        const std::size_t d = decision_of_[id.index()];
        if (d == AssignmentModel::none) continue;
        Decision& decision = model_.decisions[d];
        decision.first = std::min(decision.first, sections);
        decision.last = sections;
        ++count[d];
      }
      ++sections;
    }
    find_sums(sections, count);
  }

  // `count`: in how many sections a decision is live.
  void find_sums(std::size_t sections, const std::vector<std::size_t>& count) {
    std::vector<std::vector<std::size_t>> by_last(sections);
    for (std::size_t d = 0; d < model_.decisions.size(); ++d) {
      const Decision& decision = model_.decisions[d];
      const bool is_one_range = decision.first + count[d] == decision.last + 1;
      if (is_one_range && sharers_.of(decision.buffer).empty()) by_last[decision.last].push_back(d);
    }
    for (std::size_t last = 0; last < sections; ++last) {
      if (by_last[last].empty() || (by_last[last].size() < least_of_sum && last + 1 < sections)) continue;
      Sum& sum = model_.sums.emplace_back(Sum{.last = last});
      for (const std::size_t d : by_last[last]) {
        model_.decisions[d].sum = model_.sums.size() - 1;
        sum.first = std::min(sum.first, model_.decisions[d].first);
      }
    }
  }

  void sort_decisions() {
    std::sort(model_.decisions.begin(), model_.decisions.end(), [&](const Decision& a, const Decision& b) {
      if (a.first != b.first) return a.first < b.first;
      const Bytes size_a = problem_.buffer(a.buffer).size;
      const Bytes size_b = problem_.buffer(b.buffer).size;
      return size_a != size_b ? size_a > size_b : a.buffer < b.buffer;
    });
    for (std::size_t d = 0; d < model_.decisions.size(); ++d) decision_of_[model_.decisions[d].buffer.index()] = d;
  }

  void fill_sections(const std::vector<std::vector<BufferId>>& sets) {
    std::vector<std::size_t> home(problem_.buffers.size(), AssignmentModel::none);
    for (std::size_t k = 0; k < group_.buffers.size(); ++k) home[group_.buffers[k].index()] = model_.fixed_pool[k];
    for (const std::vector<BufferId>& set : sets) {
      if (!has_decision(set)) continue;
      Section& section = model_.sections.emplace_back();
      section.fixed.assign(group_.pools.size(), 0);
      section.fixed_rounding.assign(group_.pools.size(), 0);
      section.settled.assign(group_.pools.size(), 0);
      section.preferred.assign(group_.pools.size(), 0);
      section.after = model_.sections.size() - 1;
      for (std::uint32_t k = 0; k < model_.sums.size(); ++k) {
        const bool is_live =
            model_.sums[k].first < model_.sections.size() && model_.sections.size() <= model_.sums[k].last + 1;
        if (is_live) section.sums.push_back(k);
      }
      for (const BufferId id : set) {
        const std::size_t d = decision_of_[id.index()];
        const Bytes size = problem_.buffer(id).size;
        if (d != AssignmentModel::none) {
          const Decision& decision = model_.decisions[d];
          if (decision.sum == AssignmentModel::none) section.live.push_back(static_cast<std::uint32_t>(d));
          if (decision.ranks.front() > 0) continue;
          section.preferred[decision.pools.front()] += size;
          section.after = std::min(section.after, decision.first);
          continue;
        }
        const std::size_t p = home[id.index()];
        section.settled[p] += size;
        const Bytes rounded = align_up(size, granule_[p]);
        section.fixed[p] += rounded;
        section.fixed_rounding[p] = std::max(section.fixed_rounding[p], rounded - size);
      }
      if (!problem_.distances.empty()) section.sharing = sharing_of(set, home);
    }
  }

  // The pairs of the set that may share bytes, the connected ones next to each other.
  [[nodiscard]] Sharing sharing_of(const std::vector<BufferId>& set, const std::vector<std::size_t>& home) const {
    const std::vector<Spacing> spacings = spacings_among(problem_, set);
    std::vector<std::size_t> part(set.size());  // by place in the set: up to the first one of the part
    std::iota(part.begin(), part.end(), std::size_t{0});
    const auto part_of = [&](std::size_t i) {
      while (part[i] != i) i = part[i];
      return i;
    };
    std::vector<bool> shares(set.size(), false);
    for (const Spacing& spacing : spacings) {
      shares[spacing.below] = shares[spacing.above] = true;
      const auto [first, second] = std::minmax({part_of(spacing.below), part_of(spacing.above)});
      part[second] = first;
    }
    std::vector<std::pair<std::size_t, std::size_t>> order;  // by part
    order.reserve(set.size());
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (shares[i]) order.emplace_back(part_of(i), i);
    }
    std::sort(order.begin(), order.end());
    Sharing sharing;
    std::vector<std::uint32_t> member(set.size());
    for (const auto& [first, i] : order) {
      member[i] = static_cast<std::uint32_t>(sharing.members.size());
      const std::size_t d = decision_of_[set[i].index()];
      const auto number = static_cast<std::uint32_t>(first);
      if (d != AssignmentModel::none) {
        sharing.members.push_back({static_cast<std::uint32_t>(d), {}, number});
      } else {
        sharing.members.push_back({0, home[set[i].index()], number});
      }
    }
    for (const Spacing& spacing : spacings) {
      Sharing::Link link{member[spacing.below], member[spacing.above]};
      const Bytes size = problem_.buffer(set[spacing.below]).size;
      link.saved_bytes = size - spacing.bytes;
      for (const Bytes granule : granule_) {
        link.saved.push_back(align_up(size, granule) - align_up(spacing.bytes, granule));
      }
      sharing.links.push_back(std::move(link));
    }
    return sharing;
  }

  void fill_asks() {
    for (const Decision& decision : model_.decisions) {
      const Buffer& buffer = problem_.buffer(decision.buffer);
      std::vector<Demand>& asks = model_.asks.emplace_back(group_.pools.size());
      model_.sizes.push_back(buffer.size);
      for (const std::size_t p : decision.pools) {
        const Bytes rounded = align_up(buffer.size, granule_[p]);
        asks[p] = {rounded, rounded - buffer.size, first_offset(buffer, pool(p)) + buffer.size};
      }
    }
  }

  const Problem& problem_;
  const Group& group_;
  AssignmentModel& model_;
  SharersOf sharers_;
  std::vector<std::size_t> decision_of_;      // by BufferId
  std::vector<Bytes> granule_;                // by pool
  std::vector<std::vector<BufferId>> fixed_;  // by pool
};

}  // namespace

void SharingScratch::reset(std::size_t members) {
  there.assign(members, 0);
  as_lower.assign(members, 0);
  as_upper.assign(members, 0);
}

Bytes SharingScratch::sum(const Sharing& sharing) const {
  Bytes all = 0;
  for (std::size_t i = 0; i < sharing.members.size();) {
    const std::uint32_t part = sharing.members[i].part;
    Bytes lower = 0;
    Bytes upper = 0;
    Bytes least_lower = Problem::max_total_bytes;
    Bytes least_upper = Problem::max_total_bytes;
    bool is_any_there = false;
    for (; i < sharing.members.size() && sharing.members[i].part == part; ++i) {
      if (there[i] == 0) continue;
      is_any_there = true;
      lower += as_lower[i];
      upper += as_upper[i];
      least_lower = std::min(least_lower, as_lower[i]);
      least_upper = std::min(least_upper, as_upper[i]);
    }
    if (is_any_there) all += std::min(lower - least_lower, upper - least_upper);
  }
  return all;
}

std::uint64_t section_entries(const Problem& problem, const Group& group) {
  const SharersOf sharers(problem);
  std::vector<std::uint32_t> times_live(problem.buffers.size(), 0);
  std::uint64_t entries = 0;
  std::uint64_t live = 0;
  std::uint64_t links = 0;
  bool grew = false;
  for (const Event& event : sorted_events(problem, group)) {
    if (!event.begins && grew) entries += live + entries_of_link * links;
    std::uint64_t shared = 0;
    for (const BufferId other : sharers.of(event.buffer)) shared += times_live[other.index()];
    live += event.begins ? 1 : std::uint64_t{0} - 1;
    links += event.begins ? shared : std::uint64_t{0} - shared;
    times_live[event.buffer.index()] += event.begins ? 1 : std::uint32_t{0} - 1;
    grew = event.begins;
  }
  return entries;
}

namespace {

// A buffer in its first choice, and what it costs at least to have it elsewhere.
struct Leaver {
  Bytes size = 0;
  Bytes charge = 0;
};

// Those of the decisions whose first choice is the pool.
std::vector<Leaver> leavers_of(const AssignmentModel& model, std::span<const std::uint32_t> decisions,
                               std::size_t pool) {
  std::vector<Leaver> leavers;
  for (const std::uint32_t d : decisions) {
    const Decision& decision = model.decisions[d];
    if (decision.ranks.front() > 0 || decision.pools.front() != pool) continue;
    leavers.push_back({model.sizes[d], decision.costs[1].front() - decision.costs[0].front()});
  }
  return leavers;
}

// Decisions that are live in a section as part of a sum.
std::vector<std::uint32_t> summed_in(const AssignmentModel& model, std::size_t section) {
  std::vector<std::uint32_t> summed;
  for (std::uint32_t d = 0; d < model.decisions.size() && model.decisions[d].first <= section; ++d) {
    if (model.decisions[d].sum != AssignmentModel::none && section <= model.decisions[d].last) summed.push_back(d);
  }
  return summed;
}

// The least that is charged if so many bytes have to go: a lower bound, as if buffers could be divided. Charges are
// whole numbers, so rounding this bound up would still be right; that makes up for what floating point loses of small
// sums.
Bytes least_charge(std::vector<Leaver>& leavers, Bytes bytes) {
  constexpr unsigned precise_bits = 40;
  const auto per_byte = [](const Leaver& leaver) {
    return static_cast<double>(leaver.charge) / static_cast<double>(leaver.size);
  };
  std::sort(leavers.begin(), leavers.end(),
            [&](const Leaver& a, const Leaver& b) { return per_byte(a) < per_byte(b); });
  Bytes charge = 0;
  for (const Leaver& leaver : leavers) {
    const bool is_last = leaver.size >= bytes;
    charge += is_last ? static_cast<Bytes>(per_byte(leaver) * static_cast<double>(bytes)) : leaver.charge;
    bytes -= leaver.size;
    if (is_last) break;
  }
  const Bytes lost = charge >> precise_bits;
  return charge - (lost > 0 ? lost + 1 : 0);
}

// Bytes of buffers whose first choice the pool is, beside those without a choice, and what all of these save together
// at most.
struct Wanted {
  Bytes settled;
  Bytes preferred;
  Bytes shared;
};

Wanted wanted_in(const AssignmentModel& model, const Section& section, std::size_t pool, SharingScratch& scratch) {
  const auto wants_pool = [&](const Sharing::Member& member) {
    if (member.pool) return *member.pool == pool;
    const Decision& decision = model.decisions[member.decision];
    return decision.ranks.front() == 0 && decision.pools.front() == pool;
  };
  const Bytes shared = most_saved(
      section.sharing, wants_pool, [](const Sharing::Link& link) { return link.saved_bytes; }, scratch);
  return {section.settled[pool], section.preferred[pool], shared};
}

}  // namespace

Bytes least_spill(const AssignmentModel& model, const std::vector<Bytes>& limits) {
  if (model.fixed_spill.empty()) return 0;
  std::vector<Bytes> best{0};  // by number of sections: of those in front of it
  SharingScratch scratch;
  for (std::size_t s = 0; s < model.sections.size(); ++s) {
    const Section& section = model.sections[s];
    Bytes spill = 0;
    for (std::size_t p = 0; p < limits.size(); ++p) {
      const Wanted wanted = wanted_in(model, section, p, scratch);
      const Bytes room = limits[p] - model.reserved[p] - wanted.settled + wanted.shared;
      const Bytes excess = std::clamp<Bytes>(wanted.preferred - room, 0, wanted.preferred);
      if (!model.charged || excess == 0) {
        spill += excess;
        continue;
      }
      std::vector<Leaver> leavers = leavers_of(model, section.live, p);
      const std::vector<Leaver> summed = leavers_of(model, summed_in(model, s), p);
      leavers.insert(leavers.end(), summed.begin(), summed.end());
      spill += least_charge(leavers, excess);
    }
    best.push_back(std::max(best.back(), best[section.after] + spill));
  }
  Bytes unavoidable = model.fixed_spill.front();
  if (model.charged) {
    for (const Decision& decision : model.decisions) unavoidable += decision.costs[0].front();
  }
  return unavoidable + best.back();
}

Bytes least_height(const AssignmentModel& model, std::size_t pool, Bytes spill) {
  Bytes height = 0;
  SharingScratch scratch;
  for (const Section& section : model.sections) {
    const Wanted wanted = wanted_in(model, section, pool, scratch);
    const Bytes bytes = wanted.settled + wanted.preferred - wanted.shared - (spill - model.fixed_spill.front());
    if (bytes > 0) height = std::max(height, model.reserved[pool] + bytes);
  }
  return height;
}

AssignmentModel::AssignmentModel(const Problem& problem, const Group& group) { Builder(problem, group, *this).build(); }

}  // namespace usmp::planners::exact

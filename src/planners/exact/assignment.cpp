// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Packs states into words, extends them section by section, and keeps the cheapest of each key.
#include "planners/exact/assignment.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "planners/exact/state_table.hpp"

namespace usmp::planners::exact {
namespace {

using Word = StateTable::Word;

// Fields of a few bits in an array of words; none crosses a word. Things whose times do not meet share a field.
class Fields {
 public:
  explicit Fields(unsigned bits) : bits_(bits), per_word_(64 / bits) {}

  // A field for [first, last); calls come in order of `first`.
  std::size_t take(std::size_t first, std::size_t last) {
    for (std::size_t field = 0; field < free_from_.size(); ++field) {
      if (free_from_[field] > first) continue;
      free_from_[field] = last;
      return field;
    }
    free_from_.push_back(last);
    return free_from_.size() - 1;
  }

  [[nodiscard]] std::size_t words() const { return (free_from_.size() + per_word_ - 1) / per_word_; }

  [[nodiscard]] Word get(const Word* words, std::size_t field) const {
    return (words[field / per_word_] >> shift(field)) & ((Word{1} << bits_) - 1);
  }
  void set(Word* words, std::size_t field, Word value) const {
    Word& word = words[field / per_word_];
    word = (word & ~(((Word{1} << bits_) - 1) << shift(field))) | (value << shift(field));
  }

 private:
  [[nodiscard]] unsigned shift(std::size_t field) const { return static_cast<unsigned>(field % per_word_) * bits_; }

  unsigned bits_;
  std::size_t per_word_;
  std::vector<std::size_t> free_from_;
};

unsigned bits_for(std::size_t values) {
  unsigned bits = 1;
  while ((std::size_t{1} << bits) < values) ++bits;
  return bits;
}

// One run of the dynamic programme. A key is: the pools of the frontier's buffers (0: none or forgotten, else 1 +
// pool), a bit for each open cut (all its buffers so far are in its pool), and of each sum of buffers the rounded bytes
// by pool and the largest rounding by pool.
class Run {
 public:
  Run(const AssignmentModel& model, const Query& query, Budget& budget)
      : model_(model),
        query_(query),
        budget_(budget),
        pools_(model.pools.size()),
        choices_(bits_for(pools_ + 1)),
        open_cuts_(1),
        base_(model.base) {
    lay_out_choices();
    lay_out_cuts();
    cut_word_ = choices_.words();
    sum_word_ = cut_word_ + open_cuts_.words();
    lay_out_sums();
  }

  Relaxed solve() {
    StateTable table = start();
    std::size_t next = 0;
    for (std::size_t s = 0; s < model_.sections.size() && table.size() > 0; ++s) {
      for (; next < model_.decisions.size() && model_.decisions[next].first == s; ++next) {
        table = narrow(decide(table, next, s), s, next + 1);
        if (!pay(s)) return {.cost = {}, .assignment = {}, .exact = false, .aborted = true};
      }
      table = leave(table, s);
    }
    return conclude(table);
  }

 private:
  struct Assigned {
    std::uint32_t before;  // in the trail
    std::uint32_t pool;
  };

  // What a decision means for a cut.
  struct Role {
    std::size_t cut;
    bool opens;
    bool closes;
  };

  void lay_out_choices() {
    for (const Decision& decision : model_.decisions) {
      const bool is_summed = decision.sum != AssignmentModel::none;
      field_.push_back(is_summed ? AssignmentModel::none : choices_.take(decision.first, decision.last + 1));
    }
  }

  // Sums whose times do not meet share their words.
  void lay_out_sums() {
    std::vector<std::size_t> order(model_.sums.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return model_.sums[a].first < model_.sums[b].first; });
    sum_words_.resize(model_.sums.size());
    std::vector<std::size_t> free_from;
    for (const std::size_t k : order) {
      const auto found = std::find_if(free_from.begin(), free_from.end(),
                                      [&](std::size_t from) { return from <= model_.sums[k].first; });
      const auto slot = static_cast<std::size_t>(found - free_from.begin());
      if (found == free_from.end()) free_from.push_back(0);
      free_from[slot] = model_.sums[k].last + 1;
      sum_words_[k] = sum_word_ + slot * 2 * pools_;
    }
    key_.assign(sum_word_ + free_from.size() * 2 * pools_, 0);
  }

  void lay_out_cuts() {
    roles_.resize(model_.decisions.size());
    cut_field_.resize(query_.cuts.size(), AssignmentModel::none);
    std::vector<std::size_t> order(query_.cuts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::erase_if(order, [&](std::size_t c) {
      const Cut& cut = query_.cuts[c];
      if (cut.decisions.empty()) base_[cut.pool] = std::max(base_[cut.pool], cut.height);
      return cut.decisions.empty();
    });
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return query_.cuts[a].decisions.front() < query_.cuts[b].decisions.front();
    });
    for (const std::size_t c : order) {
      const auto& members = query_.cuts[c].decisions;
      cut_field_[c] = open_cuts_.take(members.front(), members.back() + 1);
      for (const std::uint32_t d : members) roles_[d].push_back({c, d == members.front(), d == members.back()});
    }
  }

  // A state is cheaper than a node of the search in one pool, by a factor of some hundreds if little is live.
  bool pay(std::size_t s) {
    const Section& section = model_.sections[s];
    const std::uint64_t looks = section.live.size() + pools_ * section.sharing.links.size();  // of a state
    const std::uint64_t nodes = (seen_ * (looks + 24) + 2047) / 2048;
    seen_ = 0;
    return budget_.spend(nodes);
  }

  StateTable start() {
    StateTable table(key_.size(), model_.fixed_spill.size() + 1);
    for (std::size_t p = 0; p < pools_; ++p) {
      if (base_[p] > query_.limits[p]) return table;
    }
    cost_ = model_.fixed_spill;
    cost_.push_back(base_[query_.objective]);
    std::fill(key_.begin(), key_.end(), 0);
    keep(table, 0);
    return table;
  }

  // Whether the state at hand is the best known of its kind.
  bool keep(StateTable& table, std::uint32_t trail) {
    if (!query_.below.empty() && cost_ >= query_.below) return false;
    const std::size_t place = table.insert(key_, cost_);
    if (place == StateTable::worse) return false;
    table.set_trail(place, trail);
    return true;
  }

  void load(const StateTable& table, std::size_t i) {
    ++seen_;
    const auto key = table.key(i);
    const auto cost = table.cost(i);
    std::copy(key.begin(), key.end(), key_.begin());
    std::copy(cost.begin(), cost.end(), cost_.begin());
  }

  // Counts the height; false if the pool may not have it.
  bool reach(std::size_t pool, Bytes height) {
    if (height > query_.limits[pool]) return false;
    if (pool == query_.objective) cost_.back() = std::max(cost_.back(), height);
    return true;
  }

  // The height that the choices of key_ need in the section: see bounds::packing_bound. What is not decided yet has an
  // empty field.
  [[nodiscard]] Bytes height_in(std::size_t pool, const Section& section) {
    Bytes sum = section.fixed[pool];
    Bytes rounding = section.fixed_rounding[pool];
    for (const std::uint32_t k : section.sums) {
      sum += static_cast<Bytes>(key_[sum_words_[k] + pool]);
      rounding = std::max(rounding, static_cast<Bytes>(key_[sum_words_[k] + pools_ + pool]));
    }
    for (const std::uint32_t d : section.live) {
      if (choices_.get(key_.data(), field_[d]) != pool + 1) continue;
      sum += model_.asks[d][pool].rounded;
      rounding = std::max(rounding, model_.asks[d][pool].rounding);
    }
    if (sum == 0) return 0;
    return model_.floor[pool] + sum - rounding - shared_in(pool, section.sharing);
  }

  [[nodiscard]] Bytes shared_in(std::size_t pool, const Sharing& sharing) {
    if (sharing.links.empty()) return 0;
    const auto is_there = [&](const Sharing::Member& member) {
      return member.pool ? *member.pool == pool : choices_.get(key_.data(), field_[member.decision]) == pool + 1;
    };
    return most_saved(
        sharing, is_there, [pool](const Sharing::Link& link) { return link.saved[pool]; }, scratch_);
  }

  void choose(std::size_t d, std::size_t pool) {
    // Nobody asks how full a pool without bound is, unless its height is the objective.
    if (pool != query_.objective && query_.limits[pool] >= Problem::max_total_bytes) return;
    const Demand& ask = model_.asks[d][pool];
    const std::size_t sum = model_.decisions[d].sum;
    if (sum == AssignmentModel::none) {
      choices_.set(key_.data(), field_[d], pool + 1);
      return;
    }
    key_[sum_words_[sum] + pool] += static_cast<Word>(ask.rounded);
    Word& rounding = key_[sum_words_[sum] + pools_ + pool];
    rounding = std::max(rounding, static_cast<Word>(ask.rounding));
  }

  // False if a cut forbids the choice.
  bool pass_cuts(std::size_t d, std::size_t pool) {
    Word* const words = key_.data() + cut_word_;
    for (const Role& role : roles_[d]) {
      const Cut& cut = query_.cuts[role.cut];
      const std::size_t field = cut_field_[role.cut];
      const bool together = cut.pool == pool && (role.opens || open_cuts_.get(words, field) != 0);
      open_cuts_.set(words, field, together && !role.closes ? 1 : 0);
      if (together && role.closes && !reach(pool, cut.height)) return false;
    }
    return true;
  }

  StateTable decide(const StateTable& table, std::size_t d, std::size_t s) {
    const Decision& decision = model_.decisions[d];
    StateTable next(key_.size(), cost_.size());
    for (std::size_t i = 0; i < table.size(); ++i) {
      for (std::size_t option = 0; option < decision.pools.size(); ++option) {
        const std::size_t pool = decision.pools[option];
        load(table, i);
        for (std::size_t r = 0; r < decision.costs[option].size(); ++r) cost_[r] += decision.costs[option][r];
        choose(d, pool);
        const bool fits = reach(pool, model_.asks[d][pool].alone) && pass_cuts(d, pool) &&
                          reach(pool, height_in(pool, model_.sections[s]));
        if (!fits) continue;
        if (keep(next, static_cast<std::uint32_t>(trail_.size()))) {
          trail_.push_back({table.trail(i), static_cast<std::uint32_t>(pool)});
        }
      }
    }
    return next;
  }

  // Holds the states against the section, whose other buffers may have come back to life, and drops what dies.
  StateTable leave(const StateTable& table, std::size_t s) {
    StateTable next(key_.size(), cost_.size());
    for (std::size_t i = 0; i < table.size(); ++i) {
      load(table, i);
      bool fits = true;
      for (std::size_t p = 0; p < pools_ && fits; ++p) fits = reach(p, height_in(p, model_.sections[s]));
      if (!fits) continue;
      for (const std::uint32_t d : model_.sections[s].live) {
        if (model_.decisions[d].last == s) choices_.set(key_.data(), field_[d], 0);
      }
      for (const std::uint32_t k : model_.sections[s].sums) {
        const auto words = key_.begin() + word(sum_words_[k]);
        if (model_.sums[k].last == s) std::fill(words, words + word(2 * pools_), 0);
      }
      keep(next, table.trail(i));
    }
    return next;
  }

  // -------------------------------------------------------------------------------------------- too many states

  StateTable narrow(StateTable table, std::size_t s, std::size_t decided) {
    std::vector<std::uint32_t> frontier;
    for (std::uint32_t d = 0; d < decided; ++d) {
      const Decision& decision = model_.decisions[d];
      if (decision.sum == AssignmentModel::none && decision.last >= s) frontier.push_back(d);
    }
    // The smallest buffers are missed least.
    std::stable_sort(frontier.begin(), frontier.end(), [&](std::uint32_t a, std::uint32_t b) {
      return model_.asks[a][model_.decisions[a].pools.front()].rounded <
             model_.asks[b][model_.decisions[b].pools.front()].rounded;
    });
    for (std::size_t k = 0; table.size() > query_.width && k < frontier.size(); ++k) {
      table = changed(table, [&] { choices_.set(key_.data(), field_[frontier[k]], 0); });
    }
    if (table.size() > query_.width && cut_word_ < sum_word_) {
      table = changed(table, [&] { std::fill(key_.begin() + word(cut_word_), key_.begin() + word(sum_word_), 0); });
    }
    const std::vector<std::uint32_t>& sums = model_.sections[s].sums;
    for (Word step = 2; table.size() > query_.width && !sums.empty() && step < Word{1} << 60U; step *= 2) {
      table = changed(table, [&] {
        for (const std::uint32_t k : sums) {
          for (std::size_t p = 0; p < pools_; ++p) key_[sum_words_[k] + p] -= key_[sum_words_[k] + p] % step;
        }
      });
    }
    return table;
  }

  static std::ptrdiff_t word(std::size_t n) { return static_cast<std::ptrdiff_t>(n); }

  template <class Change>
  StateTable changed(const StateTable& table, const Change& change) {
    exact_ = false;
    StateTable next(key_.size(), cost_.size());
    for (std::size_t i = 0; i < table.size(); ++i) {
      load(table, i);
      change();
      keep(next, table.trail(i));
    }
    return next;
  }

  // ------------------------------------------------------------------------------------------------------------

  Relaxed conclude(const StateTable& table) {
    Relaxed result{.cost = {}, .assignment = {}, .exact = exact_};
    std::size_t best = table.size();
    for (std::size_t i = 0; i < table.size(); ++i) {
      const bool better =
          best == table.size() || std::lexicographical_compare(table.cost(i).begin(), table.cost(i).end(),
                                                               table.cost(best).begin(), table.cost(best).end());
      if (better) best = i;
    }
    if (best == table.size()) return result;
    result.cost.assign(table.cost(best).begin(), table.cost(best).end());
    result.assignment.resize(model_.decisions.size());
    std::uint32_t at = table.trail(best);
    for (std::size_t d = model_.decisions.size(); d > 0; --d) {
      result.assignment[d - 1] = trail_[at].pool;
      at = trail_[at].before;
    }
    return result;
  }

  const AssignmentModel& model_;
  const Query& query_;
  Budget& budget_;
  std::size_t pools_;
  Fields choices_;
  Fields open_cuts_;
  std::vector<std::size_t> field_;        // by decision
  std::vector<std::size_t> cut_field_;    // by cut
  std::vector<std::vector<Role>> roles_;  // by decision
  std::vector<Bytes> base_;
  std::size_t cut_word_ = 0;
  std::size_t sum_word_ = 0;
  std::vector<std::size_t> sum_words_;  // by sum
  bool exact_ = true;
  std::uint64_t seen_ = 0;  // states looked at and not paid for
  std::vector<Word> key_;   // of the state at hand
  std::vector<Bytes> cost_;
  std::vector<Assigned> trail_ = {{0, 0}};
  SharingScratch scratch_;
};

}  // namespace

Relaxed cheapest_assignment(const AssignmentModel& model, const Query& query, Budget& budget) {
  assert(query.limits.size() == model.pools.size());
  if (!model.possible) return {};
  return Run(model, query, budget).solve();
}

}  // namespace usmp::planners::exact

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Decides items from below, learns from contradictions, and restarts after Luby's sequence.
#include "planners/exact/search.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace usmp::planners::exact {
namespace {

// 1 1 2 1 1 2 4 1 1 2 …: Luby, Sinclair, Zuckerman: Optimal speedup of Las Vegas algorithms, 1993.
std::uint64_t luby(std::uint64_t i) {
  for (std::uint64_t size = 1;;) {
    if (i == size) return (size + 1) / 2;
    if (i < 2 * size + 1) {
      i -= size;  // the sequence begins again
      size = 1;
    } else {
      size = 2 * size + 1;
    }
  }
}

}  // namespace

bool Search::before(std::size_t a, std::size_t b) const {
  if (strategy_ == Strategy::guided && offsets_[a] != offsets_[b]) return offsets_[a] < offsets_[b];
  if (engine_.low(a) != engine_.low(b)) return engine_.low(a) < engine_.low(b);
  if (strategy_ == Strategy::activity && engine_.activity(a) != engine_.activity(b)) {
    return engine_.activity(a) > engine_.activity(b);
  }
  if (strategy_ == Strategy::area) {
    const Unit one = model_.height[a] * static_cast<Unit>(model_.sections(a).size());
    const Unit other = model_.height[b] * static_cast<Unit>(model_.sections(b).size());
    if (one != other) return one > other;
  }
  return model_.lifetime_rank[a] < model_.lifetime_rank[b];
}

Strategy Search::next_strategy() const {
  constexpr std::array plain{Strategy::lifetime, Strategy::activity, Strategy::area};
  if (use_best_plan_ && !offsets_.empty() && restarts_ % 2 == 0) return Strategy::guided;
  return plain[(use_best_plan_ && !offsets_.empty() ? restarts_ / 2 : restarts_) % plain.size()];
}

std::size_t Search::choose() const {
  std::size_t best = model_.size();
  for (std::size_t item = 0; item < model_.size(); ++item) {
    if (!engine_.fixed(item) && (best == model_.size() || before(item, best))) best = item;
  }
  return best;
}

Verdict Search::run(Bytes target, std::uint64_t conflicts, Budget& budget) {
  const std::uint64_t end = engine_.conflicts() + conflicts;
  engine_.restart();
  std::uint64_t next_restart = engine_.conflicts() + 100 * luby(++restarts_);
  strategy_ = next_strategy();
  const auto impossible = [&] { return Verdict::impossible; };
  while (true) {
    if (!engine_.propagate()) {
      if (!engine_.learn()) return impossible();
      continue;
    }
    if (engine_.overflowed()) {
      budget.give_up();
      return Verdict::gave_up;
    }
    if (engine_.conflicts() >= end) return Verdict::gave_up;
    if (engine_.conflicts() >= next_restart) {
      engine_.restart();
      next_restart = engine_.conflicts() + 100 * luby(++restarts_);
      strategy_ = next_strategy();
      continue;
    }
    if (engine_.level() == 0 && engine_.peak_high() > target) {
      if (engine_.peak_low() > target) return Verdict::impossible;
      engine_.assume_peak_at_most(target);
      continue;
    }
    const std::size_t item = choose();
    if (item == model_.size()) {
      offsets_.clear();
      for (std::size_t i = 0; i < model_.size(); ++i) offsets_.push_back(engine_.low(i));
      return Verdict::found;
    }
    const Engine::Support support = engine_.support(item);
    if (support == Engine::Support::contradiction && !engine_.learn()) return impossible();
    if (support != Engine::Support::possible) continue;
    budget.spend_work(engine_.work() - work_told_);
    work_told_ = engine_.work();
    if (!budget.spend()) return Verdict::gave_up;
    engine_.decide_lowest(item);
  }
}

}  // namespace usmp::planners::exact

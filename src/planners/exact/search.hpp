// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The exact search in one pool: decisions, restarts, and the way to the least peak.
//
// Decisions build a plan from below: the item with the lowest lower bound stands there. The opposite, that it stands
// higher, is never decided: it follows from a learned clause. Restarts change how ties are broken.
#pragma once

#include "planners/exact/engine.hpp"

namespace usmp::planners::exact {

// Which open item is placed next. All but `guided` take the one that can stand lowest, and differ in ties.
enum class Strategy {
  lifetime,  // the longest life first
  activity,  // most often part of recent contradictions
  area,      // size times number of sections
  guided,    // in the order of the best plan so far (Beck: Solution-guided multi-point constructive search, JAIR 29,
             // 2007)
};

class Search {
 public:
  Search(const Model& model, const Rules& rules, std::size_t most_steps = Engine::most_steps)
      : model_(model), engine_(model, rules, most_steps) {}

  // Looks for offsets with a peak of at most `target` bytes, for at most so many conflicts. `gave_up`: no answer yet,
  // and what was learned stays for the next call.
  [[nodiscard]] Verdict run(Bytes target, std::uint64_t conflicts, Budget& budget);

  // Far below the best plan so far, its order misleads.
  void use_best_plan(bool use) { use_best_plan_ = use; }

  [[nodiscard]] const std::vector<Unit>& offsets() const { return offsets_; }  // of the last `found`
  [[nodiscard]] Engine& engine() { return engine_; }

 private:
  [[nodiscard]] Strategy next_strategy() const;
  [[nodiscard]] bool before(std::size_t a, std::size_t b) const;
  [[nodiscard]] std::size_t choose() const;  // model size: nothing is open

  const Model& model_;
  Engine engine_;
  Strategy strategy_ = Strategy::lifetime;
  bool use_best_plan_ = false;
  std::uint64_t restarts_ = 0;
  std::uint64_t work_told_ = 0;  // to the budget
  std::vector<Unit> offsets_;
};

}  // namespace usmp::planners::exact

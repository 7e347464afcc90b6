// The exact search in one pool: decisions, restarts, and the way to the least peak.
//
// Decisions build a plan from below: the item with the lowest lower bound stands there. The opposite, that it stands
// higher, is never decided: it follows from a learned clause. Restarts change how ties are broken.
#pragma once

#include "planners/exact/engine.hpp"

namespace usmp::planners::exact {

enum class Strategy { lifetime, activity, area };

class Search {
 public:
  Search(const Model& model, const Rules& rules) : model_(model), engine_(model, rules) {}

  // Looks for offsets with a peak of at most `target` bytes, for at most so many conflicts. `gave_up`: no answer yet,
  // and what was learned stays for the next call.
  [[nodiscard]] Verdict run(Bytes target, std::uint64_t conflicts, Budget& budget);

  [[nodiscard]] const std::vector<Unit>& offsets() const { return offsets_; }  // of the last `found`
  [[nodiscard]] Engine& engine() { return engine_; }

 private:
  [[nodiscard]] std::size_t choose() const;  // model size: nothing is open

  const Model& model_;
  Engine engine_;
  Strategy strategy_ = Strategy::lifetime;
  std::uint64_t restarts_ = 0;
  std::vector<Unit> offsets_;
};

}  // namespace usmp::planners::exact

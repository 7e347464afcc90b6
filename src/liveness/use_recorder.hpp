// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Gathers what the statements of the entry do to storage, while the walk of analyse.cpp passes them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "usmp/liveness/uses.hpp"

namespace usmp::liveness {

class UseRecorder {
 public:
  // Storage in the order in which the walk numbers it, from 0.
  void storage(tir::VarId var, Storage::Kind kind, std::uint32_t site) {
    result_.storages.push_back({.var = var, .kind = kind});
    open_.push_back({});
    sites_.push_back(site);
  }

  // Storage of a higher number belongs to an operator.
  [[nodiscard]] bool knows(std::size_t storage) const { return storage < open_.size(); }

  // The statement that is open ends at `now`, and the next one begins.
  void next_statement(Tick now) {
    end_statement(now);
    result_.statements.push_back({});
    begin_ = now;
  }

  void end_statement(Tick now) {
    if (result_.statements.empty()) return;
    StatementUses& statement = result_.statements.back();
    statement.ticks = now - begin_;
    std::sort(touched_.begin(), touched_.end());
    for (const std::size_t storage : touched_) statement.uses.push_back(std::exchange(open_[storage], {}));
    touched_.clear();
  }

  void access(std::size_t storage, LiveRange ticks, bool reads, bool writes) {
    Use& use = open_[storage];
    if (use.ticks.end == 0) {
      touched_.push_back(storage);
      use = {.storage = storage, .ticks = {ticks.begin - begin_, ticks.end - begin_}};
    }
    use.ticks.begin = std::min(use.ticks.begin, ticks.begin - begin_);
    use.ticks.end = std::max(use.ticks.end, ticks.end - begin_);
    use.reads = use.reads || reads;
    use.writes = use.writes || writes;
  }

  // The loop that ends at `end` holds all of the storage until then.
  void extend(std::size_t storage, Tick end) { open_[storage].ticks.end = end - begin_; }

  void inner(tir::VarId var, LiveRange ticks, Bytes size) {
    result_.statements.back().inner.push_back({var, {ticks.begin - begin_, ticks.end - begin_}, size});
  }

  void blind_call() { result_.statements.back().calls_blindly = true; }
  void escape() { result_.escapes = true; }

  // The result, to be completed with sizes.
  EntryUses& result() { return result_; }
  [[nodiscard]] std::uint32_t site_of(std::size_t storage) const { return sites_[storage]; }

 private:
  EntryUses result_;
  std::vector<std::uint32_t> sites_;  // by storage
  std::vector<Use> open_;             // by storage: of the open statement
  std::vector<std::size_t> touched_;  // storage that the open statement accesses
  Tick begin_ = 0;                    // of the open statement
};

}  // namespace usmp::liveness

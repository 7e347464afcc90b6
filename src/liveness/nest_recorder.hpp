// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Gathers which storage the outermost loops access, while the walk of analyse.cpp passes them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "usmp/liveness/liveness.hpp"
#include "usmp/liveness/uses.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::liveness {

// One run of a loop that no other is around.
struct NestRun {
  struct Access {
    tir::VarId var;          // through which the loop loads and stores
    std::uint32_t site = 0;  // index into Analysis::sites, or UINT32_MAX
    bool is_base = false;    // the variable points to the site's first byte, and to nothing else

    friend auto operator<=>(const Access&, const Access&) = default;
  };
  const tir::For* loop = nullptr;
  std::size_t function = 0;
  LiveRange ticks;
  std::vector<Access> accesses;  // sorted, each once
  std::vector<tir::VarId> vars;  // all that are accessed by loads and stores, also where they have no site; sorted
  bool is_plain = true;          // it calls nothing, and no pointer gets out of sight
};

// An access to a site outside of the recorded runs.
struct LooseAccess {
  std::uint32_t site = 0;  // as above
  Tick tick = 0;
};

class NestRecorder {
 public:
  void begin(const tir::For* loop, std::size_t function, Tick now) {
    open_ = NestRun{.loop = loop, .function = function, .ticks = {now, now}, .accesses = {}, .vars = {}};
    is_open_ = true;
  }

  void end(Tick now) {
    if (!is_open_) return;
    is_open_ = false;
    open_.ticks.end = now;
    sort_out(open_.accesses);
    sort_out(open_.vars);
    if (open_.loop != nullptr && open_.is_plain) {
      runs_.push_back(std::move(open_));
      return;
    }
    // Both ends, so that no range of ticks that has one of them, or holds a recorded run, misses it.
    for (const NestRun::Access& access : open_.accesses) {
      loose_.push_back({access.site, open_.ticks.begin});
      loose_.push_back({access.site, now - 1});
    }
  }

  void touch(tir::VarId var) {
    if (is_open_) open_.vars.push_back(var);
  }
  void access(tir::VarId var, std::uint32_t site, bool is_base, Tick now) {
    if (is_open_) {
      open_.accesses.push_back({var, site, is_base});
    } else {
      loose_.push_back({site, now});
    }
  }
  void mark_unplain() { open_.is_plain = false; }

  [[nodiscard]] std::vector<NestRun> take_runs() { return std::move(runs_); }
  [[nodiscard]] std::vector<LooseAccess> take_loose() { return std::move(loose_); }

 private:
  template <class T>
  static void sort_out(std::vector<T>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }

  std::vector<NestRun> runs_;
  std::vector<LooseAccess> loose_;
  NestRun open_;
  bool is_open_ = false;
};

struct Nests {
  Analysis analysis;
  std::vector<NestRun> runs;
  std::vector<LooseAccess> loose;  // in order of execution
  std::vector<bool> escaped;       // by site: pointers to it are out of sight, so that accesses may be
};

// As `analyse`, with the runs of all outermost loops, in order of execution.
[[nodiscard]] Nests analyse_nests(const tir::Module& module, const Options& options);

struct StatementNests {
  EntryUses uses;
  Nests nests;
};

// The same with what each statement of the entry does.
[[nodiscard]] StatementNests analyse_statement_nests(const tir::Module& module, const Options& options);

}  // namespace usmp::liveness

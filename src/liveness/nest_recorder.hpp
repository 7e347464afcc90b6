// Gathers which storage the outermost loops access, while the walk of analyse.cpp passes them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "usmp/liveness/liveness.hpp"
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
    if (open_.loop != nullptr && open_.is_plain) runs_.push_back(std::move(open_));
  }

  void touch(tir::VarId var) {
    if (is_open_) open_.vars.push_back(var);
  }
  void access(tir::VarId var, std::uint32_t site, bool is_base) {
    if (is_open_) open_.accesses.push_back({var, site, is_base});
  }
  void spoil() { open_.is_plain = false; }

  [[nodiscard]] std::vector<NestRun> take() { return std::move(runs_); }

 private:
  template <class T>
  static void sort_out(std::vector<T>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }

  std::vector<NestRun> runs_;
  NestRun open_;
  bool is_open_ = false;
};

struct Nests {
  Analysis analysis;
  std::vector<NestRun> runs;
  std::vector<bool> escaped;  // by site: pointers to it are out of sight, so that accesses may be
};

// As `analyse`, with the runs of all outermost loops, in order of execution.
[[nodiscard]] Nests analyse_nests(const tir::Module& module, const Options& options);

}  // namespace usmp::liveness

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What differs between two plans: pools, their peaks and bounds, and the buffers (docs/cli.md, "Comparing plans").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "usmp/plan_file/plan_document.hpp"

namespace usmp::compare {

// One pool in one plan.
struct PoolState {
  std::optional<Bytes> capacity;  // nothing: unbounded
  Bytes used = 0;
  std::optional<Bytes> lower_bound;  // that the plan states; nothing: it does not say
  Bytes live_at_peak = 0;            // what its buffers need at one tick at least, see bounds::load
  Tick peak = 0;                     // the first such tick; 0 if nothing is live
  Bytes occupied_at_peak = 0;        // see PoolFigures
  PlanStatus status = PlanStatus::feasible;
  std::optional<plan_file::PlanDocument::Pool::AllModules> all_modules = {};  // nothing: planned alone

  friend bool operator==(const PoolState&, const PoolState&) = default;
};

struct PoolDiff {
  std::string name;
  PoolKind kind = PoolKind::workspace;
  std::optional<PoolState> before;  // nothing: the pool is new
  std::optional<PoolState> after;   // nothing: the pool is gone
  // How PoolState::occupied_at_peak grows by buffers that are as they were: the peak may be at another tick.
  Bytes same_growth_at_peak = 0;

  // The tick of a peak alone is not a difference: it is a property of the module, not of the plan. Nor is the lower
  // bound: what an algorithm proves of the same problem depends on the algorithm. Nor is what other modules need.
  [[nodiscard]] bool differs() const;
  [[nodiscard]] Bytes growth() const;  // of `used`; negative: it shrank
};

// One buffer in one plan.
struct BufferPlace {
  std::string name;
  std::string function;  // that declares it
  std::string producer;  // the function that is called when it becomes live; empty for constants, or if none is
  std::string caller;    // the operator as reports name it: of the producer, of a constant that of its function; may
                         // be empty, as in plans that know no operators
  std::string pool;      // empty: not placed
  Bytes offset = 0;
  Bytes size = 0;
  BufferKind kind = BufferKind::tensor;
  bool at_peak = false;     // live at the peak of its pool: PoolState::peak
  Bytes bytes_at_peak = 0;  // of PoolState::occupied_at_peak: PoolFigures::counted
  std::size_t index = 0;    // into PlanDocument::buffers of its plan
  bool is_used = true;      // unless the plan says that it is never live: it takes no room, and others lie over it
};

enum class BufferChange : std::uint8_t {
  added,
  removed,
  resized,  // and perhaps moved
  moved,    // to another offset or pool
};

[[nodiscard]] const char* to_string(BufferChange change);  // "new", "gone", "resized", "moved"

struct BufferDiff {
  BufferChange change = BufferChange::moved;
  std::optional<BufferPlace> before;  // nothing: the buffer is new
  std::optional<BufferPlace> after;   // nothing: the buffer is gone
  // By how much further the buffer reaches into the bytes by which its pools differ, that is, behind the smaller one of
  // what the two plans use there. Of a pool that shrank by 256 bytes, the buffers that held it up have up to -256. 0 of
  // a buffer that changes pools.
  Bytes effect = 0;

  [[nodiscard]] Bytes growth() const;  // of the size; negative: it shrank
  [[nodiscard]] bool changes_pools() const;
  // How much more the buffer counts for at the peak of its pool, each plan's own. PoolState::occupied_at_peak grows by
  // the sum of these and PoolDiff::same_growth_at_peak; a buffer that changes pools counts with its bytes in each.
  [[nodiscard]] Bytes growth_at_peak() const;
  // The buffer as the later plan that has it names it.
  [[nodiscard]] const BufferPlace& shown() const { return after ? *after : *before; }
};

// What one transformation did in either plan.
struct StepDiff {
  std::string step;
  std::optional<plan_file::PlanDocument::StepOutcome>
      before;  // nothing: it found nothing to do, or nobody asked for it
  std::optional<plan_file::PlanDocument::StepOutcome> after;
  std::vector<plan_file::PlanDocument::Change> only_before;
  std::vector<plan_file::PlanDocument::Change> only_after;
};

struct PlanDiff {
  struct Side {
    std::string file;  // file name only
    std::string module;
    std::string algorithm;
    PlanStatus status = PlanStatus::feasible;
    bool transformed = false;  // by any transformation
  };

  Side before;
  Side after;
  std::vector<PoolDiff> pools;  // all of both plans: those of the later plan in its order, then those that are gone
  // That differ: constants behind all others; of these the largest growth at the peak first, then the largest effect,
  // the largest change of size, and the largest size.
  std::vector<BufferDiff> buffers;
  std::size_t same = 0;               // buffers that have their place and size
  std::size_t renamed = 0;            // buffers that both plans have, under another name or in another function
  std::vector<StepDiff> steps;        // that did something else, in the order in which they are applied
  std::vector<std::string> warnings;  // of the later plan

  // Whether what the plans use differs: algorithm, search, names and transformations do not count.
  [[nodiscard]] bool differs() const;
};

// Buffers are the same if function, operator that produces them, name and size are, in the order in which they become
// live. Of those that remain, function, operator and name may differ by the numbers that the compiler gives ("sid_7"
// and "sid_8", "conv2d_nhwc_3" and "conv2d_nhwc_4"): equal sizes are matched first, without crossing, then the rest in
// order. Buffers of differing kinds are never the same.
//
// Changes of a transformation are the same if function and text are; of those that remain, numbers in them are ignored
// likewise, and each change is matched with at most one of the other plan. Loads do not count.
//
// O(n log n), and for each name without numbers the product of what remains of it in both plans, up to 10^6.
[[nodiscard]] PlanDiff diff_plans(const plan_file::PlanDocument& before, const plan_file::PlanDocument& after);

// The plans of all modules. A module of one side alone counts as a difference.
struct Diff {
  std::vector<PlanDiff> modules;
  std::vector<std::string> only_before;  // names of modules
  std::vector<std::string> only_after;

  [[nodiscard]] bool differs() const;
};

// Modules are matched by name, else by archive if it has one of those that are left on each side: they are renamed when
// others join them. One on each side are matched whatever they are.
[[nodiscard]] Diff diff_modules(const std::vector<plan_file::PlanDocument>& before,
                                const std::vector<plan_file::PlanDocument>& after, const std::string& before_file,
                                const std::string& after_file);

}  // namespace usmp::compare

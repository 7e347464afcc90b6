// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Plans that differ.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "plan_support/planned.hpp"
#include "usmp/compare/diff.hpp"

namespace usmp::plan_support::diffs {

using compare::Diff;
using compare::StepDiff;
using plan_file::PlanDocument;

inline PlanDocument example() {
  Planned planned;
  fill_example(planned);
  planned.document.transformed = example_steps();
  return planned.finish();
}

// The example after a change of the model: an operator in front, which renumbers conv's tensors; b larger, and so c
// moved; big gone, and with it its pool. Something is narrowed and merged instead of computed twice, and one more
// tensor is fused.
inline PlanDocument changed() {
  PlanDocument document = example();
  document.algorithm = "optimal";
  document.pools.erase(document.pools.begin() + 1);
  document.pools[0].used = 72;
  document.pools[0].lower_bound = 72;
  document.buffers.erase(document.buffers.begin() + 3);
  document.buffers[1].size = 24;
  document.buffers[2].offset = 32;
  document.buffers.push_back({.name = "|odd, \"name\"",
                              .function = "conv",
                              .kind = BufferKind::scratch,
                              .pool = "dtcm",
                              .offset = 64,
                              .pinned = false,
                              .size = 8,
                              .alignment = 4,
                              .live = {{{5, 6}}},
                              .candidates = {"dtcm"}});
  std::vector<PlanDocument::StepOutcome>& steps = document.transformed;
  steps.pop_back();
  steps[0].changes = {{"conv_2", "T_add: computed where it is read"},
                      {"conv_2", "T_subtract: |odd, \"name\""},
                      {"main", "sid_8: a scalar"}};
  steps[1] = {"narrow", 112, 96, {{"main", "sid_9: stored as int8"}}};
  steps[2].changes = {{"main", "conv_1 and relu: one operator"}};
  steps[3].changes[0].function = "conv_2";
  return document;
}

// A plan in which the step fuse did this and nothing else was done.
inline PlanDocument fused(const std::vector<PlanDocument::Change>& changes) {
  PlanDocument document = example();
  document.transformed = {{"fuse", 160, 112, changes}};
  return document;
}

inline std::vector<StepDiff> steps_of(const PlanDocument& before, const PlanDocument& after) {
  return compare::diff_plans(before, after).steps;
}

inline std::vector<std::string> words_of(const std::vector<PlanDocument::Change>& changes) {
  std::vector<std::string> words;
  for (const PlanDocument::Change& change : changes) words.push_back(change.function + ": " + change.what);
  return words;
}

inline Diff diff_of(const PlanDocument& before, const PlanDocument& after) {
  return compare::diff_modules({before}, {after}, "old.plan.json", "new.plan.json");
}

// Tensors sid_<first>, sid_<first + 1>, … of main, each written by conv_<number>, of the sizes.
inline PlanDocument chain(int first, const std::vector<Bytes>& sizes) {
  PlanDocument document;
  document.module = "default";
  document.pools.push_back({});
  document.pools.back().name = "sram";
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::string number = std::to_string(first + static_cast<int>(i));
    const Tick begin = static_cast<Tick>(i);
    PlanDocument::Buffer& buffer = document.buffers.emplace_back();
    buffer.name = "sid_" + number;
    buffer.function = "main";
    buffer.pool = "sram";
    buffer.size = sizes[i];
    buffer.live = {{begin, begin + 1}};
    document.calls.push_back({"conv_" + number, {begin, begin + 1}});
  }
  return document;
}

}  // namespace usmp::plan_support::diffs

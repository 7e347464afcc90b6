// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Plans again with options that may lower the RAM that is needed.
#include "advice.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "interrupt.hpp"
#include "models.hpp"

namespace usmp::driver {
namespace {

constexpr std::int64_t more_work = 30;  // percent

bool can_be_read_again(const PlanningOptions& options) {
  std::vector<std::string> inputs = inputs_of(options, options.pins);
  std::error_code error;
  return std::ranges::all_of(inputs, [&](const std::string& path) {
    return std::filesystem::is_regular_file(path, error) || std::filesystem::is_directory(path, error);
  });
}

}  // namespace

void try_options(const PlanningOptions& options, bool workspace_io, std::ostream* terminal,
                 const std::function<void(const std::string& words, const Planning& planning)>& done) {
  if (!can_be_read_again(options)) return;
  const std::string work_words = "--allow-recompute " + std::to_string(more_work);
  struct Trial {
    bool io;
    bool work;
    std::string words;
  };
  const Trial trials[] = {
      {true, false, "--workspace-io"}, {false, true, work_words}, {true, true, "--workspace-io " + work_words}};
  const bool has_work =
      options.model.recompute_percent.value_or(0) >= more_work || options.model.transform.value_or("") == "none";
  for (const Trial& trial : trials) {
    if (was_interrupted() || (trial.io && workspace_io) || (trial.work && has_work)) continue;
    PlanningOptions other = options;
    other.workspace_io = options.workspace_io || trial.io;
    if (trial.work) other.model.recompute_percent = more_work;
    Planning planning = assemble_all(other, true, terminal);
    planning.tells_regions = false;
    planning.finds_sizes = false;
    planning.own_arrays = options.in_place;
    plan_all(planning, other, terminal);
    if (!was_interrupted()) done(trial.words, planning);
  }
}

}  // namespace usmp::driver

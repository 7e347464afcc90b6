// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Plans again with options that may lower the RAM that is needed.
#include "advice.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "interrupt.hpp"
#include "models.hpp"
#include "usmp/support/error.hpp"

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

std::string words_of(const Attempt& attempt) {
  std::string words = attempt.workspace_io ? "--workspace-io" : "";
  if (!attempt.more_work) return words;
  return words + (words.empty() ? "" : " ") + "--allow-recompute " + std::to_string(more_work);
}

Planning planned_with(const Attempt& attempt, const PlanningOptions& options, std::ostream* terminal) {
  PlanningOptions other = options;
  other.workspace_io = options.workspace_io || attempt.workspace_io;
  if (attempt.more_work) other.model.recompute_percent = more_work;
  Planning planning = assemble_all(other, true, terminal);
  planning.tells_regions = false;
  planning.finds_sizes = false;
  planning.own_arrays = options.in_place;
  plan_all(planning, other, terminal);
  return planning;
}

}  // namespace

void try_options(const PlanningOptions& options, bool workspace_io, const std::vector<Attempt>& attempts,
                 std::ostream* terminal,
                 const std::function<void(const std::string& words, const Planning& planning)>& done) {
  if (!can_be_read_again(options)) return;
  const bool has_work =
      options.model.recompute_percent.value_or(0) >= more_work || options.model.transform.value_or("") == "none";
  for (const Attempt& attempt : attempts) {
    if (was_interrupted() || (attempt.workspace_io && workspace_io) || (attempt.more_work && has_work)) continue;
    std::optional<Planning> planning;
    try {
      planning = planned_with(attempt, options, terminal);
    } catch (const Error&) {  // pools or pins do not go together with it, or an input has changed: writing tells that
      continue;
    }
    if (!was_interrupted()) done(words_of(attempt), *planning);
  }
}

}  // namespace usmp::driver

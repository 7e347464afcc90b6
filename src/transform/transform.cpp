#include "usmp/transform/transform.hpp"

#include <algorithm>
#include <utility>

#include "transform/fuse.hpp"
#include "transform/narrow.hpp"

namespace usmp::transform {
namespace {

// Returns what it did to the module.
using Pass = std::vector<Change> (*)(tir::Module& module);

struct Row {
  Step step;
  std::string_view name;
  Pass pass;
};

std::vector<Change> nothing(tir::Module& /*module*/) { return {}; }

constexpr Row table[] = {{Step::fuse, "fuse", fuse},
                         {Step::narrow, "narrow", narrow},
                         {Step::constants, "constants", nothing},
                         {Step::reorder, "reorder", nothing}};

const Row& row_of(Step step) {
  return *std::find_if(std::begin(table), std::end(table), [step](const Row& row) { return row.step == step; });
}

}  // namespace

std::string_view name_of(Step step) { return row_of(step).name; }

std::optional<std::vector<Step>> parse_steps(std::string_view text, std::string* wrong) {
  if (text == "none") return std::vector<Step>();
  if (text == "all") return std::vector<Step>(std::begin(all_steps), std::end(all_steps));
  std::vector<Step> steps;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    const auto* const row = std::find_if(std::begin(table), std::end(table),
                                         [word](const Row& candidate) { return candidate.name == word; });
    if (row == std::end(table)) {
      if (wrong != nullptr) *wrong = word;
      return std::nullopt;
    }
    steps.push_back(row->step);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

Result transform(const tir::Module& module, const Options& options) {
  Result result{module, {}};
  for (const Step step : options.steps) {
    std::vector<Change> changes = row_of(step).pass(result.module);
    std::move(changes.begin(), changes.end(), std::back_inserter(result.changes));
  }
  return result;
}

}  // namespace usmp::transform

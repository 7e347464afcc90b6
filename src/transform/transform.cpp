#include "usmp/transform/transform.hpp"

#include <algorithm>
#include <utility>

#include "transform/fuse.hpp"
#include "transform/merge_calls.hpp"
#include "transform/narrow.hpp"

namespace usmp::transform {
namespace {

// Returns what it did to the module.
using Pass = std::vector<Change> (*)(tir::Module& module);

struct Row {
  Step step;
  Pass pass;
};

std::vector<Change> nothing(tir::Module& /*module*/) { return {}; }

// In the order in which they run. Operators are merged when tensors have got small and copies are gone.
constexpr Row passes[] = {{Step::fuse, fuse},
                          {Step::narrow, narrow},
                          {Step::fuse, merge_calls},
                          {Step::constants, nothing},
                          {Step::reorder, nothing}};

}  // namespace

std::string_view name_of(Step step) {
  switch (step) {
    case Step::fuse:
      return "fuse";
    case Step::narrow:
      return "narrow";
    case Step::constants:
      return "constants";
    default:
      return "reorder";
  }
}

std::optional<std::vector<Step>> parse_steps(std::string_view text, std::string* wrong) {
  if (text == "none") return std::vector<Step>();
  if (text == "all") return std::vector<Step>(std::begin(all_steps), std::end(all_steps));
  std::vector<Step> steps;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    const auto* const step = std::find_if(std::begin(all_steps), std::end(all_steps),
                                          [word](Step candidate) { return name_of(candidate) == word; });
    if (step == std::end(all_steps)) {
      if (wrong != nullptr) *wrong = word;
      return std::nullopt;
    }
    steps.push_back(*step);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

Result transform(const tir::Module& module, const Options& options) {
  Result result{module, {}};
  for (const Row& row : passes) {
    if (std::find(options.steps.begin(), options.steps.end(), row.step) == options.steps.end()) continue;
    std::vector<Change> changes = row.pass(result.module);
    std::move(changes.begin(), changes.end(), std::back_inserter(result.changes));
  }
  return result;
}

}  // namespace usmp::transform

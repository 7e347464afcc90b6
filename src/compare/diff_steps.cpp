// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Drops changes that both plans have: equal ones, then those without numbers, then those without function names.
#include "compare/diff_steps.hpp"

#include <algorithm>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "compare/match.hpp"
#include "usmp/support/text.hpp"

namespace usmp::compare {
namespace {

using plan_file::PlanDocument;

using Changes = std::vector<PlanDocument::Change>;
using Steps = std::vector<PlanDocument::StepOutcome>;

// Each word without the number behind it.
std::string words_without_numbers(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto end =
        static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_identifier_char) - text.begin());
    result += without_number(text.substr(0, end));
    text.remove_prefix(end);
    if (text.empty()) break;
    result += text.front();
    text.remove_prefix(1);
  }
  return result;
}

// A change, and what it is compared by: without the name of the module, which stands in the names of its functions, and
// which changes when other modules join it.
struct Entry {
  PlanDocument::Change change;
  PlanDocument::Change key;
};
using Entries = std::vector<Entry>;

std::string without_prefixes(std::string_view text, std::string_view prefix) {
  std::string result;
  for (std::size_t at = text.find(prefix); at != std::string_view::npos; at = text.find(prefix)) {
    result += text.substr(0, at);
    text.remove_prefix(at + prefix.size());
  }
  return result += text;
}

Entries entries_of(const std::optional<PlanDocument::StepOutcome>& step, const std::string& prefix) {
  Entries entries;
  if (!step) return entries;
  for (const PlanDocument::Change& change : step->changes) {
    entries.push_back({change, {without_prefixes(change.function, prefix), without_prefixes(change.what, prefix)}});
  }
  return entries;
}

Changes changes_of(Entries&& entries) {
  Changes changes;
  for (Entry& entry : entries) changes.push_back(std::move(entry.change));
  return changes;
}

// Takes out of both lists what has the same key, as often as both have it; the rest stays in its order.
template <class Key>
void drop_common(Entries& ones, Entries& others, const Key& key_of) {
  struct Count {
    std::size_t left = 0;  // of the others, not met yet
    std::size_t met = 0;
  };
  std::map<std::pair<std::string, std::string>, Count> counts;
  for (const Entry& entry : others) ++counts[key_of(entry.key)].left;
  std::erase_if(ones, [&](const Entry& entry) {
    const auto found = counts.find(key_of(entry.key));
    if (found == counts.end() || found->second.left == 0) return false;
    --found->second.left;
    ++found->second.met;
    return true;
  });
  std::erase_if(others, [&](const Entry& entry) {
    std::size_t& met = counts[key_of(entry.key)].met;
    return met > 0 && met-- > 0;
  });
}

// The functions of a plan, without numbers and the module's name.
std::set<std::string> functions_of(const PlanDocument& document, const std::string& prefix) {
  std::set<std::string> names;
  const auto add = [&](const std::string& name) { names.emplace(without_number(without_prefixes(name, prefix))); };
  for (const PlanDocument::StepOutcome& step : document.transformed) {
    for (const PlanDocument::Change& change : step.changes) add(change.function);
  }
  for (const PlanDocument::Buffer& buffer : document.buffers) add(buffer.function);
  for (const PlanDocument::Call& call : document.calls) {
    add(call.callee);
    for (const PlanDocument::RowOperator& one : call.by_rows) add(one.callee);
  }
  return names;
}

// `functions`: of both plans. Others have another name in the other plan, as another version of TVM gives.
void drop_common(Entries& ones, Entries& others, const std::set<std::string>& functions) {
  drop_common(ones, others, [](const auto& change) { return std::pair(change.function, change.what); });
  drop_common(ones, others, [](const auto& change) {
    return std::pair(std::string(without_number(change.function)), words_without_numbers(change.what));
  });
  drop_common(ones, others, [&](const auto& change) {
    const bool is_shared = functions.contains(std::string(without_number(change.function)));
    return is_shared ? std::pair(change.function, change.what)
                     : std::pair(std::string(), words_without_numbers(change.what));
  });
}

// Names of the steps of both plans, each once: those of the later one stand behind what they follow there.
std::list<std::string_view> step_names(const Steps& before, const Steps& after) {
  std::list<std::string_view> names;
  std::map<std::string_view, std::list<std::string_view>::iterator> places;
  for (const PlanDocument::StepOutcome& step : before) {
    if (!places.contains(step.step)) places.emplace(step.step, names.insert(names.end(), step.step));
  }
  auto next = names.begin();
  for (const PlanDocument::StepOutcome& step : after) {
    const auto known = places.find(step.step);
    const auto place = known != places.end() ? known->second : names.insert(next, step.step);
    if (known == places.end()) places.emplace(step.step, place);
    next = std::next(place);
  }
  return names;
}

using StepsByName = std::map<std::string_view, const PlanDocument::StepOutcome*>;

// The first of each name that is worth a line.
StepsByName by_name(const Steps& steps) {
  StepsByName result;
  for (const PlanDocument::StepOutcome& step : steps) {
    if (step.is_worth_a_line()) result.emplace(step.step, &step);
  }
  return result;
}

std::optional<PlanDocument::StepOutcome> step_of(const StepsByName& steps, std::string_view name) {
  const auto found = steps.find(name);
  return found == steps.end() ? std::nullopt : std::optional(*found->second);
}

}  // namespace

std::vector<StepDiff> diff_steps(const PlanDocument& before, const PlanDocument& after) {
  std::vector<StepDiff> result;
  const std::string prefix_before = module_prefix(before);
  const std::string prefix_after = module_prefix(after);
  std::set<std::string> functions = functions_of(before, prefix_before);
  const std::set<std::string> functions_after = functions_of(after, prefix_after);
  std::erase_if(functions, [&](const std::string& name) { return !functions_after.contains(name); });
  const StepsByName steps_before = by_name(before.transformed);
  const StepsByName steps_after = by_name(after.transformed);
  for (const std::string_view name : step_names(before.transformed, after.transformed)) {
    StepDiff diff{std::string(name), step_of(steps_before, name), step_of(steps_after, name), {}, {}};
    Entries only_before = entries_of(diff.before, prefix_before);
    Entries only_after = entries_of(diff.after, prefix_after);
    drop_common(only_before, only_after, functions);
    diff.only_before = changes_of(std::move(only_before));
    diff.only_after = changes_of(std::move(only_after));
    const bool did_before = diff.before && diff.before->did_something();
    const bool did_after = diff.after && diff.after->did_something();
    if (did_before == did_after && diff.only_before.empty() && diff.only_after.empty()) continue;
    result.push_back(std::move(diff));
  }
  return result;
}

}  // namespace usmp::compare

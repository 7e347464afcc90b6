// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A plan file as the plan of an assembly.
#include <algorithm>
#include <map>
#include <set>

#include "assemble/identity.hpp"
#include "usmp/assemble/pins.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"

namespace usmp::assemble {
namespace {

using plan_file::PlanDocument;

constexpr std::size_t most_differences = 10;  // in one message

std::string text_of(const Identity& identity) {
  const auto& [name, occurrence] = identity;
  return "buffer '" + name.first + "' of '" + name.second + "'" +
         (occurrence == 0 ? "" : " (occurrence " + std::to_string(occurrence) + ")");
}

std::string live_text(const std::vector<LiveRange>& live) {
  constexpr std::size_t most = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(live.size(), most); ++i) {
    text += (i == 0 ? "[" : " [") + std::to_string(live[i].begin) + "," + std::to_string(live[i].end) + ")";
  }
  if (live.size() > most) text += " …";
  return live.empty() ? "nothing" : text;
}

class Recorded {
 public:
  Recorded(const Assembly& assembly, const PlanDocument& plan) : problem_(assembly.problem) {
    Occurrences occurrences;
    for (const PlanDocument::Buffer& place : plan.buffers) {
      places_.emplace(occurrences.next(place.name, place.function), &place);
    }
    for (std::size_t i = 0; i < problem_.pools.size(); ++i) pools_.emplace(problem_.pools[i].name, PoolId(i));
  }

  Plan plan() {
    Plan plan;
    Occurrences occurrences;
    for (const Buffer& buffer : problem_.buffers) {
      const Identity identity = occurrences.next(buffer.name, buffer.function);
      const auto found = places_.find(identity);
      if (found == places_.end()) {
        differ(text_of(identity) + " is missing in the plan");
        plan.allocations.emplace_back();
        continue;
      }
      plan.allocations.push_back(allocation(identity, buffer, *found->second));
      places_.erase(found);
    }
    for (const auto& [identity, place] : places_) differ(text_of(identity) + " is only in the plan");
    if (!differences_.empty()) fail();
    return plan;
  }

 private:
  void differ(const std::string& sentence) {
    if (differences_.size() <= most_differences) differences_.push_back(sentence);
  }

  Allocation allocation(const Identity& identity, const Buffer& buffer, const PlanDocument::Buffer& place) {
    if (place.size != buffer.size) {
      differ(text_of(identity) + " has " + std::to_string(place.size) + " bytes in the plan, " +
             std::to_string(buffer.size) + " in the archive");
    }
    if (!place.live) {
      differ(text_of(identity) + " has no live ranges in the plan");
    } else if (*place.live != buffer.live) {
      differ(text_of(identity) + " is live in " + live_text(*place.live) + " in the plan, in " +
             live_text(buffer.live) + " in the archive");
    }
    const auto pool = pools_.find(place.pool);
    if (!place.placed()) {
      differ(text_of(identity) + " is not placed");
    } else if (pool == pools_.end()) {
      other_pools_.insert(place.pool);
      differ({});
    } else {
      return {pool->second, place.offset};
    }
    return {};
  }

  [[noreturn]] void fail() const {
    if (!other_pools_.empty()) {
      const std::vector<std::string> names(other_pools_.begin(), other_pools_.end());
      throw Error(ErrorKind::usage, {},
                  "has buffers in other pools than those given: " + joined(names) +
                      "; expected the pools file that it was planned with (--pools)");
    }
    throw Error(ErrorKind::usage, {},
                "is not a plan of this archive with these pools:", first_lines(differences_, most_differences));
  }

  const Problem& problem_;
  std::map<Identity, const PlanDocument::Buffer*> places_;
  std::map<std::string, PoolId> pools_;
  std::set<std::string> other_pools_;  // that the problem does not have
  std::vector<std::string> differences_;
};

}  // namespace

Plan recorded_plan(const Assembly& assembly, const plan_file::PlanDocument& plan) {
  return Recorded(assembly, plan).plan();
}

}  // namespace usmp::assemble

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Recognises hooks by the ends of their names, and keeps the set of devices that are open or active.
#include "transform/device_states.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "usmp/program/entry_calls.hpp"

namespace usmp::transform {
namespace {

struct Hook {
  std::string_view ending;
  std::string_view state;
  bool begins;
};

constexpr std::size_t most_states = 32;  // at a time; boards have a few devices
constexpr std::string_view prefix = "TVMDevice";
constexpr std::string_view open = ".open";
constexpr std::string_view active = ".active";
constexpr Hook hooks[] = {
    {"Deactivate", active, false}, {"Activate", active, true}, {"Open", open, true}, {"Close", open, false}};

}  // namespace

bool DeviceStates::take(const tir::Stmt& stmt) {
  const auto call = program::plain_call(stmt);
  if (!call || !call->name->starts_with(prefix) || module_.find(*call->name)) return false;
  const auto* const hook =
      std::ranges::find_if(hooks, [&](const Hook& one) { return call->name->ends_with(one.ending); });
  if (hook == std::end(hooks)) return false;
  std::string device = call->name->substr(0, call->name->size() - hook->ending.size()) + std::string(hook->state);
  if (hook->begins && now_.size() == most_states && !now_.contains(device)) return false;
  const bool changes = hook->begins ? now_.insert(std::move(device)).second : now_.erase(device) > 0;
  if (changes && hook->state == open) open_ = hook->begins ? open_ + 1 : open_ - 1;
  return true;
}

}  // namespace usmp::transform

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What follows from bounds: the rules of packing.
//
// Pairs. If b cannot end below c's lowest offset ... items that are live together stand one above the other. When a
// cannot be above c (low(c) + height(c) > high(a)), it is below: low(c) >= low(a) + height(a), and
// high(a) <= high(c) - height(a).
//
// Overload. Let W be items of one section with offsets >= v and ends <= e. They need the sum of their heights between v
// and e.
//
// Not first. If item b of W has an offset above e - (sum of W), it is not the lowest of W: then all of W would be above
// low(b). The lowest one is below it, so low(b) is at least the smallest low(c) + height(c) of those that may be
// lowest. (Carlier and Pinson's rule of job shop scheduling. Asking those alone matters: small items that cannot be
// lowest would raise each other step by step, thousands of millions of times beside a large one.)
//
// Support. Some best plan is left-justified: each item that is not pinned stands at its base or directly on another
// item, for else it could be moved down, and no plan gets higher by that. An item that nothing can support at its lower
// bound is higher.
//
// Twins. Items with the same size, alignment and life are exchangeable: the first one stands below the second.
#include <algorithm>
#include <limits>

#include "planners/exact/engine.hpp"

namespace usmp::planners::exact {

bool Engine::propagate() {
  if (contradictory_) return false;
  while (true) {
    while (next_ < trail_.size()) {
      if (overflowed()) return true;
      const Variable variable = trail_[next_].variable;
      const Unit value = trail_[next_].value;
      ++next_;
      if (bound_[index(variable)] != value) continue;  // a later step says more
      if (!propagate_clauses(variable, value)) return false;
      const std::size_t item = index(variable) / 2;
      const bool low_rose = variable == at_least(item);
      if (item == peak_) {
        if (!low_rose && !propagate_peak()) return false;
      } else if (low_rose ? !propagate_low(item) : !propagate_high(item)) {
        return false;
      }
    }
    if (to_check_.empty()) return true;
    const std::int32_t section = to_check_.back();
    to_check_.pop_back();
    marked_[index(section)] = false;
    if (!check_section(index(section))) return false;
  }
}

bool Engine::order(std::size_t below, std::size_t above) {
  const Unit height = model_.height[below];
  // `below` is not above an item that cannot end below its highest offset. Of the ways to say so, the one that asks
  // most of the item above has proved the most useful.
  const Unit top = low(above) + model_.height[above] - 1;
  const Literal not_above{at_most(below), -top};
  const Literal not_below{at_least(above), top - model_.height[above] + 1};
  if (low(above) < low(below) + height) {
    const std::array<Literal, 3> reason{{{at_least(below), low(below)}, not_above, not_below}};
    if (!imply({at_least(above), low(below) + height}, reason, 1)) return false;
  }
  if (high(below) > high(above) - height) {
    const std::array<Literal, 3> reason{{{at_most(above), -high(above)}, not_above, not_below}};
    if (!imply({at_most(below), height - high(above)}, reason, 1)) return false;
  }
  return true;
}

bool Engine::propagate_low(std::size_t item) {
  mark_sections(item);
  const std::array<Literal, 1> reason{{{at_least(item), low(item)}}};
  if (!imply({at_least(peak_), model_.end(item, low(item))}, reason, 0)) return false;
  if (!propagate_twins(item)) return false;
  const Unit height = model_.height[item];
  const std::span<const std::int32_t> neighbours = model_.neighbours(item);
  work_ += neighbours.size();
  for (const std::int32_t neighbour : neighbours) {
    const std::size_t other = index(neighbour);
    if (low(item) + height > high(other)) {
      if (low(item) < low(other) + model_.height[other] || high(other) > high(item) - model_.height[other]) {
        if (!order(other, item)) return false;
      }
    }
    if (low(other) + model_.height[other] > high(item) && low(other) < low(item) + height) {
      if (!order(item, other)) return false;
    }
  }
  return true;
}

bool Engine::propagate_high(std::size_t item) {
  if (!propagate_twins(item)) return false;
  const Unit height = model_.height[item];
  const std::span<const std::int32_t> neighbours = model_.neighbours(item);
  work_ += neighbours.size();
  for (const std::int32_t neighbour : neighbours) {
    const std::size_t other = index(neighbour);
    if (low(other) + model_.height[other] > high(item)) {
      if (low(other) < low(item) + height || high(item) > high(other) - height) {
        if (!order(item, other)) return false;
      }
    }
    if (low(item) + height > high(other) && high(other) > high(item) - model_.height[other]) {
      if (!order(other, item)) return false;
    }
  }
  return true;
}

bool Engine::propagate_twins(std::size_t item) {
  const Unit height = model_.height[item];
  for (const std::int32_t twin : twin_above_[item]) {
    const std::array<Literal, 1> reason{{{at_least(item), low(item)}}};
    if (!imply({at_least(index(twin)), low(item) + height}, reason, 1)) return false;
  }
  for (const std::int32_t twin : twin_below_[item]) {
    const std::array<Literal, 1> reason{{{at_most(item), -high(item)}}};
    if (!imply({at_most(index(twin)), height - high(item)}, reason, 1)) return false;
  }
  return true;
}

bool Engine::propagate_peak() {
  const Bytes top = high(peak_);
  for (std::size_t item = 0; item < model_.size(); ++item) {
    const Unit highest = model_.highest(item, top);
    if (highest >= high(item)) continue;
    // The same holds for every peak that is too small for the next offset.
    const Bytes weaker = highest < 0 ? model_.end(item, 0) - 1 : model_.end(item, highest + model_.alignment[item]) - 1;
    const std::array<Literal, 1> reason{{{at_most(peak_), -(rules_.weakening ? weaker : top)}}};
    if (!imply({at_most(item), -highest}, reason, 0)) return false;
  }
  mark_all_sections();
  return true;
}

void Engine::mark_sections(std::size_t item) {
  for (const std::int32_t section : model_.sections(item)) {
    if (marked_[index(section)]) continue;
    marked_[index(section)] = true;
    to_check_.push_back(section);
  }
}

void Engine::mark_all_sections() {
  to_check_.clear();
  for (std::size_t section = 0; section < section_.size(); ++section) {
    marked_[section] = true;
    to_check_.push_back(static_cast<std::int32_t>(section));
  }
}

bool Engine::check_section(std::size_t section) {
  if (!rules_.overload) return true;
  std::vector<std::int32_t>& items = section_[section];
  work_ += items.size();
  for (std::size_t i = 1; i < items.size(); ++i) {
    const std::int32_t item = items[i];
    const Unit key = low(index(item));
    std::size_t k = i;
    for (; k > 0 && low(index(items[k - 1])) > key; --k) items[k] = items[k - 1];
    items[k] = item;
  }
  std::size_t open = 0;  // the items below are fixed, and say nothing that those above do not
  while (open < items.size() && fixed(index(items[open]))) ++open;
  if (open == items.size()) return true;
  Unit sum = 0;
  Unit end = 0;
  for (std::size_t i = items.size(); i-- > open;) {
    const std::size_t item = index(items[i]);
    const Unit height = model_.height[item];
    sum += height;
    end = std::max(end, high(item) + height);
    if (low(item) + sum <= end) continue;
    conflict_.clear();
    const Unit from = rules_.weakening ? end - sum + 1 : low(item);
    for (std::size_t k = i; k < items.size(); ++k) {
      conflict_.push_back({at_least(index(items[k])), from});
      conflict_.push_back({at_most(index(items[k])), model_.height[index(items[k])] - end});
    }
    return false;
  }
  if (!rules_.not_first || low(index(items.back())) + sum <= end) return true;
  return raise_not_first(section, open, sum, end);
}

// All of the section from the first open one have the sum of heights, and end at `end` or below.
bool Engine::raise_not_first(std::size_t section, std::size_t open, Unit sum, Unit end) {
  const std::span<const std::int32_t> crowd = std::span(section_[section]).subspan(open);
  const Unit threshold = end - sum + 1;
  Unit earliest = std::numeric_limits<Unit>::max();
  std::size_t first_above = 0;
  for (; low(index(crowd[first_above])) < threshold; ++first_above) {
    const std::size_t item = index(crowd[first_above]);
    earliest = std::min(earliest, low(item) + model_.height[item]);
  }
  for (std::size_t i = crowd.size(); i-- > first_above;) {
    const std::size_t item = index(crowd[i]);
    if (low(item) < earliest && !imply_not_first(item, earliest, threshold, end, crowd)) return false;
  }
  return true;
}

Engine::Support Engine::support(std::size_t item) {
  const Unit at = low(item);
  if (!rules_.support || at == model_.base[item] || model_.pinned[item] >= 0) return Support::possible;
  const Unit alignment = model_.alignment[item];
  const auto aligned = [&](Unit end) { return round_up(at_least(item), end); };
  Unit next = std::numeric_limits<Unit>::max();
  for (const std::int32_t neighbour : model_.neighbours(item)) {
    const std::size_t other = index(neighbour);
    const Unit height = model_.height[other];
    if (aligned(high(other) + height) < at) continue;
    next = std::min(next, std::max(at, aligned(low(other) + height)));
    if (next == at) return Support::possible;
  }
  work_ += model_.neighbours(item).size();
  const bool nothing = next == std::numeric_limits<Unit>::max();
  scratch_.clear();
  if (!nothing) {
    for (const std::int32_t neighbour : model_.neighbours(item)) {
      const std::size_t other = index(neighbour);
      if (aligned(high(other) + model_.height[other]) < at) continue;
      scratch_.push_back({at_least(other), next - alignment + 1 - model_.height[other]});
    }
  }
  const std::size_t slack = scratch_.size();
  scratch_.push_back({at_least(item), at});
  for (const std::int32_t neighbour : model_.neighbours(item)) {
    const std::size_t other = index(neighbour);
    if (aligned(high(other) + model_.height[other]) >= at) continue;
    scratch_.push_back({at_most(other), model_.height[other] - (at - alignment)});
  }
  if (nothing) {
    conflict_ = scratch_;
    return Support::contradiction;
  }
  return imply({at_least(item), next}, scratch_, slack) ? Support::raised : Support::contradiction;
}

}  // namespace usmp::planners::exact

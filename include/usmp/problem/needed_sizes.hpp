// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// How much larger pools have to be for a plan to exist: what is told of a problem without a plan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "usmp/support/checked.hpp"

namespace usmp {

// A bounded pool that is too small.
struct NeededSize {
  std::string pool;
  Bytes available = 0;               // its capacity
  Bytes at_least = 0;                // proved: with less there is no plan. Not above `available` if that is not proved
  std::optional<Bytes> enough = {};  // > available; a plan was found with this. Nothing: none was found

  [[nodiscard]] bool proved() const { return enough == at_least; }
  [[nodiscard]] Bytes missing() const { return enough.value_or(at_least) - available; }

  friend bool operator==(const NeededSize&, const NeededSize&) = default;
};

// Pools that are enlarged together, all others as they are. Mostly one.
using Enlargement = std::vector<NeededSize>;

// Pools that share buffers and are too small for them: any one of these is enough, each is minimal by itself.
struct Shortfall {
  std::vector<Enlargement> choices;  // in the order of the pools; not empty

  friend bool operator==(const Shortfall&, const Shortfall&) = default;
};

struct NeededSizes {
  std::vector<Shortfall> shortfalls;  // each has to be met. Empty: nothing is known
  std::string fits_with;              // an algorithm that finds a plan in the pools as they are; empty: none is known
};

}  // namespace usmp

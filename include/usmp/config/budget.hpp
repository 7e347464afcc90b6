// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What a plan may use of a pool before `usmp-plan check` warns or fails (docs/pools.md, "Budgets").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/support/checked.hpp"

namespace usmp::config {

// A position in the pools file, both from 1, columns in bytes. Line 0: none.
struct Position {
  std::size_t line = 0;
  std::size_t column = 0;

  friend bool operator==(const Position&, const Position&) = default;
};

// A share, exact to a hundredth of a percent: "95%", "0.5%", "1.25%".
struct Percent {
  static constexpr std::int64_t whole = 10000;

  std::int64_t hundredths = 0;  // 0 to 100000

  friend bool operator==(const Percent&, const Percent&) = default;
};

// Digits without leading zeros, optionally a point and one or two digits, and '%'. Nothing for anything else or beyond
// 1000%.
[[nodiscard]] std::optional<Percent> parse_percent(std::string_view text);

// The shortest form that parse_percent reads.
[[nodiscard]] std::string format_percent(Percent percent);

// That share of `size` (>= 0), rounded down. No overflow for shares up to 100%, nor for sizes up to
// Problem::max_total_bytes.
[[nodiscard]] Bytes share_of(Bytes size, Percent percent);

template <class T>
struct Limit {
  T value{};
  Position position;  // of the value
};

// All budgets of one pool, which apply to each module separately. "Used" is as in reports: up to the end of the last
// buffer, reserved bytes counted.
struct Budget {
  std::optional<Limit<Bytes>> max;           // used bytes at most; not above the pool's size
  std::optional<Limit<Percent>> warn_at;     // of `max`, else of the pool's size: more is a warning. Up to 100%
  std::optional<Limit<Bytes>> min_headroom;  // of the pool's size to be left; less than that size, which is bounded
  std::optional<Limit<Percent>> max_growth;  // of used bytes above those of a baseline

  [[nodiscard]] bool any() const { return max || warn_at || min_headroom || max_growth; }
};

// What may be used of a region of a linker script.
struct RegionBudget {
  std::string region;
  Limit<Bytes> max;
};

// Budgets of all that a program takes, beside those of its pools.
struct WholeBudget {
  std::optional<Limit<Bytes>> ram;    // workspace, state, inputs, outputs and stack
  std::optional<Limit<Bytes>> flash;  // constants
  std::optional<Limit<Bytes>> stack;
  std::optional<Limit<Bytes>> instructions;  // of one inference; a number, not bytes
  std::vector<RegionBudget> regions;         // all different

  [[nodiscard]] bool any() const { return ram || flash || stack || instructions || !regions.empty(); }
};

}  // namespace usmp::config

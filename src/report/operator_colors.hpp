// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which colour an operator's buffers have in a memory map: a hue for its kind, a shade of it for the operator.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "usmp/compare/figures.hpp"

namespace usmp::report {

inline constexpr std::size_t hue_count = 12;
inline constexpr std::size_t shade_count = 4;

// "#8ecae6"; hue < hue_count, shade < shade_count. Light enough for dark letters.
[[nodiscard]] std::string color_text(std::size_t hue, std::size_t shade);

struct OperatorColor {
  std::size_t hue = 0;
  std::size_t shade = 0;

  friend auto operator<=>(const OperatorColor&, const OperatorColor&) = default;
};

struct OperatorColors {
  struct Kind {
    std::string name;           // as in the names of its operators
    std::size_t operators = 0;  // with a colour
  };
  using Maker = std::pair<std::size_t, std::size_t>;  // call and row operator

  std::map<Maker, OperatorColor> of;  // all that make a buffer or use a constant
  std::vector<Kind> kinds;            // by hue; of more kinds than hues, the last one is "other kinds"
};

// Kinds have their hues in the order of their buffers' bytes, the largest sum first. Of a kind, operators take the
// shades in turn, except those of others whose workspace buffers are live, or end or begin, at the same time, as long
// as there are other shades. O(n log n).
[[nodiscard]] OperatorColors operator_colors(const plan_file::PlanDocument& document,
                                             const compare::PlanFigures& figures);

}  // namespace usmp::report

// SPDX-License-Identifier: Apache-2.0
// Which colour of a memory map's palette an operator's buffers have.
#pragma once

#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include "usmp/compare/figures.hpp"

namespace usmp::report {

inline constexpr std::size_t palette_size = 12;
inline constexpr std::string_view repeated_colors_text =
    "More operators than colours: several have the same one. Point at a rectangle to see its operator.";

// Indices into the palette by call and row operator, of all that make a buffer or use a constant. The operators take
// the colours in turn, except those of others whose workspace buffers are live, or end or begin, at the same time, as
// long as there are other colours. O(n log n).
[[nodiscard]] std::map<std::pair<std::size_t, std::size_t>, std::size_t> operator_colors(
    const plan_file::PlanDocument& document, const compare::PlanFigures& figures);

}  // namespace usmp::report

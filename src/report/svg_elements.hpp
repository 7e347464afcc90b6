// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Elements of SVG. Coordinates are whole tenths of a pixel, so that no rounding of a machine's own reaches the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace usmp::report {

using Tenths = std::int64_t;

extern const std::string_view svg_style;  // of memory maps
extern const std::string_view svg_hatch;  // a pattern named "hatch"

[[nodiscard]] std::string pixels(Tenths value);
// value / span of `length`.
[[nodiscard]] Tenths scaled(std::int64_t value, std::int64_t span, Tenths length);
// The step of a grid with at most `most` parts to `span`: 1, 2, 5, 10, 20, … times `least`, a power of ten.
[[nodiscard]] std::int64_t round_step(std::int64_t span, std::int64_t most, std::int64_t least = 1);
[[nodiscard]] std::string svg_attribute(std::string_view name, Tenths value);
// Estimates text of 11 pixels in the wider ones of the fonts that systems have.
[[nodiscard]] Tenths width_of_text(std::string_view text);
[[nodiscard]] std::string rectangle(Tenths x, Tenths y, Tenths width, Tenths height);  // not closed
[[nodiscard]] std::string text_element(Tenths x, Tenths y, std::string_view attributes, std::string_view text);
[[nodiscard]] std::string line_element(std::string_view name, Tenths x1, Tenths y1, Tenths x2, Tenths y2);

}  // namespace usmp::report

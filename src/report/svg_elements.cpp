// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes elements with numbers in tenths, and estimates how wide text is.
#include "report/svg_elements.hpp"

#include <cmath>
#include <cstdlib>

#include "report/markup.hpp"
#include "usmp/support/characters.hpp"

namespace usmp::report {

const std::string_view svg_style = R"(<style>
svg{--page:#fff;--text:#1b2128;--dim:#5b6672;--line:#d5dae0;--panel:#f6f8fa;--peak:#c4262e;--bound:#2b6cb0;--gap:#d97706}
@media(prefers-color-scheme:dark){svg{--page:#14181d;--text:#e6eaef;--dim:#9aa5b1;--line:#39424d;--panel:#1b2027;--peak:#ff7b72;--bound:#79b8ff;--gap:#f0a13a}}
text{font:11px system-ui,sans-serif;fill:var(--text)}
.page{fill:var(--page)}.title{font-size:15px;font-weight:600}.pool{font-size:13px;font-weight:600}
.dim{fill:var(--dim)}.panel{fill:var(--panel);stroke:var(--line)}.grid{stroke:var(--line)}
.buffers rect{stroke:#14181d;stroke-opacity:.45;stroke-width:.6}.buffers .thin{stroke:none}
.labels text{fill:#14181d;pointer-events:none;paint-order:stroke;stroke:#fff;stroke-opacity:.75;stroke-width:3}
.gaps rect{fill:var(--gap);fill-opacity:.8}
.reserved{fill:var(--dim);fill-opacity:.25}.peak{fill:var(--peak);fill-opacity:.16;pointer-events:none}
.peak-text{fill:var(--peak);font-weight:600}.live{fill:none;stroke:var(--text);stroke-width:1.4;pointer-events:none}
.shared rect{fill:url(#hatch)}.outlines rect{fill:none;stroke:#14181d;stroke-width:.9;pointer-events:none}
.bound{stroke:var(--bound);stroke-dasharray:5 3;pointer-events:none}.capacity{stroke:var(--peak);pointer-events:none}
</style>
)";

// Over what two buffers share, both colours and outlines shining through.
const std::string_view svg_hatch =
    "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\"><rect width=\"2.5\" height=\"6\" fill=\"#14181d\" "
    "fill-opacity=\".5\"/></pattern></defs>\n";

std::string pixels(Tenths value) {
  const std::string text = std::to_string(std::abs(value) / 10);
  const Tenths rest = std::abs(value) % 10;
  return (value < 0 ? "-" : "") + text + (rest == 0 ? "" : "." + std::to_string(rest));
}

// value / span of `length`.
Tenths scaled(std::int64_t value, std::int64_t span, Tenths length) {
  return std::llround(static_cast<double>(value) / static_cast<double>(span) * static_cast<double>(length));
}

std::int64_t round_step(std::int64_t span, std::int64_t most, std::int64_t least) {
  std::int64_t step = least;
  for (int i = 0; span / step > most; ++i) step = i % 3 == 1 ? step / 2 * 5 : step * 2;
  return step;
}

std::string svg_attribute(std::string_view name, Tenths value) {
  return " " + std::string(name) + "=\"" + pixels(value) + "\"";
}

std::string rectangle(Tenths x, Tenths y, Tenths width, Tenths height) {
  return "<rect" + svg_attribute("x", x) + svg_attribute("y", y) + svg_attribute("width", width) +
         svg_attribute("height", height);
}

Tenths width_of_text(std::string_view text) {
  Tenths width = 0;
  for (const char c : text) {
    if (is_utf8_continuation(c)) continue;  // inside of a character
    const bool is_wide = std::string_view("mwMW#%&@").find(c) != std::string_view::npos || (c & 0x80) != 0;
    const bool is_narrow = std::string_view("fijlrtI .,:;!'|()[]-/").find(c) != std::string_view::npos;
    width += is_wide ? 110 : is_narrow ? 46 : is_capital(c) ? 82 : 70;
  }
  return width;
}

std::string text_element(Tenths x, Tenths y, std::string_view attributes, std::string_view text) {
  return "<text" + svg_attribute("x", x) + svg_attribute("y", y) + std::string(attributes) + ">" + markup_text(text) +
         "</text>\n";
}

std::string line_element(std::string_view name, Tenths x1, Tenths y1, Tenths x2, Tenths y2) {
  return "<line class=\"" + std::string(name) + "\"" + svg_attribute("x1", x1) + svg_attribute("y1", y1) +
         svg_attribute("x2", x2) + svg_attribute("y2", y2) + "/>\n";
}

}  // namespace usmp::report

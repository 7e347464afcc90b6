// The memory map of a plan as a picture: a panel for each pool that holds anything, time to the right, addresses
// upwards, a rectangle for each live range of a buffer, the peak marked.
#pragma once

#include <string>

#include "usmp/plan_file/plan_document.hpp"

namespace usmp::report {

// A picture for documents: SVG 1.1 without script, light or dark as the viewer asks, one rectangle a live range with
// what there is to say of it as its title. Byte-identical for the same document. Throws what plan_figures throws.
// O(n log n), about 350 bytes a live range: its title tells of the first 16 of its buffer.
[[nodiscard]] std::string memory_map_svg(const plan_file::PlanDocument& document);

// A page for a browser, complete in itself: it loads nothing and its content security policy allows nothing to be
// loaded. Search, zoom, keyboard. The same promises as above.
[[nodiscard]] std::string memory_map_html(const plan_file::PlanDocument& document);

}  // namespace usmp::report

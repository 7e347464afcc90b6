// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The memory map of a plan as a picture: a panel for each pool that holds anything, time to the right, addresses
// upwards, a rectangle for each live range of a buffer, the peak marked.
#pragma once

#include <span>
#include <string>

#include "usmp/plan_file/plan_document.hpp"

namespace usmp::report {

// A picture for documents: SVG 1.1 without script, light or dark as the viewer asks, one rectangle per live range,
// described in its title. Byte-identical for the same document. Throws what plan_figures throws. O(n log n), about 350
// bytes per live range; its title lists the first 16 ranges of its buffer.
[[nodiscard]] std::string memory_map_svg(const plan_file::PlanDocument& document);

// A self-contained page for a browser: it loads nothing, and its content security policy forbids loading. Search, zoom,
// keyboard. The same guarantees as above.
// It shows one of several modules at a time.
[[nodiscard]] std::string memory_map_html(const plan_file::PlanDocument& document);
[[nodiscard]] std::string memory_map_html(std::span<const plan_file::PlanDocument> documents);  // at least one

}  // namespace usmp::report

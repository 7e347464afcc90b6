// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Rounds each array up to the largest alignment, and takes the least padding off the last.
#include "usmp/support/section_size.hpp"

#include <algorithm>
#include <optional>

namespace usmp {

Bytes section_size(const std::vector<SectionArray>& arrays) {
  Bytes alignment = 1;
  for (const SectionArray& array : arrays) {
    if (array.size > 0) alignment = std::max(alignment, array.alignment);
  }
  Bytes total = 0;
  std::optional<Bytes> least_padding;  // what is behind the last one counts nothing
  for (const SectionArray& array : arrays) {
    if (array.size == 0) continue;
    const Bytes padding = align_up(array.size, alignment) - array.size;
    total += array.size + padding;
    least_padding = std::min(padding, least_padding.value_or(padding));
  }
  return total - least_padding.value_or(0);
}

}  // namespace usmp

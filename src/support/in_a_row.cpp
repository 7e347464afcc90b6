// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
#include "usmp/support/in_a_row.hpp"

#include <algorithm>
#include <optional>

namespace usmp {

Bytes bytes_in_a_row(const std::vector<ArrayInRow>& arrays) {
  Bytes alignment = 1;
  for (const ArrayInRow& array : arrays) {
    if (array.size > 0) alignment = std::max(alignment, array.alignment);
  }
  Bytes total = 0;
  std::optional<Bytes> least_padding;  // what is behind the last one counts nothing
  for (const ArrayInRow& array : arrays) {
    if (array.size == 0) continue;
    const Bytes padding = align_up(array.size, alignment) - array.size;
    total += array.size + padding;
    least_padding = std::min(padding, least_padding.value_or(padding));
  }
  return total - least_padding.value_or(0);
}

}  // namespace usmp

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Arrays that a linker puts into one section, one behind the other.
#pragma once

#include <vector>

#include "usmp/support/checked.hpp"

namespace usmp {

struct SectionArray {
  Bytes size = 0;
  Bytes alignment = 1;  // a power of two
};

// Bytes from the first array to the end of the last, padding between them included, for a start that is aligned for all
// of them. The order is the linker's: in none of them it is more, and with equal alignments it is so much in one.
// O(arrays).
[[nodiscard]] Bytes section_size(const std::vector<SectionArray>& arrays);

}  // namespace usmp

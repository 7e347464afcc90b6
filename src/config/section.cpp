// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Compares the beginning of the name with those that compilers give to sections without contents.
#include "config/section.hpp"

namespace usmp::config {

bool stays_out_of_image(std::string_view section) {
  for (const std::string_view start : {".bss", ".sbss", ".noinit"}) {
    if (section.starts_with(start) && (section.size() == start.size() || section[start.size()] == '.')) return true;
  }
  return false;
}

}  // namespace usmp::config

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Copies the pattern once; a letter behind "$" is looked up.
#include "codegen/template_text.hpp"

#include <cstddef>

namespace usmp::codegen {

std::string fill(std::string_view pattern, const std::map<char, std::string>& values) {
  std::string result;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '$') {
      result += values.at(pattern[++i]);
    } else {
      result += pattern[i];
    }
  }
  return result;
}

}  // namespace usmp::codegen

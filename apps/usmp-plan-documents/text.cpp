// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Puts a text into single quotes, which the shells escape in different ways.
#include "documents.hpp"

namespace usmp::apps {

std::string shell_quoted(std::string_view text, std::string_view quote) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += quote;
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace usmp::apps

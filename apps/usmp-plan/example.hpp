// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
#pragma once

#include <string>

namespace usmp::apps {

// A command line that is shown, and what it does.
struct Example {
  std::string command;
  std::string effect;
};

}  // namespace usmp::apps

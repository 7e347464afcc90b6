// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Ctrl-C while a search runs.
#pragma once

#include <atomic>
#include <csignal>

namespace usmp::driver {

// As long as it lives, the first SIGINT sets the flag and the second ends the program as it always does. A program that
// was started with SIGINT ignored goes on ignoring it. One at a time; SIGTERM ends the program at once as ever, since
// who sends it does not want to wait.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  [[nodiscard]] const std::atomic<bool>& flag() const;

 private:
  struct sigaction previous_ = {};
  bool installed_ = false;
};

// Whether an Interrupt has had its SIGINT since the last call of forget_interruptions.
[[nodiscard]] bool was_interrupted();
void forget_interruptions();

}  // namespace usmp::driver

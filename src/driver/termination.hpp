// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Ctrl-C and kill while files are written.
#pragma once

#include <csignal>
#include <functional>

namespace usmp::driver {

// Thrown to leave the writing when a signal waits; the signal ends the program as soon as the TerminationDeferred goes.
struct Terminated {};

// As long as it lives, the signals that end a program (ending_signals) wait. So a temporary directory that is made
// after it and goes before it never stays behind because of them, and a set of renames is never left half done. Signals
// that the program was told to ignore are passed over.
class TerminationDeferred {
 public:
  TerminationDeferred();
  ~TerminationDeferred();
  TerminationDeferred(const TerminationDeferred&) = delete;
  TerminationDeferred& operator=(const TerminationDeferred&) = delete;

  // Whether a signal waits. One system call: for every few ten KiB, not for every byte.
  [[nodiscard]] bool is_pending() const;
  // Throws Terminated if one does.
  void check() const;
  // The same for those who write files. Must not outlive this object.
  [[nodiscard]] std::function<void()> hook() const {
    return [this] { check(); };
  }

 private:
  sigset_t deferred_ = {};
  sigset_t before_ = {};
};

}  // namespace usmp::driver

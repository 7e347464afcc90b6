// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Holds signals back until files are complete, and removes what is not.
#include "termination.hpp"

#include <algorithm>

#include "usmp/support/ending_signals.hpp"

namespace usmp::driver {
namespace {

bool is_ignored(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

TerminationDeferred::TerminationDeferred() {
  sigemptyset(&deferred_);
  for (const int signal : ending_signals) {
    if (!is_ignored(signal)) sigaddset(&deferred_, signal);
  }
  sigprocmask(SIG_BLOCK, &deferred_, &before_);
}

TerminationDeferred::~TerminationDeferred() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

bool TerminationDeferred::is_pending() const {
  sigset_t pending;
  sigpending(&pending);
  return std::ranges::any_of(ending_signals, [&](int signal) {
    const bool was_free = sigismember(&before_, signal) == 0;
    return was_free && sigismember(&deferred_, signal) == 1 && sigismember(&pending, signal) == 1;
  });
}

void TerminationDeferred::check() const {
  if (is_pending()) throw Terminated();
}

}  // namespace usmp::driver

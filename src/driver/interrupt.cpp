// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Turns the first Ctrl-C into a request to stop, and the second into the end.
#include "interrupt.hpp"

namespace usmp::driver {
namespace {

// A signal handler can reach nothing but static data.
std::atomic<bool> interrupted = false;
std::atomic<bool> any_interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "the handler may only touch lock-free atomics");

extern "C" void note_interrupt(int /*signal*/) {
  interrupted.store(true, std::memory_order_relaxed);
  any_interrupted.store(true, std::memory_order_relaxed);
}

}  // namespace

Interrupt::Interrupt() {
  interrupted = false;
  if (sigaction(SIGINT, nullptr, &previous_) != 0 || previous_.sa_handler == SIG_IGN) return;
  struct sigaction action = {};
  action.sa_handler = note_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigemptyset(&action.sa_mask);
  installed_ = sigaction(SIGINT, &action, nullptr) == 0;
}

Interrupt::~Interrupt() {
  if (installed_) sigaction(SIGINT, &previous_, nullptr);
}

const std::atomic<bool>& Interrupt::flag() const { return interrupted; }

bool was_interrupted() { return any_interrupted; }

void forget_interruptions() { any_interrupted = false; }

}  // namespace usmp::driver

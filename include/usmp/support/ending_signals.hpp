// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The signals that others send to end a program.
#pragma once

#include <array>
#include <csignal>

namespace usmp {

// Those that end a program unless it says otherwise and that no fault of its own raises: what has to wait while
// something must not be left behind. SIGKILL cannot wait; SIGPIPE and SIGXFSZ are errors of a write; real-time signals
// are sent by programs that know each other.
inline constexpr std::array ending_signals = {SIGHUP,  SIGINT,    SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
                                              SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGIO,   SIGPWR};

}  // namespace usmp

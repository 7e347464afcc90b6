// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// How large pools have to be for a plan to exist, for people and for programs.
#pragma once

#include <string>

#include "usmp/problem/needed_sizes.hpp"

namespace usmp::report {

// "9536 bytes needed, 8000 available, 1536 missing", or what is known.
[[nodiscard]] std::string needed_text(const NeededSize& size);

// Lines below a first one, each with a line break in front: "\n  sram: 9536 bytes needed, …". Empty if nothing is
// known.
[[nodiscard]] std::string needed_text(const NeededSizes& sizes);

}  // namespace usmp::report

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What has to be known of a function before it is called.
#pragma once

#include <vector>

#include "replay/compile.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::replay {

struct Facts {
  bool declares = false;       // the function, or one that it calls, allocates sites that are followed
  bool returns_early = false;  // somewhere before its end, or as if it had failed
};

// By function index. O(size of the module).
[[nodiscard]] std::vector<Facts> facts_of(const tir::Module& module, const Followed& followed);

}  // namespace usmp::replay

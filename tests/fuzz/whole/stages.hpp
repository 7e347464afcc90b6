// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// From an archive's members to C, by the public function of each stage, with everything checked that must hold.
#pragma once

#include <string>

#include "usmp/mlf/archive.hpp"
#include "usmp/planners/planner.hpp"

namespace usmp::fuzz {

struct Wish {
  std::string pools;  // text of a pools file; empty: none
  const planners::Algorithm* algorithm = nullptr;
  bool workspace_io = false;
  bool minimizes = false;
  bool transforms = false;  // by all steps
  bool recomputes = false;  // and computes more than once
};

// Throws Error for bad input; anything that is wrong with the result is a crash.
void run_stages(const mlf::Archive& archive, const Wish& wish);

}  // namespace usmp::fuzz

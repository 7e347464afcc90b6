// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What it costs to have a buffer in each of its pools.
#pragma once

#include <vector>

#include "usmp/assemble/assemble.hpp"

namespace usmp::assemble {

// Makes the problem a charged one, as `assemble` says. `traffic`: by SiteId.
void add_charges(Assembly& assembly, const std::vector<liveness::Traffic>& traffic);

}  // namespace usmp::assemble

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The distances of a plan document, for a problem of some of its buffers.
#pragma once

#include <cstddef>
#include <vector>

#include "usmp/plan_file/plan_document.hpp"

namespace usmp::compare {

// Those between the chosen buffers, which are in ascending order and the problem's own.
void add_distances(Problem& problem, const plan_file::PlanDocument& document, const std::vector<std::size_t>& buffers);

}  // namespace usmp::compare

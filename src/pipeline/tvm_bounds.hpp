// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Buffers of TVM's plan of which this program knows no more than a bound of their size.
#pragma once

#include <optional>
#include <span>

#include "usmp/problem/problem.hpp"
#include "usmp/problem/storage.hpp"

namespace usmp::pipeline {

// Whether others that are live with the buffer start inside of it, at least `above` bytes from its start. They may be
// where `places` (by BufferId; nothing: elsewhere) has them: TVM, which knows what the buffer needs, has put them
// there. Adds to Problem::distances, which have to be sorted afterwards. O(buffers · live ranges).
bool let_others_inside(Problem& problem, BufferId buffer, std::span<const std::optional<Allocation>> places,
                       Bytes above);

}  // namespace usmp::pipeline

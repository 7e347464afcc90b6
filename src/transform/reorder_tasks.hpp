// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The entry's statements as tasks: which of them may change places.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "transform/reorder_problem.hpp"
#include "usmp/liveness/distances.hpp"
#include "usmp/liveness/uses.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::transform {

struct EntryTasks {
  OrderProblem problem;
  std::vector<std::size_t> statements;  // by task: index into the entry's body. The others are plain declarations
};

inline constexpr std::size_t max_order_tasks = 10'000;
inline constexpr std::size_t max_order_edges = 1'000'000;  // of all tasks, the sizes of Task::after

// Whether the entry has more than max_order_tasks statements that are no plain declarations.
[[nodiscard]] bool has_too_many_tasks(const tir::Module& module);

// What is known of buffers that may share bytes, by statement (find_statement_distances); empty: none may.
using StatementSharing = std::vector<std::vector<liveness::DyingDistance>>;

// Sizes and distances are rounded up to the workspace's alignment, as places are. Not to be called if there are too
// many tasks. Nothing if not enough is known of the program, or its statements wait for each other in more than
// max_order_edges ways. O((uses + edges) · log).
[[nodiscard]] std::optional<EntryTasks> entry_tasks(const tir::Module& module, const liveness::EntryUses& uses,
                                                    const StatementSharing& sharing, const liveness::Options& options);

}  // namespace usmp::transform

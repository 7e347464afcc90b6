// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What is proved of a plan's figures, in words that all reports share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "usmp/compare/figures.hpp"
#include "usmp/plan_file/plan_document.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::report {

// The reason of a lower bound in words: "as many bytes are live at once" for "load".
[[nodiscard]] std::string reason_text(const std::string& reason);

// "proved minimal (aligned load)", "proved minimal by optimal", or how much the value may be above the least; `reason`
// may be empty.
[[nodiscard]] std::string proved_text(Bytes value, Bytes bound, const std::string& reason, bool color);

// Whether the pool's bound says anything of the plan. Not that of a pool that is filled on purpose, unless the plan
// meets it; `smaller_is_better` and `overflows` as in PoolFigures.
[[nodiscard]] bool bound_tells(Bytes used, Bytes bound, bool smaller_is_better, bool overflows);
[[nodiscard]] bool bound_tells(const plan_file::PlanDocument::Pool& pool, const compare::PoolFigures& figures);

// Behind the used bytes of a pool: what is proved of them. Empty: nothing is known, or the bound tells nothing.
[[nodiscard]] std::string against_bound(const plan_file::PlanDocument::Pool& pool, const compare::PoolFigures& figures,
                                        bool color);

// A line that says why no plan uses less than the pool's bound: the step and what is live there, the buffer, or what
// was searched. At most `most` buffers are named, the largest. Empty: the reason says it all, or is not that of these
// buffers alone.
[[nodiscard]] std::string proof_line(const plan_file::PlanDocument& plan, const plan_file::PlanDocument::Pool& pool,
                                     const compare::PoolFigures& figures, std::size_t most);

// Where a buffer is, and where it could be.
struct Choices {
  std::vector<std::string> pools;  // names, best first
  std::string pool;                // empty: not placed

  [[nodiscard]] bool beyond(std::size_t count) const;  // whether it is in none of the first ones
};

// A line for each number of first choices that buffers had to leave: "not in dtcm: 2 buffers of 50 bytes in all, proved
// minimal". `spilled` as in usmp::Cost, its bounds as long.
[[nodiscard]] std::string spilled_text(const std::vector<Bytes>& spilled, const std::vector<Bytes>& spilled_bounds,
                                       const std::vector<Choices>& buffers, bool color);

// A line that says why a search that was not finished ended; empty for a finished one.
[[nodiscard]] std::string search_text(StopReason stopped, std::uint64_t iterations);

}  // namespace usmp::report

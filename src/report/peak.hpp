// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What is live at the peak of a pool, and what it occupies, in words that all reports share.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "usmp/compare/figures.hpp"

namespace usmp::report {

// What buffers occupy: "8640 bytes at step 11 of 111".
[[nodiscard]] std::string peak_text(const plan_file::PlanDocument& plan, const compare::PoolFigures& figures);

// How many bytes are live there, if buffers that may share bytes occupy more; else empty.
[[nodiscard]] std::string live_at_peak_text(const compare::PoolFigures& figures);

// Indices into PoolFigures::at_peak of the largest `most` and of one more if that is all, by offset.
[[nodiscard]] std::vector<std::size_t> shown_at_peak(const plan_file::PlanDocument& plan,
                                                     const compare::PoolFigures& figures, std::size_t most);

// Whether buffers share bytes at the peak, so that sizes add up to more than is occupied.
[[nodiscard]] bool shares_at_peak(const compare::PoolFigures& figures);

// "7616 bytes with sid_2, 16 with sid_9", of the buffer at the peak; empty if it shares none.
[[nodiscard]] std::string shared_at_peak(const plan_file::PlanDocument& plan, const compare::PoolFigures& figures,
                                         std::size_t buffer);

// What the used bytes are: "9536 bytes = 8640 live at the peak + 896 in gaps, proved unavoidable". Something is used.
[[nodiscard]] std::string used_text(const plan_file::PlanDocument::Pool& pool, const compare::PoolFigures& figures);

}  // namespace usmp::report

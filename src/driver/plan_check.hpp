// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Whether what a plan file says is so. Somebody may have edited it.
#pragma once

#include <string>
#include <string_view>

#include "usmp/plan_file/plan_document.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::driver {

// Holds the places against the live ranges, pools, pins and distances of the same file, with the verifier that plans of
// this program pass before they are written (usmp/verify/verify.hpp); used bytes, totals and spilled bytes against the
// places; bounds and statuses against these. What the file leaves out, as earlier versions did, is not checked. Throws
// Error of kind usage, place: a path like "buffers[3]". O(n log n).
void check_document(const plan_file::PlanDocument& document);

// The planning problem of a document that check_document accepts. Throws Error as it does.
[[nodiscard]] Problem problem_of(const plan_file::PlanDocument& document);

// The line of the JSON text on which the value at a path like "modules[1].buffers[3].live" begins, from 1, or that of
// the innermost value around it that is there. The text is JSON. O(text).
[[nodiscard]] std::size_t line_of(std::string_view json, std::string_view path);

}  // namespace usmp::driver

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which buffers of two plans are the same (usmp/compare/diff.hpp says how).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/plan_file/plan_document.hpp"

namespace usmp::compare {

// The name without the numbers that compilers put behind names: "sid_7" → "sid", "fused_add_3" → "fused_add",
// "fused_multiply_184467_" → "fused_multiply". "conv2d" stays: its digit belongs to the word.
[[nodiscard]] std::string_view without_number(std::string_view name);

// What the names of a module's functions begin with: "tvmgen_default_".
[[nodiscard]] std::string module_prefix(const plan_file::PlanDocument& document);

// The name of a function without the module's in front, if there is something behind it.
[[nodiscard]] std::string_view without_module(std::string_view function, std::string_view prefix);

// By buffer: the callee of the first call during which it becomes live; empty for constants and if there is none.
[[nodiscard]] std::vector<std::string> producers(const plan_file::PlanDocument& document);

// By buffer of `before`: its index in `after`.
[[nodiscard]] std::vector<std::optional<std::size_t>> match_buffers(const plan_file::PlanDocument& before,
                                                                    const plan_file::PlanDocument& after);

}  // namespace usmp::compare

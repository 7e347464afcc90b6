// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// `usmp-plan compare --cpu NAME,NAME`: one model on several cores.
#pragma once

#include <string>

#include "usmp/compare/cores.hpp"

namespace usmp::report {

inline constexpr int cores_schema_version = 2;  // 1: workspace and constants, which plans call otherwise

// The same plans give the same bytes.
[[nodiscard]] std::string cores_text(const compare::Cores& cores, bool color);
[[nodiscard]] std::string cores_markdown(const compare::Cores& cores);
[[nodiscard]] std::string cores_json(const compare::Cores& cores);  // docs/schema/cores.schema.json
[[nodiscard]] std::string cores_csv(const compare::Cores& cores);   // one line per module and core

}  // namespace usmp::report

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What each generated file says of its use, behind the line that says who wrote it.
#pragma once

#include <string>

namespace usmp::codegen {

inline const std::string terms =
    "It may be used without conditions; text copied from the archive keeps its own licence.";
inline const std::string terms_line = "/* " + terms + " */\n";

}  // namespace usmp::codegen

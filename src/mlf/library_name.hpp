// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Names that TVM gives the files of a module's C.
#pragma once

#include <optional>
#include <string_view>

namespace usmp::mlf {

struct LibraryName {
  std::string_view module;
  std::string_view number;
};

// "M" and "2" of "codegen/host/src/M_lib2.c"; nothing for a file named otherwise. Views of `member`.
[[nodiscard]] std::optional<LibraryName> library_name(std::string_view member);

}  // namespace usmp::mlf

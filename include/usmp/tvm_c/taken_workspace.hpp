// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Workspace that functions of other code generators take at run time, as a parameter: the planner gives it a place.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/support/checked.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {

inline constexpr const char* workspace_param = "usmp_workspace";  // the last parameter, a uint8_t*

struct TakenWorkspace {
  std::string function;
  Bytes bytes = 0;             // >= 1, of all that it takes
  std::size_t parameters = 0;  // of the function, without the one for workspace
  bool has_param = false;      // an earlier plan has added it; the text stays
};

// Which of `functions` take workspace of constant sizes, declared in front, and give all of it back; others keep their
// calls. `files` are all files of other code generators: what is mentioned anywhere but in its definition may be
// called by C that is not planned, and keeps its calls, too. Offsets are multiples of `alignment`, a power of two.
// Sorted by name. O(bytes · log names + bytes · functions that take workspace).
[[nodiscard]] std::vector<TakenWorkspace> taken_workspace(std::span<const std::string> functions,
                                                          std::span<const Source> files, Bytes alignment);

// The files in which that changes something: these functions have the parameter, calls of TVMBackendAllocWorkspace are
// places in it. `taken` comes from taken_workspace with the same files and alignment.
[[nodiscard]] std::vector<ChangedFile> with_workspace_params(const std::vector<TakenWorkspace>& taken,
                                                             std::span<const Source> files, Bytes alignment);

// "int32_t f(int8_t* a)" with the parameter behind the others.
[[nodiscard]] std::string with_workspace_param(std::string_view prototype);

// The text with the parameter in prototypes of the function. Nothing: it has the name otherwise, or is not understood.
// O(bytes · log names).
[[nodiscard]] std::optional<std::string> with_workspace_in_prototypes(std::string_view text, std::string_view function);

}  // namespace usmp::tvm_c

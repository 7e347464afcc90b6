// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Names of functions that TVM's C has.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "usmp/support/text.hpp"

namespace usmp::tvm_c {

// Those of TVM's runtime by which functions take workspace at run time, and give it back.
inline constexpr std::string_view allocate_function = "TVMBackendAllocWorkspace";
inline constexpr std::string_view free_function = "TVMBackendFreeWorkspace";

// Behind "tvmgen_M", of the name of module M's entry: of TVM from 0.9 on, and of 0.8.
inline constexpr std::array<std::string_view, 2> entry_endings = {"___tvm_main__", "_run_model"};

// Whether TVM has generated the function, for whatever module.
[[nodiscard]] constexpr bool is_generated(std::string_view function) { return function.starts_with("tvmgen_"); }

// "tvmgen_M", which names of module M's functions begin with.
[[nodiscard]] inline std::string symbol_of(std::string_view module) { return "tvmgen_" + c_identifier(module); }

}  // namespace usmp::tvm_c

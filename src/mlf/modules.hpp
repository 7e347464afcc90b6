// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What the members of an archive say about one of its modules.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "usmp/mlf/archive.hpp"
#include "usmp/mlf/metadata.hpp"

namespace usmp::mlf {

// Whether `a` stands before `b` when digits in them count as numbers: "output2" before "output10".
[[nodiscard]] bool natural_less(const std::string& a, const std::string& b);

// Puts the tensors of metadata.json into the order of the archive's own header; those that only the header knows (all,
// with TVM 0.9) are added, with the size that its macros give.
void order_tensors(const Archive& archive, model::Description& module);

// "M" of every tvmgen_M___tvm_main__ that a C file defines.
[[nodiscard]] std::vector<std::string> entries_in(std::string_view text);

// The modules whose entry function the C files of a source tree define, by the name that it has in C; sorted.
[[nodiscard]] std::vector<std::string> modules_in(const Archive& checkout);

// What metadata.json would say of the module, as far as C and headers know it: inputs, outputs, workspace.
[[nodiscard]] model::Description module_without_metadata(const Archive& checkout, const std::string& name);

// Fills in packed_interface, foreign_functions and foreign_members of all modules.
void find_libraries(const Archive& archive, std::vector<model::Description>& modules);

}  // namespace usmp::mlf

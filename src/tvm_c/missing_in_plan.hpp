// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What planned C does not have of the files that it is read from, and what it needs besides: sentences for warnings.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/files_read.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {

// `items` are left out, as the model does not use them; and what the firmware calls, if no file defines it.
[[nodiscard]] std::vector<std::string> left_out_code(const FilesRead& read, const std::vector<std::size_t>& items);

// #include lines of code, outside of declarations, in files that have no text in planned C.
[[nodiscard]] std::vector<std::string> left_out_includes(const FilesRead& read, const std::set<std::size_t>& stay);

// What items that stay, and calls that stay, need of other files.
struct Needs {
  const std::vector<bool>& stays;                      // of the scope's items
  const std::map<std::string, std::size_t>& external;  // called, and defined nowhere: a file that calls it
  Names defined_elsewhere;                             // data
};
[[nodiscard]] std::vector<std::string> undefined_names(const FilesRead& read, const Needs& needs);

// Macros and sections that place what is written anew, each once (PlannedModule::lost_placements). `sections`: not
// those of constants, which planned C has.
[[nodiscard]] std::vector<std::string> lost_placements(const FilesRead& read, const std::vector<PlannedPool>& pools,
                                                       const std::function<bool(const Item&)>& is_read, bool sections);

// What planned C takes the place of, of what other files may use (PlannedModule::lost_names). O(bytes · log names).
[[nodiscard]] std::vector<LostName> lost_names(const FilesRead& read, const std::vector<PlannedPool>& pools,
                                               const std::function<bool(const Item&)>& is_read);

// Pools that other files may use.
[[nodiscard]] std::vector<std::string> shared_pools(const FilesRead& read, const std::vector<PlannedPool>& pools);

}  // namespace usmp::tvm_c

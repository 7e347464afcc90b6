// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The list of planning algorithms, for programs.
#pragma once

#include <string>
#include <vector>

namespace usmp::report {

struct AlgorithmRow {
  std::string name;
  std::string summary;
  bool is_default = false;
};

// {"algorithms": [{"name": …, "summary": …, "default": …}, …]}, in the order given.
[[nodiscard]] std::string algorithms_json(const std::vector<AlgorithmRow>& rows);

}  // namespace usmp::report

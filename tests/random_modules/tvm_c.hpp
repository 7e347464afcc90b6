// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Modules as the C that a version of TVM writes of them, in a random layout, and what the product reads of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "random_modules/check.hpp"
#include "random_modules/generate.hpp"

namespace usmp::random_modules {

struct CFile {
  std::string name;
  std::string text;
};

// Version, layout, files and where storage is are drawn from the module's seed. Nothing: TVM has no C for it, or its C
// is not what a module says (storage seen as elements of another size behind an offset, values that C computes where
// they are not chosen).
[[nodiscard]] std::optional<std::vector<CFile>> in_tvm_c(const TestModule& test);

struct ReadBack {
  std::optional<TestModule> test;    // nothing: TVM has no C for it, or a fault
  std::optional<std::string> fault;  // of the product's reader, with the C
};

// The module as the product reads it from that C, its storage taken apart. A fault: it is refused, is malformed, has
// another interface or leaves other bytes in outputs.
[[nodiscard]] ReadBack read_back(const TestModule& test);

}  // namespace usmp::random_modules

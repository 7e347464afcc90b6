// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// How many instructions the emitted loops take, as an estimate: compilers decide.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "usmp/kernels/core.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::kernels {

struct Estimate {
  // In one call, with all that it calls in the module, at -O2. Nothing: how often a statement runs is not known, or it
  // calls something else. For the archives of testdata/ from 15 % below to half above what qemu counts
  // (bench/instructions.py --check).
  std::optional<double> instructions;
  std::set<std::string> kernels;  // the operators that its sums of products became: "dot_run", "pair_run", "lane_run"
  // What calls take of functions that are nests of one operator, by tir::Function::row_operator.
  struct Part {
    double instructions = 0;
    std::set<std::string> kernels;
  };
  std::map<std::uint32_t, Part> parts;
};

// By function. The module is as emitted. O(size of the module · log).
[[nodiscard]] std::vector<Estimate> estimates(const tir::Module& module, const Core& core);

}  // namespace usmp::kernels

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Real modules that the whole-path target starts from: the archives of testdata.
#pragma once

#include <string>
#include <vector>

#include "graph.hpp"

namespace usmp::fuzz {

struct Seed {
  Graph graph;  // without what planning does not read
  std::string metadata;
  std::string header;  // codegen/host/include/tvmgen_default.h
};

[[nodiscard]] const std::vector<Seed>& seeds();

// The graph of a seed with `count` calls of the entry, from the `first` on (both modulo what there is), and the
// functions that they call: smaller modules are tried faster. The last ones asked for are kept.
[[nodiscard]] const Graph& cut(const Seed& seed, unsigned first, unsigned count);

}  // namespace usmp::fuzz

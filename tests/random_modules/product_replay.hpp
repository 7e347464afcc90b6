// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The product's replay (usmp/replay/replay.hpp) against the one of the reference interpreter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "random_modules/interpreter.hpp"
#include "usmp/assemble/assemble.hpp"
#include "usmp/liveness/liveness.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::random_modules {

struct ProductReplays {
  std::size_t pairs = 0;     // of plans that are right, buffers that share bytes while both are live
  std::size_t replayed = 0;  // of these, from beginning to end
  std::size_t wrong = 0;     // plans made wrong whose pairs were all replayed; each was refused

  void add(const ProductReplays& other) {
    pairs += other.pairs;
    replayed += other.replayed;
    wrong += other.wrong;
  }
};

// What the product's replay gets wrong about a plan that is right, and about plans that are made of it by laying
// buffers over others that are live with them: what it refuses has to be wrong, and what is wrong it has to refuse if
// it has played all accesses to the buffers. Nothing if it is right.
[[nodiscard]] std::optional<std::string> product_replay_fault(const tir::Module& module, const Outcome& outcome,
                                                              const liveness::Analysis& analysis,
                                                              const liveness::Options& options,
                                                              const assemble::Assembly& assembly, const Plan& plan,
                                                              std::uint64_t seed, ProductReplays& totals);

}  // namespace usmp::random_modules

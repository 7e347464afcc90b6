// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The checks done on a plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "usmp/plan_file/plan_document.hpp"

namespace usmp::report {

// The comparison with a build in which no buffers overlap.
struct Execution {
  std::string compiler;  // as it was called
  bool sanitized = false;
  std::uint32_t rounds = 0;
  std::size_t elements = 0;  // of outputs, over all rounds
};

// Pairs of buffers that share bytes while both are live, and what was replayed of them (replay/replay.hpp).
struct Replay {
  struct LeftOut {
    std::string one;  // names of buffers
    std::string other;
    std::string reason;
  };
  std::size_t pairs = 0;  // > 0
  std::uint64_t accesses = 0;
  std::vector<LeftOut> left_out;  // of the pairs; all others were replayed from beginning to end
};

// A module whose plan is correct.
struct Verified {
  const plan_file::PlanDocument* plan = nullptr;
  std::optional<std::size_t> conflicts;  // pairs of buffers that are live together; nothing if they were not counted
  std::optional<Replay> replay;          // nothing: no buffers share bytes while both are live
  std::optional<Execution> execution;
  bool is_read = false;  // from a file: what its algorithm proved is not known
};

// A few lines about the plan, without what was executed.
[[nodiscard]] std::string verification_text(const Verified& verified, bool color);
// `module`: its name, of one of several.
[[nodiscard]] std::string execution_text(const Execution& execution, const std::string& module = {});

// All modules, as docs/schema/verification.schema.json says.
[[nodiscard]] std::string verification_json(const std::vector<Verified>& modules);

}  // namespace usmp::report

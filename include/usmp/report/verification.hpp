// What was checked of a plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "usmp/report/summary.hpp"

namespace usmp::report {

// What was executed to compare with unshared code.
struct Execution {
  std::string compiler;  // as it was called
  bool sanitized = false;
  std::uint32_t rounds = 0;
  std::size_t elements = 0;  // of outputs, over all rounds
};

// A module whose plan is right.
struct Verified {
  const Summary* summary = nullptr;
  std::optional<std::size_t> conflicts;  // pairs of buffers that are live together; nothing if they were not counted
  std::optional<Execution> execution;
};

// A few lines about the plan, without what was executed.
[[nodiscard]] std::string verification_text(const Verified& verified, bool color);
[[nodiscard]] std::string execution_text(const Execution& execution);

// All modules, as docs/schema/verification.schema.json says.
[[nodiscard]] std::string verification_json(const std::vector<Verified>& modules);

}  // namespace usmp::report

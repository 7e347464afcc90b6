// What was checked of a plan, for people.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "usmp/report/summary.hpp"

namespace usmp::report {

// `conflicts`: pairs of buffers that are live together; nothing if they were not counted. A few lines.
[[nodiscard]] std::string verification_text(const Summary& summary, std::optional<std::size_t> conflicts, bool color);

// What was executed to compare with unshared code.
struct Execution {
  std::string compiler;  // as it was called
  bool sanitized = false;
  std::uint32_t rounds = 0;
  std::size_t elements = 0;  // of outputs, over all rounds
};
[[nodiscard]] std::string execution_text(const Execution& execution);

}  // namespace usmp::report

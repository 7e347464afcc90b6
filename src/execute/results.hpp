// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What a harness wrote of its rounds. For each one:
//   any number of  'F', kind (1 byte), index of the region (4 bytes), offset (8 bytes)     memory that was written to
//   then           'R', what tvmgen_M_run returned (4 bytes), the outputs' bytes
//   or, at last    'A', number of an access (4 bytes), index (8 bytes)                      it is outside of its
//   storage
// Numbers are little endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "execute/tensors.hpp"

namespace usmp::execute {

// Memory that has to stay as it is, and did not.
struct Overwritten {
  enum class Kind : std::uint8_t { before, behind, gap, contents };
  Kind kind = Kind::before;
  std::size_t region = 0;    // index into Harness::regions
  std::uint64_t offset = 0;  // before: bytes in front of the region, from 1; behind: bytes from its end; else from its
                             // start
};

struct Round {
  std::vector<Overwritten> overwritten;
  std::int32_t status = 0;
  std::vector<std::string_view> outputs;  // by output, into the text
};

// An access that ended the program (see access_checks.hpp).
struct Outside {
  std::size_t access = 0;  // its number
  std::int64_t index = 0;
};

// The complete rounds of a text, and what follows the last one.
struct Results {
  std::vector<Round> rounds;
  std::optional<Outside> outside;
};
[[nodiscard]] Results parse_results(std::string_view text, const std::vector<Tensor>& outputs);

// "byte 3 beyond the end of pool 'sram' was written to".
[[nodiscard]] std::string overwritten_text(const Overwritten& fault, const std::vector<std::string>& regions);

}  // namespace usmp::execute

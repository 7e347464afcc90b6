// SPDX-License-Identifier: Apache-2.0
// The texts that are read in place of a module's files: this program's own C as TVM would have written it, macros
// around calls of the entry as what they stand for, what somebody added to tvmgen_M_run around a call of the planned
// one.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tvm_c/text/included.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {

struct Respelled {
  std::vector<Source> files;               // as given, or with one of `texts`, and its origin
  std::deque<std::string> texts;           // the last of a file is its text
  bool is_own = false;                     // some are this program's: then `texts` are theirs
  std::optional<Included> included = {};   // of `files`
  std::vector<std::string> kept_run = {};  // EditedRun::members, if somebody added to tvmgen_M_run
};

// `are_kept`: Unread::kept, without which only this program's own C is respelled. Throws Error of kind archive.
// O(text).
[[nodiscard]] Respelled respelled(std::span<const Source> files, std::span<const Source> headers,
                                  const std::string& module, bool are_kept);

}  // namespace usmp::tvm_c

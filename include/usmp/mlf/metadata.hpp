// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// metadata.json and other information in an archive about its modules, except the TIR.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "usmp/mlf/archive.hpp"
#include "usmp/model/description.hpp"
#include "usmp/support/checked.hpp"

namespace usmp::mlf {

struct Metadata {
  int version = 0;                          // 5 or 7 (or a number near: 6 is read as 7, 1–4 as 5)
  std::vector<model::Description> modules;  // sorted by name
};

// Reads metadata.json and looks for the members of each module. Throws Error of kind archive: metadata.json missing
// (the message says what the archive contains and what an MLF archive must contain), malformed, of an unknown version,
// an executor list without "aot" (the graph executor is not plannable here), a module name that cannot be part of a
// file name, more than 100 modules. A missing TIR member is not an error here.
[[nodiscard]] Metadata read_metadata(const Archive& archive);

// New memory figures of one module for a re-planned archive.
struct MemoryFigures {
  std::string module;
  Bytes workspace_bytes = 0;  // sum over workspace pools
  Bytes constants_bytes = 0;  // sum over parameter pools
};

// metadata.json with memory.functions.main[*] of the modules updated (workspace_size_bytes, constants_size_bytes; every
// operator's workspace_size_bytes is 0, since operators no longer allocate); keys sorted, everything else unchanged.
[[nodiscard]] std::string updated_metadata(const Archive& archive, const std::vector<MemoryFigures>& figures);

// A module whose code takes memory at run time.
struct UnplannedFigures {
  Bytes workspace_bytes = 0;  // of everything at once
  Bytes constants_bytes = 0;
  std::map<std::string, Bytes> workspace_of = {};  // by operator's function
};

// metadata.json, version 7, of a new archive with this module. Beside what TVM writes, `main` has shape, scale and
// zero_point of inputs and outputs, and "state": [{"name", "dtype", "size", "initial": base64}, …], which read_metadata
// reads again. No time of export. O(text).
[[nodiscard]] std::string new_metadata(const model::Description& module, const UnplannedFigures& figures);

}  // namespace usmp::mlf

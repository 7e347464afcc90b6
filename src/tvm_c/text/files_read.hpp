// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What is known of a module's files, for messages about them.
#pragma once

#include <span>
#include <string>

#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/included.hpp"
#include "tvm_c/text/places.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {

// A module's files, as they are read.
struct FilesRead {
  std::span<const Source> files;
  const FileScope& scope;
  const Included& included;
  const Places& places;
  std::string symbol;  // "tvmgen_M"
  std::string entry;   // name of the function; empty: it is not known
};

}  // namespace usmp::tvm_c

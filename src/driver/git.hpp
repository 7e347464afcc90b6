// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What git has of files. A checkout may be of strangers, so git runs no program that its configuration names, and what
// the environment or the configuration say of other repositories, work trees and indexes counts for nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace usmp::driver {

enum class InHead : std::uint8_t {
  same,           // the last commit has these bytes under the file's path
  other,          // it has other ones
  none,           // it has no such file, or there is none
  no_repository,  // no directory above the file is a checkout
};

// For each of the files, which are there: whether HEAD of the repository that the file lies in, the innermost one, has
// exactly its bytes. The index, ignored and hidden files, filters and line ends count for nothing. Throws Error of kind
// usage if git does not tell. Runs git once for each repository and each file.
[[nodiscard]] std::vector<InHead> compared_with_head(const std::vector<std::string>& files);

}  // namespace usmp::driver

// SPDX-License-Identifier: Apache-2.0
// What git knows of files. A checkout may be of strangers, so git runs no program that its configuration names.
#pragma once

#include <string>
#include <vector>

namespace usmp::driver {

// Whether the directory lies in a checkout.
[[nodiscard]] bool is_in_git(const std::string& directory);

// A line for each of the files, by their names in the directory, that git has not committed as it is. Throws Error of
// kind usage if git does not tell.
[[nodiscard]] std::vector<std::string> uncommitted_changes(const std::string& directory,
                                                           const std::vector<std::string>& names);

}  // namespace usmp::driver

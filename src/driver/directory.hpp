// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reading and removing directories. std::filesystem's iterators end the program when there is no memory, these do not.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace usmp::driver {

// The names in a directory, sorted, without "." and "..". Throws std::filesystem::filesystem_error.
[[nodiscard]] std::vector<std::string> names_in(const std::string& directory);

// Removes a file, or a directory with all it holds, as far as it can; follows no link. For destructors: takes no
// memory. Recursive, so for trees that this program made.
void remove_tree(const char* path, const char* last = nullptr) noexcept;

}  // namespace usmp::driver

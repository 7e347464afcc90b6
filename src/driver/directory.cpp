// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Walks directories with POSIX calls.
#include "directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <new>
#include <string_view>
#include <system_error>

namespace usmp::driver {
namespace {

struct DirectoryCloser {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

bool is_self_or_parent(std::string_view name) { return name == "." || name == ".."; }

// NOLINTNEXTLINE(misc-no-recursion): as deep as the names of the files written, which are those of members.
void remove_at(int parent, const char* name, const char* last = nullptr) noexcept {
  if (::unlinkat(parent, name, 0) == 0) return;
  const int directory = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory < 0) return;
  alignas(dirent64) std::array<char, 1024> entries;  // opendir would take memory
  ssize_t count = 0;
  while ((count = ::getdents64(directory, entries.data(), entries.size())) > 0) {
    for (ssize_t at = 0; at < count;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      const bool stays = last != nullptr && std::string_view(last) == entry->d_name;
      if (!is_self_or_parent(entry->d_name) && !stays) remove_at(directory, entry->d_name);
      at += entry->d_reclen;
    }
  }
  if (last != nullptr) ::unlinkat(directory, last, 0);
  ::close(directory);
  ::unlinkat(parent, name, AT_REMOVEDIR);
}

}  // namespace

std::vector<std::string> names_in(const std::string& directory) {
  const std::unique_ptr<DIR, DirectoryCloser> opened(::opendir(directory.c_str()));
  if (!opened) {
    if (errno == ENOMEM) throw std::bad_alloc();
    throw std::filesystem::filesystem_error("", directory, std::error_code(errno, std::generic_category()));
  }
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(opened.get())) {
    if (!is_self_or_parent(entry->d_name)) names.emplace_back(entry->d_name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void remove_tree(const char* path, const char* last) noexcept { remove_at(AT_FDCWD, path, last); }

}  // namespace usmp::driver

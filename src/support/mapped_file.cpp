// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
#include "usmp/support/mapped_file.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "usmp/support/input_file.hpp"

namespace usmp {

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  const InputFile file(path);
  if (!file.is_open() || !file.is_regular() || file.size() < fewest_bytes || file.size() > PTRDIFF_MAX) return nullptr;
  const auto size = static_cast<std::size_t>(file.size());
  void* const bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (bytes == MAP_FAILED) return nullptr;
  return std::make_shared<const MappedFile>(static_cast<const char*>(bytes), size);
}

MappedFile::~MappedFile() { ::munmap(const_cast<char*>(bytes_.data()), bytes_.size()); }

// Whole pages alone: their neighbours may be in use.
void MappedFile::release(std::string_view part) const {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto offset = static_cast<std::size_t>(part.data() - bytes_.data());
  const std::size_t begin = (offset + page - 1) / page * page;
  const std::size_t end = (offset + part.size()) / page * page;
  if (begin < end) (void)::madvise(const_cast<char*>(bytes_.data()) + begin, end - begin, MADV_DONTNEED);
}

}  // namespace usmp

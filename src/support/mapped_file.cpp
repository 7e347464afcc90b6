// SPDX-License-Identifier: Apache-2.0
#include "usmp/support/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>

namespace usmp {

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return nullptr;
  struct stat status {};
  const bool is_large = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                        static_cast<std::uint64_t>(status.st_size) >= fewest_bytes &&
                        static_cast<std::uint64_t>(status.st_size) <= PTRDIFF_MAX;
  const auto size = is_large ? static_cast<std::size_t>(status.st_size) : 0;
  void* const bytes = is_large ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  ::close(file);
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

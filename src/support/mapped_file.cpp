// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Maps files with mmap, and lists them for the handler of SIGBUS.
#include "usmp/support/mapped_file.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <utility>

#include "usmp/support/input_file.hpp"
#include "usmp/support/message.hpp"

namespace usmp {
namespace {

// Files are mapped and let go by one thread, and read by any: a read that fails comes between two changes.
MappedFile* first_mapped = nullptr;

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  const InputFile file(path);
  if (!file.is_open() || !file.is_regular() || file.size() < fewest_bytes || file.size() > PTRDIFF_MAX) return nullptr;
  const auto size = static_cast<std::size_t>(file.size());
  void* const bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (bytes == MAP_FAILED) return nullptr;
  return std::make_shared<const MappedFile>(path, static_cast<const char*>(bytes), size);
}

MappedFile::MappedFile(const std::string& path, const char* bytes, std::size_t size)
    : bytes_(bytes, size), shown_path_(message_line(path)), next_(std::exchange(first_mapped, this)) {}

MappedFile::~MappedFile() {
  MappedFile** link = &first_mapped;
  while (*link != this) link = &(*link)->next_;
  *link = next_;
  ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

const char* MappedFile::path_at(const void* address) noexcept {
  const std::less<const void*> less;
  for (const MappedFile* file = first_mapped; file != nullptr; file = file->next_) {
    const char* const begin = file->bytes_.data();
    if (!less(address, begin) && less(address, begin + file->bytes_.size())) return file->shown_path_.c_str();
  }
  return nullptr;
}

// Whole pages alone: their neighbours may be in use.
void MappedFile::release(std::string_view part) const {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto offset = static_cast<std::size_t>(part.data() - bytes_.data());
  const std::size_t begin = (offset + page - 1) / page * page;
  const std::size_t end = (offset + part.size()) / page * page;
  if (begin < end) (void)::madvise(const_cast<char*>(bytes_.data()) + begin, end - begin, MADV_DONTNEED);
}

}  // namespace usmp

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A large file whose bytes are read where the system has them: they take no memory of their own, and what has been read
// of them may leave memory again.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace usmp {

class MappedFile {
 public:
  static constexpr std::size_t fewest_bytes = std::size_t{4} << 20;  // smaller files are read

  // Null: it is smaller, no regular file, or cannot be mapped. Of a file that somebody shortens meanwhile, reading the
  // bytes that are gone raises SIGBUS: see path_at.
  [[nodiscard]] static std::shared_ptr<const MappedFile> open(const std::string& path);

  MappedFile(const std::string& path, const char* bytes, std::size_t size);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::string_view bytes() const { return bytes_; }

  // For a handler of SIGBUS: the path of the file whose bytes should stand at the address, as one line that is safe to
  // show; nullptr if there is none. Takes no memory.
  [[nodiscard]] static const char* path_at(const void* address) noexcept;

  // These bytes of the file are not needed soon; they may be read again all the same.
  void release(std::string_view part) const;

 private:
  std::string_view bytes_;
  std::string shown_path_;
  MappedFile* next_ = nullptr;  // of those that there are
};

}  // namespace usmp

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

  // Null: it is smaller, no regular file, or cannot be mapped. The file must keep its size.
  [[nodiscard]] static std::shared_ptr<const MappedFile> open(const std::string& path);

  MappedFile(const char* bytes, std::size_t size) : bytes_(bytes, size) {}
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::string_view bytes() const { return bytes_; }

  // These bytes of the file are not needed soon; they may be read again all the same.
  void release(std::string_view part) const;

 private:
  std::string_view bytes_;
};

}  // namespace usmp

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes a file of zstd with the checksum of its contents, which libarchive leaves out.
#pragma once

#include <zstd.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace usmp::mlf {

class ZstdFile {
 public:
  // Throws std::bad_alloc.
  ZstdFile();
  ZstdFile(const ZstdFile&) = delete;
  ZstdFile& operator=(const ZstdFile&) = delete;
  ~ZstdFile();

  // Each is false if it failed: errno says why.
  [[nodiscard]] bool open(const std::string& path);
  [[nodiscard]] bool write(std::string_view bytes);
  [[nodiscard]] bool close();

 private:
  struct Deleter {
    void operator()(ZSTD_CCtx* stream) const { ::ZSTD_freeCCtx(stream); }
  };

  bool pack(std::string_view bytes, ZSTD_EndDirective what);
  bool write_all(std::string_view packed);

  std::unique_ptr<ZSTD_CCtx, Deleter> stream_;
  std::vector<char> buffer_;
  int descriptor_ = -1;
};

}  // namespace usmp::mlf

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Packs with libzstd, piece by piece, into one frame.
#include "mlf/zstd_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

namespace usmp::mlf {

ZstdFile::ZstdFile() : stream_(::ZSTD_createCCtx()), buffer_(::ZSTD_CStreamOutSize()) {
  if (!stream_ || ::ZSTD_isError(::ZSTD_CCtx_setParameter(stream_.get(), ZSTD_c_checksumFlag, 1)) != 0) {
    throw std::bad_alloc();
  }
}

ZstdFile::~ZstdFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool ZstdFile::open(const std::string& path) {
  constexpr mode_t any_access = 0666;  // less what the umask takes away
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, any_access);
  return descriptor_ >= 0;
}

bool ZstdFile::write(std::string_view bytes) { return pack(bytes, ZSTD_e_continue); }

bool ZstdFile::close() {
  if (!pack({}, ZSTD_e_end)) return false;
  // Linux closes the file even when it reports an interruption.
  return ::close(std::exchange(descriptor_, -1)) == 0 || errno == EINTR;
}

bool ZstdFile::pack(std::string_view bytes, ZSTD_EndDirective what) {
  ZSTD_inBuffer in = {bytes.data(), bytes.size(), 0};
  for (;;) {
    ZSTD_outBuffer out = {buffer_.data(), buffer_.size(), 0};
    const std::size_t left = ::ZSTD_compressStream2(stream_.get(), &out, &in, what);
    if (::ZSTD_isError(left) != 0) {
      errno = ENOMEM;  // nothing else can fail here
      return false;
    }
    if (!write_all({buffer_.data(), out.pos})) return false;
    if (what == ZSTD_e_end ? left == 0 : in.pos == in.size) return true;
  }
}

bool ZstdFile::write_all(std::string_view packed) {
  while (!packed.empty()) {
    const ssize_t count = ::write(descriptor_, packed.data(), packed.size());
    if (count < 0 && errno != EINTR) return false;
    packed.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  return true;
}

}  // namespace usmp::mlf

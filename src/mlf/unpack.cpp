// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Unpacks gzip, xz and zstd in pieces, and says what is wrong with them.
#include "mlf/unpack.hpp"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace usmp::mlf {
namespace {

constexpr std::uint64_t most_xz_memory = std::uint64_t{192} << 20;
constexpr int most_zstd_window_log = 27;  // 128 MiB

class Plain final : public Unpacker {
 public:
  using Unpacker::Unpacker;

 private:
  Step step(char* bytes, std::size_t most, std::size_t& given) override {
    const std::size_t count = std::min(most, input().size());
    if (count > 0) std::memcpy(bytes, input().data(), count);
    input().remove_prefix(count);
    given += count;
    return Step::going_on;
  }
  void begin_part() override {}
  [[nodiscard]] std::size_t padding() const override { return 0; }
  [[nodiscard]] bool has_begun(std::uint64_t /*bytes*/) const override { return true; }
  [[nodiscard]] Compression compression() const override { return Compression::none; }
};

class Gzip final : public Unpacker {
 public:
  explicit Gzip(Source& source) : Unpacker(source) {
    constexpr int any_window = 15;
    constexpr int gzip_only = 16;
    if (::inflateInit2(&stream_, any_window + gzip_only) != Z_OK) throw std::bad_alloc();
    Gzip::begin_part();
  }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;
  ~Gzip() override { ::inflateEnd(&stream_); }

 private:
  Step step(char* bytes, std::size_t most, std::size_t& given) override {
    constexpr std::size_t piece = std::size_t{1} << 20;
    const std::size_t in = std::min(input().size(), piece);
    const std::size_t out = std::min(most, piece);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input().data()));
    stream_.avail_in = static_cast<uInt>(in);
    stream_.next_out = reinterpret_cast<Bytef*>(bytes);
    stream_.avail_out = static_cast<uInt>(out);
    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    input().remove_prefix(in - stream_.avail_in);
    given += out - stream_.avail_out;
    switch (result) {
      case Z_OK:
      case Z_BUF_ERROR:
        return Step::going_on;
      case Z_STREAM_END:
        return Step::part_ended;
      case Z_MEM_ERROR:
        throw std::bad_alloc();
      default:
        break;
    }
    const std::string_view message = stream_.msg == nullptr ? "" : stream_.msg;
    if (message == "incorrect data check") return fail("damaged: the gzip data do not have their CRC-32", true);
    if (message == "incorrect length check") return fail("damaged: the gzip data do not have their length", true);
    return fail("gzip data damaged", false);
  }
  void begin_part() override {
    ::inflateReset(&stream_);
    header_ = {};
    ::inflateGetHeader(&stream_, &header_);
  }
  [[nodiscard]] std::size_t padding() const override { return 1; }
  [[nodiscard]] bool has_begun(std::uint64_t /*bytes*/) const override { return header_.done == 1; }
  [[nodiscard]] Compression compression() const override { return Compression::gzip; }

  z_stream stream_ = {};
  gz_header header_ = {};
};

class Xz final : public Unpacker {
 public:
  explicit Xz(Source& source) : Unpacker(source) { Xz::begin_part(); }
  Xz(const Xz&) = delete;
  Xz& operator=(const Xz&) = delete;
  ~Xz() override { ::lzma_end(&stream_); }

 private:
  Step step(char* bytes, std::size_t most, std::size_t& given) override {
    const std::size_t in = input().size();
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(input().data());
    stream_.avail_in = in;
    stream_.next_out = reinterpret_cast<std::uint8_t*>(bytes);
    stream_.avail_out = most;
    const lzma_ret result = ::lzma_code(&stream_, LZMA_RUN);
    input().remove_prefix(in - stream_.avail_in);
    given += most - stream_.avail_out;
    switch (result) {
      case LZMA_OK:
      case LZMA_BUF_ERROR:
        return Step::going_on;
      case LZMA_STREAM_END:
        return Step::part_ended;
      case LZMA_MEM_ERROR:
        throw std::bad_alloc();
      case LZMA_MEMLIMIT_ERROR:
        return fail("the xz data need " + std::to_string(::lzma_memusage(&stream_)) +
                        " bytes of memory to be unpacked, more than the limit of " + std::to_string(most_xz_memory),
                    true);
      case LZMA_UNSUPPORTED_CHECK:
        return fail("the xz data have a check of an unknown kind", true);
      case LZMA_OPTIONS_ERROR:
        return fail("the xz data are damaged, or packed in an unknown way", false);
      default:
        return fail("xz data damaged", false);
    }
  }
  void begin_part() override {
    if (::lzma_stream_decoder(&stream_, most_xz_memory, LZMA_TELL_UNSUPPORTED_CHECK) != LZMA_OK) {
      throw std::bad_alloc();  // nothing else can fail here
    }
  }
  [[nodiscard]] std::size_t padding() const override { return 4; }
  [[nodiscard]] bool has_begun(std::uint64_t /*bytes*/) const override {
    constexpr std::uint64_t header_bytes = 12;
    return stream_.total_in > header_bytes;
  }
  [[nodiscard]] Compression compression() const override { return Compression::xz; }

  lzma_stream stream_ = LZMA_STREAM_INIT;
};

class Zstd final : public Unpacker {
 public:
  explicit Zstd(Source& source) : Unpacker(source), stream_(::ZSTD_createDStream()) {
    if (!stream_ ||
        ::ZSTD_isError(::ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, most_zstd_window_log)) != 0) {
      throw std::bad_alloc();
    }
  }

 private:
  struct Deleter {
    void operator()(ZSTD_DStream* stream) const { ::ZSTD_freeDStream(stream); }
  };

  Step step(char* bytes, std::size_t most, std::size_t& given) override {
    ZSTD_inBuffer in = {input().data(), input().size(), 0};
    ZSTD_outBuffer out = {bytes, most, 0};
    const std::size_t result = ::ZSTD_decompressStream(stream_.get(), &out, &in);
    input().remove_prefix(in.pos);
    given += out.pos;
    if (::ZSTD_isError(result) == 0) {
      has_header_ = true;
      return result == 0 ? Step::part_ended : Step::going_on;
    }
    switch (::ZSTD_getErrorCode(result)) {
      case ZSTD_error_memory_allocation:
        throw std::bad_alloc();
      case ZSTD_error_frameParameter_windowTooLarge:
        return fail("the zstd data need a window of more than 128 MiB to be unpacked, which is the limit", true);
      case ZSTD_error_checksum_wrong:
        return fail("damaged: the zstd data do not have their checksum", true);
      case ZSTD_error_prefix_unknown:
        has_header_ = false;
        return fail("zstd data damaged", false);
      default:
        return fail("zstd data damaged", false);
    }
  }
  void begin_part() override { has_header_ = false; }
  [[nodiscard]] std::size_t padding() const override { return 0; }
  [[nodiscard]] bool has_begun(std::uint64_t bytes) const override {
    constexpr std::uint64_t magic_bytes = 4;
    return has_header_ && bytes > magic_bytes;
  }
  [[nodiscard]] Compression compression() const override { return Compression::zstd; }

  std::unique_ptr<ZSTD_DStream, Deleter> stream_;
  bool has_header_ = false;
};

}  // namespace

const char* name_of(Compression compression) {
  switch (compression) {
    case Compression::none:
      return "tar";
    case Compression::gzip:
      return "gzip";
    case Compression::xz:
      return "xz";
    case Compression::zstd:
      return "zstd";
  }
  return "?";
}

Compression compression_of(std::string_view front) {
  constexpr std::size_t gzip_header_bytes = 10;
  constexpr unsigned reserved_gzip_flags = 0xE0;
  if (front.starts_with("\x1F\x8B\x08") && front.size() >= gzip_header_bytes &&
      (static_cast<unsigned char>(front[3]) & reserved_gzip_flags) == 0) {
    return Compression::gzip;
  }
  constexpr std::string_view xz_magic(
      "\xFD"
      "7zXZ\0",
      6);
  if (front.starts_with(xz_magic)) return Compression::xz;
  if (front.starts_with("\x28\xB5\x2F\xFD")) return Compression::zstd;
  return Compression::none;
}

Source::Source(InputFile file) : file_(std::move(file)), buffer_(std::size_t{1} << 18) {
  chunk_ = fill();
  is_fresh_ = true;
}

std::optional<std::string_view> Source::next() {
  if (!std::exchange(is_fresh_, false)) chunk_ = fill();
  if (!fault_.empty()) return std::nullopt;
  taken_ += chunk_.size();
  return chunk_;
}

std::string_view Source::fill() {
  if (!file_) return {};
  std::size_t size = 0;
  while (size < buffer_.size()) {
    const auto count = file_->read(buffer_.data() + size, buffer_.size() - size);
    if (!count) fault_ = file_->fault();
    if (count.value_or(0) == 0) break;
    size += *count;
  }
  return {buffer_.data(), size};
}

Unpacker::Step Unpacker::fail(std::string fault, bool is_of_whole_file) {
  fault_ = std::move(fault);
  is_of_whole_file_ = is_of_whole_file;
  state_ = State::failed;
  return Step::failed;
}

bool Unpacker::fetch() {
  if (!input_.empty()) return true;
  const auto more = source_.next();
  if (!more) {
    (void)fail("cannot be read: " + source_.fault(), true);
    return false;
  }
  input_ = *more;
  return !input_.empty();
}

std::optional<std::size_t> Unpacker::read(char* bytes, std::size_t most) {
  std::size_t given = 0;
  while (given < most && state_ != State::ended) {
    if (state_ == State::failed) return std::nullopt;
    if (state_ == State::between) {
      pass_padding();
      continue;
    }
    // What the library has taken in already may still come out.
    const bool has_input = fetch();
    if (state_ == State::failed) return std::nullopt;
    const std::size_t before = given;
    const std::size_t waiting = input_.size();
    switch (step(bytes + given, most - given, given)) {
      case Step::going_on:
        if (!has_input && given == before && waiting == input_.size()) end_of_file();
        break;
      case Step::part_ended:
        parts_end_ = position();
        is_first_ = false;
        state_ = State::between;
        break;
      case Step::failed:
        if (!is_first_ && !has_begun(position() - part_begin_)) refuse_what_follows();
        return std::nullopt;
    }
  }
  return given;
}

// Between two parts: what stands there, up to the next part or the end.
void Unpacker::pass_padding() {
  std::uint64_t zeros = 0;
  while (fetch()) {
    if (padding() == 0) break;
    const std::size_t count = std::min(input_.find_first_not_of('\0'), input_.size());
    zeros += count;
    input_.remove_prefix(count);
    if (!input_.empty()) break;
  }
  if (state_ == State::failed) return;
  const bool is_whole = padding() == 0 || zeros % padding() == 0;
  const bool is_end = input_.empty();
  // gzip passes zeros over at the end: tapes have them. Behind them nothing is looked for.
  if (!is_whole || (!is_end && zeros > 0 && compression() == Compression::gzip)) return refuse_what_follows();
  if (is_end) {
    state_ = State::ended;
    return;
  }
  part_begin_ = position();
  begin_part();
  state_ = State::in_part;
}

void Unpacker::end_of_file() {
  if (compression() == Compression::none) {
    state_ = State::ended;
    return;
  }
  if (!is_first_ && !has_begun(position() - part_begin_)) return refuse_what_follows();
  (void)fail(std::string("truncated ") + name_of(compression()) + " input", false);
}

void Unpacker::refuse_what_follows() {
  const std::string name = name_of(compression());
  (void)fail("other bytes follow the " + name + " data, from byte " + std::to_string(parts_end_) +
                 " on, expected the end of the file or more " + name + " data",
             true);
}

std::unique_ptr<Unpacker> unpacker(Compression compression, Source& source) {
  switch (compression) {
    case Compression::none:
      break;
    case Compression::gzip:
      return std::make_unique<Gzip>(source);
    case Compression::xz:
      return std::make_unique<Xz>(source);
    case Compression::zstd:
      return std::make_unique<Zstd>(source);
  }
  return std::make_unique<Plain>(source);
}

}  // namespace usmp::mlf

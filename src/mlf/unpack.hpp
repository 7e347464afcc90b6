// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Takes the compression off a file: one level, by the library of the format, with every check that the format has
// (gzip: CRC-32 and length of each member; xz: its check, the index; zstd: the checksum of each frame that has one) and
// with limits on what the library may take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/support/input_file.hpp"

namespace usmp::mlf {

enum class Compression : std::uint8_t { none, gzip, xz, zstd };

[[nodiscard]] const char* name_of(Compression compression);

// By the first bytes.
[[nodiscard]] Compression compression_of(std::string_view front);

// The bytes as they come: of a file, or in memory.
class Source {
 public:
  explicit Source(std::string_view bytes) : chunk_(bytes), is_fresh_(true) {}
  explicit Source(InputFile file);

  // The beginning of the file, as long as nothing was taken.
  [[nodiscard]] std::string_view front() const { return chunk_; }
  // The next bytes, empty at the end; nothing if they cannot be read.
  [[nodiscard]] std::optional<std::string_view> next();
  [[nodiscard]] std::uint64_t taken() const { return taken_; }
  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  std::string_view fill();

  std::optional<InputFile> file_;
  std::vector<char> buffer_;
  std::string_view chunk_;
  bool is_fresh_ = false;  // the chunk was not taken yet
  std::uint64_t taken_ = 0;
  std::string fault_;
};

class Unpacker {
 public:
  explicit Unpacker(Source& source) : source_(source) {}
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;
  virtual ~Unpacker() = default;

  // Up to `most` bytes; fewer only at the end. Nothing: a fault. Throws std::bad_alloc.
  [[nodiscard]] std::optional<std::size_t> read(char* bytes, std::size_t most);

  [[nodiscard]] const std::string& fault() const { return fault_; }
  // The fault is no property of the place at which it was met: the file was damaged somewhere, or has more behind it.
  [[nodiscard]] bool is_of_whole_file() const { return is_of_whole_file_; }

 protected:
  // What one call of the library did with `input()`.
  enum class Step : std::uint8_t { going_on, part_ended, failed };
  // Takes from `input` and gives to `bytes`, at most `most`; `given` is added to.
  virtual Step step(char* bytes, std::size_t most, std::size_t& given) = 0;
  // Gets ready for another part of the file: a member of gzip, a stream of xz, a frame of zstd.
  virtual void begin_part() = 0;
  // Zeros that may stand behind a part: 0 none, else their number has to be a multiple of this.
  [[nodiscard]] virtual std::size_t padding() const = 0;
  // Whether what was read of the part, `bytes` of them, can be its beginning.
  [[nodiscard]] virtual bool has_begun(std::uint64_t bytes) const = 0;
  [[nodiscard]] virtual Compression compression() const = 0;

  [[nodiscard]] std::string_view& input() { return input_; }
  Step fail(std::string fault, bool is_of_whole_file);

 private:
  enum class State : std::uint8_t { in_part, between, ended, failed };
  // Whether there is input; else the end or a fault.
  [[nodiscard]] bool fetch();
  void pass_padding();
  void end_of_file();
  void refuse_what_follows();
  [[nodiscard]] std::uint64_t position() const { return source_.taken() - input_.size(); }

  Source& source_;
  std::string_view input_;
  State state_ = State::in_part;
  bool is_first_ = true;
  std::uint64_t part_begin_ = 0;  // position
  std::uint64_t parts_end_ = 0;   // of the last whole part
  std::string fault_;
  bool is_of_whole_file_ = false;
};

[[nodiscard]] std::unique_ptr<Unpacker> unpacker(Compression compression, Source& source);

}  // namespace usmp::mlf

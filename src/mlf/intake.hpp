// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Takes members in for an Archive: names are normalised and checked, limits kept.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

#include "usmp/mlf/archive.hpp"

namespace usmp::mlf {

constexpr std::size_t most_metadata_bytes = std::size_t{16} << 20;

class Intake {
 public:
  Intake(const std::string& path, const Limits& limits);

  // Counts an entry of any kind (a directory costs time as well) and its claimed size. Throws if a limit is exceeded.
  void count(std::string_view name, std::uint64_t claimed_bytes);

  // The normalised name; empty for the root directory. Throws on an absolute name or one with "..".
  [[nodiscard]] std::string normalised(std::string_view name) const;

  // Throws if this many bytes more than what was taken are more than the limit. For claims, before memory is taken.
  void require_memory(std::string_view name, std::uint64_t claimed_bytes) const;

  // Takes a regular file. Throws if the name is empty or was taken before.
  void add(Member member);

  // Makes room in `bytes` for reading on, never far ahead of what was really read: a claim alone takes no memory.
  static void reserve_ahead(std::string& bytes, std::uint64_t claimed_bytes);

  // The bytes of a file that is listed with `size`; `name` is for messages. Throws if it cannot be read or grows.
  [[nodiscard]] std::string read(const std::string& path, const std::string& name, std::uint64_t size) const;

  // The same into a member, whose name is known. Large C is not copied: it stays a part of the file.
  void read(const std::string& path, std::uint64_t size, Member& member) const;
  // Makes this part of the file the member's text.
  void take_part(std::shared_ptr<const MappedFile> file, std::string_view part, Member& member) const;

  [[nodiscard]] const std::string& path() const { return archive_.path; }
  [[nodiscard]] Error fault(std::string_view member, std::string message) const;
  [[nodiscard]] const Limits& limits() const { return limits_; }
  [[nodiscard]] std::size_t entries() const { return entries_; }
  [[nodiscard]] Archive finish() &&;

 private:
  Archive archive_;
  Limits limits_;
  std::size_t entries_ = 0;
  std::uint64_t total_bytes_ = 0;
  std::uint64_t memory_bytes_ = 0;
  std::uint64_t code_bytes_ = 0;
  std::unordered_set<std::string> names_;
};

[[nodiscard]] Archive read_directory(const std::string& path, const Limits& limits);
[[nodiscard]] Archive read_tar_file(const std::string& path, const Limits& limits);

}  // namespace usmp::mlf

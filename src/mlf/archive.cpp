// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds out what a path holds, an archive or a directory, and reads it; writes archives.
#include "usmp/mlf/archive.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

#include "mlf/intake.hpp"

namespace usmp::mlf {
namespace {

// Reserved but untouched memory costs nothing, so one step holds all but exceptional members without a second copy.
constexpr std::uint64_t reserve_step = std::uint64_t{128} << 20;
constexpr std::size_t shown_bytes = 100;  // of a name that is too long

// An MLF archive is four directories deep.
constexpr std::ptrdiff_t max_path_depth = 64;

}  // namespace

Intake::Intake(const std::string& path, const Limits& limits) : limits_(limits) { archive_.path = path; }

Error Intake::fault(std::string_view member, std::string message) const {
  return {ErrorKind::archive, {archive_.path, std::string(member), ""}, std::move(message)};
}

void Intake::count(std::string_view name, std::uint64_t claimed_bytes) {
  if (++entries_ > limits_.members) {
    throw fault(name, "the archive has more than " + std::to_string(limits_.members) + " members, the limit");
  }
  if (name == "metadata.json" && claimed_bytes > most_metadata_bytes) {
    throw fault(name, "has " + std::to_string(claimed_bytes) + " bytes, expected at most " +
                          std::to_string(most_metadata_bytes));
  }
  if (claimed_bytes > limits_.member_bytes) {
    throw fault(name, "claims " + std::to_string(claimed_bytes) + " bytes, more than the limit of " +
                          std::to_string(limits_.member_bytes) + " bytes for a member");
  }
  if (claimed_bytes > limits_.total_bytes - total_bytes_) {
    throw fault(name, "claims " + std::to_string(claimed_bytes) + " bytes after " + std::to_string(total_bytes_) +
                          " bytes of other members, more than the limit of " + std::to_string(limits_.total_bytes) +
                          " bytes for an archive");
  }
  total_bytes_ += claimed_bytes;
}

void Intake::require_memory(std::string_view name, std::uint64_t claimed_bytes) const {
  if (claimed_bytes <= limits_.memory_bytes - memory_bytes_) return;
  throw fault(name, "has " + std::to_string(claimed_bytes) + " bytes after " + std::to_string(memory_bytes_) +
                        " bytes of other members that have to be in memory, more than the limit of " +
                        std::to_string(limits_.memory_bytes) + " bytes");
}

std::string Intake::normalised(std::string_view name) const {
  if (name.size() > limits_.name_bytes) {
    throw fault(name.substr(0, shown_bytes), "the member's name has " + std::to_string(name.size()) +
                                                 " bytes, more than the limit of " +
                                                 std::to_string(limits_.name_bytes));
  }
  if (!name.empty() && name.front() == '/') {
    throw fault(name, "the member's name is absolute, expected one relative to the archive");
  }
  std::string result;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    const std::string_view part = name.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == "..") throw fault(name, "the member's name leads out of the archive with '..'");
    if (!result.empty()) result += '/';
    result += part;
  }
  return result;
}

void Intake::add(Member member) {
  if (member.name.empty()) throw fault("", "a member has an empty name");
  // Files are written under these names. No program for models gives such ones, and other systems take '\\' for '/'.
  const bool is_odd = std::any_of(member.name.begin(), member.name.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F || c == '\\';
  });
  if (is_odd) throw fault(member.name, "the member's name contains a control character or a backslash");
  if (std::count(member.name.begin(), member.name.end(), '/') > max_path_depth) {
    throw fault(member.name, "is more than " + std::to_string(max_path_depth) + " directories deep");
  }
  if (!names_.insert(member.name).second) throw fault(member.name, "the archive contains the member twice");
  require_memory(member.name, member.bytes.size());
  memory_bytes_ += member.bytes.size();
  code_bytes_ += member.outline.size();
  archive_.members.push_back(std::move(member));
}

void Intake::reserve_ahead(std::string& bytes, std::uint64_t claimed_bytes) {
  if (bytes.size() < bytes.capacity()) return;
  // The claim, divided so often that the last copy is of a quarter: one of all but all would take twice the memory.
  constexpr std::uint64_t factor = 4;
  std::uint64_t room = claimed_bytes;
  while (room > std::max<std::uint64_t>(reserve_step, factor * bytes.size())) room = (room + factor - 1) / factor;
  bytes.reserve(static_cast<std::size_t>(room));
}

std::string& Member::own_bytes() {
  if (file != nullptr) bytes = std::string(part);
  file.reset();
  return bytes;
}

Archive Intake::finish() && {
  const std::vector<std::string_view> names(names_.begin(), names_.end());
  const std::string_view name = file_as_directory(names);
  if (!name.empty()) throw fault(name, "is a file, but other members are inside it");
  return std::move(archive_);
}

std::string_view file_as_directory(std::vector<std::string_view> names) {
  // With '/' before all other characters what lies below a name follows it at once.
  const auto rank = [](char c) { return c == '/' ? -1 : static_cast<int>(static_cast<unsigned char>(c)); };
  std::sort(names.begin(), names.end(), [&](std::string_view a, std::string_view b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                        [&](char x, char y) { return rank(x) < rank(y); });
  });
  for (std::size_t i = 1; i < names.size(); ++i) {
    const std::string_view name = names[i - 1];
    if (names[i].size() > name.size() && names[i].starts_with(name) && names[i][name.size()] == '/') return name;
  }
  return {};
}

const Member* Archive::find(std::string_view name) const {
  const auto at = std::find_if(members.begin(), members.end(), [&](const Member& m) { return m.name == name; });
  return at == members.end() ? nullptr : &*at;
}

Archive read_archive(const std::string& path, const Limits& limits) {
  std::error_code fault;
  const auto status = std::filesystem::status(path, fault);
  if (status.type() == std::filesystem::file_type::not_found) {
    throw Error(ErrorKind::usage, {path, "", ""}, "no such file or directory");
  }
  if (fault) throw Error(ErrorKind::usage, {path, "", ""}, "cannot be read: " + fault.message());
  return std::filesystem::is_directory(status) ? read_directory(path, limits) : read_tar_file(path, limits);
}

}  // namespace usmp::mlf

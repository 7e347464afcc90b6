// SPDX-License-Identifier: Apache-2.0
#include "file_kind.hpp"

#include <filesystem>
#include <fstream>
#include <string_view>

#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"

namespace usmp::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t front_bytes = std::size_t{1} << 16;
constexpr std::size_t tar_magic_at = 257;

bool looks_like_archive(std::string_view front) {
  return front.starts_with("\x1F\x8B") ||
         front.starts_with(
             "\xFD"
             "7zXZ") ||
         front.starts_with("\x28\xB5\x2F\xFD") ||
         (front.size() > tar_magic_at && front.substr(tar_magic_at).starts_with("ustar"));
}

FileKind kind_of_json(std::string_view front) {
  if (front.find("\"usmp-plan/plan\"") != std::string_view::npos) return FileKind::plan;
  if (front.find("\"usmp-plan/problem\"") != std::string_view::npos) return FileKind::problem;
  if (front.find("\"type_key\"") != std::string_view::npos) return FileKind::module;
  return FileKind::unknown;
}

bool looks_like_csv(std::string_view front) {
  const std::string_view header = first_line(front);
  return header.starts_with("id,") && header.find("lower") != std::string_view::npos;
}

[[noreturn]] void refuse(const std::string& path, const std::string& message) {
  throw Error(ErrorKind::usage, {path, {}, {}}, message);
}

}  // namespace

std::string front_of_file(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return {};
  std::string front(front_bytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(front.data(), static_cast<std::streamsize>(front.size()));
  front.resize(static_cast<std::size_t>(file.gcount()));
  return front;
}

FileKind kind_of_file(const std::string& path) {
  std::error_code error;
  if (fs::is_regular_file(fs::path(path) / "metadata.json", error)) return FileKind::archive;
  const std::string front = front_of_file(path);
  if (looks_like_archive(front)) return FileKind::archive;
  if (looks_like_csv(front)) return FileKind::instance;
  const std::size_t first = front.find_first_not_of(" \t\r\n");
  return first != std::string::npos && front[first] == '{' ? kind_of_json(front) : FileKind::unknown;
}

void require_model(const std::string& path) {
  switch (kind_of_file(path)) {
    case FileKind::plan:
      refuse(path, "is a plan, expected a model; usmp-plan report shows a plan");
    case FileKind::problem:
      refuse(path, "is a planning problem, expected a model; usmp-plan solve plans it");
    case FileKind::instance:
      refuse(path, "is an instance in CSV, expected a model; usmp-plan solve plans it");
    case FileKind::archive:
    case FileKind::module:
    case FileKind::unknown:
      return;
  }
}

void require_instance(const std::string& path) {
  switch (kind_of_file(path)) {
    case FileKind::archive:
      refuse(path, "is an archive, expected an instance in CSV or a problem in JSON; usmp-plan MODEL plans an archive");
    case FileKind::module:
      refuse(path,
             "is a TIR module, expected an instance in CSV or a problem in JSON; usmp-plan problem makes one of it");
    case FileKind::plan:
      refuse(path, "is a plan, expected an instance in CSV or a problem in JSON; usmp-plan report shows a plan");
    case FileKind::problem:
    case FileKind::instance:
    case FileKind::unknown:
      return;
  }
}

}  // namespace usmp::driver

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Makes a temporary directory and removes it at the end.
#include "work_directory.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "usmp/support/error.hpp"

namespace usmp::driver {
namespace {

namespace fs = std::filesystem;

std::string make_named(const std::string& name) {
  std::error_code error;
  fs::create_directory(name, error);
  if (error) throw Error(ErrorKind::output, {name, {}, {}}, "cannot be created: " + error.message());
  WorkDirectory::require_empty(name);
  return fs::canonical(name).string();
}

std::string make_temporary() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  std::string pattern = ((error ? fs::path("/tmp") : parent) / "usmp-plan-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw Error(ErrorKind::output, {parent.string(), {}, {}},
                std::string("no temporary directory can be made in it: ") + std::strerror(errno));
  }
  return fs::absolute(pattern).string();
}

}  // namespace

void WorkDirectory::require_empty(const std::string& name) {
  std::error_code error;
  if (!fs::exists(name, error)) return;
  const bool is_empty = fs::is_empty(name, error);
  if (error) throw Error(ErrorKind::output, {name, {}, {}}, error.message());
  if (!is_empty) throw Error(ErrorKind::usage, {name, {}, {}}, "is not empty, expected a new or empty directory");
}

WorkDirectory::WorkDirectory(const std::optional<std::string>& keep)
    : path_(keep ? make_named(*keep) : make_temporary()), is_kept_(keep.has_value()) {}

WorkDirectory::~WorkDirectory() {
  std::error_code error;
  if (!is_kept_) fs::remove_all(path_, error);
}

}  // namespace usmp::driver

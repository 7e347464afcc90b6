// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Temporary directories in which results are completed before they get their final names.
#pragma once

#include <filesystem>
#include <string>

#include "usmp/support/descriptor.hpp"

namespace usmp::driver {

// A directory ".usmp-plan-XXXXXX" of its own below `parent`, removed with all it holds when it goes. Throws Error of
// kind output.
//
// A run that is killed leaves its directory behind. The next one that writes into the same `parent` removes it: a mark
// tells it from directories of others with such a name, a lock those that are still at work (on file systems without
// locks they stay).
class Staging {
 public:
  explicit Staging(const std::filesystem::path& parent);
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging();

  [[nodiscard]] std::filesystem::path path() const { return path_; }

 private:
  void make_directory(const std::filesystem::path& parent);

  std::string path_;
  Descriptor lock_;
};

}  // namespace usmp::driver

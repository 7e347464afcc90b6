// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A place for files that only the run itself needs.
#pragma once

#include <optional>
#include <string>

namespace usmp::driver {

// A directory below the system's one for temporary files, removed with all that it holds at the end of its life; or one
// that the user named, which stays.
class WorkDirectory {
 public:
  // Throws Error of kind usage if the named directory holds something already, of kind output if none can be made.
  explicit WorkDirectory(const std::optional<std::string>& keep);
  // Throws the former of the two, and makes nothing.
  static void require_empty(const std::string& name);
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;
  ~WorkDirectory();

  [[nodiscard]] const std::string& path() const { return path_; }  // absolute

 private:
  std::string path_;
  bool is_kept_ = false;
};

}  // namespace usmp::driver

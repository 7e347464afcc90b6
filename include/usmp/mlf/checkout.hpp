// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Models in source trees: the C that TVM wrote, checked in with or without metadata.json, in whatever layout and under
// whatever names. What a file is, its content says.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/mlf/archive.hpp"
#include "usmp/support/error.hpp"

namespace usmp::mlf {

// Whether the directory has what an extracted archive has: metadata.json beside src/M.tir.json, or beside codegen/host
// in which TVM's C has the names that TVM gives it: with others it is a source tree.
[[nodiscard]] bool is_extracted_archive(const std::string& directory);

// Whether usmp-plan wrote the file, by the comment at its head.
[[nodiscard]] bool is_planned_c(std::string_view text);

// Models are in several directories of a tree. The message lists them with a command for each.
class SeveralModels : public Error {
 public:
  struct Found {
    std::string directory;             // as the user would type it; read_checkout reads it
    std::vector<std::string> modules;  // sorted
  };

  SeveralModels(const std::string& path, std::vector<Found> found);

  [[nodiscard]] const std::vector<Found>& found() const noexcept { return found_; }

 private:
  std::vector<Found> found_;  // sorted by path
};

// "usmp-plan nets/kws  (default)".
[[nodiscard]] std::string command_for(const SeveralModels::Found& found);

// The model in a source tree, or that one C file is, as an archive: C files as members of codegen/host/src, headers of
// codegen/host/include, each with the path below Archive::path under which it was found; metadata.json, if it stands
// at most two directories above and names one of the modules. `path` may be a directory around the model's, one of its
// own ("codegen/host/src"), or a C file. Directories whose name begins with a dot and symbolic links are passed over.
//
// Throws SeveralModels, of kind usage, if there are models in several directories, none of which is `path`. Throws
// Error of kind usage if two files of one define the same module, with a command for each. Of kind archive: no model
// (the message says what is there instead: operators without the AoT executor's entry, objects, C that usmp-plan
// wrote), a limit exceeded. O(bytes of C) below `path`.
[[nodiscard]] Archive read_checkout(const std::string& path, const Limits& limits = {});

// Those of the names that C mentions in other members than `own` and in Archive::other_sources, with the first file
// that does. O(bytes of that C · log names).
using MentionedNames = std::map<std::string, std::string, std::less<>>;
[[nodiscard]] MentionedNames mentioned_elsewhere(const Archive& archive, const std::set<std::string>& own,
                                                 const std::set<std::string, std::less<>>& names);

}  // namespace usmp::mlf

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Models in source trees: the C that TVM wrote, checked in with or without metadata.json, in whatever layout and under
// whatever names. What a file is, its content says.
#pragma once

#include <string>
#include <string_view>

#include "usmp/mlf/archive.hpp"

namespace usmp::mlf {

// Whether the directory has what an extracted archive has: metadata.json beside src/M.tir.json, or beside codegen/host
// in which TVM's C has the names that TVM gives it: with others it is a source tree.
[[nodiscard]] bool is_extracted_archive(const std::string& directory);

// Whether usmp-plan wrote the file, by the comment at its head.
[[nodiscard]] bool is_planned_c(std::string_view text);

// The model in a source tree, or that one C file is, as an archive: C files as members of codegen/host/src, headers of
// codegen/host/include, each with the path below Archive::path under which it was found; metadata.json, if it stands
// at most two directories above and names one of the modules. `path` may be a directory around the model's, one of its
// own ("codegen/host/src"), or a C file. Directories whose name begins with a dot and symbolic links are passed over.
//
// Throws Error of kind usage if there are models in several directories, none of which is `path`, or if two files of
// one define the same module; the message lists them with a command for each. Of kind archive: no model (the message
// says what is there instead: operators without the AoT executor's entry, objects, C that usmp-plan wrote), a limit
// exceeded. O(bytes of C) below `path`.
[[nodiscard]] Archive read_checkout(const std::string& path, const Limits& limits = {});

}  // namespace usmp::mlf

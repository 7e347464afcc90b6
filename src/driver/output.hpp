// SPDX-License-Identifier: Apache-2.0
// Writing results: everything is written under a temporary name and renamed, so that a final name never holds a part.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/mlf/archive.hpp"
#include "usmp/support/text.hpp"

namespace usmp::driver {

using AcceptDirectory = std::function<void(const std::string& directory)>;

// Writes the files below `directory`. A new directory, or one that holds nothing but files that are written again, is
// replaced in one step; in one that holds other files those stay, and the written ones are renamed into place one by
// one after all of them have been written; `dropped` names files that the written ones replace, which are removed then.
// With `Directories::stay` no directory that is there is replaced, only files.
// `accept` is called with a directory that is there, while no other run changes it, and may throw. Throws Error of kind
// output, and what `accept` throws.
enum class Directories : bool { may_be_replaced, stay };
void write_directory(const std::string& directory, const std::vector<OutputFile>& files,
                     const std::vector<std::string>& dropped, const AcceptDirectory& accept = {},
                     Directories directories = Directories::may_be_replaced);

// Before anything is computed: whether the file or directory can be written, as far as one can know without doing so.
// Makes the temporary directory in which it would be completed, and removes it. Throws Error of kind output.
void require_writable(const std::string& path);

// Whether the path is written to as it is: a device, a pipe, or the name of an open file, such as "/dev/stdout", which
// may be a regular file that others write to as well.
bool is_written_through(const std::string& path);

// "/dev/stdout" and its other names.
bool is_standard_output(const std::string& path);

// Where text goes that is not the file's: if that is standard output, to `err`.
std::ostream& stream_beside(const std::optional<std::string>& file, std::ostream& out, std::ostream& err);

// Writes one file. Devices, pipes and what /dev/stdout names are written to as they are.
void write_file(const std::string& path, std::string_view text);

// Appends to a file of others, which is made if there is none. Throws Error of kind output.
void append_file(const std::string& path, std::string_view text);
// Before anything is computed: whether it can be. Throws Error of kind output.
void require_appendable(const std::string& path);

// Writes a tar of the archive's members with `files` put in place of members of the same name and `dropped` left out.
void write_archive(const std::string& path, const mlf::Archive& archive, const std::vector<OutputFile>& files,
                   const std::vector<std::string>& dropped);

}  // namespace usmp::driver

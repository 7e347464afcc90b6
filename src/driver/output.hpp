// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
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
// `accept` is called with a directory that is there, while no other run changes it, and may throw. Throws Error of kind
// output, of kind usage if a file would be replaced that the command has read, and what `accept` throws.
void write_directory(const std::string& directory, const std::vector<OutputFile>& files,
                     const std::vector<std::string>& dropped, const AcceptDirectory& accept = {});

// A file that stays under another name, which must be free, before it is replaced.
struct KeptCopy {
  std::string file;
  std::string copy;
};

// Writes the files below `directory` one by one in the place of those that are there; no directory is replaced. The
// copies are complete before. Throws Error of kind output, also if a copy's name is taken; then all is as it was.
void write_in_place(const std::string& directory, const std::vector<OutputFile>& files,
                    const std::vector<KeptCopy>& copies);

// Throws Error of kind usage if writing the file `path`, or the files `below` the directory `path`, would replace a
// file that the command has read, or would write into a directory below `path` that one was read from. Files and
// directories are compared, not their names. Everything that is written, but by write_in_place, is looked at once more
// when it is put in place; this is for before anything is computed.
void require_apart_from_input(const std::string& path, const std::vector<std::string>& below = {});

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

// The same, or to `out` if there is no path.
void write_output(const std::optional<std::string>& path, std::string_view text, std::ostream& out);

// Appends to a file of others, which is made if there is none. Throws Error of kind output.
void append_file(const std::string& path, std::string_view text);
// Before anything is computed: whether it can be. Throws Error of kind output.
void require_appendable(const std::string& path);

// Writes a tar of the archive's members with `files` put in place of members of the same name and `dropped` left out.
void write_archive(const std::string& path, const mlf::Archive& archive, const std::vector<OutputFile>& files,
                   const std::vector<std::string>& dropped);

}  // namespace usmp::driver

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes files under temporary names, and renames them when all are complete.
#include "output.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <set>

#include "output_path.hpp"
#include "replacement.hpp"
#include "staging.hpp"
#include "termination.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/file_sink.hpp"
#include "usmp/support/input_file.hpp"

namespace usmp::driver {
namespace {

namespace fs = std::filesystem;

fs::path parent_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

fs::path without_trailing_slash(const std::string& path) {
  fs::path normal = fs::path(path).lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

// What a link names is written, the link stays. Throws Error of kind usage if it names nothing.
fs::path behind_links(const fs::path& path) {
  if (fs::exists(path)) return fs::canonical(path);
  if (!fs::is_symlink(fs::symlink_status(path))) return path;
  throw Error(ErrorKind::usage, {path.string(), {}, {}},
              "is a symbolic link to " + fs::read_symlink(path).string() +
                  ", which is not there: expected a link to something, or a new name");
}

void rename_or_fail(const fs::path& from, const fs::path& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) fail_output(to.string(), "cannot be moved into place");
}

// Whether a directory that is made beside `target` can take its place: it must be on the same file system (a mounted
// directory is on another one than its parent), and the parent must allow it.
bool can_stage_beside(const fs::path& target) {
  struct stat own = {};
  struct stat above = {};
  const fs::path parent = parent_of(target);
  return ::stat(target.c_str(), &own) == 0 && ::stat(parent.c_str(), &above) == 0 && own.st_dev == above.st_dev &&
         ::access(parent.c_str(), W_OK | X_OK) == 0;
}

// No file that was read is replaced, whatever path, link or mount leads to it.
void require_not_read(const std::string& path, const std::string& shown) {
  const FilesRead* const read = FilesRead::current();
  const auto id = read == nullptr ? std::nullopt : id_of(path);
  if (!id || !read->holds(*id)) return;
  throw Error(ErrorKind::usage, {shown, {}, {}}, "was read as input and would be overwritten, expected another place");
}

// Output is of the files as they are: whoever saves one of them meanwhile has it neither replaced nor planned in part.
void require_unchanged() {
  const FilesRead* const read = FilesRead::current();
  const auto changed = read == nullptr ? std::nullopt : read->changed();
  if (!changed) return;
  throw Error(ErrorKind::usage, {*changed, {}, {}},
              "has changed since it was read, so nothing was written: expected a file that stays as it is; run again");
}

// What the file system library throws is an output error like any other.
template <class Action>
void translating_errors(const Action& action) {
  try {
    action();
  } catch (const Terminated&) {
    std::abort();  // not reached: on the way here the signal has ended the program
  } catch (const fs::filesystem_error& error) {
    if (error.code() == std::errc::not_enough_memory) throw std::bad_alloc();
    throw Error(ErrorKind::output, {error.path1().string(), {}, {}}, error.code().message());
  }
}

// A place to complete `target` in.
struct Workplace {
  explicit Workplace(const fs::path& target)
      : is_new(!fs::exists(fs::symlink_status(target))),
        is_beside(is_new || can_stage_beside(target)),
        staging(is_beside ? parent_of(target) : target) {}

  bool is_new;
  bool is_beside;
  Staging staging;
};

void replace_directory(const std::string& directory, const std::vector<OutputFile>& files,
                       const std::vector<std::string>& dropped, const AcceptDirectory& accept) {
  const TerminationDeferred termination;
  const fs::path target = behind_links(without_trailing_slash(directory));
  if (fs::exists(fs::symlink_status(target)) && !fs::is_directory(target)) {
    throw Error(ErrorKind::usage, {directory, {}, {}}, "is a file, expected a directory or a new name");
  }
  const Workplace place(target);
  const fs::path complete = place.staging.path() / "complete";
  const fs::path spare = place.staging.path() / "spare";
  write_files(complete.string(), files, termination.hook());
  fs::create_directory(spare);
  std::set<std::string> own(dropped.begin(), dropped.end());
  for (const OutputFile& file : files) own.insert(file.path);
  for (;;) {
    termination.check();
    require_unchanged();
    if (!fs::exists(fs::symlink_status(target)) && move_to_free_name(complete.string(), target.string())) return;
    const DirectoryLock lock(target.string(), termination);
    if (!lock.holds(target.string())) continue;  // another run has put its own there meanwhile
    if (accept) accept(target.string());
    for (const std::string& file : own) require_not_read((target / file).string(), directory + "/" + file);
    Replacement replacement(complete.string(), target.string(), own, spare.string());
    replacement.run(place.is_beside ? Replacement::Exchange::target : Replacement::Exchange::below);
    return replacement.keep();
  }
}

// The copies that have their names; they go again unless `keep` is called.
class Copies {
 public:
  Copies() = default;
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;
  ~Copies() {
    for (const std::string& path : made_) ::unlink(path.c_str());
  }

  void make(const KeptCopy& one, const fs::path& complete, const TerminationDeferred& termination) {
    InputFile file(one.file, InputFile::Noted::no);
    if (!file.is_open()) refuse(one.file, "cannot be read: " + file.fault());
    FileSink sink(complete.string(), FileSink::Mode::replace, termination.hook());
    std::string block(std::size_t{1} << 16, '\0');
    for (;;) {
      const auto count = file.read(block.data(), block.size());
      if (!count) refuse(one.file, "cannot be read: " + file.fault());
      if (*count == 0) break;
      sink.write({block.data(), *count});
    }
    sink.close();
    copy_mode(one.file, complete.string());
    if (!move_to_free_name(complete.string(), one.copy)) {
      refuse(one.copy, "is there already, expected a free name for a copy of " + one.file);
    }
    made_.push_back(one.copy);
  }
  void keep() { made_.clear(); }

 private:
  [[noreturn]] static void refuse(const std::string& path, const std::string& message) {
    throw Error(ErrorKind::output, {path, {}, {}}, message);
  }

  std::vector<std::string> made_;
};

void replace_in_place(const std::string& directory, const std::vector<OutputFile>& files,
                      const std::vector<KeptCopy>& copies) {
  const TerminationDeferred termination;
  const fs::path target = behind_links(without_trailing_slash(directory));
  const Workplace place(target);
  const fs::path complete = place.staging.path() / "complete";
  const fs::path spare = place.staging.path() / "spare";
  write_files(complete.string(), files, termination.hook());
  fs::create_directory(spare);
  std::set<std::string> own;
  for (const OutputFile& file : files) own.insert(file.path);
  termination.check();
  const DirectoryLock lock(target.string(), termination);
  Copies kept;
  for (const KeptCopy& one : copies) kept.make(one, place.staging.path() / "copy", termination);
  require_unchanged();
  Replacement replacement(complete.string(), target.string(), own, spare.string());
  replacement.run(Replacement::Exchange::none);
  replacement.keep();
  kept.keep();
}

void replace_archive(const std::string& path, const mlf::Archive& archive, const std::vector<OutputFile>& files,
                     const std::vector<std::string>& dropped) {
  const TerminationDeferred termination;
  const fs::path target = behind_links(path);
  if (fs::exists(target) && !fs::is_regular_file(target)) {
    throw Error(ErrorKind::usage, {path, {}, {}}, "is not a regular file, expected one or a new name for the archive");
  }
  require_not_read(target.string(), path);
  const Staging staging(parent_of(target));
  const fs::path written = staging.path() / "files";
  write_files(written.string(), files, termination.hook());

  std::set<std::string> left_out(dropped.begin(), dropped.end());
  for (const OutputFile& file : files) left_out.insert(file.path);
  std::vector<mlf::TarEntry> entries;
  for (const mlf::Member& member : archive.members) {
    if (!left_out.contains(member.name)) entries.push_back({member.name, member.text(), {}, member.mode});
  }
  for (const OutputFile& file : files) entries.push_back({file.path, {}, (written / file.path).string(), 0644});
  std::sort(entries.begin(), entries.end(),
            [](const mlf::TarEntry& a, const mlf::TarEntry& b) { return a.name < b.name; });
  const fs::path complete = staging.path() / target.filename();
  mlf::write_tar(complete.string(), entries, termination.hook());
  termination.check();
  require_unchanged();
  rename_or_fail(complete, target);
}

// Appending neither truncates a file that standard output is redirected to nor matters for devices. Signals need not
// wait: there is nothing to remove, and a pipe may have nobody at its other end for ever.
void write_through(const std::string& path, std::string_view text) {
  FileSink sink = is_standard_output(path) ? FileSink(::dup(STDOUT_FILENO), path)  // one position for all who write
                                           : FileSink(path, FileSink::Mode::append);
  sink.write(text);
  sink.close();
}

void require_access(const std::string& path, int mode) {
  if (::access(path.c_str(), mode) != 0) fail_output(path, "cannot be written");
}

void require_staging(const std::string& path) {
  if (names_open_file(path)) return;
  if (is_written_through(path)) return require_access(path, W_OK);
  const TerminationDeferred termination;
  const fs::path target = behind_links(without_trailing_slash(path));
  const Staging staging(fs::is_directory(target) && !can_stage_beside(target) ? target : parent_of(target));
}

void replace_file(const std::string& path, std::string_view text) {
  if (is_written_through(path)) return write_through(path, text);
  const TerminationDeferred termination;
  const fs::path target = behind_links(path);
  if (fs::is_directory(target)) throw Error(ErrorKind::usage, {path, {}, {}}, "is a directory, expected a file");
  require_not_read(target.string(), path);
  const Staging staging(parent_of(target));
  const fs::path complete = staging.path() / "complete";
  FileSink sink(complete.string(), FileSink::Mode::replace, termination.hook());
  sink.write(text);
  sink.close();
  termination.check();
  require_unchanged();
  rename_or_fail(complete, target);
}

}  // namespace

bool is_written_through(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const bool is_special = fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
  return is_special || names_open_file(path);
}

bool is_standard_output(const std::string& path) {
  struct stat named = {};
  struct stat standard = {};
  return names_open_file(path) && ::stat(path.c_str(), &named) == 0 && ::fstat(STDOUT_FILENO, &standard) == 0 &&
         named.st_dev == standard.st_dev && named.st_ino == standard.st_ino;
}

std::ostream& stream_beside(const std::optional<std::string>& file, std::ostream& out, std::ostream& err) {
  return file && is_standard_output(*file) ? err : out;
}

void write_directory(const std::string& directory, const std::vector<OutputFile>& files,
                     const std::vector<std::string>& dropped, const AcceptDirectory& accept) {
  translating_errors([&] { replace_directory(directory, files, dropped, accept); });
}

void write_in_place(const std::string& directory, const std::vector<OutputFile>& files,
                    const std::vector<KeptCopy>& copies) {
  translating_errors([&] { replace_in_place(directory, files, copies); });
}

void write_file(const std::string& path, std::string_view text) {
  translating_errors([&] { replace_file(path, text); });
}

void write_output(const std::optional<std::string>& path, std::string_view text, std::ostream& out) {
  if (path) {
    write_file(*path, text);
  } else {
    out << text;
  }
}

void append_file(const std::string& path, std::string_view text) {
  translating_errors([&] { write_through(path, text); });
}

void require_apart_from_input(const std::string& path, const std::vector<std::string>& below) {
  const FilesRead* const read = FilesRead::current();
  if (read == nullptr || is_written_through(path)) return;
  require_not_read(path, path);
  const std::set<FileId> above = read->directories_above();
  std::set<std::string> directories;
  for (const std::string& file : below) {
    require_not_read(path + "/" + file, path + "/" + file);
    for (std::size_t slash = file.find('/'); slash != std::string::npos; slash = file.find('/', slash + 1)) {
      directories.insert(path + "/" + file.substr(0, slash));
    }
  }
  for (const std::string& directory : directories) {
    const auto id = id_of(directory);
    if (!id || !above.contains(*id)) continue;
    throw Error(ErrorKind::usage, {path, {}, {}},
                "would be written into " + directory + ", which files were read from, expected another place");
  }
}

void require_writable(const std::string& path) {
  translating_errors([&] { require_staging(path); });
}

void require_appendable(const std::string& path) {
  translating_errors([&] {
    const bool is_new = !fs::exists(path);
    require_access(is_new ? parent_of(path).string() : path, is_new ? W_OK | X_OK : W_OK);
  });
}

void write_archive(const std::string& path, const mlf::Archive& archive, const std::vector<OutputFile>& files,
                   const std::vector<std::string>& dropped) {
  translating_errors([&] { replace_archive(path, archive, files, dropped); });
}

}  // namespace usmp::driver

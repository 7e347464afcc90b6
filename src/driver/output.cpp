#include "output.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include "usmp/support/error.hpp"
#include "usmp/support/file_sink.hpp"

namespace usmp::driver {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error(ErrorKind::output, {path, {}, {}}, what + ": " + std::strerror(errno));
}

// A directory of its own beside the final place, removed with all it holds when the run ends.
class Staging {
 public:
  explicit Staging(const fs::path& final_path) {
    const fs::path parent = final_path.has_parent_path() ? final_path.parent_path() : fs::path(".");
    std::error_code error;
    fs::create_directories(parent, error);
    std::string pattern = (parent / ("." + final_path.filename().string() + ".XXXXXX")).string();
    if (::mkdtemp(pattern.data()) == nullptr) fail(parent.string(), "no temporary directory can be made in it");
    path_ = pattern;
    fs::permissions(path_,
                    fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read |
                        fs::perms::others_exec,
                    error);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging() {
    std::error_code error;
    fs::remove_all(path_, error);
  }

  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

fs::path without_trailing_slash(const std::string& path) {
  fs::path normal = fs::path(path).lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

void make_directories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw Error(ErrorKind::output, {path.string(), {}, {}}, "cannot be created: " + error.message());
}

void rename_or_fail(const fs::path& from, const fs::path& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) fail(to.string(), "cannot be put in place");
}

bool holds_only(const fs::path& directory, const std::vector<OutputFile>& files) {
  std::set<std::string> written;
  for (const OutputFile& file : files) written.insert(file.path);
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_directory() && !entry.is_symlink()) continue;
    if (!written.contains(fs::relative(entry.path(), directory).generic_string())) return false;
  }
  return true;
}

// Swaps two directories in one step; false where the file system cannot.
bool exchange(const fs::path& a, const fs::path& b) {
  return ::syscall(SYS_renameat2, AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0;
}

// What the file system library throws is an output error like any other.
template <class Action>
void translating_errors(const Action& action) {
  try {
    action();
  } catch (const fs::filesystem_error& error) {
    throw Error(ErrorKind::output, {error.path1().string(), {}, {}}, error.code().message());
  }
}

void replace_directory(const std::string& directory, const std::vector<OutputFile>& files,
                       const std::vector<std::string>& dropped) {
  fs::path target = without_trailing_slash(directory);
  if (fs::exists(target)) target = fs::canonical(target);  // what a link names is written, the link stays
  if (fs::exists(target) && !fs::is_directory(target)) {
    throw Error(ErrorKind::output, {directory, {}, {}}, "is a file, expected a directory or a new name");
  }
  const Staging staging(target);
  const fs::path complete = staging.path() / "complete";
  make_directories(complete);
  write_files(complete.string(), files);
  if (!fs::exists(target)) return rename_or_fail(complete, target);
  if (holds_only(target, files) && exchange(complete, target)) return;
  for (const OutputFile& file : files) make_directories((target / file.path).parent_path());
  std::set<std::string> written;
  for (const OutputFile& file : files) {
    rename_or_fail(complete / file.path, target / file.path);
    written.insert(file.path);
  }
  for (const std::string& name : dropped) {
    if (!written.contains(name)) fs::remove(target / name);
  }
}

void replace_archive(const std::string& path, const mlf::Archive& archive, const std::vector<OutputFile>& files,
                     const std::vector<std::string>& dropped) {
  const fs::path target = fs::exists(path) ? fs::canonical(path) : fs::path(path);
  const Staging staging(target);
  write_files((staging.path() / "files").string(), files);

  std::set<std::string> left_out(dropped.begin(), dropped.end());
  for (const OutputFile& file : files) left_out.insert(file.path);
  std::vector<mlf::TarEntry> entries;
  for (const mlf::Member& member : archive.members) {
    if (!left_out.contains(member.name)) entries.push_back({member.name, member.bytes, {}, member.mode});
  }
  for (const OutputFile& file : files) {
    entries.push_back({file.path, {}, (staging.path() / "files" / file.path).string(), 0644});
  }
  std::sort(entries.begin(), entries.end(),
            [](const mlf::TarEntry& a, const mlf::TarEntry& b) { return a.name < b.name; });
  const fs::path complete = staging.path() / target.filename();
  mlf::write_tar(complete.string(), entries);
  rename_or_fail(complete, target);
}

// "ab" neither truncates a file that standard output is redirected to nor matters for devices.
void write_through(const std::string& path, std::string_view text) {
  FileSink sink(path, FileSink::Mode::append);
  sink.write(text);
  sink.close();
}

void replace_file(const std::string& path, std::string_view text) {
  const bool is_special = fs::exists(path) && !fs::is_regular_file(path) && !fs::is_directory(path);
  if (is_special || path.starts_with("/dev/")) return write_through(path, text);
  const fs::path target = fs::exists(path) ? fs::canonical(path) : fs::path(path);
  if (fs::is_directory(target)) throw Error(ErrorKind::output, {path, {}, {}}, "is a directory, expected a file");
  const Staging staging(target);
  const fs::path complete = staging.path() / "complete";
  FileSink sink(complete.string());
  sink.write(text);
  sink.close();
  rename_or_fail(complete, target);
}

}  // namespace

bool names_archive(const std::string& path) {
  constexpr const char* endings[] = {".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.zst"};
  return std::any_of(std::begin(endings), std::end(endings),
                     [&](const char* ending) { return path.ends_with(ending); });
}

void write_directory(const std::string& directory, const std::vector<OutputFile>& files,
                     const std::vector<std::string>& dropped) {
  translating_errors([&] { replace_directory(directory, files, dropped); });
}

void write_file(const std::string& path, std::string_view text) {
  translating_errors([&] { replace_file(path, text); });
}

void write_archive(const std::string& path, const mlf::Archive& archive, const std::vector<OutputFile>& files,
                   const std::vector<std::string>& dropped) {
  translating_errors([&] { replace_archive(path, archive, files, dropped); });
}

}  // namespace usmp::driver

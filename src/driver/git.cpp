// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Asks git for the bytes that the last commit has of files, and compares them.
#include "git.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "model.hpp"
#include "usmp/process/process.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"

namespace usmp::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_listing = std::size_t{16} << 20;
constexpr std::size_t most_file = std::size_t{2} << 30;

std::vector<std::string> lines_of(const std::string& output) {
  std::vector<std::string> lines = split(output, '\n');
  std::erase_if(lines, [](const std::string& line) { return line.empty(); });
  return lines;
}

[[noreturn]] void fail_check(const std::string& why, std::vector<std::string> details) {
  for (std::string& line : details) std::ranges::replace(line, '\t', ' ');  // git indents with them
  constexpr std::size_t most_lines = 10;
  throw Error(ErrorKind::usage, {}, "git could not " + why + "; --force skips this check",
              first_lines(std::move(details), most_lines));
}

// Where ".git" stands, and files by their paths below.
struct Repository {
  std::string top;
  std::vector<std::size_t> files;  // positions in the caller's list
  std::vector<std::string> paths;
};

// The commands used here run no hooks, filters, pagers or watchers; what they could start are helpers that fetch
// objects which a partial clone left out. An explicit repository and work tree take the place of what is configured.
process::Result run_git(const Repository& repository, std::vector<std::string> arguments, std::size_t most) {
  std::vector<std::string> all = {
      "--literal-pathspecs",           "--no-pager", "--no-replace-objects", "--git-dir=" + repository.top + "/.git",
      "--work-tree=" + repository.top, "-c",         "core.fsmonitor=false", "-c",
      "core.hooksPath=/dev/null"};
  all.insert(all.end(), std::make_move_iterator(arguments.begin()), std::make_move_iterator(arguments.end()));
  const process::Command git{
      .program = "git",
      .arguments = std::move(all),
      .environment = {"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1"},
      .without = "GIT_",
      .directory = repository.top,
      .joins_error = true};
  try {
    return process::run(git, {}, {.output = most, .time = std::chrono::minutes(1)});
  } catch (const Error& error) {
    fail_check("be run to look for uncommitted changes", {error.message()});
  }
}

// The directory of the innermost repository; empty if there is none.
fs::path top_above(const fs::path& directory) {
  std::error_code error;
  for (fs::path at = directory;; at = at.parent_path()) {
    if (fs::symlink_status(at / ".git", error).type() != fs::file_type::not_found) return at;
    if (at == at.parent_path()) return {};
  }
}

bool has_commit(const Repository& repository) {
  const process::Result result = run_git(repository, {"rev-parse", "--verify", "--quiet", "HEAD"}, most_listing);
  if (result.succeeded()) return true;
  constexpr int no_such_name = 1 << 8;
  if (result.end == process::End::exited && result.status == no_such_name) return false;
  fail_check("look up the last commit", lines_of(result.output));
}

// The names of the contents of regular files, by path.
std::map<std::string, std::string> blobs_of(const Repository& repository) {
  std::map<std::string, std::string> blobs;
  if (!has_commit(repository)) return blobs;
  std::vector<std::string> arguments = {"ls-tree", "-z", "--full-tree", "HEAD", "--"};
  arguments.insert(arguments.end(), repository.paths.begin(), repository.paths.end());
  const process::Result result = run_git(repository, std::move(arguments), most_listing);
  if (!result.succeeded()) fail_check("list the last commit", lines_of(result.output));
  for (const std::string& line : split(result.output, '\0')) {  // "100644 blob 0123…\tsrc/model.c"
    const std::size_t tab = line.find('\t');
    constexpr std::string_view kinds[] = {"100644 blob ", "100755 blob "};
    for (const std::string_view kind : kinds) {
      if (tab != std::string::npos && line.starts_with(kind)) {
        blobs[line.substr(tab + 1)] = line.substr(kind.size(), tab - kind.size());
      }
    }
  }
  return blobs;
}

bool has_bytes(const Repository& repository, const std::string& blob, const std::string& file) {
  const std::string bytes = read_text_file(file, ErrorKind::usage, most_file, InputFile::Noted::no);
  const process::Result result = run_git(repository, {"cat-file", "blob", blob}, bytes.size());
  if (result.end == process::End::too_much_output) return false;
  if (!result.succeeded()) fail_check("read what the last commit has", lines_of(result.output));
  return result.output == bytes;
}

}  // namespace

std::vector<InHead> compared_with_head(const std::vector<std::string>& files) {
  std::vector<InHead> result(files.size(), InHead::no_repository);
  std::map<fs::path, Repository> repositories;
  std::error_code error;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const fs::path place = fs::canonical(files[i], error);
    if (error) fail_check("be asked for " + files[i], {error.message()});
    const fs::path top = top_above(place.parent_path());
    if (top.empty()) continue;
    Repository& repository = repositories[top];
    repository.top = top.string();
    repository.files.push_back(i);
    repository.paths.push_back(place.lexically_relative(top).string());
  }
  for (const auto& [top, repository] : repositories) {
    const std::map<std::string, std::string> blobs = blobs_of(repository);
    for (std::size_t i = 0; i < repository.files.size(); ++i) {
      const std::size_t file = repository.files[i];
      const auto blob = blobs.find(repository.paths[i]);
      result[file] = blob == blobs.end()                                ? InHead::none
                     : has_bytes(repository, blob->second, files[file]) ? InHead::same
                                                                        : InHead::other;
    }
  }
  return result;
}

}  // namespace usmp::driver
